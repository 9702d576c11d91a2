//! Programs on a switched Ethernet: the conformance suite, whatever the network does to frames.

use collectives::broadcast::HardwareBroadcast;
use endpoint::{Endpoint, Message, Program, Result, World, conformance};
use machines::model::{BroadcastProtocol, Ethernet, Faults, Interconnect, Machine, Messaging, Repeat};
use maquette_virtual_worlds::answer::{Dropped, FrameFate};
use maquette_virtual_worlds::ethernet::world::EthernetWorld;
use programs::benchmarks::{BroadcastReply, By, PingPong};
use quantities::{Bytes, Duration, Rank, Rate, Time};

fn ethernet(machine: &mut Machine) -> &mut Ethernet {
    let Interconnect::Ethernet(ethernet) = &mut machine.interconnect else { panic!("it is an Ethernet") };
    ethernet
}

fn machine(faults: Faults) -> Machine {
    let mut machine = machines::load("dp-smp-8").unwrap();
    ethernet(&mut machine).faults = faults;
    machine
}

/// Runs the conformance suite on a machine, with faults from a seed.
fn conforms(machine: &Machine, seed: u64) {
    conformance::multicast_world(|_| EthernetWorld::new(machine, seed));
    conformance::overlapping_world(|_| EthernetWorld::new(machine, seed));
    conformance::requests_world(|_| EthernetWorld::new(machine, seed));
}

#[test]
fn it_passes_the_conformance_suite() {
    let mut machine = machine(Faults::NONE);
    machine.nodes = 64;
    for processors in [None, Some(2)] {
        ethernet(&mut machine).processors = processors;
        conforms(&machine, 1);
    }
}

/// Where nodes are processes of one computer, every step of which takes time, and wires are token buckets. Only timers
/// take none: with them, a node that computes for a time goes on later.
#[test]
fn it_passes_the_conformance_suite_on_one_computer() {
    let us = Duration::from_microseconds;
    let mut machine = machine(Faults::NONE);
    machine.nodes = 64;
    let ethernet = ethernet(&mut machine);
    (ethernet.processors, ethernet.interrupt) = (Some(2), us(7));
    (ethernet.wake, ethernet.block, ethernet.switch_copy) = (us(9), us(8), us(10));
    (ethernet.cold, ethernet.cold_each) = (us(2), us(1));
    (ethernet.bucket, ethernet.bucket_carry) = (Some(Bytes(1_600)), us(15));
    conforms(&machine, 1);
}

#[test]
fn it_passes_the_conformance_suite_whatever_is_lost() {
    let delay = Duration::from_microseconds(200);
    let faults = Faults { loss: 0.05, burst_begins: 0.01, burst_ends: 0.3, duplicated: 0.05, delayed: 0.1, delay };
    let mut machine = machine(faults);
    machine.nodes = 64;
    for (seed, repeat) in [(1, Repeat::GoBackN), (2, Repeat::Selective)] {
        for protocol in [BroadcastProtocol::PushPull, BroadcastProtocol::Simple] {
            ethernet(&mut machine).messaging =
                Messaging { repeat: Some(repeat), broadcast: Some(protocol), ..Messaging::default() };
            conforms(&machine, seed);
        }
    }
}

/// Rank 0 sends, rank 1 receives.
struct OneWay(Bytes);

impl Program for OneWay {
    type Output = Time;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Time> {
        if endpoint.rank() == Rank(0) {
            endpoint.send(Rank(1), Message::of_size(self.0)).await?;
        } else {
            endpoint.receive(Rank(0)).await?;
        }
        Ok(endpoint.now())
    }
}

/// How long a message of `bytes` bytes takes, from the call of its send to the end of its receive. And where datagrams
/// are split into up to five fragments, each of which may be lost, be duplicated or be overtaken by others.
#[test]
fn it_passes_the_conformance_suite_whatever_fragments_are_lost() {
    let delay = Duration::from_microseconds(200);
    let faults = Faults { loss: 0.01, burst_begins: 0.002, burst_ends: 0.3, duplicated: 0.05, delayed: 0.1, delay };
    let mut machine = machine(faults);
    machine.nodes = 64;
    let (envelope, datagram, repeat) = (Some(Bytes(60)), Some(Bytes(7_000)), Some(Repeat::Selective));
    ethernet(&mut machine).messaging = Messaging { envelope, datagram, repeat, ..Messaging::default() };
    conforms(&machine, 3);
}

