//! Several processes on a node of an Ethernet: messages between them go through memory, and they share the card of
//! their node.

use std::collections::BTreeSet;

use collectives::broadcast::HardwareBroadcast;
use endpoint::{Endpoint, Message, Needs, Program, Result, Source, Tags, World, conformance};
use machines::model::{BroadcastProtocol, Ethernet, Faults, Interconnect, Machine, Messaging, Repeat};
use maquette_virtual_worlds::answer::Answer;
use maquette_virtual_worlds::ethernet::world::EthernetWorld;
use maquette_virtual_worlds::ethernet::{Destination, Network, Notice, Through};
use programs::benchmarks::PingPong;
use quantities::{Bytes, Duration, Rank, Time};

/// Ranks 0 to 3 are on one node, 4 to 7 on the other.
const MACHINE: &str = "dp-smp-quad-2";

fn load(settings: &[(&str, &str)]) -> Machine {
    let settings: Vec<_> = settings.iter().map(|&(name, value)| (name.to_string(), value.to_string())).collect();
    machines::load_with(MACHINE, &settings).unwrap()
}

fn ethernet(machine: &mut Machine) -> &mut Ethernet {
    let Interconnect::Ethernet(ethernet) = &mut machine.interconnect else { panic!("it is an Ethernet") };
    ethernet
}

fn us(microseconds: u64) -> Duration {
    Duration::from_microseconds(microseconds)
}

fn within(found: f64, published: f64, tolerance: f64) {
    assert!((found / published - 1.0).abs() <= tolerance, "{found}, not {published}");
}

/// Rank `from` sends messages of some size to rank `to`, which begins to receive them at some time.
#[derive(Clone, Copy)]
struct Late {
    from: u32,
    to: u32,
    bytes: u64,
    messages: u32,
    at: Duration,
}

/// A message from rank 0 to rank 1.
const ONE: Late = Late { from: 0, to: 1, bytes: 8, messages: 1, at: Duration::ZERO };

impl Program for Late {
    type Output = Duration;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Duration> {
        let (me, begun) = (endpoint.rank().0, endpoint.now());
        for _ in 0..self.messages {
            if me == self.from {
                endpoint.send(Rank(self.to), Message::of_size(Bytes(self.bytes))).await?;
            } else if me == self.to {
                endpoint.sleep_until(begun + self.at).await;
                endpoint.receive(Rank(self.from)).await?;
            }
        }
        Ok(endpoint.now().since(begun))
    }
}

/// When the ranks of a program have ended, and the answer.
fn run<P: Program<Output = Duration>>(machine: &Machine, program: &P) -> (Vec<Duration>, Answer) {
    let (ends, answer) = EthernetWorld::new(machine, 1).run(8, program).unwrap();
    (ends.into_iter().map(Result::unwrap).collect(), answer)
}

/// How long a message takes between ranks 0 and 1, which receives it in time. [us]
fn one_way(bytes: u64) -> f64 {
    let (ends, answer) = run(&load(&[]), &Late { bytes, ..ONE });
    assert_eq!(answer.ethernet.unwrap().sent, 0, "no frame is sent");
    ends[1].microseconds()
}

/// Bytes per microsecond, of one message after another.
fn bandwidth(bytes: u64) -> f64 {
    bytes as f64 / one_way(bytes)
}

#[test]
fn a_message_within_a_node_takes_as_long_as_published() {
    // Wong and Wang, section 2.
    within(one_way(8), 7.5, 0.03);
    within(bandwidth(4_000), 350.9, 0.03);
    let program = PingPong { first: Rank(2), second: Rank(3), bytes: Bytes(8), rounds: 50 };
    let (times, answer) = EthernetWorld::new(&load(&[]), 1).run(8, &program).unwrap();
    let times = times[2].as_ref().unwrap();
    within(times.iter().map(|time| time.microseconds()).sum::<f64>() / 100.0, 7.5, 0.03);
    assert_eq!((answer.messages, answer.ethernet.unwrap().sent), (100, 0));
}

#[test]
fn the_peak_of_the_bandwidth_is_at_what_a_cache_holds() {
    let others = [8, 1_000, 3_000, 5_000, 16_000, 100_000, 1_000_000];
    assert!(others.iter().all(|&bytes| bandwidth(bytes) < bandwidth(4_000)));
}

#[test]
fn a_message_to_another_node_takes_the_wire() {
    let (ends, answer) = run(&load(&[]), &Late { to: 4, ..ONE });
    within(ends[4].microseconds(), 30.1, 0.03);
    assert!(answer.ethernet.is_some_and(|frames| frames.sent > 0 && frames.busy.len() == 2));
}

/// Each of the first ranks of one node sends a long message to a rank of the other.
struct Across(u32);

impl Program for Across {
    type Output = Duration;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Duration> {
        let me = endpoint.rank().0;
        if me < self.0 {
            endpoint.send(Rank(me + 4), Message::of_size(Bytes(256 << 10))).await?;
        } else if (4..4 + self.0).contains(&me) {
            endpoint.receive(Rank(me - 4)).await?;
        }
        Ok(endpoint.now().since(Time::ZERO))
    }
}

