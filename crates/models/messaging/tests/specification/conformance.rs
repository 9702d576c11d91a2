//! The endpoint's conformance suite, on datagrams that arrive and on datagrams that may be lost.

use crate::faults::Faulty;
use crate::faults::network::Faults;
use endpoint::conformance;
use maquette_messaging::{BroadcastProtocol, Parameters, Parity, Repeat};

const PARITY: Parity = Parity { packets: 4, parity: 3, blocks: 6 };

#[test]
fn on_a_perfect_network() {
    conformance::multicast_world(|_| Faulty::perfect(Parameters::default()));
    conformance::overlapping_world(|_| Faulty::perfect(Parameters::default()));
    conformance::requests_world(|_| Faulty::perfect(Parameters::default()));
}

#[test]
fn on_a_network_that_loses_repeats_delays_and_damages() {
    let faults = Faults { loss: 15, repeated: 10, delay: 200, damaged: 5, strange: 5, ..Faults::default() };
    for (seed, repeat) in [(1, Repeat::GoBackN), (2, Repeat::Selective), (3, Repeat::Parity(PARITY))] {
        for broadcast_protocol in [BroadcastProtocol::PushPull, BroadcastProtocol::Simple] {
            let parameters = Parameters { repeat, broadcast_protocol, ..Parameters::default() };
            conformance::multicast_world(|_| Faulty { parameters, faults, seed });
            conformance::overlapping_world(|_| Faulty { parameters, faults, seed });
            conformance::requests_world(|_| Faulty { parameters, faults, seed });
        }
    }
}
