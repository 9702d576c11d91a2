//! Broadcasts on a switched Ethernet of 100 Mbit/s, in simulated time.

use crate::faults::network::Faults;
use crate::faults::{Faulty, Node};
use endpoint::{Endpoint, Message};
use maquette_messaging::{BroadcastProtocol, Parameters, Repeat};
use quantities::{Bytes, Rank};

const SIZE: u64 = 2 << 20;
/// 80 ns/B, and a switch that holds 64 KiB for each port.
const ETHERNET: Faults = Faults { byte_time: 80_000, queue: 64 << 10, ..NOTHING };
const NOTHING: Faults = Faults { delay: 10, ..Faults::NONE };

/// How long it takes until seven receivers have 2 MiB, relative to what the bytes alone take on the wire.
fn slower_than_the_wire(parameters: Parameters, loss: u64) -> f64 {
    let world = Faulty { parameters, faults: Faults { loss, ..ETHERNET }, seed: 1 };
    let program = |endpoint: Node| async move {
        if endpoint.rank() == Rank(0) {
            endpoint.multicast(Message::of_size(Bytes(SIZE))).await?;
        } else {
            endpoint.receive_multicast(Rank(0)).await?;
        }
        Ok(endpoint.now())
    };
    let ended = world.run_ranks(8, program).unwrap();
    let last = ended.results.into_iter().map(Result::unwrap).max().unwrap();
    last.seconds() / (SIZE as f64 * 80e-9)
}

fn parameters(repeat: Repeat, broadcast_protocol: BroadcastProtocol) -> Parameters {
    Parameters { repeat, broadcast_protocol, ..Parameters::default() }
}

/// Of 1,538 bytes on the wire 1,446 are the message's: nothing can be faster than 1.0636 times its bytes.
#[test]
fn without_loss_a_broadcast_is_as_fast_as_the_wire() {
    for broadcast_protocol in [BroadcastProtocol::PushPull, BroadcastProtocol::Simple] {
        for repeat in [Repeat::GoBackN, Repeat::Selective] {
            let time = slower_than_the_wire(parameters(repeat, broadcast_protocol), 0);
            assert!((1.0636..1.07).contains(&time), "{repeat:?}, {broadcast_protocol:?}: {time}");
        }
    }
}

/// The number of parity packets needed is what the receiver that lost most has lost: about two in a hundred.
#[test]
fn with_parity_a_loss_at_seven_receivers_costs_little_more_than_one_at_one() {
    for loss in [0, 1] {
        let time = slower_than_the_wire(Parameters::for_bulk(), loss);
        // 64 KiB of 2 MiB are in a last block that is not full.
        assert!((1.0636..1.12).contains(&time), "{loss}%: {time}");
        println!("{loss}% lost: parity {time:.3} times the wire");
    }
}

/// When each of seven receivers loses one packet in a hundred, seven in a hundred are sent again.
#[test]
fn with_loss_selective_repeat_costs_little_more_than_what_is_lost_and_go_back_n_much_more() {
    for broadcast_protocol in [BroadcastProtocol::PushPull, BroadcastProtocol::Simple] {
        let [go_back_n, selective] = [Repeat::GoBackN, Repeat::Selective]
            .map(|repeat| slower_than_the_wire(parameters(repeat, broadcast_protocol), 1));
        assert!((1.07 * 1.0636..1.2).contains(&selective), "{broadcast_protocol:?}: {selective}");
        assert!((1.5..2.5).contains(&go_back_n), "{broadcast_protocol:?}: {go_back_n}");
        println!(
            "{broadcast_protocol:?}, 1% lost: go-back-n {go_back_n:.3}, selective repeat {selective:.3} times the wire"
        );
    }
}
