//! One rank's messaging: all of its streams to and from all others, as one state machine.

mod agenda;
mod losing;
mod receiving;

pub(crate) use receiving::Taken;
pub use receiving::{Awaited, Posted};

use std::collections::BTreeSet;
use std::ops::Range;

use endpoint::{Error, Message, Result, Tag, Tags, check_partner};
use quantities::{Rank, Time};

use self::agenda::Agenda;
use crate::broadcast::Source;
use crate::neighbours::Neighbours;
use crate::packet::{Body, Packet, ReceiverReport};
use crate::peer::{Peer, PeerState};
use crate::push_pull::Matching;
use crate::{Datagram, Destination, Parameters};

/// One rank's messaging. It is told the time, what its program does and what has arrived, and returns what to send and
/// when it needs to be called again.
///
/// ```text
///     program  -- send, post, receive -->  Engine  -- drain -->  datagrams to send
///     network  -- take(datagram) ------->          -- deadline ->  wake(time)
/// ```
#[derive(Clone, Debug)]
pub struct Engine {
    me: Rank,
    parameters: Parameters,
    /// The ranks that share memory with this one, if some do.
    neighbours: Option<Neighbours>,
    /// The others by rank; none at this rank's own index.
    peers: Vec<Option<Peer>>,
    source: Source,
    /// Which ranks need attention.
    agenda: Agenda,
    /// The ranks with a message that has arrived, or begun to, and has not been received; and the ranks that lack
    /// something sent to them. As of the last round.
    begun: BTreeSet<Rank>,
    owed: BTreeSet<Rank>,
    /// The rank that has to pull something before this rank can broadcast more; as of the last round.
    awaited: Option<Rank>,
    /// How many other ranks are still present, and how often one has departed.
    present: u32,
    departures: u64,
    /// The send queues, each of a rank and a tag, that had no room and may have some now.
    roomier: Vec<(Rank, Tag)>,
    /// The receiver for which broadcasts failed.
    failed: Option<Rank>,
    /// The receivers without which broadcasts continued.
    left_behind: Vec<Rank>,
    /// Which message goes to which receive.
    matching: Matching,
    ended: bool,
    /// Whether there may be more to send than fitted into a batch.
    more: bool,
    /// The rank whose turn comes first in the next batch: the one after the last rank served in a full batch.
    first: Rank,
    outbox: Vec<(Destination, Datagram)>,
    counts: Counts,
}

/// Counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets sent; a broadcast packet counts once.
    pub sent: u64,
    /// Of these, parts of messages broadcast to all at once, and their parity packets.
    pub broadcast: u64,
    /// Packets that arrived and could be read.
    pub taken: u64,
    /// Datagrams that arrived and did not belong to this session.
    pub foreign: u64,
    /// How often nothing arrived in time, so that a receiver was asked what it has.
    pub timeouts: u64,
}

impl Engine {
    /// The messaging of rank `me` of `size` ranks.
    ///
    /// # Errors
    /// [`Error::Unfit`] when the parameters are not allowed, [`Error::NoSuchRank`] when there is no such rank.
    pub fn new(me: Rank, size: u32, parameters: Parameters) -> Result<Engine> {
        parameters.check(size)?;
        if me.0 >= size {
            return Err(Error::NoSuchRank { rank: me, size });
        }
        let peer = |rank| (rank != me.0).then(|| Peer::new(me, size, &parameters));
        Ok(Engine {
            me,
            parameters,
            neighbours: None,
            peers: (0..size).map(peer).collect(),
            source: Source::new(me, size, &parameters),
            agenda: Agenda::new(size),
            begun: BTreeSet::new(),
            owed: BTreeSet::new(),
            awaited: None,
            present: size - 1,
            departures: 0,
            roomier: Vec::new(),
            failed: None,
            left_behind: Vec::new(),
            matching: Matching::default(),
            ended: false,
            more: false,
            first: Rank((me.0 + 1) % size),
            outbox: Vec::new(),
            counts: Counts::default(),
        })
    }

    /// The same rank, which shares memory with the others among these ranks.
    pub(crate) fn with_neighbours(mut self, ranks: Range<u32>) -> Engine {
        let neighbours = Neighbours::new(ranks, &self.parameters);
        for rank in neighbours.ranks() {
            if let Some(place) = self.peers.get_mut(rank.0 as usize) {
                *place = place.take().map(|peer| peer.with_parameters(&neighbours.parameters));
            }
        }
        self.neighbours = Some(neighbours);
        self
    }

