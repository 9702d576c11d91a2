//! How long a broadcast takes on a lossy wire: 64 MiB from one rank to seven on a switched Ethernet of 100 Mbit/s,
//! where each receiver loses packets independently. All times are simulated.
//!
//! One line per way to repeat: without loss, with 1% and with 5%, the time until the last receiver has the message [s],
//! in brackets divided by what its packets take on the wire if each is sent once, 1,446 bytes of the message in 1,538;
//! and how many packets in a hundred were sent again, including parity packets.

#[path = "../tests/specification/faults/mod.rs"]
mod faults;

use endpoint::{Endpoint, Message};
use faults::network::Faults;
use faults::{Faulty, Node};
use maquette_messaging::{BroadcastProtocol, Parameters, Repeat};
use quantities::{Bytes, Rank};

const SIZE: u64 = 64 << 20;
const RANKS: u32 = 8;
/// One byte of a link. [ps]
const BYTE_TIME: u64 = 80_000;
/// How much of the message a packet carries, and what it takes on the wire. [B]
const PACKET: (u64, u64) = (1_446, 1_538);

/// When the last receiver has the message [s], and how many packets were sent again.
fn run(parameters: Parameters, loss: u64) -> (f64, u64) {
    // From one rank to another it takes 20 us to 50 us besides the wire; the switch holds 64 KiB for each port.
    let faults = Faults { loss, delay: 30, byte_time: BYTE_TIME, queue: 64 << 10, ..Faults::default() };
    let program = |endpoint: Node| async move {
        if endpoint.rank() == Rank(0) {
            endpoint.multicast(Message::of_size(Bytes(SIZE))).await?;
            endpoint.flush().await?;
        } else {
            endpoint.receive_multicast(Rank(0)).await?;
        }
        Ok(endpoint.now())
    };
    let ended = Faulty { parameters, faults, seed: 1 }.run_ranks(RANKS, program).expect("it ends");
    let repeated = ended.ranks[0].engine().repeated();
    let ends = ended.results.into_iter().skip(1).map(|end| end.expect("nobody is gone"));
    (ends.max().expect("there are receivers").seconds(), repeated)
}

fn main() {
    let packets = SIZE.div_ceil(PACKET.0);
    let wire = (packets * PACKET.1 * BYTE_TIME) as f64 * 1e-12;
    println!("the wire: {wire:.3} s");
    let go_back_n =
        |window| Parameters { window, broadcast_protocol: BroadcastProtocol::Simple, ..Parameters::default() };
    let selective = |window| Parameters { repeat: Repeat::Selective, ..go_back_n(window) };
    let ways = [
        ("go-back-n, window 16", go_back_n(16)),
        ("go-back-n, window 64", go_back_n(64)),
        ("selective repeat, window 64", selective(64)),
        ("selective repeat, window 400", selective(400)),
        ("parity", Parameters::for_bulk()),
    ];
    for (name, parameters) in ways {
        print!("{name:29}");
        for loss in [0, 1, 5] {
            let (time, repeated) = run(parameters, loss);
            let again = 100.0 * repeated as f64 / packets as f64;
            print!("  {loss}%: {time:6.3} ({:5.3}) {again:5.1}", time / wire);
        }
        println!();
    }
}
