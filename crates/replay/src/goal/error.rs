//! What can be wrong with a GOAL text.

/// Where a GOAL text is wrong, how, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct GoalError {
    /// The file's name as it was given.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1. [characters]
    pub column: u32,
    /// What was found there, and what is allowed.
    pub problem: String,
    hint: Option<String>,
}

impl GoalError {
    /// What to do about it, if that is known.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// Why a schedule was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] std::io::Error),
    /// It is wrong.
    #[error(transparent)]
    Wrong(#[from] GoalError),
    /// It is in binary form and damaged.
    #[error(transparent)]
    Damaged(#[from] BinaryError),
}

/// Where a schedule in binary form is wrong, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: byte {at}: {problem}")]
pub struct BinaryError {
    /// The file's name as it was given.
    pub file: String,
    /// The offset in the file before which the problem is, from 0. [B]
    pub at: u64,
    /// What was found there, and what is allowed.
    pub problem: String,
}

/// A problem that does not know its file yet.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// The line, from 1.
    line: u32,
    /// The column, from 1. [characters]
    column: u32,
    text: String,
    hint: Option<String>,
}

impl Problem {
    pub(super) fn new(line: u32, column: u32, text: String) -> Problem {
        Problem { line, column, text, hint: None }
    }

    pub(super) fn with_hint(self, hint: Option<String>) -> Problem {
        Problem { hint, ..self }
    }

    /// The error for the user.
    pub(super) fn in_file(self, file: &str) -> GoalError {
        let Problem { line, column, text, hint } = self;
        GoalError { file: file.to_owned(), line, column, problem: text, hint }
    }
}
