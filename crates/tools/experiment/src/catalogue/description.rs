//! What a program is, and what it can be told, as its type says it.

use quantities::reading::fields_of;
use schemars::Schema;
use serde_json::{Map, Value, json};

use super::Entry;
use crate::Error;

/// What a program is, and what it can be told.
#[derive(Clone, Debug)]
pub struct Description {
    /// Its name.
    pub name: &'static str,
    /// What it does, in paragraphs; the first is a line.
    pub about: String,
    /// What more there is to say of it, and command lines that run it.
    pub examples: &'static str,
    /// Whether it can run in the postal model in place of a machine.
    pub in_postal_model: bool,
    /// Whether it runs on any number of ranks, and does not say itself how many it has.
    pub any_ranks: bool,
    /// The machine, where it has a usual one.
    pub default_machine: Option<&'static str>,
    /// What it can be told.
    pub parameters: Vec<Parameter>,
    check: fn(Map<String, Value>) -> Result<(), String>,
}

/// What a program can be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name: `most_iterations`.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// What is allowed.
    pub kind: Kind,
    /// What stands for its value in the usage of a command.
    pub value_name: String,
    /// What it is if left out, where that is one value.
    pub default: Option<String>,
    /// Whether it has to be there: it is the program's file.
    pub is_file: bool,
    /// Whether its value is the path of a file that the program reads.
    pub is_path: bool,
    /// Other parameters of which only one can be given.
    pub instead_of: Vec<String>,
}

/// What is allowed.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// It is there or not.
    Flag,
    /// A whole number.
    Whole {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// One of a few names, each with what it means.
    Names(Vec<(String, String)>),
    /// Several of a few names.
    List(Vec<(String, String)>),
    /// A text that its type reads.
    Text,
}

impl Description {
    /// That of a program.
    pub(super) fn of<E: Entry>() -> Description {
        let schema: Schema = schemars::generate::SchemaSettings::draft2020_12()
            .with(|settings| settings.inline_subschemas = true)
            .into_generator()
            .into_root_schema_for::<E>();
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut parameters: Vec<Parameter> =
            properties.into_iter().flatten().map(|(name, schema)| Parameter::of(name, schema)).collect();
        // Schemas are sorted; the order of the help is that of the declaration.
        let order = fields_of::<E>();
        parameters.sort_by_key(|parameter| order.iter().position(|&name| name == parameter.name));
        Description {
            name: E::NAME,
            about: about.to_owned(),
            examples: E::EXAMPLES,
            in_postal_model: E::is_in_postal_model(),
            any_ranks: E::ANY_RANKS,
            default_machine: E::DEFAULT_MACHINE,
            parameters,
            check: |parameters| {
                serde_json::from_value::<E>(Value::Object(parameters)).map(drop).map_err(|error| error.to_string())
            },
        }
    }

    /// Whether it has a parameter of that name.
    pub fn has(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name)
    }

    /// That it has a parameter of that name, which may have that value.
    ///
    /// # Errors
    /// The parameters that it has; what is wrong with the value.
    pub fn check(&self, parameter: &str, value: &Value) -> Result<(), Error> {
        if !self.has(parameter) {
            let known = self.parameters.iter().map(|parameter| parameter.name.clone()).collect();
            return Err(Error::UnknownParameter { program: self.name, found: parameter.to_owned(), known });
        }
        let wrong = |problem| Error::Value { parameter: parameter.to_owned(), problem };
        self.check_alone(parameter, value).map_err(wrong)
    }

    /// That a parameter may have that value, whatever the others have.
    fn check_alone(&self, parameter: &str, value: &Value) -> Result<(), String> {
        // A program's file has to be there.
        let files = self.parameters.iter().filter(|parameter| parameter.is_file);
        let mut parameters: Map<String, Value> = files.map(|file| (file.name.clone(), json!(""))).collect();
        parameters.insert(parameter.to_owned(), value.clone());
        (self.check)(parameters)
    }

    /// The value of a parameter that a person has written as `text`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn value(&self, parameter: &Parameter, text: &str) -> Result<Value, String> {
        let value = parameter.kind.value(text)?;
        self.check_alone(&parameter.name, &value)?;
        Ok(value)
    }
}

impl Parameter {
    fn of(name: &str, schema: &Value) -> Parameter {
        let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
        let default = match schema.get("default") {
            None | Some(Value::Null | Value::Bool(_) | Value::Array(_)) => None,
            Some(Value::String(text)) => Some(text.replace(' ', "")).filter(|text| !text.is_empty()),
            Some(other) => Some(other.to_string()),
        };
        let kind = Kind::of(schema);
        let usual = match &kind {
            Kind::Whole { .. } => "N",
            Kind::Names(_) | Kind::List(_) => "NAME",
            Kind::Flag | Kind::Text => "VALUE",
        };
        let value_name = found(schema, "x-value").and_then(Value::as_str).unwrap_or(usual).to_owned();
        let instead_of = schema.get("x-instead-of").and_then(Value::as_str).into_iter().map(str::to_owned).collect();
        let is_file = schema.get("x-file").is_some();
        let is_path = found(schema, "x-path").is_some();
        let about = text("description").unwrap_or_default();
        Parameter { name: name.to_owned(), about, kind, value_name, default, is_file, is_path, instead_of }
    }
}

impl Kind {
    fn of(schema: &Value) -> Kind {
        if let Some(names) = found(schema, "oneOf").and_then(Value::as_array) {
            return Kind::Names(names.iter().map(named).collect());
        }
        let kind = |name: &str| match found(schema, "type") {
            Some(Value::String(kind)) => kind == name,
            Some(Value::Array(kinds)) => kinds.iter().all(|kind| kind == name || kind == "null"),
            _ => false,
        };
        if kind("boolean") {
            return Kind::Flag;
        }
        if kind("array") {
            let items = schema.get("items").and_then(|items| found(items, "oneOf")).and_then(Value::as_array);
            return Kind::List(items.into_iter().flatten().map(named).collect());
        }
        if kind("integer") {
            let bound = |key| found(schema, key).and_then(Value::as_u64);
            let most = match schema.get("format").and_then(Value::as_str) {
                Some("uint16") => u64::from(u16::MAX),
                Some("uint32") => u64::from(u32::MAX),
                _ => u64::MAX,
            };
            return Kind::Whole { least: bound("minimum").unwrap_or(0), most: bound("maximum").unwrap_or(most) };
        }
        Kind::Text
    }

    fn value(&self, text: &str) -> Result<Value, String> {
        match self {
            Kind::Flag => Ok(json!(true)),
            Kind::Whole { least, most } => {
                let allowed = || format!("allowed is a whole number from {least} to {most}");
                let number: u64 = text.parse().map_err(|_| allowed())?;
                if (*least..=*most).contains(&number) { Ok(json!(number)) } else { Err(allowed()) }
            }
            Kind::List(_) => Ok(text.split(',').map(|item| json!(item)).collect()),
            Kind::Names(_) | Kind::Text => Ok(json!(text)),
        }
    }
}

/// What a schema, or the one of a value that may be left out, says.
fn found<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let inner = || schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    schema.get(key).or_else(|| inner().find_map(|inner| inner.get(key)))
}

fn named(value: &Value) -> (String, String) {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    (text("const"), text("description").trim_end_matches('.').to_owned())
}
