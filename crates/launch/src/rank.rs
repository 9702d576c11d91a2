//! A rank that runs as a process: its endpoint, and its program again and again.

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::rc::Rc;

use endpoint::{Endpoint, Error, Message, Needs, Received, Result, Source, Tag, Tags};
use messaging::{Datagram, Datagrams, Destination, Messenger, Parameters, Reporting};
use programs::barrier::dissemination;
use quantities::{Duration, Rank, Rate, Time};
use real_worlds::udp::{Group, UdpCounts, UdpNetwork, UdpSettings};
use real_worlds::{Clock, block_on, real_parameters};

use super::sealing::Network;
use super::secret::Secret;
use super::wire::{Record, Roster, Tuning};

/// How long after they have met ranks begin, so that all know of it; and so much more for each of them.
const NOTICE: Duration = Duration::from_microseconds(4_000);
const NOTICE_EACH: Duration = Duration::from_microseconds(50);
/// How long after the others the rank begins that begins, so that they are waiting for it.
const LEAD: Duration = Duration::from_microseconds(2_000);
/// How long a rank that is done leaves the processor to others on its machine that are not, before it goes on to the next run.
const REST: Duration = Duration::from_microseconds(1_000);
/// How much of what a rank sends may lie in its host's queue, counted as the kernel does: some sixty packets. Of what lies there nobody
/// can say that it is late, and at 100 Mbit/s it lies there for less than half of the least time after which a packet is sent again. [B]
const HELD_BACK: usize = 128 << 10;
/// How long a rank waits for a message, if nothing else is asked for.
const USUAL_PATIENCE: Duration = Duration::from_microseconds(60_000_000);

/// UDP, and an end to waiting.
#[derive(Debug)]
struct Patient {
    network: Network,
    me: Rank,
    /// Until when the program waits for a message.
    until: Rc<Cell<Option<Time>>>,
    counts: Rc<Cell<Counts>>,
}

/// What went through the network.
#[derive(Clone, Copy, Debug)]
struct Counts {
    udp: UdpCounts,
    forged: u64,
}

impl Patient {
    fn count(&self) {
        self.counts.set(counts(&self.network));
    }
}

fn counts(network: &Network) -> Counts {
    Counts { udp: network.counts(), forged: network.forged() }
}

impl Datagrams for Patient {
    fn now(&self) -> Time {
        self.network.now()
    }

    async fn send(&self, datagrams: &[(Destination, Datagram)]) -> Result<()> {
        let sent = self.network.send(datagrams).await;
        self.count();
        sent
    }

    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()> {
        let limit = self.until.get();
        if limit.is_some_and(|limit| limit <= self.now()) {
            return Err(Error::Deadlock(format!("rank {} has waited for a message for too long", self.me)));
        }
        let received = self.network.receive([until, limit].into_iter().flatten().min(), arrived).await;
        self.count();
        received
    }
}

/// A rank's endpoint, which counts what the program sends, and does not wait for ever.
#[derive(Debug)]
pub struct LaunchedEndpoint {
    messenger: Messenger<Patient>,
    until: Rc<Cell<Option<Time>>>,
    patience: Duration,
    messages: Cell<u64>,
    bytes: Cell<u64>,
    /// What ranks tell each other that meet, and from which ranks it has come while the program still ran here.
    meeting: Message,
    early: RefCell<Vec<Rank>>,
    /// For each other rank, the messages of the program to it and from it.
    sent_to: RefCell<Vec<u64>>,
    received_from: RefCell<Vec<u64>>,
}

impl LaunchedEndpoint {
    /// Whether that message is of a rank that waits for this one to meet it; then it is noted.
    fn is_to_meet(&self, from: Rank, message: &Message) -> bool {
        let is_to_meet = *message == self.meeting;
        if is_to_meet {
            self.early.borrow_mut().push(from);
        }
        is_to_meet
    }

    fn sends(&self, message: &Message, to: impl Iterator<Item = Rank>) {
        self.messages.set(self.messages.get() + 1);
        self.bytes.set(self.bytes.get() + message.size().0);
        to.for_each(|rank| count(&self.sent_to, rank));
    }

    async fn patiently<T>(&self, received: impl Future<Output = Result<T>>) -> Result<T> {
        self.until.set(Some(self.now() + self.patience));
        let received = received.await;
        self.until.set(None);
        received
    }
}

impl Endpoint for LaunchedEndpoint {
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
        self.sends(&message, std::iter::once(to));
        self.patiently(self.messenger.send_tagged(to, tag, message)).await
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        loop {
            let next = self.messenger.receive_matching(from, tags, deadline);
            let received = if deadline.is_some() { next.await } else { self.patiently(next).await }?;
            if from != Source::Any || !self.is_to_meet(received.from, &received.message) {
                count(&self.received_from, received.from);
                return Ok(received);
            }
        }
    }

    async fn compute(&self, work: Duration) {
        self.messenger.compute(work).await;
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        self.sends(&message, (0..self.size()).map(Rank).filter(|&rank| rank != self.rank()));
        self.patiently(self.messenger.multicast(message)).await
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        let received = self.patiently(self.messenger.receive_multicast(from)).await;
        received.inspect(|_| count(&self.received_from, from))
    }
}

