//! Which operations have something to do: a turn costs what they take, however many others wait.

use endpoint::{Operation, Tag};
use quantities::{Rank, Time};

use super::{Limit, OperationStage, Sending};
use crate::Awaited;
use crate::ordered::{Keys, Ordered};

/// The operations under way by what they wait for, each by its turn.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Those that advance in the next round, whatever has arrived.
    pub(super) due: Keys<u64>,
    /// When others continue, or stop waiting, by themselves.
    pub(super) times: Keys<(Time, u64)>,
    /// Receives that have not been posted, and receives of broadcasts that may be posted now.
    pub(super) new_receives: Keys<u64>,
    pub(super) next_broadcasts: Keys<u64>,
    /// What has not arrived in time.
    pub(super) late: Keys<u64>,
    /// Receives of messages by the order in which they were posted, and receives of broadcasts by their source.
    receives: Ordered<u64, u64>,
    broadcasts: Keys<(Rank, u64)>,
    /// Those that wait for a message that they leave to receives.
    probes: Keys<u64>,
    /// Those that wait for room in a send queue.
    submits: Keys<(Option<(Rank, Tag)>, u64)>,
    /// How many have not advanced since they were begun, how many have something to send, and how many wait for as long
    /// as the patience of all.
    begun: usize,
    sends: usize,
    of_all: usize,
}

impl Index {
    /// An operation enters this stage.
    pub(super) fn enter(&mut self, turn: u64, stage: &OperationStage, limit: Limit) {
        match stage {
            OperationStage::Begun(operation) => {
                self.begun += 1;
                self.due.insert(turn, ());
                match operation {
                    Operation::Send { .. } | Operation::Multicast(_) => self.sends += 1,
                    Operation::Receive { .. } | Operation::ReceiveMulticast(_) => self.new_receives.insert(turn, ()),
                    Operation::Probe { .. } | Operation::Compute(_) | Operation::Sleep(_) => {}
                }
            }
            OperationStage::Calls(..) => self.sends += 1,
            OperationStage::Submits(Sending { to, .. }) => {
                self.sends += 1;
                self.submits.insert((*to, turn), ());
            }
            OperationStage::Queues(from) | OperationStage::Receives(_, Awaited::BroadcastOf(from), _) => {
                self.broadcasts.insert((*from, turn), ());
            }
            OperationStage::Receives(posted, ..) => self.receives.insert(posted.order(), turn),
            OperationStage::Probes(..) => self.probes.insert(turn, ()),
            OperationStage::IsLate(..) => self.late.insert(turn, ()),
            OperationStage::HasResult(..) => self.due.insert(turn, ()),
            OperationStage::Ends(..) | OperationStage::IsOver => {}
        }
        self.of_all += usize::from(waits_for_all(stage, limit));
    }

    /// An operation leaves this stage.
    pub(super) fn leave(&mut self, turn: u64, stage: &OperationStage, limit: Limit) {
        match stage {
            OperationStage::Begun(operation) => {
                self.begun -= 1;
                self.sends -= usize::from(matches!(operation, Operation::Send { .. } | Operation::Multicast(_)));
                self.new_receives.remove(turn);
            }
            OperationStage::Calls(..) => self.sends -= 1,
            OperationStage::Submits(Sending { to, .. }) => {
                self.sends -= 1;
                self.submits.remove((*to, turn));
            }
            OperationStage::Queues(from) | OperationStage::Receives(_, Awaited::BroadcastOf(from), _) => {
                self.broadcasts.remove((*from, turn));
                if let Some(next) = self.first_broadcast(*from) {
                    self.next_broadcasts.insert(next, ());
                }
            }
            OperationStage::Receives(posted, ..) => {
                self.receives.remove(posted.order());
            }
            OperationStage::Probes(..) => {
                self.probes.remove(turn);
            }
            OperationStage::IsLate(..) => {
                self.late.remove(turn);
            }
            OperationStage::HasResult(..) | OperationStage::Ends(..) | OperationStage::IsOver => {}
        }
        self.of_all -= usize::from(waits_for_all(stage, limit));
    }

    /// The first operation that receives broadcasts of this rank.
    pub(super) fn first_broadcast(&self, of: Rank) -> Option<u64> {
        self.broadcasts.first_from((of, 0)).filter(|&((from, _), ())| from == of).map(|((_, turn), ())| turn)
    }

    /// The operations that receive broadcasts.
    pub(super) fn broadcasts(&self) -> impl Iterator<Item = u64> {
        self.broadcasts.iter().map(|((_, turn), ())| turn)
    }

    /// The operations that probe.
    pub(super) fn probes(&self) -> impl Iterator<Item = u64> {
        self.probes.iter().map(|(turn, ())| turn)
    }

    /// The first operation that waits for room in this send queue: that of a rank and a tag, or that of broadcasts.
    pub(super) fn first_to(&self, queue: Option<(Rank, Tag)>) -> Option<u64> {
        self.submits.first_from((queue, 0)).filter(|&((to, _), ())| to == queue).map(|((_, turn), ())| turn)
    }

    /// The operation of a receive.
    pub(super) fn receive(&self, order: u64) -> Option<u64> {
        self.receives.get(order).copied()
    }

    /// Notes when an operation continues by itself.
    pub(super) fn note_time(&mut self, turn: u64, noted: &mut Option<Time>, time: Option<Time>) {
        if *noted != time {
            if let Some(before) = *noted {
                self.times.remove((before, turn));
            }
            if let Some(time) = time {
                self.times.insert((time, turn), ());
            }
            *noted = time;
        }
    }

    pub(super) const fn has_begun(&self) -> bool {
        self.begun > 0
    }

    pub(super) const fn sends(&self) -> bool {
        self.sends > 0
    }

    /// Whether an operation waits until none of the rank has completed for as long as its patience.
    pub(super) const fn has_of_all(&self) -> bool {
        self.of_all > 0
    }
}

fn waits_for_all(stage: &OperationStage, limit: Limit) -> bool {
    let waits = matches!(
        stage,
        OperationStage::Submits(_) | OperationStage::Receives(_, _, None) | OperationStage::Probes(_, _, None)
    );
    waits && matches!(limit, Limit::OfAll)
}
