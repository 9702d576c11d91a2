//! Messages and broadcasts on a network that loses, repeats, delays, reorders and damages datagrams, and among ranks
//! that pause or die: every receiver that is not reported as lost has every byte, in order, once.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::faults::draws::{Draws, seeds};
use crate::faults::network::Faults;
use crate::faults::{Ended, Faulty, Node};
use endpoint::{Endpoint, Error, Message, Result};
use maquette_messaging::{BroadcastProtocol, Losses, Parameters, Parity, Probe, Push, Repeat, Reporting, Timing};
use quantities::{Bytes, Duration, Rank, Time};

const fn us(microseconds: u64) -> Duration {
    Duration::from_microseconds(microseconds)
}

/// The longest pause of a rank, and the patience, much longer, after which it counts as gone.
const LONGEST_STOP: u64 = 50_000;
const PATIENCE: Duration = us(20_000_000);

/// What all ranks do; steps that involve the same rank happen one after the other.
#[derive(Clone, Copy, Debug)]
enum CaseStep {
    /// A message from one rank to another.
    Send { from: Rank, to: Rank, number: u32 },
    /// A broadcast.
    Broadcast { from: Rank, number: u32 },
    /// `each` messages from every rank to this one, which receives them as they arrive.
    Gather { to: Rank, number: u32, each: u32 },
    /// A rank computes for `work`.
    Compute { rank: Rank, work: Duration },
}

/// What is run.
#[derive(Clone, Debug)]
struct Case {
    ranks: u32,
    steps: Vec<CaseStep>,
    world: Faulty,
    /// The largest message. [B]
    most: u64,
}

/// A message determined by `seed`: bytes, a size, or both.
fn message(seed: u64, most: u64) -> Message {
    let mut draws = Draws(seed);
    let limit = [1, 100, 1_000, 10_000, most][draws.below(5) as usize].min(most);
    let size = draws.below(limit + 1);
    let content = match draws.below(3) {
        0 => return Message::of_size(Bytes(size)),
        1 => draws.below(size + 1),
        _ => size,
    };
    let bytes: Vec<u8> = (0..content).map(|place| (draws.0.wrapping_add(place * 0x9E37) >> 7) as u8).collect();
    if content == size { Message::from(bytes) } else { Message::beginning_with(bytes, Bytes(size)) }
}

fn message_of(from: Rank, to: Rank, number: u32, most: u64) -> Message {
    message((u64::from(from.0) << 48) | (u64::from(to.0) << 32) | u64::from(number), most)
}

/// Small blocks, so that even short runs fill some.
fn repeat(draws: &mut Draws) -> Repeat {
    match draws.below(3) {
        0 => Repeat::GoBackN,
        1 => Repeat::Selective,
        _ => {
            let (packets, parity) = (1 + draws.below(40) as u16, 1 + draws.below(20) as u16);
            Repeat::Parity(Parity { packets, parity, blocks: 1 + draws.below(3) as u8 })
        }
    }
}

fn parameters(draws: &mut Draws) -> Parameters {
    let datagram = if draws.percent(50) { 1_472 } else { 80 + draws.below(600) as usize };
    let window = 1 + draws.below(32) as u32;
    Parameters {
        session: draws.next() as u32,
        datagram,
        window,
        repeat: repeat(draws),
        push: Push { first: draws.below(200) as u32, second: draws.below(2_000) as u32 },
        largest: 1 << 40,
        pushed_buffer: draws.below(16_000),
        send_queue: 1 + draws.below(16) as usize,
        timing: Timing { first: us(2_000), least: us(100), most: us(100_000) },
        reporting: Reporting { packets: 1 + draws.below(u64::from(window)), delay: us(draws.below(1_000)) },
        broadcast_packets: draws.percent(50).then(|| 1 + draws.below(u64::from(window))),
        patience: PATIENCE,
        broadcast_protocol: if draws.percent(50) { BroadcastProtocol::Simple } else { BroadcastProtocol::PushPull },
        losses: if draws.percent(50) { Losses::Fail } else { Losses::GoOn },
        slowest: None,
        batch: if draws.percent(50) { usize::MAX } else { 1 + draws.below(20) as usize },
        probe: if draws.percent(50) { Probe::WithPacket } else { Probe::Alone },
    }
}

