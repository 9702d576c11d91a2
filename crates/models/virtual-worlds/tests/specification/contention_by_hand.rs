//! Packets that contend for a channel, with times worked out by hand from the rules in docs/NETWORK.md, in both
//! engines. Times are in ns.
//!
//! A flit takes 1000, routing 300, wires and credits nothing; every packet has five flits. Alone, one that crosses h
//! channels arrives (h - 1) (1000 + 300) + 5 * 1000 after its header has started, and its header asks for the next
//! channel every 1300.

use std::sync::Arc;

use machines::model::{FlitNetwork, Interconnect, NodeId};
use maquette_virtual_worlds::answer::PacketRecord;
use maquette_virtual_worlds::flit::network::Injection;
use maquette_virtual_worlds::flit::network::fast::Fast;
use maquette_virtual_worlds::flit::network::reference::Reference;
use maquette_virtual_worlds::flit::network::replay::{ReplayOutcome, carry};
use quantities::{Bytes, Time};

/// A packet: when it is injected, from where, and for whom.
type Order = (u64, u32, u32);

fn network(topology: &str, buffers: u32) -> Arc<FlitNetwork> {
    let text = format!(
        "{topology}\n[channels]\nflit_time = \"1000 ns\"\nbuffers = {buffers}\n[routers]\nrouting_delay = \"300 ns\"\n\
         [packet]\npayload = 4\nheader = 1\nflit = 1\n"
    );
    let machine = machines::Description::parse(&text, "test.toml").unwrap().resolve().unwrap();
    let Interconnect::Flits(network) = &machine.interconnect else { unreachable!("it has a topology") };
    Arc::clone(network)
}

const STAR: &str = "[topology.star]\nnodes = 4";
const ROW: &str = "[topology.mesh]\ncolumns = 3\nrows = 1";

/// Carries the packets in both engines, which must agree. Returns their logs in the order of `orders`.
fn carried(network: &Arc<FlitNetwork>, orders: &[Order]) -> Vec<PacketRecord> {
    let injection = |&(at, source, destination): &Order| {
        let (source, destination) = (NodeId(source), NodeId(destination));
        (Time::from_picoseconds(at * 1000), Injection { source, destination, bytes: Bytes(4), flits: 5, token: 0 })
    };
    let injections: Vec<(Time, Injection)> = orders.iter().map(injection).collect();
    let in_order = |outcome: ReplayOutcome| {
        let log = outcome.recorder.log.unwrap();
        let of = |&(_, source, destination): &Order| {
            log.iter().find(|it| (it.source, it.destination) == (NodeId(source), NodeId(destination))).unwrap().clone()
        };
        orders.iter().map(of).collect::<Vec<PacketRecord>>()
    };
    let reference = in_order(carry::<Reference>(network, 1, true, &injections));
    assert_eq!(in_order(carry::<Fast>(network, 1, true, &injections)), reference);
    reference
}

fn nanoseconds(time: Time) -> u64 {
    assert_eq!(time.picoseconds() % 1000, 0);
    time.picoseconds() / 1000
}

/// For each channel, when the header asked for it and got it, and when the tail had crossed it.
fn hops(packet: &PacketRecord) -> Vec<[u64; 3]> {
    packet.hops.iter().map(|hop| [hop.requested, hop.granted, hop.released].map(nanoseconds)).collect()
}

/// Nodes 0 and 1 send to node 2 at once, over their own channels to the router and one from it.
///
/// Both headers are at the router at 1000 and ask at 1300; the lower port is first. Its flits start at 1300 to 5300,
/// and its tail has crossed at 6300: there and then it has arrived, and the second header gets the channel, after 5000.
/// Its flits start at 6300 to 10300, and it has arrived at 11300.
///
/// B of the second packet's flits are in the buffer or have a place in it by 6300. Each start from then on makes room
/// for another, so that the tail, the fifth, starts from its node at 6300 + (4 - B) 1000 if B is at most 4, and
/// otherwise at 4000. With a single place the first packet, too, must wait with its second flit until the header has
/// left the router at 1300, and with each of the others likewise.
#[test]
fn the_second_header_waits_until_the_first_tail_has_crossed() {
    for (buffers, first_left, second_left) in [
        (1, 5_300, 10_300),
        (2, 5_000, 9_300),
        (3, 5_000, 8_300),
        (4, 5_000, 7_300),
        (5, 5_000, 5_000),
        (64, 5_000, 5_000),
    ] {
        let packets = carried(&network(STAR, buffers), &[(0, 0, 2), (0, 1, 2)]);
        assert_eq!(hops(&packets[0]), [[0, 0, first_left], [1_300, 1_300, 6_300]], "{buffers}");
        assert_eq!(hops(&packets[1]), [[0, 0, second_left], [1_300, 6_300, 11_300]], "{buffers}");
        assert_eq!([0, 1].map(|it| nanoseconds(packets[it].delivered)), [6_300, 11_300], "{buffers}");
    }
}

