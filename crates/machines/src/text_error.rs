//! What is wrong in a text that people write, and where: the errors of the parsers of TOML and JSON, with line, column and field, and
//! in plainer words. Descriptions of machines and experiments are read with it.

mod json;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::description::example;
use crate::error::{Error, Origin, Problem};

/// The error that the TOML parser found in the `text` of `file`.
pub fn toml_error(text: &str, file: &str, error: &toml::de::Error) -> Error {
    let start = error.span().map(|span| span.start.min(text.len()));
    // What is missing in the whole is missing in none of its fields.
    let is_whole = error.span().is_some_and(|span| span.start == 0 && span.end >= text.trim_end().len());
    let field = start.filter(|_| !is_whole).map(|start| path_at(text, start)).unwrap_or_default();
    let problem = match (error.message(), error.span().and_then(|span| text.get(span))) {
        ("duplicate key", Some(key)) => Problem::Text(format!("`{key}` is there twice, and can be given only once")),
        (message, _) => problem(message),
    };
    located(file, start.map(|start| line_and_column(text, start)), field, problem)
}

/// The error that the JSON parser found in the `text` of `file`.
pub fn json_error(text: &str, file: &str, error: &serde_json::Error) -> Error {
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |parts| parts.0);
    let place = (error.line(), error.column());
    located(file, Some(place), json::path_at(text, place), problem(message))
}

/// The error that a field of the `text` of `file` has this `problem`: at its line and column, or at those of the innermost table around it that
/// is there, if the text is TOML.
pub fn field_error(text: &str, file: &str, field: &str, problem: String) -> Error {
    let at = place_of(text, field).map(|byte| line_and_column(text, byte));
    located(file, at, field.to_owned(), Problem::Text(problem))
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
    let field = match &problem {
        // The mistyped name itself is no field; the table around it is.
        Problem::UnknownName { what: "field", found, .. } => {
            field.strip_suffix(found.as_str()).unwrap_or(&field).trim_end_matches('.').to_string()
        }
        _ => field,
    };
    Error::Description { origin: Origin::File { file: file.to_string(), at }, field, problem: Box::new(problem) }
}

/// What a parser complains about, reworded where a name is wrong.
pub(crate) fn problem(message: &str) -> Problem {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let unknown = |what| Problem::UnknownName {
        what,
        found: quoted[0].to_string(),
        known: quoted[1..].iter().map(|name| name.to_string()).collect(),
        elsewhere: Vec::new(),
    };
    if message.starts_with("unknown field") && quoted.len() > 1 {
        return unknown("field");
    }
    if message.starts_with("unknown variant") && quoted.len() > 1 {
        return unknown("value");
    }
    if message.starts_with("missing field") && !quoted.is_empty() {
        return Problem::Missing { missing: format!("`{}`", quoted[0]) };
    }
    if message.starts_with("duplicate field") && !quoted.is_empty() {
        return Problem::Twice { field: quoted[0].to_string(), same_as: None };
    }
    Problem::Text(reworded(message.trim_end().replace('\n', "; ")))
}

/// The parsers' names for the types of fields, and plainer ones.
const EXPECTED: &[(&str, &str)] = &[
    ("` as i128", "`"),
    ("invalid type: sequence", "invalid type: list"),
    ("invalid type: map", "invalid type: table"),
    ("expected u16", "expected a whole number from 0 to 65535"),
    ("expected u32", "expected a whole number from 0 to 4294967295"),
    ("expected u64", "expected a whole number from 0 on"),
    ("expected f64", "expected a number, such as 0.5"),
    ("expected f32", "expected a number, such as 1.5"),
    ("expected a sequence", "expected a list, in brackets"),
    ("expected a boolean", "expected true or false"),
    ("wanted string or table", "found no name; allowed is one in quotes"),
    ("wanted exactly 1 element, more than 1 element", "found more than one field; allowed is exactly one"),
    ("wanted exactly 1 element, found 0 elements", "found no field; allowed is exactly one"),
];

fn reworded(message: String) -> String {
    let message = EXPECTED.iter().fold(message, |message, (theirs, ours)| message.replace(theirs, ours));
    match message.split_once("expected struct ") {
        Some((before, name)) => {
            let example = example(name).map(|example| format!(", such as {example}")).unwrap_or_default();
            format!("{before}expected a table of fields{example}")
        }
        None => message,
    }
}

/// Line and column, from 1, of a byte of the text.
pub(crate) fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The path of the innermost field at this byte of the text.
fn path_at(text: &str, byte: usize) -> String {
    let Ok(document) = DeTable::parse(text) else {
        return String::new();
    };
    let mut path: Vec<String> = Vec::new();
    let mut table = document.get_ref();
    'deeper: loop {
        for (key, value) in table {
            if key.span().contains(&byte) {
                path.push(key.get_ref().to_string());
                break 'deeper;
            }
            let Some((index, inner)) = around(value, byte) else {
                continue;
            };
            path.push(index.map_or(key.get_ref().to_string(), |index| format!("{}[{index}]", key.get_ref())));
            match inner.get_ref() {
                DeValue::Table(inner) => {
                    table = inner;
                    continue 'deeper;
                }
                _ => break 'deeper,
            }
        }
        break;
    }
    path.join(".")
}

/// The value, or the item of the list, that contains the byte. The span of a table is only its heading, so what is written below it
/// counts as well.
fn around<'a, 'i>(value: &'a Spanned<DeValue<'i>>, byte: usize) -> Option<(Option<usize>, &'a Spanned<DeValue<'i>>)> {
    if let DeValue::Array(list) = value.get_ref() {
        let item = list.iter().enumerate().find(|(_, item)| holds(item, byte));
        if let Some((index, item)) = item {
            return Some((Some(index), item));
        }
    }
    holds(value, byte).then_some((None, value))
}

fn holds(value: &Spanned<DeValue<'_>>, byte: usize) -> bool {
    if value.span().contains(&byte) {
        return true;
    }
    match value.get_ref() {
        DeValue::Table(table) => table.iter().any(|(key, value)| key.span().contains(&byte) || holds(value, byte)),
        DeValue::Array(list) => list.iter().any(|item| holds(item, byte)),
        _ => false,
    }
}
