//! The switched Ethernet: times calculated by hand, and which frames are dropped where.

use machines::model::{Ethernet, Faults, Messaging, Trunk};
use maquette_virtual_worlds::ethernet::{Destination, Fragment, Network, Notice, split};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank, Rate, Time};

/// The usual rate of Fast Ethernet: 80 ns a byte.
fn fast_ethernet() -> Ethernet {
    Ethernet {
        rate: Rate::from_bits_per_second(100_000_000),
        bucket: None,
        bucket_delay: Duration::ZERO,
        wire_latency: Duration::from_nanoseconds(500),
        switch_latency: Duration::from_microseconds(3),
        switch_copy: Duration::ZERO,
        queue: Bytes(20_000),
        payload: Bytes(1_500),
        transmit_ring: 16,
        receive_ring: 32,
        send: Duration::ZERO,
        receive: Duration::ZERO,
        handover: Duration::ZERO,
        bucket_carry: Duration::ZERO,
        wake: Duration::ZERO,
        timer: Duration::ZERO,
        block: Duration::ZERO,
        interrupt: Duration::ZERO,
        cold: Duration::ZERO,
        cold_each: Duration::ZERO,
        processors: None,
        copy: Duration::ZERO,
        call_send: Duration::ZERO,
        call_receive: Duration::ZERO,
        broadcast_each: Duration::ZERO,
        trunk: None,
        memory: None,
        faults: Faults::NONE,
        messaging: Messaging::default(),
    }
}

fn network(ethernet: &Ethernet, nodes: u32) -> Network<u32> {
    Network::new(ethernet, nodes, 1)
}

fn nanoseconds(count: u64) -> Time {
    Time::ZERO + Duration::from_nanoseconds(count)
}

/// When each frame arrived, where, and its number.
fn arrivals(network: &mut Network<u32>) -> Vec<(Time, Rank, u32)> {
    let mut seen = Vec::new();
    while let Some(notice) = network.next_notice().unwrap() {
        if let Notice::Frame(node) = notice {
            let received = network.take(node).expect("a frame is there");
            seen.push((network.now(), node, received.payload));
        }
    }
    seen
}

#[test]
fn a_frame_takes_both_wires_and_the_switch() {
    let mut network = network(&fast_ethernet(), 3);
    assert!(network.transmit(Rank(0), Destination::One(Rank(2)), Bytes(100), 7));
    // 8 + 14 + 100 + 4 bytes of 80 ns, and the latency of the wire, twice; the switch in between.
    assert_eq!(arrivals(&mut network), [(nanoseconds(2 * (126 * 80 + 500) + 3_000), Rank(2), 7)]);
}

#[test]
fn a_short_frame_is_padded() {
    let mut network = network(&fast_ethernet(), 2);
    network.transmit(Rank(1), Destination::One(Rank(0)), Bytes(0), 1);
    assert_eq!(arrivals(&mut network), [(nanoseconds(2 * (72 * 80 + 500) + 3_000), Rank(0), 1)]);
}

#[test]
fn frames_follow_each_other_with_a_gap_at_the_rate_of_the_wire() {
    let mut network = network(&fast_ethernet(), 2);
    (0..4).for_each(|number| assert!(network.transmit(Rank(0), Destination::One(Rank(1)), Bytes(1_500), number)));
    let first = 2 * (1_526 * 80 + 500) + 3_000;
    let expected: Vec<_> =
        (0..4).map(|number| (nanoseconds(first + number * 1_538 * 80), Rank(1), number as u32)).collect();
    assert_eq!(arrivals(&mut network), expected);
}

/// 14 + 1,500 bytes take 121.12 us of tokens. With a bucket of 1,600 bytes a frame passes 86 bytes of tokens before it
/// is full.
#[test]
fn a_token_bucket_lets_a_burst_pass_at_once_and_then_keeps_to_the_rate() {
    let mut network = network(&Ethernet { bucket: Some(Bytes(1_600)), ..fast_ethernet() }, 2);
    (0..4).for_each(|number| assert!(network.transmit(Rank(0), Destination::One(Rank(1)), Bytes(1_500), number)));
    let first = 2 * 500 + 3_000;
    let later = |number: u64| first + number * 1_514 * 80 - 86 * 80;
    let expected = [first, later(1), later(2), later(3)];
    let expected: Vec<_> = (0..).zip(expected).map(|(number, time)| (nanoseconds(time), Rank(1), number)).collect();
    assert_eq!(arrivals(&mut network), expected);
}