fn one_way(bytes: u64) -> Duration {
    let machine = machine(Faults::NONE);
    let (ends, _) = EthernetWorld::new(&machine, 1).run(2, &OneWay(Bytes(bytes))).unwrap();
    ends[1].as_ref().unwrap().since(Time::ZERO)
}

/// Half of the time of a ping-pong of `bytes` bytes, averaged over many.
fn half_a_ping_pong(bytes: u64) -> f64 {
    let machine = machine(Faults::NONE);
    let program = PingPong { first: Rank(0), second: Rank(1), bytes: Bytes(bytes), rounds: 100 };
    let (times, _) = EthernetWorld::new(&machine, 1).run(2, &program).unwrap();
    let times = times[0].as_ref().unwrap();
    times.iter().map(|time| time.microseconds()).sum::<f64>() / times.len() as f64 / 2.0
}

/// Wong and Wang, section 2: 8 bytes in 30.1 us, and at most 12.1 MB/s. Within 3 %, as the costs of the nodes were
/// chosen for these.
#[test]
fn the_published_latency_and_bandwidth() {
    for latency in [one_way(8).microseconds(), half_a_ping_pong(8)] {
        assert!((0.97..=1.03).contains(&(latency / 30.1)), "{latency}");
    }
    let (bytes, time) = (8 << 20, one_way(8 << 20));
    let bandwidth = bytes as f64 / time.picoseconds() as f64 * 1e6 / 12.1;
    assert!((0.97..=1.03).contains(&bandwidth), "{bandwidth}");
}

/// The costs of calls, and of receivers of broadcasts, are paid in the right places, and headers have the machine's
/// length.
#[test]
fn every_cost_is_paid() {
    let plain = |ethernet: &mut Ethernet| {
        (ethernet.call_send, ethernet.call_receive, ethernet.broadcast_each) = Default::default();
    };
    let program = HardwareBroadcast { root: Rank(0), message: Message::of_size(Bytes(64)) };
    let time = |change: &dyn Fn(&mut Ethernet)| {
        end_of(Rank(1), 5, &program, |ethernet| {
            plain(ethernet);
            change(ethernet);
        })
    };
    let us = Duration::from_microseconds;
    let before = time(&|_| {});
    assert_eq!(time(&|ethernet| ethernet.call_send = us(3)), before + us(3));
    assert_eq!(time(&|ethernet| ethernet.call_receive = us(5)), before + us(5));
    assert_eq!(time(&|ethernet| ethernet.wake = us(4)), before + us(4));
    // The first receiver waits for no copy.
    assert_eq!(time(&|ethernet| ethernet.switch_copy = us(2)), before);
    // At the source, and at the receiver, which acknowledges before its end.
    assert_eq!(time(&|ethernet| ethernet.handover = us(6)), before + us(6 * 2));
    // The first frame that the source sends; the first that the receiver takes, and the first that it sends.
    assert_eq!(time(&|ethernet| ethernet.cold = us(7)), before + us(7 * 3));
    assert_eq!(time(&|ethernet| ethernet.broadcast_each = us(2)), before + us(4 * 2));
    // Ten bytes more over two wires of 80 ns a byte; copied at 5 ns when sent, when taken and, in the acknowledgement,
    // when sent before the end.
    let longer = time(&|ethernet| ethernet.messaging.header = Some(Bytes(22)));
    assert_eq!(longer, before + Duration::from_picoseconds(10 * (2 * 80_000 + 3 * 5_000)));
    let enveloped = time(&|ethernet| ethernet.messaging.envelope = Some(Bytes(10)));
    assert_eq!(enveloped, longer);
}

