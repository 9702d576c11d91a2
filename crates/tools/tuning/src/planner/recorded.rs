//! The messages of any program, in steps.

use std::collections::BTreeSet;

use collectives::schedule::{Schedule, Transfer};
use endpoint::{Error, Result};
use machines::model::{Interconnect, LogGp, Machine};
use quantities::{Duration, Time};
use virtual_worlds::answer::MessageRecord;
use virtual_worlds::flit::world::Options;

use crate::benchmark::{Benchmark, Site};

/// The messages that `benchmark` sends, in steps in which no rank sends twice or receives twice.
///
/// It is run once on a machine where everything that a rank does takes time. Each message then goes into the first step
/// that is
///
/// ```text
///   after the steps of all messages that its sender has sent or received before it sends this one
///   and one in which its receiver receives nothing yet
/// ```
///
/// so that a rank that follows the steps sends nothing before it has everything that the message depends on.
///
/// # Errors
/// If it can't be run.
pub(super) fn schedule(benchmark: &Benchmark, ranks: u32) -> Result<Schedule> {
    let options = Options { timeline: true, ..Options::default() };
    let timeline = benchmark.answer(&Site::all(&machine()?, ranks), options)?.timeline;
    let messages = timeline.map(|timeline| timeline.messages).unwrap_or_default();
    let mut steps: Vec<Vec<Transfer>> = Vec::new();
    let mut step_of = vec![0; messages.len()];
    // The first step in which each rank may send, and those in which it receives.
    let mut may_send = vec![0; ranks as usize];
    let mut receives = vec![BTreeSet::new(); ranks as usize];
    for (_, event) in events(&messages) {
        match event {
            Event::Received(number) => {
                let ready = &mut may_send[messages[number].to.0 as usize];
                *ready = (step_of[number] + 1).max(*ready);
            }
            Event::Sent(number) => {
                let MessageRecord { from, to, size, .. } = messages[number];
                let (first, taken) = (may_send[from.0 as usize], &mut receives[to.0 as usize]);
                let mut step: usize = first;
                while !taken.insert(step) {
                    step += 1;
                }
                may_send[from.0 as usize] = step + 1;
                step_of[number] = step;
                steps.resize(steps.len().max(step + 1), Vec::new());
                steps[step].push(Transfer { from, to, bytes: size });
            }
        }
    }
    Ok(Schedule::new(ranks, steps))
}

/// An event of a message, by its number. At one instant receives come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Received(usize),
    Sent(usize),
}

/// All events, in order.
fn events(messages: &[MessageRecord]) -> Vec<(Time, Event)> {
    let both = |(number, message): (usize, &MessageRecord)| {
        [(message.sent, Event::Sent(number)), (message.received, Event::Received(number))]
    };
    let mut events: Vec<(Time, Event)> = messages.iter().enumerate().flat_map(both).collect();
    events.sort_unstable();
    events
}

/// A machine on which everything that a rank does takes time, so that its order can be seen.
fn machine() -> Result<Machine> {
    let costs = LogGp {
        latency: Duration::from_nanoseconds(1),
        overhead: Duration::from_nanoseconds(1),
        gap: Duration::from_nanoseconds(1),
        gap_per_byte: Duration::ZERO,
        overhead_per_byte: Duration::ZERO,
        rendezvous: None,
    };
    let like = machines::load("loggp").map_err(|error| Error::Unfit(error.to_string()))?;
    Ok(Machine { interconnect: Interconnect::LogGp(costs), ..like })
}
