//! One rank's clock and network interface, and the cost of its sends and receives.

use quantities::{Bytes, Duration, Time};

use super::costs::Costs;
use crate::answer::RankStatistics;

/// The times of one rank.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RankClock {
    pub(super) now: Time,
    /// From when on the network interface can send the next message.
    may_send: Time,
    /// From when on it can receive the next message.
    may_receive: Time,
    pub(super) statistics: RankStatistics,
}

impl RankClock {
    pub(super) fn compute(&mut self, work: Duration) {
        self.now += work;
    }

    /// Sends a message; returns when its first byte arrives.
    ///
    /// The send starts when both processor and network interface are free. It occupies the processor for o + (s-1) O
    /// and the interface for g + (s-1) G.
    pub(super) fn send(&mut self, costs: &Costs, size: Bytes) -> Time {
        let called = self.now;
        let start = called.max(self.may_send);
        self.now = start + costs.sending(size);
        self.may_send = start + costs.occupying(size);
        self.statistics.packets += 1;
        let away = (start + costs.leaving(size)).since(called);
        self.statistics.send_away += away;
        costs.arrival(start)
    }

    /// Receives a message whose first byte arrives at `arrival`, and for which the rank asks at `posted`; returns when
    /// it is taken.
    ///
    /// It is taken when it has arrived and both processor and network interface are free, and occupies the processor
    /// for o + max((s-1) O, (s-1) G) and the interface for g + (s-1) G.
    pub(super) fn receive(&mut self, costs: &Costs, size: Bytes, arrival: Time, posted: Time) -> Time {
        let taken = self.now.max(arrival).max(self.may_receive);
        self.statistics.receive_idle += arrival.since(posted);
        self.now = taken + costs.receiving(size);
        self.may_receive = taken + costs.occupying(size);
        taken
    }

    /// The message sent last, whose send has waited for it, is taken by its receiver at `taken`.
    pub(super) fn taken(&mut self, taken: Time) {
        self.may_send = self.may_send.max(taken);
    }

    /// Goes on at `time` at the earliest.
    pub(super) fn wait_until(&mut self, time: Time) {
        self.now = self.now.max(time);
    }
}
