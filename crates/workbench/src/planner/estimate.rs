//! What a few runs tell of a machine, and the machine without contention that has about the same costs.

use endpoint::{Error, Result};
use machines::model::{Interconnect, LogGp, Machine};
use programs::benchmarks::PingPong;
use programs::measure::Experiment;
use programs::postal::Lambda;
use quantities::{Bytes, Duration, Rank};

use super::Question;
use crate::latency::{MeasureError, Survey};
use crate::simulate::waits_for_receivers;
use crate::trial::Trial;

/// lambda is rounded to hundredths: the trees for it do not hang on more.
const DENOMINATOR: u32 = 100;
/// Partners of the runs that measure it.
const PARTNERS: u32 = 4;
/// How often they are drawn.
const DRAWS: u32 = 2;
/// With a larger lambda all but the largest groups are served by their source alone.
const LARGEST_LAMBDA: u64 = 64;
/// Larger machines are measured among so many of their ranks.
const MOST_RANKS: u32 = 256;

/// What a few runs tell of a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    /// lambda for messages of the size in question.
    pub lambda: Lambda,
    /// t0 for them. [ps]
    pub send_time: Duration,
    /// t0 for an empty message. [ps]
    pub send_time_of_nothing: Duration,
}

/// Measures `machine` with messages of the size in question.
///
/// # Errors
/// That the machine cannot run the experiment.
pub(super) fn model(machine: &Machine, question: &Question) -> Result<Model> {
    let ranks = question.ranks().max(3).min(machine.nodes).min(MOST_RANKS);
    if ranks < 3 {
        // Between two ranks there is nothing to choose: any model serves.
        let send_time = Duration::from_microseconds(1);
        return Ok(Model { lambda: Lambda::ONE, send_time, send_time_of_nothing: send_time });
    }
    let survey = Survey { ranks, source: Rank(0), partners: PARTNERS.min(ranks - 1), draws: DRAWS, seed: 1 };
    let (lambda, send_time) = measure(&survey, machine, question.bytes())?;
    let (_, send_time_of_nothing) = measure(&survey, machine, Bytes(0))?;
    Ok(Model { lambda, send_time, send_time_of_nothing })
}

fn measure(survey: &Survey, machine: &Machine, bytes: Bytes) -> Result<(Lambda, Duration)> {
    let measured = match survey.measure(machine, Experiment::OneAnswer, bytes) {
        Ok(measured) => measured,
        Err(MeasureError::Program(error)) => return Err(error),
        Err(MeasureError::Fit { .. }) => return free_sends(survey.ranks, machine, bytes),
    };
    let lambda = Lambda::nearest(measured.lambda.value.max(1.0), DENOMINATOR);
    let send_time = Duration::from_picoseconds(measured.send_time.value.max(1.0).round() as u64);
    Ok((lambda.map_err(|error| Error::Unfit(error.to_string()))?, send_time))
}

/// Where a send costs its sender nothing, a message takes the largest lambda that counts.
fn free_sends(ranks: u32, machine: &Machine, bytes: Bytes) -> Result<(Lambda, Duration)> {
    let there_and_back = PingPong { first: Rank(0), second: Rank(ranks - 1), bytes, rounds: 1 };
    let one_way = Trial::OneWay(there_and_back).time(machine, ranks)?;
    let lambda = Lambda::new(LARGEST_LAMBDA, 1).map_err(|error| Error::Unfit(error.to_string()))?;
    Ok((lambda, Duration::from_picoseconds((one_way.picoseconds() / LARGEST_LAMBDA).max(1))))
}

/// A LogGP machine on which a message of the size in question takes as long as on `machine` when nothing contends.
pub(super) fn machine(machine: &Machine, model: &Model, bytes: Bytes) -> Machine {
    if let Interconnect::LogGp(_) = machine.interconnect {
        return machine.clone();
    }
    let more = model.send_time.picoseconds().saturating_sub(model.send_time_of_nothing.picoseconds());
    let gap_per_byte = more.checked_div(bytes.0).unwrap_or(0);
    let whole = (model.send_time.picoseconds() as f64 * model.lambda.as_f64()) as u64;
    let latency = whole.saturating_sub(gap_per_byte * bytes.0.saturating_sub(1));
    let costs = LogGp {
        latency: Duration::from_picoseconds(latency),
        overhead: Duration::ZERO,
        gap: model.send_time_of_nothing,
        gap_per_byte: Duration::from_picoseconds(gap_per_byte),
        overhead_per_byte: Duration::ZERO,
        rendezvous: waits_for_receivers(machine, bytes).then_some(Bytes(1)),
    };
    Machine { interconnect: Interconnect::LogGp(costs), control_network: None, ..machine.clone() }
}
