//! A rank that runs as a process: what its program's operations stand on, and the program again and again.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use endpoint::executor::{self, Machine, Over};
use endpoint::{Begun, Endpoint, Error, Event, Message, Operation, Outcome, Program, Request, Result, Tag, Tagged};
use messaging::{Messenger, Messengers, Parameters, Reporting};
use programs::barrier::dissemination;
use quantities::{Duration, Rank, Rate, Time};
use real_worlds::udp::{Group, UdpCounts, UdpNetwork, UdpSettings};
use real_worlds::{Clock, block_on, real_parameters};

use super::preemption::preemptions;
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
/// What ranks tell each other that meet between two runs of a program has a tag that no program has: some are done before others, which
/// may still receive from anyone.
const MEETING: Tag = Tag(u32::MAX);

/// What the program sent and received.
#[derive(Clone, Debug, Default)]
struct Tally {
    messages: u64,
    /// [B]
    bytes: u64,
    /// For each other rank, the messages to it and from it.
    sent_to: Vec<u64>,
    received_from: Vec<u64>,
}

impl Tally {
    fn new(ranks: usize) -> Tally {
        Tally { sent_to: vec![0; ranks], received_from: vec![0; ranks], ..Tally::default() }
    }

    fn sends(&mut self, message: &Message, to: impl Iterator<Item = Rank>) {
        self.messages += 1;
        self.bytes += message.size().0;
        to.for_each(|rank| count(&mut self.sent_to, rank));
    }
}

fn count(messages: &mut [u64], rank: Rank) {
    if let Some(count) = messages.get_mut(rank.0 as usize) {
        *count += 1;
    }
}

/// The rank, as the executor sees it. Its network blocks while nothing comes, so that there is nothing else to wait for.
struct Launched<'run> {
    messenger: &'run Messenger<Network>,
    alone: Messengers<'run, Network>,
    tally: &'run mut Tally,
}

impl Launched<'_> {
    /// Counts what an operation that begins sends.
    fn count(&mut self, operation: &Operation) {
        match operation {
            Operation::Send { to, message, .. } => self.tally.sends(message, std::iter::once(*to)),
            Operation::Multicast(message) => {
                let me = self.messenger.rank();
                let others = (0..self.messenger.size()).map(Rank).filter(|&other| other != me);
                self.tally.sends(message, others);
            }
            Operation::Receive { .. }
            | Operation::ReceiveMulticast(_)
            | Operation::Compute(_)
            | Operation::Sleep(_) => {}
        }
    }
}

/// Its number among the ranks of this process: no other runs in it.
const ONLY: Rank = Rank(0);

impl Machine for Launched<'_> {
    fn now(&self) -> Time {
        self.messenger.now()
    }

    fn check(&self, _: &Operation) -> Result<()> {
        Ok(())
    }

    fn begin(&mut self, _: Rank, number: u32, operation: Operation) {
        self.count(&operation);
        self.alone.begin(ONLY, number, operation);
    }

    fn start(&mut self, _: Rank, request: Request) -> Result<Begun> {
        let operation = request.operation.clone();
        let begun = self.alone.start(ONLY, request)?;
        self.count(&operation);
        Ok(begun)
    }

    fn tells_starts(&self) -> bool {
        true
    }

    fn next_over(&mut self) -> Result<Option<Over>> {
        // Where the program waits for nothing that it began, nothing ever comes.
        if self.alone.have_ended() || self.alone.are_idle() {
            return Ok(None);
        }
        let over = self.alone.next_over();
        if let Some(Over { event: Event::Over(Ok(Outcome::Received(received, _))), .. }) = &over {
            count(&mut self.tally.received_from, received.from);
        }
        Ok(over)
    }

    fn ended(&mut self, _: Rank) {
        self.alone.end(ONLY);
    }
}

