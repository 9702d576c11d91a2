//! The clocks of all ranks and the messages between them, where ranks run ahead of each other.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use endpoint::{Message, Received, Tag, Tags, WaitsFor};
use quantities::{Duration, Rank, Time};

use super::costs::Costs;
use super::mailbox::{Letter, Letters, Mailbox};
use super::rank_clock::RankClock;
use super::ranks::Turns;
use super::record::Record;
use crate::answer::{Activity, Answer, Unreceived};
use crate::stop::ProgressSnapshot;

/// The state that the ranks of a run share.
#[derive(Debug)]
pub(super) struct SharedState {
    costs: Costs,
    ranks: Vec<RankState>,
    letters: Letters,
    /// Ranks that can go on, in the order in which they became ready.
    ready: VecDeque<Rank>,
    /// Ranks that have not begun.
    starting: Range<u32>,
    /// Ranks that could go on, but have sent more than can be taken soon, in the order in which they came to rest.
    resting: VecDeque<Rank>,
    /// The sendrecvs under way whose sends wait for their receivers.
    exchanges: BTreeMap<Rank, WaitingSend>,
    record: Record,
}

/// The send of a sendrecv that waits for its receiver while its rank receives.
#[derive(Clone, Copy, Debug)]
struct WaitingSend {
    to: Rank,
    /// When the processor finished it.
    sent: Time,
    /// When the receiver has taken it, if it has.
    taken: Option<Time>,
}

/// One rank.
#[derive(Clone, Copy, Debug)]
struct RankState {
    clock: RankClock,
    mailbox: Mailbox,
    waits_for: Option<WaitsFor>,
}

impl SharedState {
    pub(super) fn new(costs: Costs, size: u32, with_timeline: bool) -> SharedState {
        let rank = RankState { clock: RankClock::default(), mailbox: Mailbox::EMPTY, waits_for: None };
        SharedState {
            costs,
            ranks: vec![rank; size as usize],
            letters: Letters::new(),
            ready: VecDeque::new(),
            starting: 0..size,
            resting: VecDeque::new(),
            exchanges: BTreeMap::new(),
            record: Record::new(with_timeline),
        }
    }

