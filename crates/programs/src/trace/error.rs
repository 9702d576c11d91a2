//! What can be wrong with a trace.

/// Where a trace is wrong, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct TraceError {
    /// The file's name as it was given.
    pub file: String,
    /// Where in it, what was found there, and what is allowed.
    pub problem: String,
    /// What to do about it, if there is more to say.
    pub hint: Option<String>,
}

impl TraceError {
    /// Something that is wrong with a file as a whole, or says itself where it is.
    pub fn of_file(file: &str, problem: impl Into<String>) -> TraceError {
        TraceError { file: file.to_owned(), problem: problem.into(), hint: None }
    }

    /// Something that is wrong with a call, by its number from 1 and its name.
    pub(super) fn of_call(file: &str, number: usize, name: &str, problem: impl std::fmt::Display) -> TraceError {
        TraceError::of_file(file, format!("call {number}, {name}: {problem}"))
    }

    /// The same, with what to do about it.
    pub fn with_hint(self, hint: impl Into<String>) -> TraceError {
        TraceError { hint: Some(hint.into()), ..self }
    }
}
