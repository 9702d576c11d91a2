//! What the parser of command lines says of numbers and addresses, in the words of all other errors: what was found,
//! and what is allowed.

use std::error::Error;
use std::ffi::OsString;
use std::net::AddrParseError;
use std::num::{IntErrorKind, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::failure::Failure;
use crate::quantity::OutOfRange;

/// The error of a command line, if it is about a number or an address.
pub(super) fn about_a_value(error: &clap::Error, line: &[OsString]) -> Option<Failure> {
    let context = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let argument = context(ContextKind::InvalidArg)?;
    match error.kind() {
        // A negative number looks like an option.
        ErrorKind::UnknownArgument if argument.parse::<f64>().is_ok() => {
            let place = line.iter().position(|given| given == argument)?;
            let option = line.get(place.checked_sub(1)?)?.to_str().filter(|option| option.starts_with("--"))?;
            Some(Failure::argument(option, argument, "no negative number"))
        }
        ErrorKind::ValueValidation => {
            let allowed = allowed(error)?;
            let name = argument.split(' ').next().unwrap_or(argument).trim_matches(['[', ']', '<', '>']);
            Some(Failure::argument(name, context(ContextKind::InvalidValue)?, allowed))
        }
        _ => None,
    }
}

/// What is allowed where a value is refused, if it was to be a number or an address.
pub(super) fn allowed(error: &clap::Error) -> Option<String> {
    let problem = error.source()?;
    if problem.is::<AddrParseError>() {
        return Some("an IP address, such as 127.0.0.1".to_string());
    }
    if let Some(OutOfRange { first, last }) = problem.downcast_ref() {
        return Some(format!("{first} to {last}"));
    }
    Some(match problem.downcast_ref::<ParseIntError>()?.kind() {
        IntErrorKind::Zero => "a whole number, 1 or larger".to_string(),
        IntErrorKind::PosOverflow => "a smaller number".to_string(),
        _ => "a whole number, 0 or larger".to_string(),
    })
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;
    use std::ffi::OsString;

    use clap::{Command, CommandFactory, Parser};

    use super::about_a_value;
    use crate::CommandLine;

    /// A number without a range of ours would be reported in the words of the parser.
    #[test]
    fn every_option_that_is_a_number_says_which_are_allowed() {
        let mut command = CommandLine::command();
        command.build();
        let mut options = 0;
        check(&command, &mut vec!["maquette".into()], &mut options);
        assert!(options > 20, "{options}");
    }

    fn check(command: &Command, words: &mut Vec<OsString>, options: &mut usize) {
        let numbers = [TypeId::of::<u8>(), TypeId::of::<u16>(), TypeId::of::<u32>()];
        for argument in command.get_arguments() {
            let kind = argument.get_value_parser().type_id();
            let (Some(name), true) = (argument.get_long(), numbers.iter().any(|number| kind == *number)) else {
                continue;
            };
            let mut line = words.clone();
            line.extend([format!("--{name}").into(), "5000000000".into()]);
            let error = CommandLine::try_parse_from(&line).expect_err(name);
            assert!(about_a_value(&error, &line).is_some(), "{line:?}: {error}");
            *options += 1;
        }
        for below in command.get_subcommands() {
            words.push(below.get_name().into());
            check(below, words, options);
            words.pop();
        }
    }
}