    /// The parameters of messages to this rank.
    fn parameters_to(&self, rank: Rank) -> Parameters {
        let neighbours = self.neighbours.as_ref().filter(|neighbours| neighbours.include(rank));
        neighbours.map_or(self.parameters, |neighbours| *neighbours.parameters)
    }

    /// This rank.
    pub const fn rank(&self) -> Rank {
        self.me
    }

    /// How many ranks there are.
    pub fn size(&self) -> u32 {
        u32::try_from(self.peers.len()).unwrap_or(u32::MAX)
    }

    /// The counters.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// How many packets were sent again.
    pub fn repeated(&self) -> u64 {
        let to_one: u64 = self.peers.iter().flatten().map(|peer| peer.sender.window().repeated()).sum();
        to_one + self.source.repeated()
    }

    /// How many duplicate packets arrived: others sent them again needlessly.
    pub fn needless(&self) -> u64 {
        self.peers.iter().flatten().map(|peer| peer.receiver.duplicates() + peer.broadcasts.duplicates()).sum()
    }

    /// The receivers without which broadcasts continued, in the order in which they were lost.
    pub fn left_behind(&self) -> &[Rank] {
        &self.left_behind
    }

    /// The memory that the sending side occupies now, its channels to single ranks and its broadcasts, including what
    /// is kept of messages until it is acknowledged. [B]
    pub fn memory(&self) -> (u64, u64) {
        (self.others().map(|(_, peer)| peer.sender.memory()).sum(), self.source.memory())
    }

    /// The part of it that its broadcasts occupy now. [B]
    pub fn memory_of_broadcasts(&self) -> u64 {
        self.source.memory()
    }

    /// How many packets were sent again to rank `to` alone.
    pub fn repeated_to(&self, to: Rank) -> u64 {
        let peer = self.peers.get(to.0 as usize).and_then(Option::as_ref);
        let messages = peer.map_or(0, |peer| peer.sender.window().repeated());
        messages + self.source.view(to).map_or(0, |view| view.repeated())
    }

    /// The state of this rank, which the next round looks at.
    fn touch_peer(&mut self, rank: Rank) -> Result<&mut Peer> {
        let size = self.size();
        check_partner(self.me, rank, size)?;
        self.agenda.touch(rank);
        self.peer_mut(rank).ok_or(Error::NoSuchRank { rank, size })
    }

    fn peer_mut(&mut self, rank: Rank) -> Option<&mut Peer> {
        self.peers.get_mut(rank.0 as usize)?.as_mut()
    }

    fn peer(&self, rank: Rank) -> Option<&Peer> {
        self.peers.get(rank.0 as usize)?.as_ref()
    }

    fn others(&self) -> impl Iterator<Item = (Rank, &Peer)> {
        (0..).map(Rank).zip(&self.peers).filter_map(|(rank, peer)| Some((rank, peer.as_ref()?)))
    }

    /// Takes a message with this tag for rank `to` if there is room in the send queue, and returns it otherwise.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::ToItself`]; [`Error::Lost`] when the rank has ended or is gone; [`Error::Unfit`]
    /// when the message is too large.
    pub fn send(&mut self, to: Rank, tag: Tag, message: Message) -> Result<Option<Message>> {
        let parameters = self.parameters_to(to);
        parameters.check_size(message.size())?;
        let peer = self.touch_peer(to)?;
        if peer.state != PeerState::Present {
            return Err(Error::Lost(to));
        }
        if !peer.sender.has_room(tag, &parameters) {
            return Ok(Some(message));
        }
        peer.sender.submit(tag, message, &parameters);
        Ok(None)
    }

    /// The send queues, each of a rank and a tag, that had no room when a message was last refused and may have some
    /// now.
    pub(crate) fn take_roomier(&mut self) -> Vec<(Rank, Tag)> {
        std::mem::take(&mut self.roomier)
    }

    /// How often another rank has ended or was gone.
    pub(crate) const fn departures(&self) -> u64 {
        self.departures
    }

    /// Takes a message for all other ranks if there is room in the send queue, and returns it otherwise.
    ///
    /// # Errors
    /// [`Error::Lost`] when a receiver is gone and broadcasts don't continue without it; [`Error::Unfit`] when the
    /// message is too large.
    pub fn multicast(&mut self, message: Message) -> Result<Option<Message>> {
        self.parameters.check_size(message.size())?;
        if let Some(rank) = self.failed {
            return Err(Error::Lost(rank));
        }
        if self.source.waiting() >= self.parameters.send_queue {
            return Ok(Some(message));
        }
        self.source.submit(message, &self.parameters);
        Ok(None)
    }

