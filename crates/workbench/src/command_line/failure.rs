//! Why a command did not do what it was asked, and how that is told.

use std::io::Write;

use anstyle::{AnsiColor, Style};

use crate::interrupt;
use crate::output::Unwritable;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// A machine that cannot be had.
    #[error(transparent)]
    Machine(#[from] machines::Error),
    /// A file that cannot be written.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// An argument that does not fit.
    #[error("{argument}: found {found}; allowed is {allowed}")]
    Argument {
        /// Which: `--nodes`.
        argument: &'static str,
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A program that the machine or its own parameters do not let run, or that came to no end.
    #[error(transparent)]
    Program(#[from] endpoint::Error),
    /// It was asked to end before it was done.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// That `argument` was `found` to be something else than what is `allowed`.
    pub(super) fn argument(argument: &'static str, found: impl ToString, allowed: impl ToString) -> Failure {
        Failure::Argument { argument, found: found.to_string(), allowed: allowed.to_string() }
    }

    /// The exit status that tells it.
    pub(super) fn status(&self) -> i32 {
        match self {
            Failure::Machine(_) | Failure::Unwritable(_) | Failure::Argument { .. } => 2,
            Failure::Program(endpoint::Error::Unfit(_) | endpoint::Error::NoSuchRank { .. }) => 2,
            Failure::Program(_) => 1,
            Failure::Interrupted => interrupt::STATUS,
        }
    }

    /// What to do about it, if there is more to say than what is wrong.
    fn hint(&self) -> Option<String> {
        match self {
            Failure::Machine(error) => error.hint(),
            _ => None,
        }
    }

    /// Tells it on standard error, in colour on a terminal.
    pub(super) fn print(&self) {
        let (error, hint) = (Style::new().bold().fg_color(Some(AnsiColor::Red.into())), Style::new().bold());
        let mut out = anstream::stderr().lock();
        // If nobody reads standard error, there is nobody to tell.
        let _ = writeln!(out, "{error}error:{error:#} {self}");
        if let Some(text) = self.hint() {
            let _ = writeln!(out, "{hint}hint:{hint:#} {text}");
        }
    }
}
