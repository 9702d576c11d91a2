//! The work of running a candidate, known before it is run.

use machines::model::{Channel, FlitNetwork, Interconnect, Switching};
use quantities::Rank;

use super::candidates::Candidate;
use crate::benchmark::Site;

/// How many pairs of ranks are examined for the mean length of a path.
const PAIRS: u32 = 64;
/// The work of a message without contention, relative to a packet that crosses a channel.
const MESSAGE: f64 = 0.5;
/// The work of a message of a program that begins operations without waiting for others, for the program itself.
const OVERLAPPED: f64 = 30.0;
/// The same on a machine without contention.
const OVERLAPPED_ALONE: f64 = 4.0;
/// The work of a frame through an Ethernet, with its acknowledgement.
const FRAME: f64 = 10.0;
/// The work of a flit of a packet that waits in a wormhole network: flits move in long runs.
const FLIT: f64 = 0.005;
/// The same if channels wait for slots again and again, which breaks the runs up. Measured: 0.04 to 0.08 us a flit and
/// channel on `booksim-mesh-8x8`, where a packet takes 0.7 to 1.4 us a channel on `infiniband-128`, `fat-tree-1024`,
/// `torus-512` and `slingshot-1024`.
const FLIT_OF_BROKEN_RUNS: f64 = 0.1;

/// What running messages on a machine is worth in work: packets times channels that they cross.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// For each message on each channel that it crosses.
    message: f64,
    /// For each byte on each channel that it crosses.
    byte: f64,
    /// How many channels a message between any two ranks crosses on the mean; 1 where they share none.
    any_hops: f64,
    /// The same between a rank and the next.
    next_hops: f64,
    /// For each message of a program whose operations overlap, besides.
    overlapped: f64,
}

impl Work {
    /// Of messages between the ranks of `site`.
    pub(super) fn on(site: &Site<'_>) -> Work {
        match &site.machine.interconnect {
            Interconnect::Flits(network) => {
                let flit = match network.switching {
                    Switching::Wormhole if breaks_runs(network) => FLIT_OF_BROKEN_RUNS,
                    Switching::Wormhole => FLIT,
                    _ => 0.0,
                };
                let (payload, size) = (network.packet.payload.0 as f64, network.packet.flit.0 as f64);
                Work {
                    message: 1.0,
                    byte: 1.0 / payload + flit / size,
                    // Two strides without a common factor cover all kinds of distances.
                    any_hops: mean_hops(site, network, |number| number.wrapping_mul(40_503)),
                    next_hops: mean_hops(site, network, |_| 0),
                    overlapped: OVERLAPPED,
                }
            }
            Interconnect::Ethernet(ethernet) => {
                Work { byte: FRAME / ethernet.payload.0 as f64, overlapped: OVERLAPPED, ..Work::alone(FRAME) }
            }
            Interconnect::LogGp(_) => Work::alone(MESSAGE),
        }
    }

    /// Of messages that share no channels, each worth `message` whatever its size.
    fn alone(message: f64) -> Work {
        Work { message, byte: 0.0, any_hops: 1.0, next_hops: 1.0, overlapped: OVERLAPPED_ALONE }
    }

    /// How many channels a message of a candidate crosses on the mean.
    fn hops(self, candidate: &Candidate) -> f64 {
        if candidate.cost().to_next_rank { self.next_hops } else { self.any_hops }
    }

    /// That which follows from the bytes of a candidate's messages.
    pub(super) fn of_bytes(self, candidate: &Candidate) -> f64 {
        self.byte * self.hops(candidate) * candidate.cost().bytes
    }

    /// Of all messages of a candidate.
    pub(super) fn of(self, candidate: &Candidate) -> f64 {
        let begun = if candidate.overlaps() { self.overlapped } else { 0.0 };
        let message = self.message * self.hops(candidate) + begun;
        message * candidate.cost().messages + self.of_bytes(candidate)
    }
}

/// Whether the flits of a waiting packet move one by one, and not in long runs.
pub(super) fn breaks_runs(network: &FlitNetwork) -> bool {
    network.switching == Switching::Wormhole && network.channels.iter().any(waits_for_slots)
}

/// Whether a channel's buffer is full before the first slot comes back, so that flits go over it in bursts.
fn waits_for_slots(channel: &Channel) -> bool {
    let loop_time = channel.flit_time + channel.wire_latency + channel.credit_latency;
    channel.buffer > 1 && channel.flit_time * u64::from(channel.buffer) < loop_time
}

/// The mean number of channels that a packet crosses, over some pairs of ranks: the `number`th is `beyond(number)`
/// ranks beyond the next.
fn mean_hops(site: &Site<'_>, network: &FlitNetwork, beyond: impl Fn(u32) -> u32) -> f64 {
    let ranks = site.ranks.max(1);
    let pair = |number: u32| {
        let from = number.wrapping_mul(2_654_435_761) % ranks;
        let to = (from.wrapping_add(1).wrapping_add(beyond(number))) % ranks;
        network.route(site.node_of(Rank(from)), site.node_of(Rank(to))).len() as f64
    };
    (0..PAIRS).map(pair).sum::<f64>() / f64::from(PAIRS)
}