#[test]
fn small_frames_pass_a_token_bucket_together() {
    let mut network = network(&Ethernet { bucket: Some(Bytes(1_600)), ..fast_ethernet() }, 2);
    (0..10).for_each(|number| assert!(network.transmit(Rank(0), Destination::One(Rank(1)), Bytes(100), number)));
    assert!(arrivals(&mut network).iter().all(|(time, ..)| *time == nanoseconds(2 * 500 + 3_000)));
}

/// Frames that have to wait for tokens are late by the timer's lateness. The bucket holds the tokens that come
/// meanwhile up to its size: 86 bytes beyond a frame, of 6.88 us. So late by 20 us, every frame of 121.12 us costs
/// 13.12 us more at the first wire; it then finds the bucket of the second full, and passes at once.
#[test]
fn a_frame_that_waits_for_tokens_is_late() {
    let late = Duration::from_microseconds(20);
    let mut network = network(&Ethernet { bucket: Some(Bytes(1_600)), bucket_delay: late, ..fast_ethernet() }, 2);
    (0..3).for_each(|number| assert!(network.transmit(Rank(0), Destination::One(Rank(1)), Bytes(1_500), number)));
    let first = 2 * 500 + 3_000;
    let second = first + 1_514 * 80 - 86 * 80 + 20_000;
    let expected = [first, second, second + 1_514 * 80 - 86 * 80 + 20_000];
    let expected: Vec<_> = (0..).zip(expected).map(|(number, time)| (nanoseconds(time), Rank(1), number)).collect();
    assert_eq!(arrivals(&mut network), expected);
}

/// An interrupt carries a frame on that has waited for tokens, and takes its time; the wire is free meanwhile.
#[test]
fn a_frame_that_waits_for_tokens_is_carried_on_by_an_interrupt() {
    let arrivals_with = |bucket_carry| {
        let mut network = network(&Ethernet { bucket: Some(Bytes(1_600)), bucket_carry, ..fast_ethernet() }, 2);
        (0..3).for_each(|number| assert!(network.transmit(Rank(0), Destination::One(Rank(1)), Bytes(1_500), number)));
        arrivals(&mut network).into_iter().map(|arrival| arrival.0).collect::<Vec<Time>>()
    };
    let carry = Duration::from_microseconds(5);
    let expected: Vec<Time> = arrivals_with(Duration::ZERO)
        .into_iter()
        .zip([Duration::ZERO, carry, carry])
        .map(|(arrival, late)| arrival + late)
        .collect();
    assert_eq!(arrivals_with(carry), expected);
}

/// The queue of a token bucket holds frames without padding and check sequence, and also the one that waits for tokens.
/// Of 50 frames of 14 + 40 bytes, which come to a slow trunk one after another, 29 find tokens and ten room in the
/// queue.
#[test]
fn the_queue_of_a_token_bucket_includes_the_frame_that_waits() {
    let (rate, queue) = (Rate::from_bits_per_second(64_000), Bytes(10 * 54));
    let trunk = Trunk { first_switch: 1, rate, bucket: Some(Bytes(1_600)), latency: Duration::ZERO, queue };
    let mut network = network(&Ethernet { trunk: Some(trunk), transmit_ring: 50, ..fast_ethernet() }, 2);
    (0..50).for_each(|number| assert!(network.transmit(Rank(0), Destination::One(Rank(1)), Bytes(40), number)));
    assert_eq!(arrivals(&mut network).len(), 29 + 10);
    assert_eq!(network.statistics().most_queued, queue);
}