/// In a single datagram a message has the header of one packet, and 20 bytes of IP in each of its frames.
#[test]
fn a_long_datagram_is_split_into_frames() {
    let frames = |datagram: Option<Bytes>| {
        let mut machine = machine(Faults::NONE);
        let messaging = &mut ethernet(&mut machine).messaging;
        *messaging = Messaging { envelope: Some(Bytes(60)), datagram, ..Messaging::default() };
        (messaging.push_first, messaging.push_second) = (Some(Bytes(32 << 10)), Some(Bytes(0)));
        let program = HardwareBroadcast { root: Rank(0), message: Message::from(vec![7; 30_000]) };
        let (_, answer) = EthernetWorld::new(&machine, 1).with_frames().run(2, &program).unwrap();
        let log = answer.frame_log.into_iter().flatten();
        log.filter(|frame| frame.source == Rank(0) && frame.bytes > Bytes(200))
            .map(|frame| frame.bytes.0)
            .collect::<Vec<_>>()
    };
    let split = frames(Some(Bytes(32_000)));
    // 60 B of envelope, 38 B of header, of which a single packet has 20 B of IP in each of 21 frames.
    assert_eq!((split.len(), split.iter().sum::<u64>()), (21, 30_000 + 98 + 20 * 20));
    assert!(split[..20].iter().all(|&size| size == 1_500), "{split:?}");
    let separate = frames(None);
    assert_eq!(separate.iter().sum::<u64>(), 30_000 + 98 + (separate.len() as u64 - 1) * 86);
}

/// When a rank has ended a program that `ranks` ranks run on a machine with some other costs.
fn end_of<P: Program>(rank: Rank, ranks: u32, program: &P, change: impl Fn(&mut Ethernet)) -> Duration {
    let mut machine = machine(Faults::NONE);
    change(ethernet(&mut machine));
    let (_, answer) = EthernetWorld::new(&machine, 1).run(ranks, program).unwrap();
    answer.finish[rank.0 as usize].since(Time::ZERO)
}

/// Two messages to rank 1, the second of them `pause` after the first.
struct Twice {
    pause: Duration,
}

impl Program for Twice {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        for pause in [Duration::ZERO, self.pause] {
            if endpoint.rank() == Rank(0) {
                endpoint.sleep_until(endpoint.now() + pause).await;
                endpoint.send(Rank(1), Message::of_size(Bytes(64))).await?;
            } else {
                endpoint.receive(Rank(0)).await?;
            }
        }
        Ok(())
    }
}

#[test]
fn nodes_are_cold_at_first_and_after_a_long_wait() {
    let us = Duration::from_microseconds;
    let end = |cold, pause| end_of(Rank(1), 2, &Twice { pause }, |ethernet| ethernet.cold = cold);
    let extra = |pause| end(us(7), pause) - end(Duration::ZERO, pause);
    // The pause begins when the first message is handed over. Of what that message costs more, only the receiver's
    // first acknowledgement is not over long before.
    assert_eq!(extra(us(200)), us(7));
    // The second message's frame at the source; at the receiver, which acknowledges it before its end, that frame and
    // the one it sends.
    assert_eq!(extra(us(5_000)), us(7 * 3));
}

/// As many others as there are further processors are in nobody's way.
#[test]
fn a_node_is_colder_the_more_others_have_run_on_its_processor() {
    let us = Duration::from_microseconds;
    let extra = |ranks, processors| {
        let end = |cold_each| {
            let change = |ethernet: &mut Ethernet| {
                (ethernet.processors, ethernet.cold_each) = (Some(processors), cold_each);
            };
            end_of(Rank(1), ranks, &TwiceToEach, change)
        };
        end(us(7)) - end(Duration::ZERO)
    };
    assert_eq!(extra(2, 2), Duration::ZERO);
    assert_eq!(extra(3, 3), Duration::ZERO);
    assert!(Duration::ZERO < extra(3, 2) && extra(3, 2) < extra(4, 2), "{:?} {:?}", extra(3, 2), extra(4, 2));
}

/// One message from rank 0 to each other rank; and the same again after five milliseconds.
struct TwiceToEach;

impl Program for TwiceToEach {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        for round in 0..2 {
            if endpoint.rank() != Rank(0) {
                endpoint.receive(Rank(0)).await?;
                continue;
            }
            endpoint.sleep_until(Time::ZERO + Duration::from_microseconds(5_000) * round).await;
            for to in (1..endpoint.size()).map(Rank) {
                endpoint.send(to, Message::of_size(Bytes(64))).await?;
            }
        }
        Ok(())
    }
}

/// All but the last rank wait until a time, rank 0 then sends to the last.
struct AtOnce;

impl Program for AtOnce {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let last = Rank(endpoint.size() - 1);
        if endpoint.rank() == last {
            return endpoint.receive(Rank(0)).await.map(drop);
        }
        endpoint.sleep_until(Time::ZERO + Duration::from_microseconds(5_000)).await;
        match endpoint.rank() {
            Rank(0) => endpoint.send(last, Message::of_size(Bytes(64))).await,
            _ => Ok(()),
        }
    }
}

