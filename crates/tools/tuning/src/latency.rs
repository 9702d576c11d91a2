//! The postal model's t0 and lambda of a machine, measured by running the two experiments on it.

use endpoint::Program;
use machines::model::Machine;
use programs::measure::{AllAnswered, Experiment, FitError, Measured, OneAnswer, Sample, fit, partners};
use quantities::{Bytes, Duration, Rank};
use virtual_worlds::flit::world::Options;

use experiment::simulate::simulate;

/// How the experiments are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// How many ranks there are; some of them are drawn as partners.
    pub ranks: u32,
    /// P0, the rank that sends first.
    pub source: Rank,
    /// The largest k: the experiments are run with 1, 2, ... up to this many partners.
    pub partners: u32,
    /// How many times partners are drawn for each k.
    pub draws: u32,
    /// The seed of the draws.
    pub seed: u64,
}

/// Why lambda could not be measured on a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeasureError {
    /// An experiment that could not be run.
    #[error(transparent)]
    Program(#[from] endpoint::Error),
    /// Times that could not be fitted.
    #[error("with messages of {bytes}: {cause}")]
    Fit {
        /// The size of the messages.
        bytes: Bytes,
        /// Why not.
        cause: FitError,
    },
}

impl Survey {
    /// t0 and lambda of `machine` for messages of `bytes`, by `experiment`.
    ///
    /// # Errors
    /// If the machine can't run the experiment, or its times do not fit a line.
    pub fn measure(&self, machine: &Machine, experiment: Experiment, bytes: Bytes) -> Result<Measured, MeasureError> {
        let mut samples = Vec::new();
        for k in 1..=self.partners {
            for draw in 0..self.draws {
                samples.push(Sample { partners: k, time: self.time(machine, experiment, bytes, k, draw)? });
            }
        }
        fit(experiment, &samples).map_err(|cause| MeasureError::Fit { bytes, cause })
    }

    /// T with k partners. Both experiments have the same ones.
    fn time(
        &self,
        machine: &Machine,
        experiment: Experiment,
        bytes: Bytes,
        k: u32,
        draw: u32,
    ) -> Result<Duration, endpoint::Error> {
        let seed = self.seed.wrapping_add((u64::from(draw) << 32) | u64::from(k));
        let (source, partners) = (self.source, partners(self.ranks, self.source, k, seed));
        match experiment {
            Experiment::OneAnswer => self.run(machine, &OneAnswer { source, partners, bytes }),
            Experiment::AllAnswered => self.run(machine, &AllAnswered { source, partners, bytes }),
        }
    }

    fn run<P: Program<Output = Option<Duration>>>(&self, machine: &Machine, program: &P) -> endpoint::Result<Duration> {
        let options = Options { seed: self.seed, ..Options::default() };
        let (results, _) = simulate(machine, options, self.ranks, program)?;
        let mut measured = None;
        for result in results {
            measured = measured.or(result?);
        }
        measured.ok_or(endpoint::Error::NoSuchRank { rank: self.source, size: self.ranks })
    }
}
