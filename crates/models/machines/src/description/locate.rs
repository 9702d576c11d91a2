//! Locates errors in the text of a description.

use std::ops::Range;

use quantities::reading::Misread;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{names, settings};
use crate::error::{Error, Problem};
use crate::text_error::{self, line_and_column};

/// Reads the `text` of `file`, with the file, line, column and field of what is wrong in it.
pub(super) fn read<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, Error> {
    text_error::read_toml(text, file).map_err(|error| match error {
        Error::Description { origin, field, problem } => {
            let mut problem = with_other_names(*problem);
            if let Problem::UnknownName { what: "field", elsewhere, .. } = &mut problem {
                *elsewhere = names::most_likely(&field, std::mem::take(elsewhere));
            }
            Error::Description { origin, field, problem: Box::new(problem) }
        }
        other => other,
    })
}

/// What is wrong with a description that is no text.
pub(super) fn problem(misread: Misread<toml::de::Error>) -> Problem {
    with_other_names(text_error::problem(misread.mistake, misread.cause.message()))
}

/// A problem, with the other names that only a description has for it: tables with a field of this name, a letter that
/// stands for it.
fn with_other_names(problem: Problem) -> Problem {
    match problem {
        Problem::UnknownName { what: "field", found, known, .. } => {
            let elsewhere = names::places(&found);
            Problem::UnknownName { what: "field", found, known, elsewhere }
        }
        Problem::Twice { field, .. } => {
            let same_as = settings::replacement_for(&field).map(str::to_string);
            Problem::Twice { field, same_as }
        }
        other => other,
    }
}

/// The position of the value of the field at this path, or of the nearest table around it.
pub(super) fn field(text: &str, path: &str) -> Option<(usize, usize)> {
    if path.is_empty() {
        return None;
    }
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut found: Option<Range<usize>> = None;
    for part in path.split('.') {
        // `links[3]` is the fourth item of a list of tables.
        let (name, index) = part.split_once('[').map_or((part, None), |(name, rest)| (name, rest.strip_suffix(']')));
        let Some((_, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else {
            break;
        };
        let Some(value) = within(value, index) else {
            break;
        };
        found = Some(value.span());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    found.map(|span| line_and_column(text, span.start))
}

fn within<'a, 'i>(value: &'a Spanned<DeValue<'i>>, index: Option<&str>) -> Option<&'a Spanned<DeValue<'i>>> {
    match (value.get_ref(), index) {
        (DeValue::Array(list), Some(index)) => list.get(index.parse::<usize>().ok()?),
        _ => Some(value),
    }
}
