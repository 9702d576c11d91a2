//! Errors of a plan.

use std::ops::Range;

use quantities::reading::Misread;

/// Why a plan can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The file can't be read.
    #[error("cannot read `{file}`: {problem}")]
    Unreadable {
        /// Its name.
        file: String,
        /// The error of the system.
        problem: String,
    },
    /// It contains no valid plan.
    #[error("{file}:{line}:{column}: {}{problem}{}", field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default(), suggestion.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    Text {
        /// The file, as it was named.
        file: String,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// The field, if known.
        field: Option<String>,
        /// What was found, and what is allowed.
        problem: String,
        /// The nearest name to a mistyped one.
        suggestion: Option<String>,
    },
}

/// Reports errors at positions of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceInPlan<'a> {
    pub(crate) text: &'a str,
    pub(crate) file: &'a str,
}

impl PlaceInPlan<'_> {
    /// Something is in a field that is not allowed.
    pub(crate) fn found(&self, span: Range<usize>, field: &str, found: &str, allowed: &str) -> PlanError {
        self.error(span.start, Some(field.to_owned()), format!("found {found}; allowed is {allowed}"), None)
    }

    /// A name is not one of `known`.
    pub(crate) fn unknown(&self, span: Range<usize>, field: &str, found: &str, known: &[&str]) -> PlanError {
        let suggestion = quantities::nearest(found, known.iter().copied()).map(str::to_owned);
        let problem = format!("found `{}`; allowed is one of {}", quantities::shown(found), known.join(", "));
        self.error(span.start, Some(field.to_owned()), problem, suggestion)
    }

    /// What can't be read by serde.
    pub(crate) fn misread(&self, misread: Misread<toml::de::Error>) -> PlanError {
        let Misread { field, mistake, cause } = misread;
        let problem = match &mistake {
            Some(mistake) => mistake.to_string(),
            None => cause.message().trim_end().replace('\n', "; "),
        };
        let suggestion = mistake.and_then(|mistake| mistake.nearest()).map(str::to_owned);
        let field = Some(field).filter(|field| !field.is_empty());
        self.error(cause.span().map_or(self.text.len(), |span| span.start), field, problem, suggestion)
    }

    fn error(&self, byte: usize, field: Option<String>, problem: String, suggestion: Option<String>) -> PlanError {
        let before = self.text.get(..byte).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
        PlanError::Text { file: self.file.to_owned(), line, column, field, problem, suggestion }
    }
}