#[test]
fn ranks_of_a_node_contend_for_its_card() {
    let last = |ranks| run(&load(&[]), &Across(ranks)).0.into_iter().max().unwrap().microseconds();
    let alone = last(1);
    // Each has its share of the wire, so none is much earlier than the others.
    let (ends, _) = run(&load(&[]), &Across(4));
    let ends: Vec<f64> = ends[4..].iter().map(|end| end.microseconds() / alone).collect();
    assert!(ends.iter().all(|end| (3.2..4.2).contains(end)), "{ends:?}");
    // Within the node they would not wait for each other.
    assert!(last(2) > 1.8 * alone);
}

#[test]
fn ranks_that_wait_for_the_card_have_it_in_turn() {
    let machine = &mut load(&[("transmit_ring", "1"), ("ethernet.memory.processes", "3")]);
    let mut network: Network<u32> = Network::new(ethernet(machine), 6, 1);
    assert!(network.transmit(Rank(0), Destination::One(Rank(3)), Bytes(100), 0));
    for rank in [2, 0, 1].map(Rank) {
        assert!(!network.transmit(rank, Destination::One(Rank(3)), Bytes(100), rank.0));
        network.wait_for_room(rank);
    }
    let mut sent = Vec::new();
    while let Some(notice) = network.next_notice().unwrap() {
        if let Notice::Room(rank) = notice
            && sent.len() < 3
            && network.transmit(rank, Destination::One(Rank(3)), Bytes(100), rank.0)
        {
            sent.push(rank.0);
            let others = [2, 0, 1].map(Rank).into_iter().filter(|other| !sent.contains(&other.0));
            others.for_each(|rank| network.wait_for_room(rank));
        }
    }
    assert_eq!(sent, [2, 0, 1]);
    let taken: Vec<u32> = std::iter::from_fn(|| network.take(Rank(3))).map(|received| received.payload).collect();
    assert_eq!(taken, [0, 2, 0, 1]);
}

#[test]
fn a_receive_that_is_posted_late_costs_a_second_copy() {
    let copy = |bytes: u64| Duration::from_picoseconds(977) * bytes;
    let late = Late { bytes: 3_000, at: us(100), ..ONE };
    assert_eq!(run(&load(&[]), &late).0[1], us(100) + copy(3_000));
    // Nothing but that copy is left to do; in time there is none.
    let part = Duration::from_nanoseconds(3_745);
    assert_eq!(run(&load(&[]), &Late { at: Duration::ZERO, ..late }).0[1], part * 2 + copy(3_000));
    // Its sender is as quick as before.
    assert_eq!(run(&load(&[]), &late).0[0], part + copy(3_000));
}

#[test]
fn what_the_pushed_buffer_does_not_hold_is_pulled_and_copied_once() {
    let settings = [("pushed_buffer", "1000 B"), ("ethernet.memory.copy", "1 ns"), ("ethernet.memory.send", "2 us")];
    let machine = load(&[settings[0], settings[1], settings[2], ("ethernet.memory.receive", "3 us")]);
    let late = Late { bytes: 3_000, at: us(100), ..ONE };
    // The sender copies the other 2,000 bytes straight to their destination; the receiver the first 1,000, when all
    // have come.
    assert_eq!(run(&machine, &late).0[1], us(100) + us(2) + us(2) + us(3) + us(1));
    // The second of two messages of 1,000 bytes finds no room, and is pulled, too.
    let two = Late { bytes: 1_000, messages: 2, at: us(100), ..ONE };
    assert_eq!(run(&machine, &two).0[1], us(100) + us(1) + us(2) + us(1) + us(3));
}

/// Rank 0 receives from anyone what ranks 1, of its own node, and 4, of the other, send at once.
struct FromAnyone;

impl Program for FromAnyone {
    type Output = Vec<u32>;
    const NEEDS: Needs = Needs::ANY_SOURCE;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<u32>> {
        let mut seen = Vec::new();
        match endpoint.rank().0 {
            0 => {
                for _ in 0..2 {
                    seen.push(endpoint.receive_matching(Source::Any, Tags::Any, None).await?.from.0);
                }
            }
            1 | 4 => endpoint.send(Rank(0), Message::of_size(Bytes(8))).await?,
            _ => {}
        }
        Ok(seen)
    }
}

#[test]
fn a_receive_from_anyone_takes_what_comes_first_by_wire_or_memory() {
    let (seen, _) = EthernetWorld::new(&load(&[]), 1).run(8, &FromAnyone).unwrap();
    assert_eq!(seen[0], Ok(vec![1, 4]));
}

