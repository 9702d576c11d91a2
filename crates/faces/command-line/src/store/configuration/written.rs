//! All options of a store as they are written in a file: `maquette store config`, and the schema of such files.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use quantities::{Bytes, Duration};
use schemars::Schema;
use serde_json::{Map, Value, json};

use super::{is_list, is_of, is_switch, name, options};
use crate::failure::Failure;
use crate::store::serve::Options;
use crate::{CommandOutput, refuse_json};

/// Where comments are wrapped. [columns]
const WIDTH: usize = 100;

/// Print a configuration file for a store, with every option
///
/// Each option is explained, with its default. Those that are given are set in the file; the others stand there behind a
/// `#`, and have no effect until that is removed.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  maquette store config --data /var/lib/our-store --max-memory 1GiB > our.toml
  maquette store serve --config our.toml")]
pub(in crate::store) struct Arguments {
    #[command(flatten)]
    given: Given,
}

/// Options of `maquette store serve` as they were given, without their defaults.
#[derive(Debug)]
struct Given(Vec<(String, Vec<String>)>);

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        Options::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Options::augment_args_for_update(command)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given, clap::Error> {
        let mut given = Given(Vec::new());
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let of = |option: &Arg| {
            let id = option.get_id().as_str();
            let values = matches.get_raw(id).into_iter().flatten().map(|value| value.to_string_lossy().into_owned());
            let is_given = matches.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
            is_given.then(|| (name(option).to_owned(), values.collect()))
        };
        self.0 = options().iter().filter_map(of).collect();
        Ok(())
    }
}

impl Arguments {
    pub(in crate::store) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        refuse_json(json, "a file in TOML")?;
        let Given(given) = self.given;
        let mut text = comment(
            "The options of a store: `maquette store serve --config FILE` reads this file. An option behind a # has \
             no effect; what stands there is its default, or the kind of value that it takes. Options on the command \
             line win over those in this file. Relative paths begin in the folder in which the store is started.",
        );
        for option in options() {
            let value = given.iter().find(|(known, _)| known == name(&option)).map(|(_, values)| values);
            text.push('\n');
            text += &comment(&sentence(&option));
            for value in option.get_possible_values() {
                let about = value.get_help().map(|help| format!(": {help}"));
                let _ = writeln!(text, "# - {}{}", value.get_name(), about.unwrap_or_default());
            }
            let mark = if value.is_some() { "" } else { "#" };
            let _ = writeln!(text, "{mark}{} = {}", name(&option), in_toml(&option, value));
        }
        Ok(text.into())
    }
}

/// A text as lines of a comment.
fn comment(text: &str) -> String {
    let mut lines = vec!["#".to_owned()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("# {word}")),
        }
    }
    lines.join("\n") + "\n"
}

/// What an option is for; the parser of the command line takes away the last full stop.
fn sentence(option: &Arg) -> String {
    let help = option.get_long_help().or(option.get_help()).map(|help| help.to_string()).unwrap_or_default();
    if help.ends_with('.') { help } else { help + "." }
}

/// The defaults of an option.
fn defaults(option: &Arg) -> Vec<String> {
    option.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect()
}

/// The value of an option as TOML: what is `given`, else its default, else the name of its kind of value.
fn in_toml(option: &Arg, given: Option<&Vec<String>>) -> String {
    if is_switch(option) {
        return given.is_some().to_string();
    }
    let mut values = given.cloned().unwrap_or_else(|| defaults(option));
    if values.is_empty() {
        values = option.get_value_names().iter().flat_map(|names| names.iter()).map(|name| name.to_string()).collect();
    }
    let one = |value: &String| match value.parse::<i64>() {
        Ok(number) if !is_of::<PathBuf>(option) && number.to_string() == *value => value.clone(),
        _ => toml::Value::String(value.clone()).to_string(),
    };
    let values: Vec<String> = values.iter().map(one).collect();
    if is_list(option) { format!("[{}]", values.join(", ")) } else { values.concat() }
}

/// The schema of configuration files.
pub(crate) fn schema() -> Schema {
    let fields: Map<String, Value> =
        options().iter().map(|option| (name(option).to_owned(), Value::Object(field(option)))).collect();
    let mut schema = Schema::default();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!("Store"));
    let about = "The options of `maquette store serve`, by the names that they have on the command line, in a file in \
                 TOML. `--config FILE` reads it, and the command line wins over it; a switch that the file turns on \
                 stays on. `maquette store config` prints such a file with every option. Relative paths begin in the \
                 folder in which the store is started.\n\n\
                 ```toml\nbind = \"0.0.0.0\"\npassword-file = \"our.password\"\nmax-memory = \"1 GiB\"\nevict = true\n```";
    schema.insert("description".to_owned(), json!(about));
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(fields));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// An option as a field of that schema.
fn field(option: &Arg) -> Map<String, Value> {
    let mut field = Map::new();
    field.insert("description".to_owned(), json!(sentence(option)));
    let default = defaults(option).into_iter().next();
    let names = option.get_possible_values();
    let is_number = is_of::<u16>(option) || is_of::<u32>(option) || is_of::<u64>(option) || is_of::<usize>(option);
    if is_switch(option) {
        field.insert("type".to_owned(), json!("boolean"));
        field.insert("default".to_owned(), json!(false));
        return field;
    }
    if !names.is_empty() {
        let choice = |value: &clap::builder::PossibleValue| {
            let about = value.get_help().map(|help| help.to_string());
            json!({"const": value.get_name(), "description": about.unwrap_or_default()})
        };
        field.insert("oneOf".to_owned(), names.iter().map(choice).collect());
    } else if is_list(option) {
        field.insert("type".to_owned(), json!(["array", "string"]));
        field.insert("items".to_owned(), json!({"type": "string"}));
    } else if is_number {
        field.insert("type".to_owned(), json!("integer"));
        field.insert("minimum".to_owned(), json!(0));
        if is_of::<u16>(option) {
            field.insert("maximum".to_owned(), json!(u16::MAX));
        }
    } else if is_of::<PathBuf>(option) {
        field.insert("type".to_owned(), json!("string"));
    } else {
        field.insert("type".to_owned(), json!(["string", "number"]));
        let example = [(is_of::<Bytes>(option), "1 GiB"), (is_of::<Duration>(option), "1.5 s")];
        if let Some((_, example)) = example.iter().find(|(is_it, _)| *is_it) {
            field.insert("examples".to_owned(), json!([example]));
        }
    }
    if let Some(default) = default {
        let number = default.parse::<u64>().ok().filter(|_| is_number);
        field.insert("default".to_owned(), number.map_or_else(|| json!(default), |number| json!(number)));
    }
    field
}
