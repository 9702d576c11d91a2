//! Why an experiment can't be run.

use std::path::{Path, PathBuf};

use collectives::schedule::{PatternError, ReadError};
use endpoint::Error as ProgramError;
use formats::output::Unwritable;
use formats::traffic_matrix::MatrixError;
use programs::applications::patterns::ApplicationError;
use quantities::{FileFormat, shown_path};
use replay::goal::{BinaryError, GoalError};
use replay::trace::TraceError;

/// Why an experiment can't be run, or did not finish.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A parameter that does not fit.
    #[error("{name}: found {found}; allowed is {allowed}")]
    Parameter {
        /// Its name in a file: `most_iterations`.
        name: &'static str,
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A parameter that the program does not have.
    #[error("{program} has no parameter `{found}`; it has {}", known.join(", "))]
    UnknownParameter {
        /// The program's name.
        program: &'static str,
        /// The parameter as it was written.
        found: String,
        /// The parameters of the program.
        known: Vec<String>,
    },
    /// A program that is not in the catalogue.
    #[error("there is no program `{found}`; there are {}", known.join(", "))]
    UnknownProgram {
        /// Its name as it was written.
        found: String,
        /// The programs in the catalogue.
        known: Vec<String>,
    },
    /// A value that is not allowed for a parameter of a program.
    #[error("{parameter}: {problem}")]
    Value {
        /// The name of the parameter.
        parameter: String,
        /// What is wrong.
        problem: String,
    },
    /// A file with something wrong in it that is no single field.
    #[error("{file}{}: {problem}", place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default())]
    Text {
        /// The file, as it was named.
        file: String,
        /// Line and column, from 1, if known.
        place: Option<(usize, usize)>,
        /// What is wrong.
        problem: String,
    },
    /// A field of an experiment, or of another file of ours, that is not as it must be.
    #[error(transparent)]
    Field(machines::Error),
    /// A machine that can't be loaded.
    #[error(transparent)]
    Machine(#[from] machines::Error),
    /// A GOAL schedule that cannot be read.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// A GOAL schedule in binary form that is damaged.
    #[error(transparent)]
    BinaryGoal(#[from] BinaryError),
    /// A trace of an MPI program that cannot be read, or whose ranks do not fit together.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A schedule that no network can carry.
    #[error(transparent)]
    Schedule(ProgramError),
    /// A schedule of an exchange that cannot be read.
    #[error(transparent)]
    Steps(#[from] ReadError),
    /// An invalid pattern of messages.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A traffic matrix that cannot be read.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// A file that cannot be read.
    #[error("cannot read `{}`: {cause}", shown_path(path))]
    Unreadable {
        /// The file, as it was named.
        path: PathBuf,
        /// The error of the system.
        cause: std::io::Error,
    },
    /// A file that cannot be written.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// A program that can't run on the machine or with its parameters, or that did not finish.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// An application that has no pattern.
    #[error(transparent)]
    Application(#[from] ApplicationError),
}

impl Error {
    /// The error that the parameter `name` was `found` where something else is `allowed`.
    pub fn parameter(name: &'static str, found: impl ToString, allowed: impl ToString) -> Error {
        Error::Parameter { name, found: found.to_string(), allowed: allowed.to_string() }
    }

    /// The error for the file `path` in this `format`, where something else is `allowed`.
    pub(crate) fn of_other_format(path: &Path, format: &FileFormat, allowed: &str) -> Error {
        Error::Text { file: shown_path(path), place: None, problem: format.instead_of(allowed) }
    }

    /// The error for the file `path` that is no text, for this `cause`: what it is instead, if that is known.
    pub(crate) fn of_no_text(path: &Path, cause: std::io::Error, allowed: &str) -> Error {
        match FileFormat::of_file(path) {
            Some(format) => Error::of_other_format(path, format, allowed),
            None => Error::Unreadable { path: path.to_path_buf(), cause },
        }
    }

    /// What to do about it, if there is more to say than what is wrong.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Machine(error) | Error::Field(error) => error.hint(),
            Error::Goal(error) => error.hint().map(str::to_owned),
            Error::Trace(error) => error.hint.clone(),
            Error::Steps(error) => error.meant.as_ref().map(|name| format!("did you mean `{name}`?")),
            Error::UnknownParameter { found, known, .. } | Error::UnknownProgram { found, known } => {
                let suggestion = quantities::nearest(found, known.iter().map(String::as_str));
                suggestion.map(|name| format!("did you mean `{name}`?"))
            }
            _ => None,
        }
    }
}