/// When the last rank has its message, of five that share `processors`.
fn last_at_once(processors: Option<u32>, change: &dyn Fn(&mut Ethernet)) -> Duration {
    end_of(Rank(4), 5, &AtOnce, |ethernet| {
        ethernet.processors = processors;
        change(ethernet);
    })
}

/// Rank 0 is the first, but the receiver waits for the only processor until all timers have been dealt with.
#[test]
fn a_timer_occupies_a_processor() {
    let us = Duration::from_microseconds;
    let extra =
        |processors| last_at_once(processors, &|ethernet| ethernet.timer = us(30)) - last_at_once(processors, &|_| {});
    assert_eq!(extra(None), us(30));
    assert_eq!(extra(Some(5)), us(30));
    // The frame is under way meanwhile.
    assert!((us(30 * 3)..us(30 * 4)).contains(&extra(Some(1))), "{:?}", extra(Some(1)));
}

/// Four receivers have a frame at the same instant. Each wakes 5 us later and occupies a processor for 10 us to take
/// it; the first needs 7 us more to send an acknowledgement. Where they share processors, they get them in turn.
#[test]
fn nodes_wait_for_a_processor_that_they_share() {
    let us = Duration::from_microseconds;
    let ends = |processors| {
        let mut machine = machine(Faults::NONE);
        let ethernet = ethernet(&mut machine);
        (ethernet.call_send, ethernet.call_receive, ethernet.copy) = Default::default();
        (ethernet.receive, ethernet.wake, ethernet.send, ethernet.processors) = (us(10), us(5), us(7), processors);
        let program = HardwareBroadcast { root: Rank(0), message: Message::of_size(Bytes(64)) };
        let (_, answer) = EthernetWorld::new(&machine, 1).run(5, &program).unwrap();
        answer.finish[1..].iter().map(|end| end.since(Time::ZERO)).collect::<Vec<Duration>>()
    };
    let after = |begin: Duration, times: [u64; 4]| times.map(|time| begin + us(time)).to_vec();
    let begin = ends(None)[0] - us(22);
    assert_eq!(ends(None), after(begin, [22, 15, 15, 15]));
    assert_eq!(ends(Some(4)), ends(None));
    assert_eq!(ends(Some(2)), after(begin, [22, 15, 15 + 10, 22 + 10]));
    assert_eq!(ends(Some(1)), after(begin, [22, 22 + 10, 22 + 20, 22 + 30]));
}

/// One message after another from rank 0 to each other rank.
struct ToEach;

impl Program for ToEach {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        if endpoint.rank() != Rank(0) {
            return endpoint.receive(Rank(0)).await.map(drop);
        }
        for to in 1..endpoint.size() {
            endpoint.send(Rank(to), Message::of_size(Bytes(64))).await?;
        }
        Ok(())
    }
}

/// When the last rank has its message, on nodes that share `processors`.
fn last_of_each(processors: u32, change: &dyn Fn(&mut Ethernet)) -> Duration {
    end_of(Rank(2), 3, &ToEach, |ethernet| {
        (ethernet.call_send, ethernet.call_receive, ethernet.copy) = Default::default();
        (ethernet.receive, ethernet.send) = (Duration::from_microseconds(10), Duration::from_microseconds(7));
        (ethernet.rate, ethernet.processors) = (Rate::from_bits_per_second(1_000_000_000), Some(processors));
        change(ethernet);
    })
}

/// The first message interrupts a processor that is idle, so the second is sent later. If there is none, there is
/// nothing to interrupt.
#[test]
fn a_sender_interrupts_an_idle_processor_for_a_receiver_that_waits() {
    let us = Duration::from_microseconds;
    let extra = |processors| {
        last_of_each(processors, &|ethernet| ethernet.interrupt = us(3)) - last_of_each(processors, &|_| {})
    };
    assert_eq!(extra(3), us(3));
    assert_eq!(extra(1), Duration::ZERO);
}

/// A receiver that waits for the only processor gets it when the sender has blocked.
#[test]
fn a_node_that_begins_to_wait_keeps_its_processor_for_a_while() {
    let us = Duration::from_microseconds;
    let extra =
        |processors| last_of_each(processors, &|ethernet| ethernet.block = us(6)) - last_of_each(processors, &|_| {});
    assert_eq!(extra(3), Duration::ZERO);
    assert!(extra(1) >= us(6), "{:?}", extra(1));
}

