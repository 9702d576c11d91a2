//! What the parser of command lines says of numbers, in the words of all other errors: what was found, and what is allowed.

use std::error::Error;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::failure::Failure;

/// The error of a command line, if it is about a number.
pub(super) fn about_a_number(error: &clap::Error, line: &[OsString]) -> Option<Failure> {
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
            let allowed = allowed_by(error.source()?)?;
            let name = argument.split(' ').next().unwrap_or(argument).trim_matches(['[', ']', '<', '>']);
            Some(Failure::argument(name, context(ContextKind::InvalidValue)?, allowed))
        }
        _ => None,
    }
}

/// What is allowed where a number can't be read because of `problem`.
fn allowed_by(problem: &(dyn Error + 'static)) -> Option<String> {
    match problem.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
        Some(IntErrorKind::Zero) => Some("a whole number, 1 or larger".to_string()),
        Some(IntErrorKind::PosOverflow) => Some("a smaller number".to_string()),
        Some(_) => Some("a whole number, 0 or larger".to_string()),
        None => {
            // The parser has the range in its text only: `0 is not in 1..=100`.
            let text = problem.to_string();
            let (first, last) = text.split_once(" is not in ")?.1.split_once("..=")?;
            Some(format!("{first} to {last}"))
        }
    }
}
