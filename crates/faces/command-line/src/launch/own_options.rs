//! Sorts the arguments of the command line: options of `launch` may also come after the program.

use std::ffi::OsString;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Args, Command, FromArgMatches, Id};

use super::Options;
use crate::failure::Failure;

/// Takes the options of `launch`, and `--json`, from the arguments of the program.
pub(super) fn take(
    mut options: Options,
    arguments: Vec<String>,
    as_json: bool,
) -> Result<(Options, Vec<String>, bool), Failure> {
    let command = Options::augment_args(Command::new("maquette launch"));
    let takes_value = |argument: &str| {
        let name = argument.strip_prefix("--")?;
        let own = command.get_arguments().find(|own| own.get_long() == Some(name))?;
        Some(own.get_action().takes_values())
    };
    let (mut own, mut program, mut json) = (vec!["maquette launch".to_owned()], Vec::new(), as_json);
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        let name = argument.split_once('=').map_or(argument.as_str(), |(name, _)| name);
        match takes_value(name) {
            _ if argument == "--json" => json = true,
            None => program.push(argument),
            Some(takes) => {
                let value = if takes && name.len() == argument.len() { rest.next() } else { None };
                own.push(argument);
                own.extend(value);
            }
        }
    }
    if own.len() > 1 {
        let usage = |error| Failure::Usage(Box::new(error));
        let mut matches = command.try_get_matches_from(own).map_err(usage)?;
        // An option that is not among these arguments keeps its value from before the program.
        let left_out = |id: &&str| matches.value_source(id) != Some(ValueSource::CommandLine);
        let ids: Vec<String> = matches.ids().map(Id::as_str).filter(left_out).map(str::to_owned).collect();
        ids.iter().for_each(|id| drop(matches.try_clear_id(id)));
        options.update_from_arg_matches_mut(&mut matches).map_err(usage)?;
    }
    Ok((options, program, json))
}

/// The command to start on hosts: the one given, or the one by which this process was started, directly or by Python.
pub(super) fn command(given: Option<OsString>) -> Result<Vec<OsString>, Failure> {
    if let Some(given) = given {
        return Ok(vec![given]);
    }
    let unknown = || Failure::argument("--maquette", "nothing", "the path of the command `maquette`");
    let program = std::env::current_exe().map_err(|_| unknown())?;
    let is_python = program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    if !is_python {
        return Ok(vec![program.into_os_string()]);
    }
    let script = std::env::args_os().nth(1).filter(|script| Path::new(script).is_file());
    script.map(|script| vec![script]).ok_or_else(unknown)
}
