//! A rank that runs as a process: what carries its program's operations, and the repeated runs of the program.

mod mpi;
mod udp;

use std::cell::RefCell;
use std::fmt;
use std::net::UdpSocket;
use std::rc::Rc;

use collectives::barrier::dissemination;
use endpoint::executor::{self, Machine, OperationEvent};
use endpoint::{Endpoint, Error, Event, Message, Needs, Operation, Outcome, Program, Request, Result, StartStatus};
use quantities::{Duration, Rank, Time};
use real_worlds::MpiWorld;

use super::preemption::preemptions;
use super::secret::Secret;
use super::wire::{Record, Roster};

/// How long after their meeting ranks begin, so that all know of it; and how much later for each of them.
const START_DELAY: Duration = Duration::from_microseconds(4_000);
const START_DELAY_EACH: Duration = Duration::from_microseconds(50);
/// How long after the others the rank that begins does so, so that they are waiting for it.
const LEAD: Duration = Duration::from_microseconds(2_000);
/// How long a rank that is done leaves the processor to ranks on its machine that are not, before it goes on to the
/// next run.
const SETTLE_TIME: Duration = Duration::from_microseconds(1_000);
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

/// A machine that counts what a program sends and receives.
struct CountingMachine<'run> {
    machine: &'run mut dyn Machine,
    me: Rank,
    tally: &'run mut Tally,
}

impl CountingMachine<'_> {
    /// Counts what an operation sends when it begins.
    fn count(&mut self, operation: &Operation) {
        match operation {
            Operation::Send { to, message, .. } => self.tally.sends(message, std::iter::once(*to)),
            Operation::Multicast(message) => {
                let others = (0..self.tally.sent_to.len() as u32).map(Rank).filter(|&other| other != self.me);
                self.tally.sends(message, others);
            }
            Operation::Receive { .. }
            | Operation::Probe { .. }
            | Operation::ReceiveMulticast(_)
            | Operation::Compute(_)
            | Operation::Sleep(_) => {}
        }
    }
}

impl Machine for CountingMachine<'_> {
    fn now(&self) -> Time {
        self.machine.now()
    }

    fn check(&self, operation: &Operation) -> Result<()> {
        self.machine.check(operation)
    }

    fn begin(&mut self, rank: Rank, number: u32, operation: Operation) {
        self.count(&operation);
        self.machine.begin(rank, number, operation);
    }

    fn start(&mut self, rank: Rank, request: Request) -> Result<StartStatus> {
        let operation = request.operation.clone();
        let begun = self.machine.start(rank, request)?;
        self.count(&operation);
        Ok(begun)
    }

    fn reports_starts(&self) -> bool {
        self.machine.reports_starts()
    }

    fn next_event(&mut self) -> Result<Option<OperationEvent>> {
        let over = self.machine.next_event()?;
        if let Some(OperationEvent { event: Event::Completed(Ok(Outcome::Received(received, _))), .. }) = &over {
            count(&mut self.tally.received_from, received.from);
        }
        Ok(over)
    }

    fn all_ended(&mut self) {
        self.machine.all_ended();
    }

    fn ended(&mut self, rank: Rank) {
        self.machine.ended(rank);
    }
}

/// Connects a rank with the others, and runs programs on it.
trait RankLink: fmt::Debug {
    fn rank(&self) -> Rank;
    fn size(&self) -> u32;
    /// Whether all ranks have the same clock.
    fn same_clock(&self) -> bool;
    /// Waits until all ranks have arrived, and then for a time on which they agree.
    fn synchronize(&mut self, first: Option<Rank>) -> Result<()>;
    /// Runs a program with these needs on this rank's machine.
    fn run(&mut self, needs: Needs, program: &mut dyn FnMut(&mut dyn Machine) -> Result<()>) -> Result<()>;
    /// After a run: waits until what was sent arrives, and yields the processor to others for a while.
    fn settle(&mut self) -> Result<()>;
    /// Sets what is asked now and then while this rank waits: whether it goes on. A rank that a launcher has started
    /// ends with it anyway.
    fn set_should_continue(&mut self, _: fn() -> bool) {}
    /// After all runs: records what became of the messages on their way.
    fn end(&mut self, record: &mut Record) -> Result<()>;
}

/// A rank whose program has still to run.
#[derive(Debug)]
pub struct Running {
    link: Box<dyn RankLink>,
    tally: Tally,
    repeat: u32,
}

impl Running {
    /// Rank `me` of those of `roster`, on `socket`; all of them know `secret`.
    ///
    /// # Errors
    /// When the roster is impossible, or the network can't be used.
    pub fn new(me: Rank, roster: &Roster, socket: UdpSocket, secret: &Secret) -> Result<Running> {
        let link = udp::UdpRank::new(me, roster, socket, secret)?;
        Ok(Running { link: Box::new(link), tally: Tally::new(roster.ranks.len()), repeat: roster.repeat })
    }

