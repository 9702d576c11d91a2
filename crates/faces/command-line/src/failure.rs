//! Why a command failed, and how that is reported.

use std::io::{self, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};

use std::path::PathBuf;

use ::cast::cast::CastError;
use quantities::shown_path;
use replay::goal::GoalError;

use crate::launch::OwnProgramFailure;
use formats::interrupt;
use formats::output::Unwritable;
use launch::LaunchError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// A machine that cannot be loaded.
    #[error(transparent)]
    Machine(#[from] machines::Error),
    /// A schedule that cannot be read.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// A schedule of an exchange that cannot be read.
    #[error(transparent)]
    Steps(#[from] collectives::schedule::ReadError),
    /// An invalid pattern of messages.
    #[error(transparent)]
    Pattern(#[from] collectives::schedule::PatternError),
    /// A traffic matrix that cannot be read.
    #[error(transparent)]
    Matrix(#[from] formats::traffic_matrix::MatrixError),
    /// A file that cannot be read.
    #[error("cannot read `{}`: {cause}", shown_path(path))]
    Unreadable {
        /// The file, as it was asked for.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// A file that cannot be written.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// An argument that does not fit.
    #[error("{argument}: found {found}; allowed is {allowed}")]
    Argument {
        /// Which: `--nodes`.
        argument: String,
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A program that the machine or its own parameters rule out, or that never ended.
    #[error(transparent)]
    Program(endpoint::Error),
    /// An application that has no pattern.
    #[error(transparent)]
    Application(#[from] programs::applications::patterns::ApplicationError),
    /// Times that no parameters can be fitted to.
    #[error(transparent)]
    Measure(tuning::latency::MeasureError),
    /// Measured times that cannot be read.
    #[error(transparent)]
    Times(#[from] tuning::calibrate::TimesError),
    /// A measured time whose program the machine cannot run.
    #[error("{file}:{line}: {cause}")]
    Measurement {
        /// The file with the times.
        file: String,
        /// In which line, from 1.
        line: usize,
        /// Why not.
        cause: endpoint::Error,
    },
    /// Claims of a paper that cannot be read.
    #[error(transparent)]
    Claims(#[from] studies::ClaimsError),
    /// Draws of costs that cannot be judged.
    #[error(transparent)]
    Robustness(#[from] studies::RobustnessError),
    /// Files that could not be sent or received.
    #[error(transparent)]
    Cast(#[from] CastError),
    /// A table that cannot be served.
    #[error(transparent)]
    Store(#[from] store::serve::Error),
    /// Certificates or keys that TLS cannot use.
    #[error(transparent)]
    Tls(#[from] store::tls::Error),
    /// A member of a pool that cannot be asked.
    #[error(transparent)]
    StoreClient(#[from] store::client::Error),
    /// Hosts that cannot be read.
    #[error(transparent)]
    Hosts(#[from] launch::hosts::HostsError),
    /// Ranks that could not be started, or did not end well.
    #[error(transparent)]
    Launch(#[from] launch::LaunchError),
    /// MPI that cannot be initialized, or that fails.
    #[error(transparent)]
    Mpi(Box<real_worlds::MpiStartError>),
    /// An error in a command line within another one.
    #[error(transparent)]
    Usage(Box<clap::Error>),
    /// A user's program that cannot be run, or that failed.
    #[error("{}", .0.problem)]
    OwnProgram(OwnProgramFailure),
    /// An experiment that cannot be run.
    #[error(transparent)]
    Experiment(experiment::Error),
    /// A plan that cannot be read.
    #[error(transparent)]
    Plan(#[from] plan_format::PlanError),
    /// A program that could not be run with a preloaded library, or whose library did not deliver the result.
    #[error("{problem}")]
    Preloaded {
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: String,
    },
    /// The command was interrupted before it was done.
    #[error("interrupted")]
    Interrupted,
}

impl From<endpoint::Error> for Failure {
    fn from(error: endpoint::Error) -> Failure {
        // Only an interruption stops a run of the command.
        if matches!(error, endpoint::Error::Stopped) { Failure::Interrupted } else { Failure::Program(error) }
    }
}

impl From<experiment::Error> for Failure {
    fn from(error: experiment::Error) -> Failure {
        match error {
            experiment::Error::Parameter { name, found, allowed } => {
                Failure::argument(format!("--{}", name.replace('_', "-")), found, allowed)
            }
            experiment::Error::Program(error) => error.into(),
            other => Failure::Experiment(other),
        }
    }
}

impl Failure {
    /// An `argument` that was `found` to be something other than what is `allowed`.
    pub(super) fn argument(argument: impl Into<String>, found: impl ToString, allowed: impl ToString) -> Failure {
        Failure::Argument { argument: argument.into(), found: found.to_string(), allowed: allowed.to_string() }
    }

    /// The exit status for it.
    pub(super) fn status(&self) -> i32 {
        match self {
            Failure::Program(
                endpoint::Error::Unfit(_) | endpoint::Error::Mismatch(_) | endpoint::Error::NoSuchRank { .. },
            ) => 2,
            Failure::Interrupted | Failure::Launch(LaunchError::Interrupted) => interrupt::status(),
            Failure::Cast(CastError::Interrupted) => interrupt::status(),
            Failure::Cast(CastError::Network(_) | CastError::Refused(_) | CastError::Nobody(_)) => 1,
            Failure::Launch(LaunchError::Rank { status, .. }) => *status,
            Failure::OwnProgram(failure) => failure.status,
            Failure::Mpi(error) if !error.is_bad_input() => 1,
            Failure::Store(store::serve::Error::Persistence(_) | store::serve::Error::Replaced) => 1,
            Failure::Program(_) | Failure::Measure(_) | Failure::Launch(_) | Failure::StoreClient(_) => 1,
            Failure::Measurement { cause: endpoint::Error::Deadlock(_), .. } => 1,
            Failure::Robustness(studies::RobustnessError::Run { .. }) => 1,
            Failure::Usage(error) => error.exit_code(),
            _ => 2,
        }
    }

    /// What to do about it, if there is advice beyond the error itself.
    fn hint(&self) -> Option<String> {
        match self {
            Failure::Machine(error) => error.hint(),
            Failure::Goal(error) => error.hint().map(str::to_string),
            Failure::Experiment(error) => error.hint(),
            Failure::Preloaded { hint, .. } => Some(hint.clone()),
            Failure::Steps(error) => error.meant.as_ref().map(|name| format!("did you mean `{name}`?")),
            _ => None,
        }
    }

    /// Prints it on standard error.
    pub(super) fn print(&self) {
        if let Failure::Usage(error) = self {
            // If it cannot be printed, there is nobody to tell.
            let _ = error.print();
            return;
        }
        print_labelled("error", AnsiColor::Red, &self.to_string());
        if let Some(hint) = self.hint() {
            print_labelled("hint", AnsiColor::Cyan, &hint);
        }
    }
}

/// Prints a warning on standard error.
pub(super) fn warn(text: &str) {
    print_labelled("warning", AnsiColor::Yellow, text);
}

/// Prints a note on standard error.
pub(super) fn note(text: &str) {
    print_labelled("note", AnsiColor::Cyan, text);
}

/// Prints something on standard error, in colour on a terminal.
fn print_labelled(what: &str, colour: AnsiColor, text: &str) {
    let style = Style::new().bold().fg_color(Some(colour.into()));
    // In one piece, since other ranks may print at the same time.
    let mut line = AutoStream::new(Vec::new(), AutoStream::choice(&io::stderr()));
    let _ = writeln!(line, "{style}{what}:{style:#} {text}");
    // If standard error cannot be written to, there is nobody to tell.
    let _ = io::stderr().write_all(&line.into_inner());
}
