//! Whether a program can still continue, for worlds that see all of its ranks at once.
//!
//! The ranks of a stuck program keep asking each other whether they are still there. So a world can't recognize
//! deadlock by silence; it has to ask which rank waits for what, and whether that is on its way.

use std::ops::Deref;

use endpoint::{Source, Tags, WaitsFor};
use quantities::Rank;

use crate::{Awaited, Engine};

/// What a rank's program is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramState {
    /// It computes, sends, or waits with a deadline.
    CanContinue,
    /// It waits for any of these, in the order in which the waits began, for as long as it takes; for something
    /// external if there are none.
    Waits(Vec<Wait>),
    /// It has ended, and only answers others.
    Ended,
}

/// What an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A message or broadcast.
    For(Awaited),
    /// Room in the send queue to this rank.
    Room(Rank),
}

impl From<Wait> for WaitsFor {
    fn from(wait: Wait) -> WaitsFor {
        match wait {
            Wait::For(Awaited::Message(Source::Rank(rank), tags)) => WaitsFor::MessageFrom(rank, tags),
            Wait::For(Awaited::Message(Source::Any, tags)) => WaitsFor::AnyMessage(tags),
            Wait::For(Awaited::BroadcastOf(rank)) => WaitsFor::MessageFrom(rank, Tags::Any),
            Wait::Room(rank) => WaitsFor::Receiver(rank),
        }
    }
}

/// Which rank waits for what, if some wait and none of them can ever continue; none as long as one may. A rank is
/// listed once for each thing that it waits for. `engine` returns each rank's messaging.
///
/// A waiting rank continues if something that it waits for is in flight or about to be sent. A broadcast is held up by
/// receivers that have no room for it; it continues once each of them receives it, or itself can continue.
pub fn stuck<E: Deref<Target = Engine>>(
    ranks: &[ProgramState],
    engine: impl Fn(Rank) -> E,
) -> Option<Vec<(Rank, WaitsFor)>> {
    if ranks.contains(&ProgramState::CanContinue) {
        return None;
    }
    let all = || (0..).map(Rank).zip(ranks);
    let mut can_continue = vec![false; ranks.len()];
    loop {
        let may = |rank: Rank| {
            let place = rank.0 as usize;
            can_continue.get(place).copied().unwrap_or(false)
        };
        let will_come = |by: Rank, wait: Wait| match wait {
            Wait::For(Awaited::Message(Source::Rank(from), tags)) => engine(from).has_undelivered(by, tags),
            Wait::For(Awaited::Message(Source::Any, tags)) => {
                all().any(|(from, _)| from != by && engine(from).has_undelivered(by, tags))
            }
            Wait::For(Awaited::BroadcastOf(from)) => {
                let receives = |rank: Rank| matches!(ranks.get(rank.0 as usize), Some(ProgramState::Waits(waits)) if waits.contains(&wait));
                engine(from).will_broadcast_more(by, |rank| receives(rank) || may(rank))
            }
            Wait::Room(to) => engine(by).will_get_room(&engine(to)),
        };
        let more = all().find_map(|(rank, state)| match state {
            ProgramState::Waits(waits) if !may(rank) && waits.iter().any(|wait| will_come(rank, *wait)) => {
                Some(rank.0 as usize)
            }
            _ => None,
        });
        let Some(place) = more else { break };
        can_continue[place] = true;
    }
    let mut waiting: Vec<(Rank, WaitsFor)> = Vec::new();
    for (rank, state) in all() {
        let ProgramState::Waits(waits) = state else { continue };
        let others = waiting.len();
        for wait in waits.iter().map(|wait| (rank, WaitsFor::from(*wait))) {
            if !waiting[others..].contains(&wait) {
                waiting.push(wait);
            }
        }
        if waits.is_empty() {
            waiting.push((rank, WaitsFor::Unknown));
        }
    }
    (!waiting.is_empty() && can_continue.iter().all(|can_continue| !can_continue)).then_some(waiting)
}
