//! The configuration file of `maquette store serve`: its options by their names, in TOML.
//!
//! Fields are whatever options the parser of the command line knows, and it checks their values: an option is written
//! down once. What a file says is put into the command line, before what is given there, which wins.

mod written;

use std::any::TypeId;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, CommandFactory, Parser};
use formats::input;
use machines::text_error::{field_error, read_toml, unknown_field, unknown_value};
use quantities::{Bytes, shown};
use toml::{Table, Value};

use super::serve::Options;
use crate::CommandLine;
use crate::failure::Failure;
use crate::usage_error::allowed;

pub(super) use written::Arguments;
pub(crate) use written::schema;

/// The longest configuration that is read.
const LONGEST: Bytes = Bytes(1 << 20);

/// What a file says, as far as the command line does not say otherwise.
#[derive(Debug)]
pub(crate) struct Configuration {
    file: String,
    text: String,
    fields: Vec<Field>,
}

/// An option, and what the command line would say for it.
#[derive(Debug)]
struct Field {
    name: String,
    words: Vec<OsString>,
}

/// All options that a file may have.
fn options() -> Vec<Arg> {
    let mut command = Options::augment_args(Command::new("serve").disable_help_flag(true));
    command.build();
    command.get_arguments().filter(|option| option.get_long().is_some()).cloned().collect()
}

/// The name of an option.
fn name(option: &Arg) -> &str {
    option.get_long().unwrap_or_default()
}

/// Whether an option is either given or not, and has no value.
fn is_switch(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::SetTrue)
}

/// Whether an option can be given several times.
fn is_list(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Append)
}

/// Whether the values of an option are of this type.
fn is_of<T: 'static>(option: &Arg) -> bool {
    option.get_value_parser().type_id() == TypeId::of::<T>()
}

/// A command line, `line`, with the options of the configuration file that it names, and that file; nothing where it
/// names none.
///
/// # Errors
/// A file that can't be read, and a field that does not exist, has no such value, or does not go with the others.
pub(crate) fn configured(line: &[OsString]) -> Result<Option<(Vec<OsString>, Configuration)>, Failure> {
    if !line.iter().any(|word| word.to_string_lossy().starts_with("--config")) {
        return Ok(None);
    }
    // What is wrong with the line itself is reported by the one who reads all of it.
    let Ok(matches) = CommandLine::command().ignore_errors(true).try_get_matches_from(line) else { return Ok(None) };
    let given = matches.subcommand_matches("store").and_then(|store| store.subcommand_matches("serve"));
    let path = given.and_then(|given| Some((given, given.try_get_one::<PathBuf>("config").ok()??)));
    let Some((given, path)) = path else { return Ok(None) };
    let configuration = Configuration::read(path, given)?;
    match configuration.misfit(line) {
        Some(failure) => Err(failure),
        None => Ok(Some((configuration.line(line, None), configuration))),
    }
}

impl Configuration {
    /// The file `path`, without those of its options that are `given` otherwise.
    fn read(path: &Path, given: &ArgMatches) -> Result<Configuration, Failure> {
        let unreadable = |cause| Failure::Unreadable { path: path.to_owned(), cause };
        let text = input::read_text(path, LONGEST).map_err(unreadable)?;
        let file = path.display().to_string();
        let options = options();
        let mut fields = Vec::new();
        for (found, value) in read_toml::<Table>(&text, &file)? {
            let Some(option) = options.iter().find(|option| name(option) == found) else {
                let known = options.iter().map(|option| name(option).to_owned()).collect();
                return Err(unknown_field(&text, &file, &found, known).into());
            };
            let problem = |problem| field_error(&text, &file, &found, problem);
            let values = values(option, &value).map_err(problem)?;
            for value in &values {
                check(option, value).map_err(|wrong| match wrong {
                    Wrong::Name(known) => unknown_value(&text, &file, &found, &shown(value), known),
                    Wrong::Value(reason) => problem(reason),
                })?;
            }
            if given.value_source(option.get_id().as_str()) != Some(ValueSource::CommandLine) {
                fields.push(Field { words: words(option, &values), name: found });
            }
        }
        Ok(Configuration { file, text, fields })
    }

    /// The command `line` with all options of this file, except one of this name.
    fn line(&self, line: &[OsString], without: Option<&str>) -> Vec<OsString> {
        let fields = self.fields.iter().filter(|field| Some(field.name.as_str()) != without);
        let own = fields.flat_map(|field| field.words.clone());
        let at = line.iter().position(|word| word == "serve").map_or(line.len(), |at| at + 1);
        line[..at].iter().cloned().chain(own).chain(line[at..].iter().cloned()).collect()
    }

