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
    /// How many ranks there are, of which some are drawn.
    pub ranks: u32,
    /// P0, who sends first.
    pub source: Rank,
    /// The largest k: the experiments are run with 1, 2, up to so many partners.
    pub partners: u32,
    /// How often partners are drawn for each k.
    pub draws: u32,
    /// What the draws follow from.
    pub seed: u64,
}

/// Why a machine's lambda could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeasureError {
    /// An experiment could not be run.
    #[error(transparent)]
    Program(#[from] endpoint::Error),
    /// Its times could not be fitted.
    #[error("with messages of {bytes}: {cause}")]
    Fit {
        /// Of which size the messages were.
        bytes: Bytes,
        /// Why not.
        cause: FitError,
    },
}

impl Survey {
    /// t0 and lambda of `machine` for messages of `bytes`, by `experiment`.
    ///
    /// # Errors
    /// That the experiment cannot be run on the machine, or that its times are on no line.
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