    pub(super) fn size(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Whether an operation of `rank` is under way.
    pub(super) fn is_waiting(&self, rank: Rank) -> bool {
        self.ranks[rank.0 as usize].waits_for.is_some()
    }

    pub(super) fn now(&self, rank: Rank) -> Time {
        self.ranks[rank.0 as usize].clock.now
    }

    pub(super) fn compute(&mut self, rank: Rank, work: Duration) {
        let clock = &mut self.ranks[rank.0 as usize].clock;
        let start = clock.now;
        clock.compute(work);
        self.record.span(rank, Activity::Compute, None, [start, clock.now]);
    }

    pub(super) fn sleep_until(&mut self, rank: Rank, time: Time) {
        self.ranks[rank.0 as usize].clock.wait_until(time);
    }

    /// Whether `from` must let others run before it sends to a rank that has many letters: if so, it rests.
    ///
    /// Only memory depends on it. Without it, if each rank has a message for every other, the lowest rank first, they
    /// would send almost all messages before one is taken.
    pub(super) fn rest_before_sending(&mut self, from: Rank, to: Rank) -> bool {
        let rests = self.ranks[to.0 as usize].mailbox.has_many();
        if rests {
            self.ranks[from.0 as usize].waits_for = Some(WaitsFor::Machine);
            self.resting.push_back(from);
        }
        rests
    }

    /// Sends `message`; returns whether the sender now waits for its receiver.
    #[inline]
    pub(super) fn send(&mut self, from: Rank, to: Rank, tag: Tag, message: Message) -> bool {
        let size = message.size();
        let sender = &mut self.ranks[from.0 as usize];
        let called = sender.clock.now;
        let arrival = sender.clock.send(&self.costs, size);
        let waits = self.costs.waits_for_receiver(size);
        if waits {
            sender.waits_for = Some(WaitsFor::Receiver(to));
        } else {
            self.record.span(from, Activity::Send, Some(to), [called, sender.clock.now]);
        }
        let receiver = &mut self.ranks[to.0 as usize];
        self.letters.post(to, &mut receiver.mailbox, Letter::new(from, tag, called, arrival, message));
        if matches!(receiver.waits_for, Some(WaitsFor::MessageFrom(awaited, _)) if awaited == from) {
            receiver.waits_for = None;
            self.ready.push_back(to);
        }
        self.record.message_sent();
        waits
    }

    /// The next message from `from` with one of `tags`, if it was sent; otherwise `rank` waits for it.
    #[inline]
    pub(super) fn receive(&mut self, rank: Rank, from: Rank, tags: Tags) -> Option<Received> {
        self.receive_since(rank, from, tags, self.now(rank))
    }

    /// The same, for a rank that asked for it at `posted`.
    #[inline]
    fn receive_since(&mut self, rank: Rank, from: Rank, tags: Tags, posted: Time) -> Option<Received> {
        let receiver = &mut self.ranks[rank.0 as usize];
        let Some(letter) = self.letters.take(rank, &mut receiver.mailbox, from, tags) else {
            receiver.waits_for = Some(WaitsFor::MessageFrom(from, tags));
            return None;
        };
        let taken = receiver.clock.receive(&self.costs, letter.size(), letter.arrival, posted);
        let received = receiver.clock.now;
        if self.costs.waits_for_receiver(letter.size()) {
            self.release_sender(from, rank, [letter.called, taken]);
        }
        self.record.message_received(&letter, rank, received);
        self.record.span(rank, Activity::Receive, Some(from), [posted, received]);
        Some(Received { from, tag: letter.tag, message: letter.into_message() })
    }

    /// Sends `message` as one half of a sendrecv: the processor finishes it before it takes in the other half, as the
    /// send was begun first. Whether the send is over does not matter before that.
    #[inline]
    pub(super) fn begin_sendrecv(&mut self, from: Rank, to: Rank, tag: Tag, message: Message) {
        if self.send(from, to, tag, message) {
            let sent = self.now(from);
            self.exchanges.insert(from, WaitingSend { to, sent, taken: None });
        }
    }

    /// As [`SharedState::receive`], as the other half of a sendrecv that was begun at `began`.
    #[inline]
    pub(super) fn receive_in_sendrecv(&mut self, rank: Rank, from: Rank, tags: Tags, began: Time) -> Option<Received> {
        let received = self.receive_since(rank, from, tags, began)?;
        self.ranks[rank.0 as usize].waits_for = None;
        Some(received)
    }

    /// Whether a sendrecv whose message was received is over; otherwise `rank` waits until the message it sent is
    /// taken.
    #[inline]
    pub(super) fn end_sendrecv(&mut self, rank: Rank) -> bool {
        let Some(&WaitingSend { to, taken, .. }) = self.exchanges.get(&rank) else { return true };
        let sender = &mut self.ranks[rank.0 as usize];
        if let Some(taken) = taken {
            sender.clock.wait_until(taken);
            self.exchanges.remove(&rank);
        } else {
            sender.waits_for = Some(WaitsFor::Receiver(to));
        }
        taken.is_some()
    }

    /// The message that `from` sent, having called at `called`, is taken at `taken`: its send has waited until then.
    /// The rank goes on, unless it is still receiving.
    fn release_sender(&mut self, from: Rank, to: Rank, [called, taken]: [Time; 2]) {
        let sender = &mut self.ranks[from.0 as usize];
        sender.clock.taken(taken);
        let exchange = self.exchanges.get_mut(&from);
        let sent = exchange.as_ref().map_or(sender.clock.now, |exchange| exchange.sent);
        if let Some(exchange) = exchange {
            exchange.taken = Some(taken);
        }
        if let Some(WaitsFor::Receiver(_)) = sender.waits_for {
            sender.clock.wait_until(taken);
            sender.waits_for = None;
            self.ready.push_back(from);
        }
        self.record.span(from, Activity::Send, Some(to), [called, sent.max(taken)]);
    }

    /// The answer of the run, when it is over.
    pub(super) fn into_answer(self) -> Answer {
        let left = (0..)
            .map(Rank)
            .zip(&self.ranks)
            .flat_map(|(to, rank)| self.letters.senders(to, &rank.mailbox).into_iter().map(move |from| (from, to)));
        let unreceived = Unreceived::counted(left);
        Answer { unreceived, ..self.record.into_answer(self.ranks.iter().map(|rank| &rank.clock)) }
    }
}

impl Turns for SharedState {
    /// Ranks that were woken go before those that have not begun: then few mailboxes are in use at once. Of those
    /// woken, the last one goes on: it works with ranks that have just run, and their data is in the cache. Only while
    /// some ranks are behind, with many letters, does the one go on that has waited longest. Ranks that rest come last.
    fn next_turn(&mut self) -> Option<Rank> {
        let woken = if self.letters.some_have_many() { self.ready.pop_front() } else { self.ready.pop_back() };
        woken.or_else(|| self.starting.next().map(Rank)).or_else(|| {
            let rested = self.resting.pop_front()?;
            self.ranks[rested.0 as usize].waits_for = None;
            Some(rested)
        })
    }

    fn waits_for(&self, rank: Rank) -> impl Iterator<Item = WaitsFor> {
        let exchange = self.exchanges.get(&rank).filter(|exchange| exchange.taken.is_none());
        let beside = exchange.map(|exchange| WaitsFor::Receiver(exchange.to));
        let waits_for = self.ranks[rank.0 as usize].waits_for;
        beside.filter(|beside| waits_for.is_some() && waits_for != Some(*beside)).into_iter().chain(waits_for)
    }

    fn reached(&self, rank: Rank) -> ProgressSnapshot {
        ProgressSnapshot { time: self.now(rank), messages: self.record.messages(), packets: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machines::model::LogGp;
    use quantities::Bytes;

    #[test]
    fn a_rank_rests_before_it_sends_to_one_that_has_many_letters_and_its_turn_comes_last() {
        let model = LogGp {
            latency: Duration::from_nanoseconds(1),
            overhead: Duration::ZERO,
            gap: Duration::ZERO,
            gap_per_byte: Duration::ZERO,
            overhead_per_byte: Duration::ZERO,
            rendezvous: None,
        };
        let (one, two) = (Rank(1), Rank(2));
        let mut state = SharedState::new(Costs::new(&model), 3, false);
        assert_eq!([state.next_turn(), state.next_turn()], [Some(Rank(0)), Some(one)]);
        let mut sent = 0;
        while !state.rest_before_sending(one, two) {
            assert!(!state.send(one, two, Tag::default(), Message::of_size(Bytes(sent))));
            sent += 1;
        }
        assert!(!state.rest_before_sending(one, Rank(0)));
        // Rank 2, which has not begun, goes before the one that rests.
        assert_eq!([state.next_turn(), state.next_turn(), state.next_turn()], [Some(two), Some(one), None]);
        assert!((0..sent).all(|number| {
            let received = state.receive(two, one, Tags::Any);
            received.is_some_and(|received| received.message == Message::of_size(Bytes(number)))
        }));
        assert!(!state.rest_before_sending(one, two));
    }
}
