//! The letters of the LogGP model in the JSON Schema, which otherwise has only the first name of a field.

use schemars::Schema;
use serde_json::{Value, json};

/// Each field and its letter.
const LETTERS: [(&str, &str); 6] = [
    ("latency", "L"),
    ("overhead", "o"),
    ("gap", "g"),
    ("gap_per_byte", "G"),
    ("overhead_per_byte", "O"),
    ("rendezvous", "S"),
];

/// Lets each letter stand for its field: one of the two where it is required, otherwise at most one.
pub(super) fn added(schema: &mut Schema) {
    let is_required = |schema: &Schema, field: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|name| name == field))
    };
    let mut rules = Vec::new();
    for (field, letter) in LETTERS {
        rules.push(match is_required(schema, field) {
            true => json!({"oneOf": [{"required": [field]}, {"required": [letter]}]}),
            false => json!({"not": {"required": [field, letter]}}),
        });
        if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut)
            && let Some(mut same) = fields.get(field).cloned()
        {
            same["description"] = json!(format!("A short name of `{field}`."));
            fields.insert(letter.to_owned(), same);
        }
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| LETTERS.iter().all(|(field, _)| name != field));
    }
    schema.insert("allOf".to_owned(), rules.into());
}