    /// Takes a datagram that has arrived. One that is damaged, contradictory or of another session changes nothing.
    pub fn take(&mut self, now: Time, datagram: &Datagram) {
        let Parameters { session, largest, .. } = self.parameters;
        let packet = Packet::decode(datagram)
            .ok()
            .filter(|packet| packet.session == session && !packet.opens_more_than(largest));
        let Some(Packet { source, broadcast, answer, body, .. }) = packet else {
            self.counts.foreign += 1;
            return;
        };
        if self.touch_peer(source).is_err() {
            self.counts.foreign += 1;
            return;
        }
        let Some(peer) = self.peers.get_mut(source.0 as usize).and_then(Option::as_mut) else { return };
        if peer.state == PeerState::Gone {
            return;
        }
        peer.last_heard = now;
        match body {
            Body::Data(data) => peer.take(now, source, data, (broadcast, answer), &mut self.matching),
            Body::Parity(parity) => peer.take_parity(now, &parity, broadcast),
            Body::Dropped => peer.dropped = true,
            Body::Question => peer.ask(now, broadcast),
            Body::Report(report) => {
                if answer {
                    peer.receiver.report_at(now);
                }
                self.report(now, source, &report, broadcast);
            }
        }
        self.counts.taken += 1;
    }

    fn report(&mut self, now: Time, from: Rank, report: &ReceiverReport, broadcast: bool) {
        if broadcast {
            match self.source.view(from) {
                Some(_) => self.source.report(now, from, report),
                None => self.push(Destination::One(from), false, false, Body::Dropped),
            }
            return;
        }
        let Ok(peer) = self.touch_peer(from) else { return };
        let was_present = peer.state == PeerState::Present;
        peer.report(now, report);
        let (has_ended, roomier) = (peer.state == PeerState::Ended, peer.sender.take_roomier());
        self.roomier.extend(roomier.into_iter().map(|tag| (from, tag)));
        if has_ended {
            // It will receive nothing more, and lacks nothing.
            self.present -= u32::from(was_present);
            self.departures += u64::from(was_present);
            self.source.unlink(from);
        }
    }

    /// When [`Engine::wake`] and [`Engine::drain`] have something to do, if nothing happens before.
    pub fn deadline(&self) -> Option<Time> {
        if self.more {
            return Some(Time::ZERO);
        }
        let touched = self.agenda.peek().iter().filter_map(|&rank| self.due_with(rank));
        touched.chain(self.agenda.first()).min()
    }

    /// When something is due for this rank.
    fn due_with(&self, rank: Rank) -> Option<Time> {
        let view = self.source.view(rank).and_then(|view| view.deadline());
        let lost = [self.gone_at(rank), self.slow_at(rank)];
        [self.peer(rank)?.deadline(), view].into_iter().chain(lost).flatten().min()
    }

    /// What to send now, up to one batch. To be called after everything else that happens.
    pub fn drain(&mut self, now: Time) -> Vec<(Destination, Datagram)> {
        let parameters = self.parameters;
        self.agenda.touch_due(now);
        let touched = self.agenda.touched();
        while self.has_room_in_batch()
            && let Some((to, body, answer)) = self.source.next_packet(now, &parameters, &touched)
        {
            self.counts.broadcast += u64::from(to == Destination::All);
            self.push(to, true, answer, body);
        }
        let awaited = self.source.awaited_receiver();
        if awaited != self.awaited {
            [self.awaited, awaited].into_iter().flatten().for_each(|rank| self.agenda.touch(rank));
            self.awaited = awaited;
        }
        self.source.started().into_iter().for_each(|rank| self.agenda.touch(rank));
        let mut touched = self.agenda.touched();
        let turn = touched.partition_point(|&rank| rank < self.first);
        touched.rotate_left(turn);
        for rank in touched {
            self.drain_to(now, rank);
            let due = self.due_with(rank);
            self.agenda.note(rank, due);
            let peer = self.peer(rank);
            let (begun, owed) = (peer.is_some_and(Peer::has_begun), peer.is_some_and(Peer::lacks_data));
            keep(&mut self.begun, rank, begun);
            keep(&mut self.owed, rank, owed);
        }
        self.more = !self.has_room_in_batch();
        if !self.more {
            self.agenda.clear();
        }
        std::mem::take(&mut self.outbox)
    }