/// A switch that is a program makes one copy of a broadcast frame after another, for the nodes in their order and then
/// for the trunk.
#[test]
fn copies_of_a_broadcast_follow_one_another() {
    let copy = Duration::from_microseconds(5);
    let mut network = network(&Ethernet { switch_copy: copy, ..two_switches(2) }, 4);
    network.transmit(Rank(0), Destination::All, Bytes(1_000), 9);
    let beside = 2 * (1_026 * 80 + 500) + 3_000;
    let across = beside + (1_026 * 320 + 900) + 3_000;
    // The first receiver at each switch has the frame itself; the trunk has a copy.
    let expected = [(beside, 1), (across + 5_000, 2), (across + 2 * 5_000, 3)];
    assert_eq!(arrivals(&mut network), expected.map(|(time, node)| (nanoseconds(time), Rank(node), 9)));
}

#[test]
fn a_broadcast_comes_to_all_others_at_once_and_crosses_the_first_wire_once() {
    let mut network = network(&fast_ethernet(), 4);
    network.transmit(Rank(2), Destination::All, Bytes(1_000), 9);
    let at = nanoseconds(2 * (1_026 * 80 + 500) + 3_000);
    assert_eq!(arrivals(&mut network), [0, 1, 3].map(|node| (at, Rank(node), 9)));
    let statistics = network.statistics();
    let once = Duration::from_nanoseconds(1_038 * 80);
    assert_eq!(
        statistics.busy,
        [[Duration::ZERO, once], [Duration::ZERO, once], [once, Duration::ZERO], [Duration::ZERO, once]]
    );
    assert_eq!((statistics.sent, statistics.received), (1, 3));
}

#[test]
fn a_node_waits_for_room_in_its_ring() {
    let ethernet = Ethernet { transmit_ring: 2, ..fast_ethernet() };
    let mut network = network(&ethernet, 2);
    let send = |network: &mut Network<u32>| network.transmit(Rank(0), Destination::One(Rank(1)), Bytes(1_000), 0);
    assert!(send(&mut network) && send(&mut network) && !send(&mut network));
    assert_eq!(network.next_notice().unwrap(), Some(Notice::Room(Rank(0))));
    assert_eq!(network.now(), nanoseconds(1_038 * 80));
    assert!(send(&mut network) && !send(&mut network));
}

#[test]
fn a_full_output_queue_drops_frames() {
    // Three nodes send to one at once: two thirds of the frames can't leave as fast as they arrive.
    let ethernet = Ethernet { queue: Bytes(3 * 1_018), ..fast_ethernet() };
    let mut network = network(&ethernet, 4);
    for round in 0..10 {
        (1..4).for_each(|node| assert!(network.transmit(Rank(node), Destination::One(Rank(0)), Bytes(1_000), round)));
    }
    let came = arrivals(&mut network).len() as u64;
    let statistics = network.statistics();
    assert_eq!(came, statistics.received);
    assert_eq!(statistics.sent, statistics.received + statistics.dropped.at_switch);
    // While ten frames arrive from each node, one leaves for each three that arrive; three more are in the queue at the
    // end.
    assert_eq!(statistics.received, 13);
    assert_eq!(statistics.most_queued, Bytes(3 * 1_018));
}

#[test]
fn a_full_receive_ring_drops_frames() {
    let mut network = network(&Ethernet { receive_ring: 4, ..fast_ethernet() }, 2);
    (0..10).for_each(|number| assert!(network.transmit(Rank(0), Destination::One(Rank(1)), Bytes(10), number)));
    while network.next_notice().unwrap().is_some() {}
    let taken: Vec<u32> = std::iter::from_fn(|| network.take(Rank(1))).map(|received| received.payload).collect();
    assert_eq!(taken, [0, 1, 2, 3]);
    assert_eq!(network.statistics().dropped.at_ring, 6);
}

/// Sends the fragments with these indices of a packet of 2,500 bytes.
fn transmit_fragments(network: &mut Network<u32>, indices: &[u32]) {
    let sizes = split(Bytes(2_500), Bytes(1_000));
    assert_eq!(sizes, [Bytes(996), Bytes(996), Bytes(548)]);
    for &index in indices {
        let (fragment, size) = (Some(Fragment { packet: 5, index, count: 3 }), sizes[index as usize]);
        assert!(network.transmit_fragment(Rank(0), Destination::One(Rank(1)), size, fragment, 7));
    }
}

