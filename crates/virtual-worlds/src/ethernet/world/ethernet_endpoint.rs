//! A rank's endpoint, which notes what its program does when.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use endpoint::{Endpoint, Message, Received, Result, Source, Tag, Tags, check_partner};
use machines::model::Ethernet;
use messaging::{Datagram, Messenger};
use quantities::{Duration, Rank, Time};

use super::port::Port;
use crate::answer::{Activity, MessageRecord, RankStatistics, Span, Timeline, Unreceived};

/// What the ranks of a run did.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Messages that programs sent; a broadcast is one.
    pub(super) messages: u64,
    pub(super) ranks: Vec<RankStatistics>,
    pub(super) timeline: Option<Timeline>,
    /// A rank that computes until after [`Time::HORIZON`], if there is one.
    pub(super) beyond: Option<Rank>,
    /// When messages were sent that are still to be received. Those from one rank to another come in order, and so do its
    /// broadcasts.
    sent: BTreeMap<(Rank, Rank, bool), VecDeque<Time>>,
}

impl Record {
    pub(super) fn new(ranks: u32, with_timeline: bool) -> Record {
        Record {
            ranks: vec![RankStatistics::default(); ranks as usize],
            timeline: with_timeline.then(Timeline::default),
            ..Record::default()
        }
    }

    /// The messages and broadcasts that no receive took.
    pub(super) fn unreceived(&self) -> Vec<Unreceived> {
        let left = self.sent.iter().flat_map(|(&(from, to, _), times)| times.iter().map(move |_| (from, to)));
        Unreceived::counted(left)
    }
}

/// What calls of the program cost, beside frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    pub(super) send: Duration,
    pub(super) receive: Duration,
}

impl Calls {
    pub(super) const fn of(ethernet: &Ethernet) -> Calls {
        Calls { send: ethernet.call_send, receive: ethernet.call_receive }
    }
}

/// A rank's endpoint.
pub(super) struct EthernetEndpoint<'run> {
    pub(super) messenger: Messenger<Port<'run, Datagram>>,
    pub(super) calls: Calls,
    pub(super) record: &'run RefCell<Record>,
    /// Whether it has broadcast, and the most that its broadcasts took. [B]
    broadcasts: Cell<bool>,
    pub(super) broadcast_memory: Cell<u64>,
}

impl<'run> EthernetEndpoint<'run> {
    pub(super) const fn new(
        messenger: Messenger<Port<'run, Datagram>>,
        calls: Calls,
        record: &'run RefCell<Record>,
    ) -> EthernetEndpoint<'run> {
        EthernetEndpoint { messenger, calls, record, broadcasts: Cell::new(false), broadcast_memory: Cell::new(0) }
    }

    /// Looks what its broadcasts take now.
    pub(super) fn measure_memory(&self) {
        if self.broadcasts.get() {
            let now = self.messenger.engine().memory_of_broadcasts();
            self.broadcast_memory.set(now.max(self.broadcast_memory.get()));
        }
    }

    fn sends(&self, to: impl Iterator<Item = Rank>, broadcast: bool) {
        let record = &mut *self.record.borrow_mut();
        record.messages += 1;
        for to in to {
            record.sent.entry((self.rank(), to, broadcast)).or_default().push_back(self.now());
        }
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

    /// Notes that something has taken the program's time since `start`.
    fn did(&self, activity: Activity, start: Time) {
        self.did_until(activity, start, self.now());
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

    fn received(&self, from: Rank, message: &Message, broadcast: bool) {
        let (to, received) = (self.rank(), self.now());
        let record = &mut *self.record.borrow_mut();
        let times = record.sent.get_mut(&(from, to, broadcast));
        let sent = times.and_then(VecDeque::pop_front).unwrap_or(received);
        if let Some(timeline) = &mut record.timeline {
            timeline.messages.push(MessageRecord { from, to, size: message.size(), sent, received });
        }
    }
}

impl Endpoint for EthernetEndpoint<'_> {
    fn rank(&self) -> Rank {
        self.messenger.rank()
    }

    fn size(&self) -> u32 {
        self.messenger.size()
    }

    fn now(&self) -> Time {
        self.messenger.now()
    }

    async fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Result<()> {
        check_partner(self.rank(), to, self.size())?;
        self.sends(std::iter::once(to), false);
        let start = self.now();
        self.call(self.calls.send).await;
        let result = self.messenger.send_tagged(to, tag, message).await;
        self.did(Activity::Send, start);
        result
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        let start = self.now();
        let result = self.messenger.receive_matching(from, tags, deadline).await;
        self.call(self.calls.receive).await;
        self.did(Activity::Receive, start);
        result.inspect(|received| self.received(received.from, &received.message, false))
    }

    async fn compute(&self, work: Duration) {
        let start = self.now();
        self.computes(work);
        self.messenger.compute(work).await;
        self.did(Activity::Compute, start);
    }

    async fn sleep_until(&self, time: Time) {
        self.messenger.sleep_until(time).await;
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        let others = (0..self.size()).map(Rank).filter(|&rank| rank != self.rank());
        self.sends(others, true);
        self.broadcasts.set(true);
        let start = self.now();
        self.call(self.calls.send).await;
        let result = self.messenger.multicast(message).await;
        self.did(Activity::Send, start);
        result
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        let start = self.now();
        let result = self.messenger.receive_multicast(from).await;
        self.call(self.calls.receive).await;
        self.did(Activity::Receive, start);
        result.inspect(|message| self.received(from, message, true))
    }
}