    /// The error of a field that does not go with the other options, here or on the command `line`: without it, they
    /// are in order.
    fn misfit(&self, line: &[OsString]) -> Option<Failure> {
        let error = CommandLine::try_parse_from(self.line(line, None)).err()?;
        let others = |kind| match error.get(kind) {
            Some(ContextValue::String(name)) => option_names(std::slice::from_ref(name)),
            Some(ContextValue::Strings(names)) => option_names(names),
            _ => String::new(),
        };
        let is_in_order = |name: &str| CommandLine::try_parse_from(self.line(line, Some(name))).is_ok();
        let field = self.fields.iter().find(|field| is_in_order(&field.name))?;
        let problem = match error.kind() {
            ErrorKind::MissingRequiredArgument => {
                format!("found without {}; allowed is both, or neither", others(ContextKind::InvalidArg))
            }
            ErrorKind::ArgumentConflict => {
                let (one, other) = (others(ContextKind::InvalidArg), others(ContextKind::PriorArg));
                let other = if one == format!("`{}`", field.name) { other } else { one };
                format!("found together with {other}; allowed is one of the two")
            }
            _ => return None,
        };
        Some(field_error(&self.text, &self.file, &field.name, problem).into())
    }

    /// The same failure, with the place of the option in this file if it is about one.
    pub(super) fn located(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Argument { argument, found, allowed } => {
                match self.fields.iter().find(|field| argument.strip_prefix("--") == Some(&field.name)) {
                    Some(Field { name, .. }) => {
                        let problem = format!("found {found}; allowed is {allowed}");
                        field_error(&self.text, &self.file, name, problem).into()
                    }
                    None => Failure::Argument { argument, found, allowed },
                }
            }
            other => other,
        }
    }
}

/// The names of options, without the names of their values.
fn option_names(options: &[String]) -> String {
    let name = |option: &String| {
        let name = option.split(' ').next().unwrap_or(option);
        format!("`{}`", name.trim_start_matches('-'))
    };
    options.iter().map(name).collect::<Vec<String>>().join(" and ")
}

/// What the command line would say for an option with these values.
fn words(option: &Arg, values: &[String]) -> Vec<OsString> {
    let name = name(option);
    if is_switch(option) {
        return values.iter().filter(|value| *value == "true").map(|_| format!("--{name}").into()).collect();
    }
    values.iter().map(|value| format!("--{name}={value}").into()).collect()
}

/// The values of an option in a file, as the command line would have them; otherwise what is wrong.
fn values(option: &Arg, value: &Value) -> Result<Vec<String>, String> {
    let scalar = |value: &Value| match value {
        Value::String(text) if !is_switch(option) => Some(text.clone()),
        Value::Integer(number) if !is_switch(option) && !is_of::<PathBuf>(option) => Some(number.to_string()),
        Value::Float(number) if !is_switch(option) && !is_of::<PathBuf>(option) => Some(number.to_string()),
        Value::Boolean(on) if is_switch(option) => Some(on.to_string()),
        _ => None,
    };
    let wrong = |value: &Value| format!("found {}; allowed is {}", kind(value), allowed_kind(option));
    match value {
        Value::Array(list) if is_list(option) => {
            list.iter().map(|value| scalar(value).ok_or_else(|| wrong(value))).collect()
        }
        value => Ok(vec![scalar(value).ok_or_else(|| wrong(value))?]),
    }
}

/// What a value of TOML is, in words.
fn kind(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", shown(text)),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(on) => on.to_string(),
        Value::Datetime(time) => time.to_string(),
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

/// What an option may be in a file.
fn allowed_kind(option: &Arg) -> &'static str {
    if is_switch(option) {
        "true or false"
    } else if is_list(option) {
        "a text in quotes, or a list of such"
    } else if is_of::<PathBuf>(option) {
        "a text in quotes"
    } else {
        "a number, or a text in quotes"
    }
}

/// Why a value is refused.
enum Wrong {
    /// It is none of these names.
    Name(Vec<String>),
    /// Anything else.
    Value(String),
}

/// Checks a value as the command line does.
fn check(option: &Arg, value: &str) -> Result<(), Wrong> {
    if is_switch(option) {
        return Ok(());
    }
    let alone = Arg::new("value").long("value").value_parser(option.get_value_parser().clone());
    let command = Command::new("value").no_binary_name(true).arg(alone);
    let Err(error) = command.try_get_matches_from([format!("--value={value}")]) else { return Ok(()) };
    let names: Vec<String> = option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !names.is_empty() {
        return Err(Wrong::Name(names));
    }
    let found = if value.is_empty() { "nothing".to_owned() } else { format!("`{}`", shown(value)) };
    let reason = match (allowed(&error), std::error::Error::source(&error)) {
        (Some(allowed), _) => format!("allowed is {allowed}"),
        (None, Some(reason)) => reason.to_string(),
        (None, None) => "allowed is a text that is not empty".to_owned(),
    };
    // Quantities quote what they can't read.
    Err(Wrong::Value(if reason.contains(&found) { reason } else { format!("found {found}; {reason}") }))
}

#[cfg(test)]
mod tests {
    use ::store::limits::limits;

    use super::{name, options};

    #[test]
    fn a_limit_that_an_option_sets_names_an_option_of_the_store() {
        let options = options();
        let set: Vec<&str> = limits().into_iter().filter_map(|limit| limit.option).collect();
        assert!(set.contains(&"--max-clients"), "{set:?}");
        for option in set {
            assert!(options.iter().any(|known| option == format!("--{}", name(known))), "{option}");
        }
    }
}