/// A node that hands packets over in batches spends most of a batch waiting for room, and every packet on a slow wire
/// is acknowledged meanwhile. If it took one acknowledgement between two batches, it would learn ever later what has
/// arrived, and would send that again.
#[test]
fn all_arrived_frames_are_taken_between_two_batches() {
    let mut machine = machine(Faults::NONE);
    let ethernet = ethernet(&mut machine);
    (ethernet.rate, ethernet.transmit_ring, ethernet.receive_ring) = (Rate::from_bits_per_second(10_000_000), 20, 64);
    let messaging = &mut ethernet.messaging;
    (messaging.repeat, messaging.batch, messaging.window) = (Some(Repeat::Selective), Some(16), Some(256));
    messaging.report_delay = Some(Duration::from_microseconds(500));
    let (_, answer) = EthernetWorld::new(&machine, 1).run(2, &OneWay(Bytes(1 << 20))).unwrap();
    assert_eq!(answer.ethernet.unwrap().dropped, Dropped::default());
}

/// The timeline has what every rank did, including messages that were lost on the way.
#[test]
fn a_timeline_has_every_message_once() {
    let machine = machine(Faults { loss: 0.2, ..Faults::NONE });
    let world = EthernetWorld::new(&machine, 3).with_timeline();
    let (_, answer) = world.run(2, &OneWay(Bytes(100_000))).unwrap();
    let timeline = answer.timeline.unwrap();
    assert_eq!((answer.messages, timeline.messages.len()), (1, 1));
    let message = timeline.messages[0];
    assert_eq!((message.from, message.to, message.size, message.sent), (Rank(0), Rank(1), Bytes(100_000), Time::ZERO));
    assert_eq!(message.received, answer.finish[1]);
    assert!(answer.ethernet.is_some_and(|frames| frames.dropped.lost > 0 && frames.sent > 70));
}

/// The log of frames agrees with the counts, and a rank that broadcasts keeps a buffer of a window at most.
#[test]
fn logs_and_counts_agree() {
    let machine = machine(Faults { loss: 0.1, ..Faults::NONE });
    let program = HardwareBroadcast { root: Rank(0), message: Message::of_size(Bytes(100_000)) };
    let world = EthernetWorld::new(&machine, 5).with_frames();
    let (_, answer) = world.run(4, &program).unwrap();
    let (log, counted) = (answer.frame_log.unwrap(), answer.ethernet.unwrap());
    let with_fate = |fate| log.iter().filter(|frame| frame.fate == fate).count() as u64;
    assert_eq!(with_fate(FrameFate::Received), counted.received);
    assert_eq!(with_fate(FrameFate::Lost), counted.dropped.lost);
    assert_eq!(with_fate(FrameFate::AtRing), counted.dropped.at_ring);
    let dropped = counted.dropped.lost + counted.dropped.at_ring + counted.dropped.at_switch;
    assert_eq!(counted.dropped_for.iter().sum::<u64>(), dropped);
    assert!(log.iter().all(|frame| frame.sent < frame.ended && frame.source != frame.destination));
    let messaging = answer.messaging.unwrap();
    assert!(messaging.repeated.iter().any(|(from, _, count)| *from == Rank(0) && *count > 0));
    let most = messaging.broadcast_memory.iter().map(|bytes| bytes.0).collect::<Vec<_>>();
    assert!(most[0] > 16 * 1_488 && most[0] < 16 * 1_600 + 8_192 && most[1..] == [0, 0, 0], "{most:?}");
}

/// An operation is over once everything in its turn is sent. Until its program is notified, no rank waits and none is
/// stuck.
#[test]
fn a_program_about_to_be_notified_is_not_stuck() {
    let costs = [("send", "5 us"), ("receive", "9.5 us"), ("broadcast_each", "1.75 us"), ("header", "12 B")];
    let settings = costs.map(|(field, value)| (field.to_string(), value.to_string()));
    let machine = machines::load_with("dp-smp-8", &settings).unwrap();
    let program = BroadcastReply { by: By::Hardware, bytes: Bytes(256), rounds: 500, replier: Rank(1) };
    let (results, _) = EthernetWorld::new(&machine, 1).run(2, &program).unwrap();
    assert_eq!(results[0].as_ref().map(Vec::len), Ok(500));
}