fn case(seed: u64) -> Case {
    let mut draws = Draws(seed ^ 0x5eed);
    let ranks = 2 + draws.below(5) as u32;
    let dies = draws.percent(25);
    let death = (Rank(draws.below(u64::from(ranks)) as u32), Time::ZERO + us(draws.below(40_000)));
    let faults = Faults {
        loss: draws.below(31),
        bursts: (draws.below(3), draws.below(20)),
        repeated: draws.below(20),
        delay: draws.below(500),
        damaged: draws.below(5),
        strange: draws.below(10),
        stops: (draws.below(2), LONGEST_STOP),
        dies: dies.then_some(death),
        leave: draws.percent(50),
        ..Faults::default()
    };
    let steps = (0..5 + draws.below(25)).map(|number| step(&mut draws, number as u32, ranks, dies)).collect();
    let world = Faulty { parameters: parameters(&mut draws), faults, seed };
    Case { ranks, steps, world, most: if draws.percent(10) { 200_000 } else { 20_000 } }
}

fn step(draws: &mut Draws, number: u32, ranks: u32, dies: bool) -> CaseStep {
    let from = draws.below(u64::from(ranks)) as u32;
    let to = (from + 1 + draws.below(u64::from(ranks) - 1) as u32) % ranks;
    match draws.below(10) {
        0..5 => CaseStep::Send { from: Rank(from), to: Rank(to), number },
        5..8 => CaseStep::Broadcast { from: Rank(from), number },
        // A receive from any source does not learn that one of the sources is gone.
        8 if !dies => CaseStep::Gather { to: Rank(to), number: number * 100, each: 1 + draws.below(3) as u32 },
        _ => CaseStep::Compute { rank: Rank(from), work: us(draws.below(20_000)) },
    }
}

/// What a rank did.
#[derive(Clone, Debug, Default)]
struct Done {
    received: u32,
    /// Ranks that were reported as lost, and ranks whose broadcasts were.
    lost: BTreeSet<Rank>,
    failed: BTreeSet<Rank>,
    /// What is wrong.
    wrong: Option<String>,
}

impl Done {
    fn check(&mut self, what: &str, from: Rank, number: u32, received: &Message, expected: &Message) {
        self.received += 1;
        if received != expected && self.wrong.is_none() {
            let (size, wanted) = (received.size(), expected.size());
            self.wrong =
                Some(format!("{what} {number} from rank {from}: {size} came, {wanted} should have, or other bytes"));
        }
    }
}

async fn run(endpoint: Node, case: &Case, done: &RefCell<Vec<Done>>) -> Result<()> {
    let me = endpoint.rank();
    let mut own = Done::default();
    for step in &case.steps {
        match *step {
            CaseStep::Send { from, to, number } if me == from && !own.lost.contains(&to) => {
                let sent = endpoint.send(to, message_of(from, to, number, case.most)).await;
                lose(sent, &mut own.lost)?;
            }
            CaseStep::Send { from, to, number } if me == to && !own.lost.contains(&from) => {
                let received = endpoint.receive(from).await;
                if let Some(received) = lose(received, &mut own.lost)? {
                    own.check("message", from, number, &received, &message_of(from, to, number, case.most));
                }
            }
            CaseStep::Broadcast { from, number } if !own.failed.contains(&from) => {
                let sent = message_of(from, from, number, case.most);
                if me == from {
                    if lose(endpoint.multicast(sent).await, &mut own.failed)?.is_none() {
                        own.failed.insert(me);
                    }
                } else if let Some(received) = lose(endpoint.receive_multicast(from).await, &mut own.failed)? {
                    own.check("broadcast", from, number, &received, &sent);
                }
            }
            CaseStep::Gather { to, number, each } if me == to => {
                gather(&endpoint, case, (number, each), &mut own).await?
            }
            CaseStep::Gather { to, number, each } => {
                for number in number..number + each {
                    endpoint.send(to, message_of(me, to, number, case.most)).await?;
                }
                // Anything sent to it later would be taken for a part of this.
                endpoint.receive(to).await?;
            }
            CaseStep::Compute { rank, work } if me == rank => endpoint.compute(work).await,
            _ => {}
        }
    }
    if case.world.faults.leave {
        lose(endpoint.end().await, &mut own.lost)?;
    }
    done.borrow_mut()[me.0 as usize] = own;
    Ok(())
}

