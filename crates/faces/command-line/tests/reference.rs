//! The pages in `docs` generated from the types are up to date, and the existing files follow the schemas.

#[allow(dead_code)] // other tests also signal processes and wait for what they do
mod processes;

use std::fs;
use std::path::{Path, PathBuf};

use experiment::{Experiment, schema};
use processes::{maquette, output};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A page that differs from the output of `maquette schema` is rewritten, and the test then fails.
fn is_current(name: &str, page: &str) {
    let path = root().join("docs").join(name);
    let found = fs::read_to_string(&path).unwrap_or_default();
    if found != page {
        fs::write(&path, page).unwrap();
        panic!("docs/{name} was not that of this version; it is now: commit it");
    }
}

#[test]
fn the_pages_with_all_fields_are_of_this_version() {
    is_current("EXPERIMENT.md", &schema::reference("The fields of an experiment", &schema::experiment()));
    is_current("MACHINE.md", &schema::reference("The fields of a description of a machine", &schema::machine()));
}

#[test]
fn the_page_with_all_options_of_a_store_is_of_this_version() {
    let printed = output(&mut maquette(&["schema", "store", "--markdown"]));
    is_current("STORE.md", &String::from_utf8(printed.stdout).unwrap());
}

#[test]
fn every_field_of_every_schema_says_what_it_is() {
    for (of, schema) in [("experiment", schema::experiment()), ("machine", schema::machine())] {
        let mut silent = Vec::new();
        fields(schema.as_value(), &mut |name, field| {
            if field.get("description").is_none() && field.get("$ref").is_none() {
                silent.push(name.to_owned());
            }
        });
        assert!(silent.is_empty(), "{of}: nothing is reported about {silent:?}");
    }
}

#[test]
fn every_field_of_an_experiment_is_required_or_says_what_it_is_when_left_out() {
    let schema = schema::experiment();
    let mut silent = Vec::new();
    let mut check = |object: &Value| {
        let required: Vec<&Value> = object.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        fields(object, &mut |name, field| {
            let text = field.get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
            let is_said = field.get("default").is_some() || text.to_lowercase().contains("left out");
            if !is_said && !required.iter().any(|required| *required == name) {
                silent.push(name.to_owned());
            }
        });
    };
    let Value::Object(mut top) = schema.as_value().clone() else { panic!("no object") };
    let definitions = top.remove("$defs").unwrap();
    check(&Value::Object(top));
    definitions.as_object().unwrap().values().for_each(&mut check);
    assert!(silent.is_empty(), "nothing is said about {silent:?} when left out");
}

#[test]
fn no_text_of_a_schema_has_the_marks_of_rustdoc() {
    for schema in [schema::experiment(), schema::machine()] {
        let text = schema.as_value().to_string();
        let marks: Vec<&str> = ["[`", "::", "`]"].into_iter().filter(|mark| text.contains(mark)).collect();
        assert!(marks.is_empty(), "{marks:?}");
    }
}

/// All fields of all objects of a schema.
fn fields(schema: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        // A choice of programs is an object with one field, which is its name.
        let is_choice = properties.len() == 1 && schema.get("additionalProperties").is_some();
        for (name, field) in properties.iter().filter(|_| !is_choice) {
            visit(name, field);
        }
    }
    if let Some(definitions) = schema.get("$defs").and_then(Value::as_object) {
        definitions.values().for_each(|definition| fields(definition, visit));
    }
}

#[test]
fn an_experiment_that_is_written_is_the_same_when_it_is_read() {
    let written = Experiment::read(&root().join("examples/two-jobs.toml")).unwrap();
    let again: Experiment = toml::from_str(&written.to_toml().unwrap()).unwrap();
    assert_eq!(serde_json::to_value(&written).unwrap(), serde_json::to_value(&again).unwrap());
}