/// A rank that has its program still to run.
#[derive(Debug)]
pub struct Running {
    messenger: Messenger<Network>,
    tally: Tally,
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
        let patience = roster.tuning.patience.map_or(USUAL_PATIENCE, Duration::from_picoseconds);
        let messenger = Messenger::new(network, me, size, parameters)?.with_patience(patience);
        let tally = Tally::new(roster.ranks.len());
        Ok(Running { messenger, tally, same_clock: roster.zero.is_some(), repeat: roster.repeat })
    }

    /// How many ranks there are.
    pub fn size(&self) -> u32 {
        self.messenger.size()
    }

    /// Runs the program as often as it is to run; `first` is the rank that begins, where one does.
    ///
    /// # Errors
    /// What the program, or the network, ends with.
    pub fn run<P: Program>(&mut self, ranks: u32, first: Option<Rank>, program: &P) -> Result<Record> {
        self.run_returning(ranks, first, program).map(|(record, _)| record)
    }

    /// The same; gives also what the last run ended with, if there was one.
    ///
    /// # Errors
    /// What the program, or the network, ends with.
    pub fn run_returning<P: Program>(
        &mut self,
        ranks: u32,
        first: Option<Rank>,
        program: &P,
    ) -> Result<(Record, Option<P::Output>)> {
        let size = self.messenger.size();
        if ranks != size {
            return Err(Error::Unfit(format!("the program has {ranks} ranks, but {size} run")));
        }
        let first_rank = first.map(|rank| rank.0);
        let mut record = Record { first: first_rank, same_clock: self.same_clock, ..Record::default() };
        let mut returned = None;
        for _ in 0..self.repeat {
            returned = Some(self.once(first, program, &mut record)?);
        }
        block_on(self.messenger.end())??;
        let Tally { messages, bytes, sent_to, received_from } = std::mem::take(&mut self.tally);
        (record.messages, record.bytes) = (messages, bytes);
        (record.sent_to, record.received_from) = (sent_to, received_from);
        record.repeated = self.messenger.engine().repeated();
        record.needless = self.messenger.engine().needless();
        let UdpCounts { received, strangers, unreadable, .. } = self.counts();
        (record.received, record.strangers) = (received, strangers);
        record.forged = self.messenger.network().forged() + unreadable;
        Ok((record, returned))
    }

    /// What went through the network.
    fn counts(&self) -> UdpCounts {
        self.messenger.network().counts()
    }

    fn once<P: Program>(&mut self, first: Option<Rank>, program: &P, record: &mut Record) -> Result<P::Output> {
        block_on(self.meet(first))??;
        let before = self.counts();
        let messenger = &self.messenger;
        let alone = Messengers::new(std::slice::from_ref(messenger));
        let mut launched = Launched { messenger, alone, tally: &mut self.tally };
        let preempted = preemptions();
        let start = messenger.now();
        let returned = executor::run_one(&mut launched, messenger.rank(), messenger.size(), program)?;
        let end = messenger.now();
        let preempted_by_end = preemptions();
        drop(launched);
        block_on(async {
            messenger.compute(REST).await;
            messenger.flush().await
        })??;
        messenger.forget_operations();
        let after = self.counts();
        record.times.push([start, end].map(Time::picoseconds));
        record.preempted.extend(preempted_by_end.zip(preempted).map(|(after, before)| after - before));
        record.datagrams += after.datagrams - before.datagrams;
        record.copied += after.payloads - before.payloads;
        Ok(returned)
    }

    /// Waits until all ranks are here, and then for a time on which they agree.
    async fn meet(&self, first: Option<Rank>) -> Result<()> {
        let Running { messenger, same_clock, .. } = self;
        let (me, size, meeting) = (messenger.rank(), messenger.size(), Tagged { endpoint: messenger, tag: MEETING });
        dissemination(&meeting).await?;
        let start = if me == Rank(0) {
            let start = messenger.now() + NOTICE + NOTICE_EACH * u64::from(size);
            for rank in (1..size).map(Rank) {
                meeting.send(rank, Message::from(start.picoseconds().to_be_bytes().to_vec())).await?;
            }
            start
        } else {
            read_time(&meeting.receive(Rank(0)).await?)?
        };
        // Another's clock tells nothing: then those begin who know that all are there.
        let start = if *same_clock { start } else { messenger.now() + NOTICE };
        let start = if first == Some(me) { start + LEAD } else { start };
        messenger.compute(start.since(messenger.now().min(start))).await;
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
    time.ok_or_else(|| Error::Unfit("rank 0 named no time to begin".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use endpoint::{Needs, Source, Tags, join_all};
    use programs::goal::{Player, Schedule};

    use super::*;
    use crate::wire::Tuning;

    async fn receive_now<E: Endpoint>(endpoint: &E) -> Result<()> {
        endpoint.receive_any(Some(Time::ZERO)).await.map(drop)
    }

    struct Undeclared;
    impl Program for Undeclared {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            receive_now(endpoint).await
        }
    }

    struct Declared;
    impl Program for Declared {
        type Output = ();
        const NEEDS: Needs = Needs::ANY_SOURCE;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            receive_now(endpoint).await
        }
    }

    fn roster(sockets: &[UdpSocket], repeat: u32) -> Roster {
        let ranks = sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
        let tuning = Tuning::default();
        Roster { ranks, session: 7, group: None, zero: None, repeat, experiment: serde_json::Value::Null, tuning }
    }

    fn sockets(ranks: u32) -> Vec<UdpSocket> {
        (0..ranks).map(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()).collect()
    }

    #[test]
    fn a_program_does_no_more_than_it_declares() {
        let mut sockets = sockets(1);
        let roster = roster(&sockets, 1);
        let socket = sockets.remove(0);
        let mut running = Running::new(Rank(0), &roster, socket, &Secret::random().unwrap()).unwrap();
        let undeclared = running.run(1, None, &Undeclared).unwrap_err();
        assert_eq!(undeclared, Error::Undeclared("ANY_SOURCE"));
        let declared = running.run(1, None, &Declared).unwrap_err();
        assert!(matches!(declared, Error::Deadline(_) | Error::Lost(_)), "{declared}");
    }

    /// Every rank sends two messages to each other one and receives theirs, all at once: those with tag 2 first, from whomever.
    struct Swap;
    impl Program for Swap {
        type Output = ();
        const NEEDS: Needs = Needs::ANY_SOURCE.and(Needs::OVERLAP);
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let me = endpoint.rank();
            let others: Vec<Rank> = (0..endpoint.size()).map(Rank).filter(|&other| other != me).collect();
            let (one, other) = (Tag(1), Tag(2));
            let message = |from: Rank, to: Rank, Tag(tag): Tag| {
                Message::from(vec![(from.0 * 31 + to.0 * 7 + tag) as u8; 200_000 / tag as usize])
            };
            let to_all = |tag| others.iter().map(move |&to| endpoint.send_tagged(to, tag, message(me, to, tag)));
            let sends = join_all(to_all(one).chain(to_all(other)));
            let receives = async {
                for _ in &others {
                    let received = endpoint.receive_matching(Source::Any, Tags::Only(other), None).await?;
                    assert_eq!(received.message, message(received.from, me, other));
                }
                let by_name = others.iter().map(|&from| endpoint.receive(from));
                for (&from, received) in others.iter().zip(join_all(by_name).await) {
                    assert_eq!(received?, message(from, me, one));
                }
                Ok::<(), Error>(())
            };
            let (sent, received, ()) = endpoint::join!(sends, receives, endpoint.compute(REST)).await;
            received.and(sent.into_iter().collect())
        }
    }

    #[test]
    fn operations_of_launched_ranks_overlap_and_their_messages_have_tags() {
        let sockets = sockets(3);
        let roster = roster(&sockets, 4);
        let secret = Secret::random().unwrap();
        let records: Vec<Record> = thread::scope(|scope| {
            let start = |(rank, socket)| {
                let (roster, secret) = (&roster, &secret);
                scope.spawn(move || Running::new(Rank(rank), roster, socket, secret)?.run(3, None, &Swap))
            };
            let running: Vec<_> = (0..).zip(sockets).map(start).collect();
            running.into_iter().map(|rank| rank.join().unwrap().unwrap()).collect()
        });
        for (rank, record) in records.iter().enumerate() {
            assert_eq!((record.times.len(), record.messages, record.bytes), (4, 16, 4 * 2 * 300_000));
            let each = |other: usize| if other == rank { 0 } else { 8 };
            assert_eq!(record.received_from, [0, 1, 2].map(each));
        }
    }

    /// Rank 0 asks at once for what rank 1 sends after it has computed for longer than anyone has patience.
    const WAITS_FOR_A_COMPUTATION: &[u8] = b"num_ranks 2
