//! Why an experiment can't be run.

use std::path::PathBuf;

use endpoint::Error as ProgramError;
use formats::output::Unwritable;
use formats::traffic_matrix::MatrixError;
use programs::applications::patterns::ApplicationError;
use programs::goal::{BinaryError, GoalError};
use programs::schedule::{PatternError, ReadError};
use programs::trace::TraceError;
use quantities::shown_path;

/// Why an experiment can't be run, or came to no end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A parameter that does not fit.
    #[error("{name}: found {found}; allowed is {allowed}")]
    Parameter {
        /// Its name, as a file has it: `most_iterations`.
        name: &'static str,
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A parameter that a program has not got.
    #[error("{program} has no parameter `{found}`; it has {}", known.join(", "))]
    UnknownParameter {
        /// The program's name.
        program: &'static str,
        /// The parameter as it was written.
        found: String,
        /// Those that the program has.
        known: Vec<String>,
    },
    /// A program that is not in the catalogue.
    #[error("there is no program `{found}`; there are {}", known.join(", "))]
    UnknownProgram {
        /// Its name as it was written.
        found: String,
        /// Those that are in the catalogue.
        known: Vec<String>,
    },
    /// A value that a parameter of a program can't have.
    #[error("{parameter}: {problem}")]
    Value {
        /// The name of the parameter.
        parameter: String,
        /// What is wrong.
        problem: String,
    },
    /// A file that holds no experiment.
    #[error("{file}{}: {problem}", place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default())]
    Text {
        /// The file, as it was asked for.
        file: String,
        /// Line and column, from 1, where they are known.
        place: Option<(usize, usize)>,
        /// What is wrong.
        problem: String,
        /// The nearest name to a mistyped one.
        meant: Option<String>,
    },
    /// A machine that cannot be had.
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
    /// A pattern of messages that is none.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A traffic matrix that cannot be read.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// A file that cannot be read.
    #[error("cannot read `{}`: {cause}", shown_path(path))]
    Unreadable {
        /// The file, as it was asked for.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// A file that cannot be written.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// A program that the machine or its own parameters do not let run, or that came to no end.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// An application that has no pattern.
    #[error(transparent)]
    Application(#[from] ApplicationError),
}

impl Error {
    /// That the parameter `name` was `found` to be something else than what is `allowed`.
    pub fn parameter(name: &'static str, found: impl ToString, allowed: impl ToString) -> Error {
        Error::Parameter { name, found: found.to_string(), allowed: allowed.to_string() }
    }

    /// What to do about it, if there is more to say than what is wrong.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Machine(error) => error.hint(),
            Error::Goal(error) => error.hint().map(str::to_owned),
            Error::Trace(error) => error.hint.clone(),
            Error::Steps(error) => error.meant.as_ref().map(|name| format!("did you mean `{name}`?")),
            Error::Text { meant, .. } => meant.as_ref().map(|name| format!("did you mean `{name}`?")),
            Error::UnknownParameter { found, known, .. } | Error::UnknownProgram { found, known } => {
                let meant = quantities::nearest(found, known.iter().map(String::as_str));
                meant.map(|name| format!("did you mean `{name}`?"))
            }
            _ => None,
        }
    }
}