/// Notes which rank was lost.
fn lose<T>(result: Result<T>, lost: &mut BTreeSet<Rank>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Lost(rank)) => {
            lost.insert(rank);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

async fn gather(endpoint: &Node, case: &Case, (number, each): (u32, u32), own: &mut Done) -> Result<()> {
    let mut next = vec![number; case.ranks as usize];
    let mut left = each * (case.ranks - 1);
    while left > 0 {
        let (from, received) = match endpoint.receive_any(Some(endpoint.now() + us(700))).await {
            Err(Error::Deadline(_)) => continue,
            received => received?,
        };
        let number = next[from.0 as usize];
        next[from.0 as usize] += 1;
        own.check("gathered message", from, number, &received, &message_of(from, endpoint.rank(), number, case.most));
        left -= 1;
    }
    for other in (0..case.ranks).map(Rank).filter(|&other| other != endpoint.rank()) {
        endpoint.send(other, Message::default()).await?;
    }
    Ok(())
}

struct CaseResult {
    done: Vec<Done>,
    /// When it ended, how many datagrams were sent, and how many were sent again.
    end: (Time, usize, u64),
    strange: u64,
}

/// Runs a case, and returns what is wrong as an error.
fn simulate(case: &Case) -> std::result::Result<CaseResult, String> {
    let done = RefCell::new(vec![Done::default(); case.ranks as usize]);
    let Ended { results, ranks, network } =
        case.world.run_ranks(case.ranks, |endpoint| run(endpoint, case, &done)).map_err(|error| error.to_string())?;
    let dead = case.world.faults.dies.map(|(rank, _)| rank);
    for (rank, (result, own)) in (0..).map(Rank).zip(results.iter().zip(done.borrow().iter())) {
        match result {
            Err(_) if Some(rank) == dead => continue,
            Err(error) => return Err(format!("rank {rank} ended with an error: {error}")),
            Ok(()) => {}
        }
        if let Some(wrong) = &own.wrong {
            return Err(format!("rank {rank}: {wrong}"));
        }
        if own.lost.iter().any(|&lost| Some(lost) != dead) {
            return Err(format!("rank {rank} lost {:?}, but {dead:?} is dead", own.lost));
        }
        let may_fail = dead.is_some() && case.world.parameters.losses == Losses::Fail;
        if !may_fail && own.failed.iter().any(|&failed| Some(failed) != dead) {
            return Err(format!("rank {rank} lost broadcasts of {:?}, but {dead:?} is dead", own.failed));
        }
    }
    let repeated = ranks.iter().map(|endpoint| endpoint.engine().repeated()).sum();
    let strange = ranks.iter().map(|endpoint| endpoint.engine().counts().foreign).sum();
    let network = network.borrow();
    Ok(CaseResult { done: done.take(), end: (network.now, network.sent, repeated), strange })
}

/// `SEEDS=100000 cargo test --release -p maquette-messaging --test specification messages_faults`; `SEED=n` runs one.
#[test]
fn every_byte_arrives_in_order_and_once_or_the_rank_is_reported_as_lost() {
    let (mut messages, mut datagrams, mut repeated, mut strange, mut lost, mut failed) = (0, 0, 0, 0, 0, 0);
    for seed in seeds(400) {
        let outcome = simulate(&case(seed)).unwrap_or_else(|wrong| {
            panic!("{wrong}\nagain: SEED={seed} cargo test -p maquette-messaging --test specification messages_faults")
        });
        messages += outcome.done.iter().map(|done| u64::from(done.received)).sum::<u64>();
        lost += outcome.done.iter().map(|done| done.lost.len()).sum::<usize>();
        failed += outcome.done.iter().map(|done| done.failed.len()).sum::<usize>();
        datagrams += outcome.end.1;
        repeated += outcome.end.2;
        strange += outcome.strange;
    }
    println!(
        "{messages} messages received in {datagrams} datagrams, {repeated} of them sent again; {strange} strange ones; \
         {lost} ranks and {failed} broadcasters lost"
    );
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 0..20 {
        let [one, other] = [(), ()].map(|()| simulate(&case(seed)).unwrap_or_else(|wrong| panic!("{wrong}")));
        assert_eq!(one.end, other.end);
    }
}
