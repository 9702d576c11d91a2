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
    /// What to do about it, if there is more to say than what is wrong.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// A problem that does not know its file yet.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// Where in the text. [B]
    pub(super) at: usize,
    pub(super) text: String,
    pub(super) hint: Option<String>,
}

impl Problem {
    pub(super) fn new(at: usize, text: String) -> Problem {
        Problem { at, text, hint: None }
    }

    pub(super) fn with_hint(self, hint: Option<String>) -> Problem {
        Problem { hint, ..self }
    }

    /// The error for a person, with the place in `text` counted in lines and columns.
    pub(super) fn located(self, file: &str, text: &[u8]) -> GoalError {
        let before = &text[..self.at.min(text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        // Bytes that continue a character of UTF-8 take no column.
        let column = 1 + before[line_start..].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        let limited = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        GoalError {
            file: file.to_owned(),
            line: limited(line),
            column: limited(column),
            problem: self.text,
            hint: self.hint,
        }
    }
}
