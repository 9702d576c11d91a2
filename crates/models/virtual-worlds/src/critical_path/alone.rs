//! What a message costs that has the machine to itself, measured on the machine's own model: the message is sent once
//! more, with no other traffic.

use std::collections::{BTreeMap, BTreeSet};

use endpoint::{Endpoint, Message, Needs, Program, Result, World};
use machines::model::{Machine, NodeId};
use quantities::{Bytes, Duration, Rank, Time};

use crate::Simulated;
use crate::answer::Answer;
use crate::flit::world::Options;
use crate::jobs::Placed;

/// A message: from one rank to another, or to all if it is broadcast in hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) from: Rank,
    pub(super) to: Rank,
    pub(super) size: Bytes,
    pub(super) broadcast: bool,
}

/// What a message costs by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IsolatedCost {
    /// From the start of the send until a receiver that is already waiting has the message.
    pub(super) whole: Duration,
    /// The send, if the receiver is already waiting.
    pub(super) sending: Duration,
    /// The receive of a message that arrived long before.
    pub(super) receiving: Duration,
    /// From the start of such a receive until a sender that waits for it goes on.
    pub(super) releasing: Duration,
}

/// What a message costs by itself, and an empty one between the same ranks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IsolatedCosts {
    pub(super) full: IsolatedCost,
    pub(super) empty: IsolatedCost,
}

/// Each message is sent this often: full and empty, each to a receiver that waits for it and to one that asks after it
/// has arrived.
const TRIALS: u64 = 4;

/// Sends messages one after the other, each long after the one before it has finished.
struct OneByOne {
    kinds: Vec<Kind>,
    /// For each rank, the trials that it takes part in.
    trials: Vec<Vec<u64>>,
    /// From the start of a trial to that of the next.
    apart: Duration,
}

/// One side of a trial: the trial's number, whether it is the sender's side, and how long it took.
type TrialSide = (u64, bool, Duration);

impl OneByOne {
    fn new(kinds: Vec<Kind>, ranks: u32, apart: Duration) -> OneByOne {
        let mut trials = vec![Vec::new(); ranks as usize];
        for (kind, number) in kinds.iter().zip(0..) {
            let all: Vec<u64> = (number * TRIALS..(number + 1) * TRIALS).collect();
            let part = |rank: &u32| kind.broadcast || [kind.from.0, kind.to.0].contains(rank);
            (0..ranks).filter(part).for_each(|rank| trials[rank as usize].extend(&all));
        }
        // Trials that would not fit before the horizon are sent closer together.
        let longest = Time::NEVER.picoseconds() / ((kinds.len() as u64 + 1) * TRIALS);
        OneByOne { kinds, trials, apart: apart.min(Duration::from_picoseconds(longest)) }
    }

    fn start(&self, trial: u64) -> Time {
        Time::ZERO + self.apart * trial
    }

    /// When the receiver asks for the message.
    fn posted(&self, trial: u64) -> Time {
        self.start(trial)
            + if is_late(trial) { Duration::from_picoseconds(self.apart.picoseconds() / 2) } else { Duration::ZERO }
    }

    fn kind(&self, trial: u64) -> &Kind {
        &self.kinds[(trial / TRIALS) as usize]
    }
}

fn is_late(trial: u64) -> bool {
    trial % TRIALS >= 2
}

fn is_empty(trial: u64) -> bool {
    trial % 2 == 1
}

impl Program for OneByOne {
    type Output = Vec<TrialSide>;

    const NEEDS: Needs = Needs::MULTICAST;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<TrialSide>> {
        let mut parts = Vec::new();
        for &trial in &self.trials[endpoint.rank().0 as usize] {
            let Kind { from, to, size, broadcast } = *self.kind(trial);
            let message = Message::of_size(if is_empty(trial) { Bytes(0) } else { size });
            let sends = endpoint.rank() == from;
            endpoint.sleep_until(if sends { self.start(trial) } else { self.posted(trial) }).await;
            match (sends, broadcast) {
                (true, false) => endpoint.send(to, message).await?,
                (true, true) => endpoint.multicast(message).await?,
                (false, false) => endpoint.receive(from).await.map(drop)?,
                (false, true) => endpoint.receive_multicast(from).await.map(drop)?,
            }
            let since = if is_late(trial) { self.posted(trial) } else { self.start(trial) };
            if sends || endpoint.rank() == to {
                parts.push((trial, sends, endpoint.now().since(since)));
            }
        }
        Ok(parts)
    }
}

/// What messages cost by themselves on `machine`, each in less time than `apart`, between ranks on `nodes`, or on those
/// with their numbers if there are none. `on_arrival` says whether processors take messages in on arrival.
///
/// # Errors
/// Whatever keeps the machine from running these messages.
pub(super) fn alone(
    (machine, nodes): (&Machine, &[NodeId]),
    options: Options,
    on_arrival: bool,
    kinds: BTreeSet<Kind>,
    apart: Duration,
) -> Result<BTreeMap<Kind, IsolatedCosts>> {
    let Some(most) = kinds.iter().map(|kind| kind.from.max(kind.to).0 + 1).max() else { return Ok(BTreeMap::new()) };
    let ranks = match nodes.len() as u32 {
        0 if kinds.iter().any(|kind| kind.broadcast) => machine.nodes,
        0 => most,
        placed => placed,
    };
    let program = OneByOne::new(kinds.into_iter().collect(), ranks, apart);
    let world = Simulated::new(machine, Options { packet_log: false, timeline: on_arrival, ..options });
    let world = if on_arrival { world.on_arrival() } else { world };
    let (results, answer) = Placed::new(world, nodes).run(ranks, &program)?;
    let mut answers: BTreeMap<Kind, IsolatedCosts> =
        program.kinds.iter().map(|kind| (*kind, IsolatedCosts::default())).collect();
    for parts in results {
        for (trial, sends, length) in parts? {
            let Some(answered) = answers.get_mut(program.kind(trial)) else { continue };
            let alone = if is_empty(trial) { &mut answered.empty } else { &mut answered.full };
            *match (is_late(trial), sends) {
                (false, true) => &mut alone.sending,
                (false, false) => &mut alone.whole,
                (true, true) => &mut alone.releasing,
                (true, false) => &mut alone.receiving,
            } = length;
        }
    }
    note_taking_in(&answer, &program, &mut answers);
    Ok(answers)
}

/// A message that is taken in on arrival costs its receiver nothing later: its cost is known from the timeline.
fn note_taking_in(answer: &Answer, program: &OneByOne, answers: &mut BTreeMap<Kind, IsolatedCosts>) {
    for message in answer.timeline.iter().flat_map(|timeline| &timeline.messages) {
        let trial = message.sent.since(Time::ZERO).picoseconds() / program.apart.picoseconds().max(1);
        if is_late(trial) {
            continue;
        }
        if let Some(answered) = answers.get_mut(program.kind(trial)) {
            let alone = if is_empty(trial) { &mut answered.empty } else { &mut answered.full };
            alone.receiving = message.received.since(message.arrived);
        }
    }
}
