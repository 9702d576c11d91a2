//! The JSON Schemas of user-written files, for editors to complete and check them; and the same as a readable page.

use machines::description::fields::Fields;
use schemars::{Schema, schema_for};
use serde_json::Value;

use crate::Experiment;

/// The schema of experiments.
pub fn experiment() -> Schema {
    schema_for!(Experiment)
}

/// The schema of descriptions of machines.
pub fn machine() -> Schema {
    schema_for!(Fields)
}

/// A page with every field of a schema: its type, its default, and its purpose.
pub fn reference(title: &str, schema: &Schema) -> String {
    let value = schema.as_value();
    let mut page = format!("# {title}\n\n{}\n", text(value));
    table(&mut page, "The whole", value);
    let definitions = value.get("$defs").and_then(Value::as_object);
    for (name, definition) in definitions.into_iter().flatten() {
        page += &format!("\n## {name}\n\n{}\n", text(definition));
        table(&mut page, name, definition);
    }
    page
}

/// The fields of an object, or the alternatives of a choice; empty for anything else.
fn table(page: &mut String, name: &str, schema: &Value) {
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let rules = schema.get("allOf").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        *page += "\n| field | allowed values | default | meaning |\n|---|---|---|---|\n";
        for (field, schema) in fields {
            let usual = match (schema.get("default"), other_name(rules, field)) {
                _ if required.contains(&field.as_str()) => "required".to_owned(),
                (_, Some(other)) => format!("required, this or `{other}`"),
                (None | Some(Value::Null), _) => String::new(),
                (Some(Value::String(usual)), _) => format!("`{usual}`"),
                (Some(Value::Object(_) | Value::Array(_)), _) => "as each of its fields".to_owned(),
                (Some(usual), _) => format!("`{usual}`"),
            };
            *page += &format!("| `{field}` | {} | {usual} | {} |\n", kind(schema), cell(&text(schema)));
        }
    }
    let choices = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)).and_then(Value::as_array);
    if let Some(choices) = choices {
        *page += &format!("\n{name} is one of these.\n\n| value | meaning |\n|---|---|\n");
        for choice in choices {
            *page += &format!("| {} | {} |\n", kind(choice), cell(&text(choice)));
        }
    }
}

/// The name that may stand for `field`, where one of the two is required.
fn other_name<'a>(rules: &'a [Value], field: &str) -> Option<&'a str> {
    rules.iter().find_map(|rule| {
        let either = rule.get("oneOf")?.as_array()?;
        let names: Vec<&str> = either.iter().filter_map(|one| one.get("required")?.get(0)?.as_str()).collect();
        names.contains(&field).then(|| names.into_iter().find(|name| *name != field))?
    })
}

/// The description in a schema.
fn text(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// The type of a field.
fn kind(schema: &Value) -> String {
    let named = |reference: &str| {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        format!("[{name}](#{})", name.to_lowercase())
    };
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return named(reference);
    }
    if let Some(value) = schema.get("const") {
        return format!("`{}`", value.as_str().unwrap_or_default());
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let names: Vec<String> = properties.iter().map(|(name, inner)| format!("`{name}` = {}", kind(inner))).collect();
        return names.join(", ");
    }
    if let Some(choices) = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)).and_then(Value::as_array) {
        let kinds = choices.iter().filter(|choice| choice.get("type").is_none_or(|kind| kind != "null")).map(kind);
        return kinds.collect::<Vec<String>>().join(", ");
    }
    if let Some(example) = schema.get("examples").and_then(|examples| examples.get(0)).and_then(Value::as_str) {
        return format!("such as `{example}`");
    }
    let words = |kind: &str| match kind {
        "integer" => format!("a whole number{}", range(schema)),
        "number" => format!("a number{}", range(schema)),
        "boolean" => "`true` or `false`".to_owned(),
        "array" => format!("a list of {}", schema.get("items").map(self::kind).unwrap_or_default()),
        "object" => "a table".to_owned(),
        _ => "a text".to_owned(),
    };
    match schema.get("type") {
        Some(Value::String(kind)) => words(kind),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").map(words).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn range(schema: &Value) -> String {
    let bound = |key: &str| schema.get(key).filter(|bound| **bound != 0);
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" from {least} on"),
        (None, Some(most)) => format!(" up to {most}"),
        (None, None) => String::new(),
    }
}