/// The same, with the packets the other way round and the second 2000 later: its header asks at 3300 and gets the
/// channel at 6300.
#[test]
fn a_header_that_comes_later_waits_for_the_rest_only() {
    let packets = carried(&network(STAR, 64), &[(0, 1, 2), (2_000, 0, 2)]);
    assert_eq!(hops(&packets[0])[1], [1_300, 1_300, 6_300]);
    assert_eq!(hops(&packets[1])[1], [3_300, 6_300, 11_300]);
    assert_eq!(packets[1].blocking().picoseconds(), 3_000_000);
}

/// A header that asks at the very instant at which the tail has crossed gets the channel at once: it started 5000
/// later.
#[test]
fn a_header_that_comes_when_the_tail_has_crossed_does_not_wait() {
    let packets = carried(&network(STAR, 64), &[(0, 0, 2), (5_000, 1, 2)]);
    assert_eq!(hops(&packets[1])[1], [6_300, 6_300, 11_300]);
}

/// Three nodes in a row: 1 sends to 2, and 0 to 2 and then to 1. The packet of node 1 gets the channel between the last
/// two routers at 1300, and its tail has crossed it at 6300. That of node 0 asks for it at 2600, gets it at 6300, and
/// goes on as if alone: 1300 later it asks for the channel to node 2, whose last user's tail has just crossed, and
/// arrives 5000 after that, at 12600.
///
/// The packet to node 1 does not need the contended channel, but is behind one that does. The tail of that has left the
/// node at 5000, and crossed to the middle router at 6300; the next header is in the first router at 6000, asks at 6300
/// and gets the channel. In the middle router it comes to the front when the tail before it starts at 10300, asks at
/// 10600, and all of it has arrived 5000 later.
#[test]
fn a_packet_behind_one_that_is_blocked_waits_in_the_same_buffer() {
    let packets = carried(&network(ROW, 64), &[(0, 1, 2), (0, 0, 2), (0, 0, 1)]);
    assert_eq!(hops(&packets[0]), [[0, 0, 5_000], [1_300, 1_300, 6_300], [2_600, 2_600, 7_600]]);
    let of_second = [[0, 0, 5_000], [1_300, 1_300, 6_300], [2_600, 6_300, 11_300], [7_600, 7_600, 12_600]];
    assert_eq!(hops(&packets[1]), of_second);
    assert_eq!(hops(&packets[2])[0][1..], [5_000, 10_000]);
    assert_eq!(hops(&packets[2])[1..], [[6_300, 6_300, 11_300], [10_600, 10_600, 15_600]]);
    assert_eq!([0, 1, 2].map(|it| nanoseconds(packets[it].delivered)), [7_600, 12_600, 15_600]);
}

/// The same with room for one flit. A flit starts when the one before it has left the next router: the second of a
/// packet when the header has, whose routing takes 300. So each packet holds the channel between the last routers 300
/// longer than with more room, and the blocked one holds those behind it as well. When flits start:
///
/// ```text
///   packet    flit   from its node   router 0   router 1   router 2
///   1 to 2      1              0                    1300       2600
///               2           1300                    2600       3600
///               5           4600                    5600       6600     it has crossed to router 2 at 6600, and arrived at 7600
///   0 to 2      1              0       1300         6600       7900
///               2           1300       6600         7900       8900
///               3           6600       7900         8900       9900
///               5           8900       9900        10900      11900     it has left the node at 9900, and arrived at 12900
///   0 to 1      1           9900      11200        12500
///               2          11200      12500        13500
///               5          14500      15500        16500                it has arrived at 17500
/// ```
#[test]
fn a_blocked_packet_holds_the_channels_behind_it_where_buffers_are_full() {
    let packets = carried(&network(ROW, 1), &[(0, 1, 2), (0, 0, 2), (0, 0, 1)]);
    assert_eq!(hops(&packets[0]), [[0, 0, 5_600], [1_300, 1_300, 6_600], [2_600, 2_600, 7_600]]);
    let of_second = [[0, 0, 9_900], [1_300, 1_300, 10_900], [2_600, 6_600, 11_900], [7_900, 7_900, 12_900]];
    assert_eq!(hops(&packets[1]), of_second);
    assert_eq!(hops(&packets[2])[0][1..], [9_900, 15_500]);
    assert_eq!(hops(&packets[2])[1..], [[11_200, 11_200, 16_500], [12_500, 12_500, 17_500]]);
    assert_eq!([0, 1, 2].map(|it| nanoseconds(packets[it].delivered)), [7_600, 12_900, 17_500]);
}