rank 0 {
l1: recv 8b from 1 tag 7
l2: calc 400000000
l3: calc 1000000 cpu 1
l3 irequires l2
}
rank 1 {
l1: calc 350000000
l2: send 8b to 0 tag 7
l2 requires l1
}
";

    #[test]
    fn a_receive_that_was_begun_early_loses_no_patience_while_its_rank_computes() {
        let sockets = sockets(2);
        let tuning = Tuning { patience: Some(200_000_000_000), ..Tuning::default() };
        let roster = Roster { tuning, ..roster(&sockets, 2) };
        let schedule = Arc::new(Schedule::parse("early.goal", WAITS_FOR_A_COMPUTATION).unwrap());
        let secret = Secret::random().unwrap();
        let records: Vec<Record> = thread::scope(|scope| {
            let start = |(rank, socket)| {
                let (roster, secret, player) = (&roster, &secret, Player::new(Arc::clone(&schedule)));
                scope.spawn(move || Running::new(Rank(rank), roster, socket, secret)?.run(2, None, &player))
            };
            let running: Vec<_> = (0..).zip(sockets).map(start).collect();
            running.into_iter().map(|rank| rank.join().unwrap().unwrap()).collect()
        });
        assert_eq!([records[0].messages, records[1].messages], [0, 2]);
        assert_eq!((&records[0].received_from[..], &records[1].sent_to[..]), (&[0, 2][..], &[2, 0][..]));
        assert!(records[0].times.iter().all(|[start, end]| end - start >= 400_000_000_000));
    }
}