#[test]
fn a_broadcast_frame_reaches_each_node_once_and_all_of_its_ranks() {
    let machine = load(&[]);
    let program = HardwareBroadcast { root: Rank(1), message: Message::from(vec![7; 80]) };
    let world = EthernetWorld::new(&machine, 1).with_frames();
    let (_, answer) = world.run(8, &program).unwrap();
    let broadcasts: Vec<_> = answer.frame_log.into_iter().flatten().filter(|frame| frame.broadcast).collect();
    let receivers: BTreeSet<u32> = broadcasts.iter().map(|frame| frame.destination.0).collect();
    assert_eq!((broadcasts.len(), receivers), (4, BTreeSet::from([4, 5, 6, 7])));
    assert!(broadcasts.windows(2).all(|pair| pair[0].sent == pair[1].sent && pair[0].ended == pair[1].ended));
    // Of the ranks of one node no frame is needed at all.
    let (_, answer) = EthernetWorld::new(&machine, 1).run(4, &program).unwrap();
    assert_eq!(answer.ethernet.unwrap().sent, 0);
}

#[test]
fn what_is_in_memory_takes_no_slot_of_the_receive_ring() {
    let machine = &mut load(&[("receive_ring", "1")]);
    let mut network: Network<u32> = Network::new(ethernet(machine), 8, 1);
    (0..3).for_each(|number| network.put_in_memory(Rank(5), Rank(4), Bytes(100), number));
    assert!(network.transmit(Rank(0), Destination::All, Bytes(100), 3));
    while network.next_notice().unwrap().is_some() {}
    let through = |network: &mut Network<u32>, rank| network.take(Rank(rank)).map(|it| (it.through, it.payload));
    let memory = [0, 1, 2].map(|number| Some((Through::Memory, number)));
    assert_eq!([0; 3].map(|_| through(&mut network, 4)), memory);
    for rank in 4..8 {
        // Until the last has taken it, the ring is full.
        assert!(network.transmit(Rank(1), Destination::One(Rank(7)), Bytes(100), 4));
        while network.next_notice().unwrap().is_some() {}
        assert_eq!(through(&mut network, rank), Some((Through::Wire, 3)));
    }
    assert_eq!((network.arrived(), network.statistics().dropped.at_ring), (1, 4));
}

/// The conformance suite, on nodes of four processes.
fn conforms(machine: &Machine, seed: u64) {
    conformance::multicast_world(|_| EthernetWorld::new(machine, seed));
    conformance::overlapping_world(|_| EthernetWorld::new(machine, seed));
    conformance::requests_world(|_| EthernetWorld::new(machine, seed));
}

#[test]
fn it_passes_the_conformance_suite() {
    let mut machine = load(&[]);
    machine.nodes = 64;
    for processes in [2, 3, 64] {
        let ethernet = ethernet(&mut machine);
        ethernet.memory.as_mut().unwrap().processes = processes;
        ethernet.messaging.pushed_buffer = Some(Bytes(if processes == 3 { 200 } else { 12 << 10 }));
        conforms(&machine, 1);
    }
}

#[test]
fn it_passes_the_conformance_suite_whatever_is_lost_on_the_wire() {
    let delay = us(200);
    let faults = Faults { loss: 0.05, burst_begins: 0.01, burst_ends: 0.3, duplicated: 0.05, delayed: 0.1, delay };
    let mut machine = load(&[]);
    machine.nodes = 64;
    for (seed, repeat) in [(1, Repeat::GoBackN), (2, Repeat::Selective), (3, Repeat::Parity)] {
        for protocol in [BroadcastProtocol::PushPull, BroadcastProtocol::Simple] {
            let ethernet = ethernet(&mut machine);
            ethernet.faults = faults;
            ethernet.messaging = Messaging { repeat: Some(repeat), broadcast: Some(protocol), ..Messaging::default() };
            conforms(&machine, seed);
        }
    }
}

/// Every rank sends a message to every other, and each answer is as the one before, whatever is lost.
#[test]
fn the_same_seed_gives_the_same_answer() {
    struct All;
    impl Program for All {
        type Output = Duration;

        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Duration> {
            let (me, size) = (endpoint.rank().0, endpoint.size());
            for step in 1..size {
                let (to, from) = (Rank((me + step) % size), Rank((me + size - step) % size));
                endpoint.sendrecv(to, Message::of_size(Bytes(20_000)), from).await?;
            }
            Ok(endpoint.now().since(Time::ZERO))
        }
    }
    let mut machine = load(&[]);
    ethernet(&mut machine).faults = Faults { loss: 0.02, ..Faults::NONE };
    let [one, other] = [0; 2].map(|_| run(&machine, &All));
    assert_eq!((one.0, &one.1.ethernet), (other.0, &other.1.ethernet));
    assert!(one.1.ethernet.is_some_and(|frames| frames.dropped.lost > 0));
    // Only what is sent over the wire is ever sent again.
    let repeated = one.1.messaging.unwrap().repeated;
    assert!(!repeated.is_empty() && repeated.iter().all(|(from, to, _)| from.0 / 4 != to.0 / 4), "{repeated:?}");
}
