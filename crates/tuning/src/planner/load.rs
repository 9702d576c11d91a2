//! What the messages of an algorithm ask of the channels that they share.

use machines::model::{FlitNetwork, Interconnect};
use programs::schedule::Transfer;
use quantities::{Bytes, Duration};

use crate::benchmark::Site;

/// How long the busiest channel is busy with `messages`, each on the way that [`FlitNetwork::route`] gives; zero where ranks share no
/// channels. Nothing that sends these messages on these ways takes less time.
pub(super) fn busiest_channel(site: &Site<'_>, messages: impl Iterator<Item = Transfer>) -> Duration {
    let Interconnect::Flits(network) = &site.machine.interconnect else { return Duration::ZERO };
    let mut loads = vec![0_u64; network.channels.len()];
    for Transfer { from, to, bytes } in messages.filter(|message| message.from != message.to) {
        let flits = flits(network, bytes);
        for channel in network.route(site.node_of(from), site.node_of(to)) {
            loads[channel.0 as usize] += flits;
        }
    }
    let times = loads.iter().zip(&network.channels).map(|(&flits, channel)| channel.flit_time * flits);
    times.max().unwrap_or(Duration::ZERO)
}

/// The flits of a message, with those of the headers of its packets.
fn flits(network: &FlitNetwork, Bytes(bytes): Bytes) -> u64 {
    let packet = &network.packet;
    let headers = bytes.div_ceil(packet.payload.0).max(1) * packet.header.0.div_ceil(packet.flit.0);
    headers + bytes.div_ceil(packet.flit.0)
}
