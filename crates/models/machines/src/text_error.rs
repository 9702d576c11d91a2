//! Texts that people write, read so that an error says what is wrong and where: with line, column and field, and in
//! plainer words than those of the parsers of TOML and JSON. Descriptions of machines and experiments are read with it.

use quantities::reading::{Misread, Mistake, read, without_place};
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use crate::description::example;
use crate::error::{Error, Origin, Problem};

/// Reads the TOML `text` of `file`.
///
/// # Errors
/// What is wrong in it, and where.
pub fn read_toml<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, Error> {
    let parsed = toml::Deserializer::parse(text).map_err(Misread::unparsed);
    parsed.and_then(read).map_err(|Misread { field, mistake, cause }| {
        let problem = match (cause.message(), cause.span().and_then(|span| text.get(span))) {
            ("duplicate key", Some(key)) => {
                Problem::Text(format!("`{key}` is there twice, and can be given only once"))
            }
            (message, _) => problem(mistake, message),
        };
        located(file, cause.span().map(|span| line_and_column(text, span.start.min(text.len()))), field, problem)
    })
}

/// Reads the JSON `text` of `file`.
///
/// # Errors
/// What is wrong in it, and where.
pub fn read_json<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, Error> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = read(&mut parser).and_then(|value| parser.end().map(|()| value).map_err(Misread::unparsed));
    value.map_err(|Misread { field, mistake, cause }| {
        let place = (cause.line(), cause.column());
        located(file, Some(place), field, problem(mistake, without_place(&cause.to_string(), place)))
    })
}

/// The error that a field of the `text` of `file` has this `problem`: at its line and column, or at those of the
/// innermost table around it that is there, if the text is TOML.
pub fn field_error(text: &str, file: &str, field: &str, problem: String) -> Error {
    let at = place_of(text, field).map(|byte| line_and_column(text, byte));
    located(file, at, field.to_owned(), Problem::Text(problem))
}

/// The error that the TOML `text` of `file` has a field `found` at its top, where there are only those that are `known`.
pub fn unknown_field(text: &str, file: &str, found: &str, known: Vec<String>) -> Error {
    let at = place_of(text, found).map(|byte| line_and_column(text, byte));
    located(file, at, String::new(), unknown("field", found.to_owned(), known))
}

/// The error that a field of the `text` of `file` is `found` to be none of the names that are `known`, placed as by
/// [`field_error`].
pub fn unknown_value(text: &str, file: &str, field: &str, found: &str, known: Vec<String>) -> Error {
    let at = place_of(text, field).map(|byte| line_and_column(text, byte));
    located(file, at, field.to_owned(), unknown("value", found.to_owned(), known))
}

fn unknown(what: &'static str, found: String, known: Vec<String>) -> Problem {
    Problem::UnknownName { what, found, known, elsewhere: Vec::new() }
}

/// Where the field with this path is written in a TOML text, or as much of the path as there is.
fn place_of(text: &str, path: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = Some(document.get_ref());
    let mut at = None;
    for part in path.split('.') {
        let (key, index) = match part.strip_suffix(']').and_then(|part| part.split_once('[')) {
            Some((key, index)) => (key, index.parse::<usize>().ok()),
            None => (part, None),
        };
        let Some((name, mut value)) = table.and_then(|table| table.iter().find(|(name, _)| name.get_ref() == key))
        else {
            break;
        };
        if let (DeValue::Array(list), Some(index)) = (value.get_ref(), index) {
            let Some(item) = list.get(index) else { break };
            (value, at) = (item, Some(item.span().start));
        } else {
            at = Some(name.span().start);
        }
        table = match value.get_ref() {
            DeValue::Table(inner) => Some(inner),
            _ => None,
        };
    }
    at
}

fn located(file: &str, at: Option<(usize, usize)>, field: String, problem: Problem) -> Error {
    Error::Description { origin: Origin::File { file: file.to_string(), at }, field, problem: Box::new(problem) }
}

/// What is wrong, for which the parser has this `message`.
pub(crate) fn problem(mistake: Option<Mistake>, message: &str) -> Problem {
    let names = |known: &[&str]| known.iter().map(|name| name.to_string()).collect();
    match mistake {
        Some(Mistake::UnknownField { found, known }) if !known.is_empty() => unknown("field", found, names(known)),
        Some(Mistake::UnknownValue { found, known }) => unknown("value", found, names(known)),
        Some(Mistake::Missing(field)) => Problem::Missing { missing: format!("`{field}`") },
        Some(Mistake::Twice(field)) => Problem::Twice { field: field.to_string(), same_as: None },
        Some(mistake @ (Mistake::UnknownField { .. } | Mistake::Unexpected { .. })) => {
            let example = mistake.table().and_then(example).map(|example| format!(", such as {example}"));
            Problem::Text(format!("{mistake}{}", example.unwrap_or_default()))
        }
        None => Problem::Text(in_words(message.trim_end()).replace('\n', "; ")),
    }
}

/// What the parser of TOML says of names, in plainer words.
fn in_words(message: &str) -> &str {
    match message {
        "wanted string or table" => "found no name; allowed is one in quotes",
        "wanted exactly 1 element, more than 1 element" => "found more than one field; allowed is exactly one",
        "wanted exactly 1 element, found 0 elements" => "found no field; allowed is exactly one",
        other => other,
    }
}

/// Line and column, from 1, of a byte of the text.
pub(crate) fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
