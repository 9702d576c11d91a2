//! On what an exchange runs: a machine, or the postal model.

use std::ffi::OsString;

use clap::Args;
use programs::postal::Lambda;
use quantities::Duration;

use super::simulation::{Prepared, RunOptions};
use crate::failure::Failure;
use crate::quantity::duration;
use experiment::postal_clock::{exact_step, postal_machine};

/// A machine, or the postal model.
#[derive(Args, Debug)]
pub(super) struct World {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "lambda", conflicts_with = "lambda")]
    machine: Option<OsString>,
    /// In place of a machine, the postal model: a message is there so many times as long after it was sent as its sender
    /// needs for it; a number such as 1.8 or 9/5.
    #[arg(long, value_name = "L")]
    lambda: Option<Lambda>,
    /// In the postal model, how long a sender needs for a message; a microsecond, if left out.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    t0: Option<Duration>,
}

impl World {
    /// That there is a step only where there is the postal model. (That an option requires one which excludes another that is
    /// given, clap does not notice.)
    fn check(&self) -> Result<(), Failure> {
        match (&self.machine, self.t0) {
            (Some(name), Some(t0)) => {
                let allowed = format!("none on {}: it is the step of the postal model, of --lambda", name.display());
                Err(Failure::argument("--t0", t0, allowed))
            }
            _ => Ok(()),
        }
    }

    /// Checks a run on so many nodes, on all of them if that is left out.
    pub(super) fn prepare(self, options: RunOptions, nodes: Option<u32>) -> Result<Prepared, Failure> {
        self.check()?;
        match (&self.machine, self.lambda) {
            (Some(name), _) => options.prepare_on(name, nodes),
            (None, lambda) => self.prepare_postal(lambda, options, nodes),
        }
    }

    /// Checks a run of a program that has `ranks` ranks.
    pub(super) fn prepare_for(self, options: RunOptions, ranks: u32) -> Result<Prepared, Failure> {
        self.check()?;
        match (&self.machine, self.lambda) {
            (Some(name), _) => options.prepare_for(name, ranks),
            (None, lambda) => self.prepare_postal(lambda, options, Some(ranks)),
        }
    }

    fn prepare_postal(
        &self,
        lambda: Option<Lambda>,
        options: RunOptions,
        nodes: Option<u32>,
    ) -> Result<Prepared, Failure> {
        let Some(lambda) = lambda else {
            return Err(Failure::argument("--machine", "nothing", "a machine, or --lambda for the postal model"));
        };
        if self.t0.is_some_and(Duration::is_zero) {
            return Err(Failure::argument("--t0", "0", "more than no time"));
        }
        let t0 = self.t0.unwrap_or_else(|| exact_step(lambda));
        options.prepare_built(postal_machine(lambda, t0)?, nodes)
    }
}