#[test]
fn a_packet_comes_with_the_last_of_its_fragments() {
    let mut network = network(&fast_ethernet(), 2);
    transmit_fragments(&mut network, &[2, 0, 0, 1]);
    // One after the other on the first wire, with 12 bytes between two; the last one crosses the switch and the second
    // wire.
    let before = 8 + 18 + 548 + 12 + 2 * (8 + 18 + 996 + 12);
    let last = 2 * (1_022 * 80 + 500) + 3_000;
    while network.next_notice().unwrap() != Some(Notice::Frame(Rank(1))) {}
    assert_eq!(network.now(), nanoseconds(before * 80 + last));
    let received = network.take(Rank(1)).unwrap();
    assert_eq!((received.size, received.payload), (Bytes(2_500), 7));
    assert_eq!(arrivals(&mut network), []);
    assert_eq!((network.statistics().sent, network.statistics().received), (4, 4));
}

#[test]
fn a_packet_of_which_a_fragment_is_missing_does_not_come() {
    let mut network = network(&fast_ethernet(), 2);
    transmit_fragments(&mut network, &[0, 2, 2]);
    assert_eq!(arrivals(&mut network), []);
    assert_eq!(network.statistics().received, 3);
}

/// Two switches, with `first_switch` nodes at the first, and a trunk of a quarter of the rate: 320 ns a byte.
fn two_switches(first_switch: u32) -> Ethernet {
    let rate = Rate::from_bits_per_second(25_000_000);
    let latency = Duration::from_nanoseconds(900);
    let trunk = Trunk { first_switch, rate, bucket: None, latency, queue: Bytes(3 * 1_018) };
    Ethernet { trunk: Some(trunk), ..fast_ethernet() }
}

#[test]
fn a_frame_to_the_other_switch_takes_the_trunk_and_both_switches() {
    let mut network = network(&two_switches(2), 4);
    assert!(network.transmit(Rank(3), Destination::One(Rank(0)), Bytes(100), 7));
    assert!(network.transmit(Rank(0), Destination::One(Rank(1)), Bytes(100), 8));
    // As with one switch, and 126 bytes of 320 ns, the trunk's latency, and the other switch.
    let beside = 2 * (126 * 80 + 500) + 3_000;
    let across = beside + (126 * 320 + 900) + 3_000;
    assert_eq!(arrivals(&mut network), [(nanoseconds(beside), Rank(1), 8), (nanoseconds(across), Rank(0), 7)]);
    let busy = Duration::from_nanoseconds((126 + 12) * 320);
    assert_eq!(network.statistics().trunk_busy, Some([Duration::ZERO, busy]));
}

#[test]
fn frames_over_a_trunk_follow_each_other_at_its_rate_and_each_way_by_itself() {
    let mut network = network(&two_switches(2), 4);
    for number in 0..3 {
        network.transmit(Rank(0), Destination::One(Rank(2)), Bytes(1_000), number);
        network.transmit(Rank(2), Destination::One(Rank(0)), Bytes(1_000), number);
    }
    let first = 2 * (1_026 * 80 + 500) + 3_000 + (1_026 * 320 + 900) + 3_000;
    let at = |number: u64| nanoseconds(first + number * 1_038 * 320);
    let mut came = arrivals(&mut network);
    came.sort_unstable();
    let expected: Vec<_> = (0..3).flat_map(|number| [0, 2].map(|to| (at(number), Rank(to), number as u32))).collect();
    assert_eq!(came, expected);
}

#[test]
fn a_broadcast_crosses_the_trunk_once() {
    let mut network = network(&two_switches(2), 5);
    network.transmit(Rank(1), Destination::All, Bytes(1_000), 9);
    let beside = 2 * (1_026 * 80 + 500) + 3_000;
    let across = beside + (1_026 * 320 + 900) + 3_000;
    let expected = [(0, beside), (2, across), (3, across), (4, across)];
    assert_eq!(arrivals(&mut network), expected.map(|(to, time)| (nanoseconds(time), Rank(to), 9)));
    let statistics = network.statistics();
    assert_eq!((statistics.sent, statistics.received), (1, 4));
    assert_eq!(statistics.trunk_busy, Some([Duration::from_nanoseconds(1_038 * 320), Duration::ZERO]));
}