fn count(messages: &RefCell<Vec<u64>>, rank: Rank) {
    if let Some(count) = messages.borrow_mut().get_mut(rank.0 as usize) {
        *count += 1;
    }
}

/// The same ranks, as they meet between two runs of a program: one that receives messages of anyone may have taken what others said who
/// were done before it.
struct Meeting<'endpoint>(&'endpoint LaunchedEndpoint);

impl Endpoint for Meeting<'_> {
    fn rank(&self) -> Rank {
        self.0.rank()
    }

    fn size(&self) -> u32 {
        self.0.size()
    }

    fn now(&self) -> Time {
        self.0.now()
    }

    async fn send_tagged(&self, to: Rank, tag: Tag, _: Message) -> Result<()> {
        self.0.messenger.send_tagged(to, tag, self.0.meeting.clone()).await
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        let early = self.0.early.borrow().iter().position(|&early| from == Source::Rank(early));
        match early {
            Some(place) => {
                let from = self.0.early.borrow_mut().remove(place);
                Ok(Received { from, tag: Tag::default(), message: self.0.meeting.clone() })
            }
            None => self.0.messenger.receive_matching(from, tags, deadline).await,
        }
    }

    async fn compute(&self, work: Duration) {
        self.0.compute(work).await;
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        self.0.messenger.multicast(message).await
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        self.0.messenger.receive_multicast(from).await
    }
}

/// A rank that has its program still to run.
#[derive(Debug)]
pub struct Running {
    endpoint: LaunchedEndpoint,
    counts: Rc<Cell<Counts>>,
    /// Whether all ranks have the same clock.
    same_clock: bool,
    repeat: u32,
}

impl Running {
    /// Rank `me` of those of `roster`, on `socket`, who all know `secret`.
    ///
    /// # Errors
    /// That the roster can't be, or the network not be used.
    pub fn new(me: Rank, roster: &Roster, socket: UdpSocket, secret: &Secret) -> Result<Running> {
        let address = socket.local_addr().map_err(|error| Error::Network(error.to_string()))?.ip();
        let others_here = roster.ranks.iter().filter(|rank| rank.ip() == address).count() > 1;
        let interface = match address {
            IpAddr::V4(address) => address,
            IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
        };
        let group = roster.group.map(|address| Group { address, interface, hops: 1, others_here });
        let usual = parameters(roster);
        let meeting = Message::from(secret.meeting());
        let secret = Some(secret).filter(|_| !roster.tuning.trusted_network);
        let parameters = Parameters { datagram: Network::inner(usual.datagram, secret.is_some()), ..usual };
        let clock = roster.zero.map_or_else(Clock::starting_now, Clock::starting_at);
        let network = UdpNetwork::new(UdpSettings {
            me,
            ranks: roster.ranks.iter().copied().map(Some).collect(),
            socket,
            group,
            rate: roster.tuning.rate.map(Rate::from_bits_per_second),
            longest: usual.datagram,
            clock,
        })?;
        let held_back = network.port().hold_back_at_most(HELD_BACK);
        held_back.map_err(|error| Error::Network(error.to_string()))?;
        let size = u32::try_from(roster.ranks.len()).unwrap_or(u32::MAX);
        let network = Network::new(network, (me, size), roster.session, secret);
        let (until, counts) = (Rc::new(Cell::new(None)), Rc::new(Cell::new(counts(&network))));
        let network = Patient { network, me, until: Rc::clone(&until), counts: Rc::clone(&counts) };
        let messenger = Messenger::new(network, me, size, parameters)?;
        let patience = roster.tuning.patience.map_or(USUAL_PATIENCE, Duration::from_picoseconds);
        let none = || RefCell::new(vec![0; roster.ranks.len()]);
        let (messages, bytes, sent_to, received_from) = (Cell::new(0), Cell::new(0), none(), none());
        let early = RefCell::default();
        let endpoint =
            LaunchedEndpoint { messenger, until, patience, messages, bytes, meeting, early, sent_to, received_from };
        Ok(Running { endpoint, counts, same_clock: roster.zero.is_some(), repeat: roster.repeat })
    }

