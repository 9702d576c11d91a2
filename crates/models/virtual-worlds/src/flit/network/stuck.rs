//! A report on packets that can never move again.

use std::collections::BTreeMap;

use machines::model::{ChannelEnd, ChannelId, FlitNetwork, NodeId};
use quantities::Time;

use super::Injection;

/// A packet that can't move on, and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StuckPacket {
    /// Its source.
    pub source: NodeId,
    /// Its destination.
    pub destination: NodeId,
    /// The channels that belong to it, first to last.
    pub holds: Vec<ChannelId>,
    /// The channel that it has requested, or whose far buffer is full.
    pub wants: Option<ChannelId>,
    /// The source and destination of the packet that holds the channel or the buffer.
    pub behind: Option<(NodeId, NodeId)>,
    /// Since when it waits.
    pub since: Time,
}

/// Collects which packets hold and wait for which channels.
#[derive(Debug, Default)]
pub(super) struct Tally {
    packets: BTreeMap<u32, Held>,
}

#[derive(Debug, Default)]
struct Held {
    holds: Vec<(Time, ChannelId)>,
    wants: Option<(Time, ChannelId, Option<u32>)>,
}

impl Tally {
    /// `packet` has had `channel` since `granted`.
    pub(super) fn holds(&mut self, packet: u32, channel: ChannelId, granted: Time) {
        self.packets.entry(packet).or_default().holds.push((granted, channel));
    }

    /// `packet` requested `channel`, which belongs to `owner`, at `at`.
    pub(super) fn wants(&mut self, packet: u32, channel: ChannelId, at: Time, owner: Option<u32>) {
        self.packets.entry(packet).or_default().wants = Some((at, channel, owner));
    }

    /// The report, with packets in the order of their sources and destinations.
    pub(super) fn report(self, order: impl Fn(u32) -> Injection) -> Vec<StuckPacket> {
        let ends = |packet| (order(packet).source, order(packet).destination);
        let waiting = |(packet, mut held): (u32, Held)| {
            held.holds.sort_unstable();
            let latest = held.holds.last().map_or(Time::ZERO, |&(granted, _)| granted);
            StuckPacket {
                source: ends(packet).0,
                destination: ends(packet).1,
                holds: held.holds.iter().map(|&(_, channel)| channel).collect(),
                wants: held.wants.map(|(_, channel, _)| channel),
                behind: held.wants.and_then(|(_, _, owner)| owner).map(ends),
                since: held.wants.map_or(latest, |(at, _, _)| at),
            }
        };
        let mut report: Vec<StuckPacket> = self.packets.into_iter().map(waiting).collect();
        report.sort_by_key(|packet| (packet.source, packet.destination, packet.since));
        report
    }
}

/// The name of a channel in reports.
pub fn channel_name(network: &FlitNetwork, channel: ChannelId) -> String {
    let place = |place| match place {
        ChannelEnd::Node(node) => format!("node {}", node.0),
        ChannelEnd::Router(router) => network.routers[router.0 as usize].name.clone(),
    };
    let channel_ends = &network.channels[channel.0 as usize];
    format!("channel {} ({} to {})", channel.0, place(channel_ends.from), place(channel_ends.to))
}

/// The report in words: which packets hold which channels and wait for which, at most `limit` of them.
pub fn describe(network: &FlitNetwork, stuck: &[StuckPacket], limit: usize) -> String {
    let mut lines = vec![format!("{} packets can't move on:", stuck.len())];
    for packet in stuck.iter().take(limit) {
        let holds: Vec<String> = packet.holds.iter().map(|&channel| channel_name(network, channel)).collect();
        let wants = packet.wants.map_or_else(|| "nothing".to_owned(), |channel| channel_name(network, channel));
        let behind = packet.behind.map_or_else(String::new, |(from, to)| {
            format!(", behind the packet from node {} to node {}", from.0, to.0)
        });
        lines.push(format!(
            "  the packet from node {} to node {} holds {}, and since {} ps waits for {wants}{behind}",
            packet.source.0,
            packet.destination.0,
            if holds.is_empty() { "nothing".to_owned() } else { holds.join(", ") },
            packet.since.picoseconds(),
        ));
    }
    if stuck.len() > limit {
        lines.push(format!("  and {} more", stuck.len() - limit));
    }
    lines.join("\n")
}