    fn has_room_in_batch(&self) -> bool {
        self.outbox.len() < self.parameters.batch
    }

    /// What to send to this rank alone: as many parts of messages as the batch holds, and everything else that is due.
    fn drain_to(&mut self, now: Time, rank: Rank) {
        let (parameters, to) = (self.parameters_to(rank), Destination::One(rank));
        let next = |peer: &mut Peer| peer.sender.next_packet(now, &parameters);
        while self.has_room_in_batch()
            && let Some((data, answer)) = self.peer_mut(rank).and_then(next)
        {
            self.push(to, false, answer, Body::Data(data));
            self.first = if self.has_room_in_batch() { self.first } else { Rank(rank.0 + 1) };
        }
        if self.source.should_ask(rank) {
            self.push(to, true, true, Body::Question);
        }
        if self.peer_mut(rank).is_some_and(|peer| peer.sender.should_ask()) {
            self.push(to, false, true, Body::Question);
        }
        let (ended, awaited) = (self.ended, self.awaited == Some(rank));
        let Some(peer) = self.peer_mut(rank).filter(|peer| peer.state != PeerState::Gone) else { return };
        peer.watch(now, awaited);
        for (body, broadcast, answer) in peer.due(now, &parameters, ended) {
            self.push(to, broadcast, answer, body);
        }
    }

    fn push(&mut self, to: Destination, broadcast: bool, answer: bool, body: Body) {
        let packet = Packet { session: self.parameters.session, source: self.me, broadcast, answer, body };
        self.counts.sent += 1;
        self.outbox.push((to, packet.encode()));
    }

    /// Whether everything that was sent has arrived at those ranks that are still there.
    pub fn is_quiet(&self) -> bool {
        let mut maybe = self.owed.iter().chain(self.agenda.peek());
        !maybe.any(|&rank| self.peer(rank).is_some_and(Peer::lacks_data)) && self.source.is_done()
    }

    /// Whether a message with one of `tags` to rank `to` is in flight, or will be once it is received.
    pub fn has_undelivered(&self, to: Rank, tags: Tags) -> bool {
        self.peer(to).is_some_and(|peer| peer.sender.has_undelivered(tags))
    }

    /// Whether the send queue to the rank of `receiver` will get more room: something is on its way to it, or it has a
    /// message and this rank does not know so yet.
    pub fn will_get_room(&self, receiver: &Engine) -> bool {
        let (Some(to), Some(from)) = (self.peer(receiver.me), receiver.peer(self.me)) else { return false };
        to.sender.window().is_under_way()
            || to.sender.numbers().any(|number| from.receiver.will_report_complete(number))
    }

    /// Whether rank `to` gets more of what this rank broadcasts if it waits: it is in flight, or will be, since every
    /// receiver that holds it up can continue.
    pub fn will_broadcast_more(&self, to: Rank, can_continue: impl Fn(Rank) -> bool) -> bool {
        self.source.will_get_more(to, can_continue)
    }

    /// The program has ended: this rank sends and receives nothing more.
    pub fn end(&mut self, now: Time) {
        let others: Vec<Rank> = self.others().map(|(rank, _)| rank).collect();
        // All of them exist.
        let _ = self.end_with(now, &others);
    }

    /// Like [`Engine::end`], but only `ranks` are told and have to end as well.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] and [`Error::ToItself`], before anyone is told anything.
    pub fn end_with(&mut self, now: Time, ranks: &[Rank]) -> Result<()> {
        let size = self.size();
        ranks.iter().try_for_each(|&rank| check_partner(self.me, rank, size))?;
        self.ended = true;
        let timing = self.parameters.timing;
        for &rank in ranks {
            self.touch_peer(rank)?.end(now, timing);
        }
        Ok(())
    }

    /// Whether all programs to which this one said goodbye have ended and know it, so that none of them needs its
    /// answers.
    pub fn is_over(&self) -> bool {
        self.ended && self.others().filter(|(_, peer)| peer.needs_farewell()).all(|(_, peer)| peer.is_over())
    }
}

/// Puts `rank` into the set if it `belongs` there, and removes it otherwise.
fn keep(set: &mut BTreeSet<Rank>, rank: Rank, belongs: bool) {
    if belongs {
        set.insert(rank);
    } else {
        set.remove(&rank);
    }
}
