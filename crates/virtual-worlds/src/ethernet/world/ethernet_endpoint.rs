//! What one rank of a GOAL schedule stands on.

use std::cell::RefCell;

use endpoint::Endpoint;
use messaging::{Calls, Datagram, Messenger};
use quantities::{Duration, Rank, Time};

use super::port::Port;
use super::record::Record;
use crate::answer::{Activity, Span};

/// A rank, and what is noted of it.
pub(super) struct EthernetEndpoint<'run> {
    pub(super) messenger: Messenger<Port<'run, Datagram>>,
    pub(super) calls: Calls,
    pub(super) record: &'run RefCell<Record>,
}

impl EthernetEndpoint<'_> {
    pub(super) fn rank(&self) -> Rank {
        self.messenger.rank()
    }

    pub(super) fn now(&self) -> Time {
        self.messenger.now()
    }

    /// When a computation of so long is over that begins now.
    pub(super) fn computes(&self, work: Duration) -> Time {
        let end = self.now() + work;
        if end > Time::HORIZON {
            self.record.borrow_mut().beyond = Some(self.rank());
        }
        end
    }

    /// A call of the program takes its time, in which frames come and go.
    pub(super) async fn call(&self, time: Duration) {
        if !time.is_zero() {
            self.messenger.compute(time).await;
        }
    }

    /// Notes that something has taken the program's time from `start` to `end`.
    pub(super) fn did_until(&self, activity: Activity, start: Time, end: Time) {
        let rank = self.rank();
        let record = &mut *self.record.borrow_mut();
        if let (Activity::Receive, Some(statistics)) = (activity, record.ranks.get_mut(rank.0 as usize)) {
            statistics.receive_idle += end.since(start);
        }
        if let Some(timeline) = &mut record.timeline {
            timeline.spans.push(Span { rank, activity, start, end });
        }
    }
}