    /// This process's rank of MPI, whose program runs `repeat` times.
    pub fn on_mpi(world: Rc<RefCell<MpiWorld>>, repeat: u32) -> Running {
        let ranks = world.borrow().size() as usize;
        Running { link: Box::new(mpi::MpiRank::new(world)), tally: Tally::new(ranks), repeat }
    }

    /// How many ranks there are.
    pub fn size(&self) -> u32 {
        self.link.size()
    }

    /// Sets what is asked now and then while this rank waits, if it is one of MPI: whether it goes on. Otherwise it
    /// ends with [`Error::Stopped`].
    pub fn set_should_continue(&mut self, should_continue: fn() -> bool) {
        self.link.set_should_continue(should_continue);
    }

    /// Runs the program as many times as required; `first` is the rank that begins, if one does.
    ///
    /// # Errors
    /// Errors of the program or the network.
    pub fn run<P: Program>(&mut self, ranks: u32, first: Option<Rank>, program: &P) -> Result<Record> {
        self.run_returning(ranks, first, program).map(|(record, _)| record)
    }

    /// The same, and also returns the result of the last run, if there was one.
    ///
    /// # Errors
    /// Errors of the program or the network.
    pub fn run_returning<P: Program>(
        &mut self,
        ranks: u32,
        first: Option<Rank>,
        program: &P,
    ) -> Result<(Record, Option<P::Output>)> {
        let size = self.link.size();
        if ranks != size {
            return Err(Error::Unfit(format!("the program has {ranks} ranks, but {size} run")));
        }
        let first_rank = first.map(|rank| rank.0);
        let mut record = Record { first: first_rank, same_clock: self.link.same_clock(), ..Record::default() };
        let mut returned = None;
        for _ in 0..self.repeat {
            returned = Some(self.run_once(first, program, &mut record)?);
        }
        self.link.end(&mut record)?;
        let Tally { messages, bytes, sent_to, received_from } = std::mem::take(&mut self.tally);
        (record.messages, record.bytes) = (messages, bytes);
        (record.sent_to, record.received_from) = (sent_to, received_from);
        Ok((record, returned))
    }

    fn run_once<P: Program>(&mut self, first: Option<Rank>, program: &P, record: &mut Record) -> Result<P::Output> {
        self.link.synchronize(first)?;
        let (me, size, tally) = (self.link.rank(), self.link.size(), &mut self.tally);
        let mut returned = None;
        self.link.run(P::NEEDS, &mut |machine| {
            let preempted = preemptions();
            let start = machine.now();
            let output = executor::run_one(&mut CountingMachine { machine, me, tally }, me, size, program)?;
            let end = machine.now();
            let preempted = preemptions().zip(preempted).map(|(after, before)| after - before);
            returned = Some((output, [start, end], preempted));
            Ok(())
        })?;
        let (output, times, preempted) = returned.ok_or(Error::Stopped)?;
        program.check(me, &output)?;
        self.link.settle()?;
        record.times.push(times.map(Time::picoseconds));
        record.preempted.extend(preempted);
        Ok(output)
    }
}

/// Waits until all ranks have arrived, and then for a time on which they agree; if they have no common clock, until all
/// know that all have arrived. The rank `first` begins last, when the others wait for it.
///
/// # Errors
/// Those of the endpoint.
pub async fn synchronize<E: Endpoint>(meeting: &E, same_clock: bool, first: Option<Rank>) -> Result<()> {
    let (me, size) = (meeting.rank(), meeting.size());
    dissemination(meeting).await?;
    let start = if me == Rank(0) {
        let start = meeting.now() + START_DELAY + START_DELAY_EACH * u64::from(size);
        for rank in (1..size).map(Rank) {
            meeting.send(rank, Message::from(start.picoseconds().to_be_bytes().to_vec())).await?;
        }
        start
    } else {
        read_time(&meeting.receive(Rank(0)).await?)?
    };
    // The clock of another machine tells nothing.
    let start = if same_clock { start } else { meeting.now() + START_DELAY };
    let start = if first == Some(me) { start + LEAD } else { start };
    meeting.compute(start.since(meeting.now().min(start))).await;
    Ok(())
}

fn read_time(message: &Message) -> Result<Time> {
    let bytes = message.content().and_then(|content| content.first_chunk());
    let time = bytes.map(|bytes| Time::from_picoseconds(u64::from_be_bytes(*bytes)));
    time.ok_or_else(|| Error::Unfit("rank 0 named no time to begin".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::Arc;
    use std::thread;

    use endpoint::{Source, Tag, Tags, join_all};
    use replay::goal::{Player, Schedule};

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

    /// Every rank sends two messages to every other and receives theirs, all at once: those with tag 2 first, from any
    /// source.
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
            let (sent, received, ()) = endpoint::join!(sends, receives, endpoint.compute(SETTLE_TIME)).await;
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

    /// Rank 0 asks at once for a message that rank 1 sends after it has computed for longer than the patience.
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