#[test]
fn a_frame_dropped_before_the_trunk_is_lost_for_all_nodes_beyond_it() {
    let mut network = network(&two_switches(1), 3);
    (0..9).for_each(|number| assert!(network.transmit(Rank(0), Destination::All, Bytes(1_000), number)));
    let came = arrivals(&mut network);
    // One arrives at the switch every 1,038 * 80 ns, and crosses the trunk in four times that. Number 0 crosses while 1
    // to 3 wait. When number 4 arrives, 1 leaves a place for it; 5 to 7 find none, and 8 takes the place of 2.
    let numbers = |node: u32| came.iter().filter(|it| it.1 == Rank(node)).map(|it| it.2).collect::<Vec<u32>>();
    assert_eq!(numbers(1), [0, 1, 2, 3, 4, 8]);
    assert_eq!(numbers(1), numbers(2));
    let statistics = network.statistics();
    assert_eq!((statistics.received, statistics.dropped.at_switch), (12, 6));
    assert_eq!(statistics.dropped_for, [0, 3, 3]);
    assert_eq!(statistics.most_queued, Bytes(3 * 1_018));
}

#[test]
fn a_second_switch_without_ranks_changes_nothing() {
    let times = |ethernet: &Ethernet| {
        let mut network = network(ethernet, 3);
        (0..3).for_each(|node| assert!(network.transmit(Rank(node), Destination::All, Bytes(700), node)));
        arrivals(&mut network)
    };
    assert_eq!(times(&two_switches(3)), times(&fast_ethernet()));
}

#[test]
fn a_node_is_woken_when_it_asked_to_be() {
    let mut network = network(&fast_ethernet(), 2);
    network.wake_at(Rank(1), nanoseconds(70));
    network.wake_at(Rank(0), nanoseconds(50));
    assert_eq!(network.next_notice().unwrap(), Some(Notice::Time(Rank(0))));
    assert_eq!((network.next_notice().unwrap(), network.now()), (Some(Notice::Time(Rank(1))), nanoseconds(70)));
    assert_eq!(network.next_notice().unwrap(), None);
}

proptest! {
    /// Whatever is sent and whatever goes wrong, every frame is received or counted as dropped, and the same seed gives
    /// the same result.
    #[test]
    fn every_frame_is_accounted_for(
        sends in prop::collection::vec((0u32..5, prop::option::of(0u32..4), 0u64..=1_500), 1..60),
        (loss, burst_begins, duplicated, delayed) in (0.0..0.5, 0.0..0.1, 0.0..0.3, 0.0..0.3),
        first_switch in 1u32..=5,
        seed in any::<u64>(),
    ) {
        let faults = Faults { loss, burst_begins, burst_ends: 0.2, duplicated, delayed, delay: Duration::from_microseconds(300) };
        let ethernet = Ethernet { faults, queue: Bytes(8_000), receive_ring: 8, transmit_ring: 100, ..two_switches(first_switch) };
        let run = || {
            let mut network: Network<u32> = Network::new(&ethernet, 5, seed);
            let mut copies = 0;
            for (number, &(from, to, size)) in (0..).zip(&sends) {
                let to = to.map_or(Destination::All, |to| Destination::One(Rank((from + 1 + to) % 5)));
                copies += if to == Destination::All { 4 } else { 1 };
                assert!(network.transmit(Rank(from), to, Bytes(size), number));
            }
            (arrivals(&mut network), network.statistics(), copies)
        };
        let (seen, statistics, copies) = run();
        let dropped = statistics.dropped.at_switch + statistics.dropped.lost + statistics.dropped.at_ring;
        let doubled = (statistics.received + dropped).checked_sub(copies);
        prop_assert!(doubled.is_some_and(|doubled| doubled <= statistics.received));
        prop_assert_eq!(seen.len() as u64, statistics.received);
        prop_assert!(run() == (seen, statistics, copies));
    }
}