    /// Runs the program, which does no more than it `needs`, as often as it is to run; `first` is the rank that begins, where one
    /// does.
    ///
    /// # Errors
    /// What the program, or the network, ends with.
    pub fn run(
        &mut self,
        ranks: u32,
        first: Option<Rank>,
        needs: Needs,
        program: impl AsyncFn(&LaunchedEndpoint) -> Result<()>,
    ) -> Result<Record> {
        if ranks != self.endpoint.size() {
            return Err(Error::Unfit(format!("the program has {ranks} ranks, but {} run", self.endpoint.size())));
        }
        self.endpoint.messenger.hold_to(needs);
        block_on(async {
            let first_rank = first.map(|rank| rank.0);
            let mut record = Record { first: first_rank, same_clock: self.same_clock, ..Record::default() };
            for _ in 0..self.repeat {
                self.once(first, &program, &mut record).await?;
            }
            self.endpoint.patiently(self.endpoint.messenger.end()).await?;
            (record.messages, record.bytes) = (self.endpoint.messages.get(), self.endpoint.bytes.get());
            (record.sent_to, record.received_from) = (self.endpoint.sent_to.take(), self.endpoint.received_from.take());
            record.repeated = self.endpoint.messenger.engine().repeated();
            record.needless = self.endpoint.messenger.engine().needless();
            let Counts { udp, forged } = self.counts.get();
            (record.received, record.strangers, record.forged) = (udp.received, udp.strangers, forged + udp.unreadable);
            Ok(record)
        })?
    }

    async fn once(
        &self,
        first: Option<Rank>,
        program: &impl AsyncFn(&LaunchedEndpoint) -> Result<()>,
        record: &mut Record,
    ) -> Result<()> {
        self.meet(first).await?;
        let before = self.counts.get().udp;
        let start = self.endpoint.now();
        program(&self.endpoint).await?;
        let end = self.endpoint.now();
        self.endpoint.messenger.compute(REST).await;
        self.endpoint.patiently(self.endpoint.messenger.flush()).await?;
        let after = self.counts.get().udp;
        record.times.push([start, end].map(Time::picoseconds));
        record.datagrams += after.datagrams - before.datagrams;
        record.copied += after.payloads - before.payloads;
        Ok(())
    }

    /// Waits until all ranks are here, and then for a time on which they agree.
    async fn meet(&self, first: Option<Rank>) -> Result<()> {
        let Running { endpoint, same_clock, .. } = self;
        let messenger = &endpoint.messenger;
        let (me, size) = (messenger.rank(), messenger.size());
        endpoint.patiently(dissemination(&Meeting(endpoint))).await?;
        let start = if me == Rank(0) {
            let start = endpoint.now() + NOTICE + NOTICE_EACH * u64::from(size);
            for rank in (1..size).map(Rank) {
                messenger.send(rank, Message::from(start.picoseconds().to_be_bytes().to_vec())).await?;
            }
            start
        } else {
            read_time(&endpoint.patiently(messenger.receive(Rank(0))).await?)?
        };
        // Another's clock tells nothing: then those begin who know that all are there.
        let start = if *same_clock { start } else { endpoint.now() + NOTICE };
        let start = if first == Some(me) { start + LEAD } else { start };
        messenger.compute(start.since(endpoint.now().min(start))).await;
        Ok(())
    }
}

fn parameters(roster: &Roster) -> Parameters {
    let usual = real_parameters(roster.session);
    let Tuning { window, repair, .. } = roster.tuning;
    let window = window.unwrap_or(usual.window);
    // Several reports to a window, however small that is.
    let packets = usual.reporting.packets.min(u64::from(window / 4).max(1));
    let reporting = Reporting { packets, ..usual.reporting };
    Parameters { window, reporting, repeat: repair.map_or(usual.repeat, Into::into), ..usual }
}

fn read_time(message: &Message) -> Result<Time> {
    let bytes = message.content().and_then(|content| content.first_chunk());
    let time = bytes.map(|bytes| Time::from_picoseconds(u64::from_be_bytes(*bytes)));
    time.ok_or_else(|| Error::Unfit("rank 0 said no time to begin".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Tuning;

    #[test]
    fn a_program_does_no_more_than_it_declares() {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let roster = Roster {
            ranks: vec![socket.local_addr().unwrap()],
            session: 7,
            group: None,
            zero: None,
            repeat: 1,
            experiment: serde_json::Value::Null,
            tuning: Tuning::default(),
        };
        let mut running = Running::new(Rank(0), &roster, socket, &Secret::random().unwrap()).unwrap();
        let now = async |endpoint: &LaunchedEndpoint| endpoint.receive_any(Some(Time::ZERO)).await.map(drop);
        let undeclared = running.run(1, None, Needs::NOTHING, now).unwrap_err();
        assert_eq!(undeclared, Error::Undeclared("ANY_SOURCE"));
        let declared = running.run(1, None, Needs::ANY_SOURCE, now).unwrap_err();
        assert!(matches!(declared, Error::Deadline(_) | Error::Lost(_)), "{declared}");
    }
}
