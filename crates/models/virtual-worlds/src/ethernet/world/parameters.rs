//! The messaging parameters that a machine's description sets.

use machines::model::{self, Ethernet, IP_AND_UDP, Memory, Messaging, Repeat};
use messaging::{BroadcastProtocol, CopyCost, Parameters, Parity, Push, Reporting, Timing};
use quantities::Bytes;

/// The parameters of the messaging on `ethernet`, in packets that fill a frame, or a datagram of the length that it
/// sets.
pub fn parameters(ethernet: &Ethernet) -> Parameters {
    let Messaging { pushed_buffer, send_queue, patience, .. } = ethernet.messaging;
    let usual = Parameters::default();
    let window = u64::from(ethernet.messaging.window.unwrap_or(usual.window));
    Parameters {
        datagram: datagram(ethernet),
        window: ethernet.messaging.window.unwrap_or(usual.window),
        repeat: ethernet.messaging.repeat.map_or(usual.repeat, repeat),
        probe: ethernet.messaging.probe.map_or(usual.probe, probe),
        batch: ethernet.messaging.batch.map_or(usual.batch, |packets| packets as usize),
        push: push(&ethernet.messaging, usual.push),
        pushed_buffer: pushed_buffer.map_or(usual.pushed_buffer, |size| size.0),
        send_queue: send_queue.map_or(usual.send_queue, |messages| messages as usize),
        timing: timing(&ethernet.messaging, usual.timing),
        reporting: reporting(&ethernet.messaging, &usual),
        broadcast_packets: ethernet.messaging.broadcast_report_packets.map(|packets| packets.min(window)),
        patience: patience.unwrap_or(usual.patience),
        broadcast_protocol: ethernet.messaging.broadcast.map_or(usual.broadcast_protocol, broadcast_protocol),
        ..usual
    }
}

/// The largest datagram. Where the machine gives packets a header of its own, a packet other than an opening carries
/// what the frame, or all fragments of a longer datagram, leave beside that header and the envelope.
fn datagram(ethernet: &Ethernet) -> usize {
    let written = Bytes(messaging::packet::FRAGMENT_HEADER as u64);
    let Messaging { header, envelope, datagram, .. } = ethernet.messaging;
    let beside = header.unwrap_or(written).0 + envelope.unwrap_or(Bytes(0)).0;
    let longest = datagram.map_or(ethernet.payload, |datagram| Bytes(datagram.0 + IP_AND_UDP.0));
    let size = longest.0.saturating_sub(beside) + written.0;
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// What it costs to copy bytes within the memory of a node.
pub(super) fn copy_cost(memory: &Memory) -> CopyCost {
    CopyCost { byte: memory.copy, cache: memory.cache, uncached: memory.copy_uncached }
}

fn repeat(repeat: Repeat) -> messaging::Repeat {
    match repeat {
        Repeat::GoBackN => messaging::Repeat::GoBackN,
        Repeat::Selective => messaging::Repeat::Selective,
        Repeat::Parity => messaging::Repeat::Parity(Parity::default()),
    }
}

fn probe(probe: model::Probe) -> messaging::Probe {
    match probe {
        model::Probe::WithPacket => messaging::Probe::WithPacket,
        model::Probe::Alone => messaging::Probe::Alone,
    }
}

fn broadcast_protocol(protocol: model::BroadcastProtocol) -> BroadcastProtocol {
    match protocol {
        model::BroadcastProtocol::Simple => BroadcastProtocol::Simple,
        model::BroadcastProtocol::PushPull => BroadcastProtocol::PushPull,
    }
}

fn push(messaging: &Messaging, usual: Push) -> Push {
    let bytes = |size: Option<Bytes>, usual| size.map_or(usual, |size| u32::try_from(size.0).unwrap_or(u32::MAX));
    Push { first: bytes(messaging.push_first, usual.first), second: bytes(messaging.push_second, usual.second) }
}

/// Defaults, kept within the values that are set.
fn timing(messaging: &Messaging, usual: Timing) -> Timing {
    let Messaging { first_timeout, least_timeout, most_timeout, .. } = *messaging;
    let chosen = [first_timeout, least_timeout].into_iter().flatten().max().unwrap_or(usual.most);
    let most = most_timeout.unwrap_or(usual.most.max(chosen));
    let least = least_timeout.unwrap_or(usual.least).min(most);
    Timing { first: first_timeout.unwrap_or(usual.first.max(least)).min(most), least, most }
}

/// A machine that sets only the window still reports within it.
fn reporting(messaging: &Messaging, usual: &Parameters) -> Reporting {
    let window = u64::from(messaging.window.unwrap_or(usual.window)).max(1);
    Reporting {
        packets: messaging.report_packets.unwrap_or(usual.reporting.packets).min(window),
        delay: messaging.report_delay.unwrap_or(usual.reporting.delay),
    }
}
