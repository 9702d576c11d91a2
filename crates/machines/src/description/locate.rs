//! Locates errors in the text of a description.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{names, settings};
use crate::error::{Error, Origin, Problem};

/// Turns an error of the TOML parser into one of this crate, with file, line, column and field.
pub(super) fn error(text: &str, file: &str, error: &toml::de::Error) -> Error {
    let start = error.span().map(|span| span.start.min(text.len()));
    let mut field = start.map(|start| path_at(text, start)).unwrap_or_default();
    let mut problem = match (error.message(), error.span().and_then(|span| text.get(span))) {
        ("duplicate key", Some(key)) => Problem::Text(format!("`{key}` is there twice, and can be given only once")),
        (message, _) => problem(message),
    };
    if let Problem::UnknownName { what: "field", found, elsewhere, .. } = &mut problem {
        // The mistyped name itself is no field; the table around it is.
        let outer = field.strip_suffix(found.as_str()).unwrap_or(&field);
        field = outer.trim_end_matches('.').to_string();
        *elsewhere = names::most_likely(&field, std::mem::take(elsewhere));
    }
    let at = start.map(|start| line_and_column(text, start));
    Error::Description { origin: Origin::File { file: file.to_string(), at }, field, problem: Box::new(problem) }
}

/// What the TOML parser complains about, reworded where a name is wrong.
pub(super) fn problem(message: &str) -> Problem {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let unknown = |what| Problem::UnknownName {
        what,
        found: quoted[0].to_string(),
        known: quoted[1..].iter().map(|name| name.to_string()).collect(),
        elsewhere: if what == "field" { names::places(quoted[0]) } else { Vec::new() },
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
        let letter = settings::replacement_for(quoted[0]).map(|other| format!(", `{other}` being the same field"));
        return Problem::Text(format!("`{}` is given twice{}", quoted[0], letter.unwrap_or_default()));
    }
    Problem::Text(reworded(message.trim_end().replace('\n', "; ")))
}

/// The TOML parser's names for the types of fields, and plainer ones.
const EXPECTED: &[(&str, &str)] = &[
    ("` as i128", "`"),
    ("invalid type: sequence", "invalid type: list"),
    ("invalid type: map", "invalid type: table"),
    ("expected u32", "expected a whole number from 0 to 4294967295"),
    ("expected f64", "expected a number, such as 0.5"),
    ("expected f32", "expected a number, such as 1.5"),
    ("expected a sequence", "expected a list, in brackets"),
    ("expected a boolean", "expected true or false"),
];

fn reworded(message: String) -> String {
    let message = EXPECTED.iter().fold(message, |message, (theirs, ours)| message.replace(theirs, ours));
    match message.split_once("expected struct ") {
        Some((before, name)) => {
            let example = names::example(name).map(|example| format!(", such as {example}")).unwrap_or_default();
            format!("{before}expected a table of fields{example}")
        }
        None => message,
    }
}

/// Line and column, from 1, of a byte of the text.
fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
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
