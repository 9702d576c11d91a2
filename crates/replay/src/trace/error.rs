//! Errors in a trace.

/// What is wrong with a trace, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct TraceError {
    /// The file's name as given.
    pub file: String,
    /// Where in it, what was found there, and what is allowed.
    pub problem: String,
    /// What to do about it, if there is more to say.
    pub hint: Option<String>,
}

impl TraceError {
    /// An error in a file as a whole, or one that itself says where it is.
    pub fn of_file(file: &str, problem: impl Into<String>) -> TraceError {
        TraceError { file: file.to_owned(), problem: problem.into(), hint: None }
    }

    /// An error in a call, given by its number from 1 and its name.
    pub(super) fn of_call(file: &str, number: usize, name: &str, problem: impl std::fmt::Display) -> TraceError {
        TraceError::of_file(file, format!("call {number}, {name}: {problem}"))
    }

    /// The same, with a hint on what to do about it.
    pub fn with_hint(self, hint: impl Into<String>) -> TraceError {
        TraceError { hint: Some(hint.into()), ..self }
    }
}
