//! What a network did, counted in the same way by both engines.

use machines::model::{ChannelId, FlitNetwork, RouterId};
use quantities::{Bytes, Duration, Time};

use super::Injection;
use crate::answer::{ChannelStatistics, HopRecord, PacketRecord, RouterStatistics};
use crate::sparse::Sparse;

/// Totals of a network's run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// What each channel did.
    pub channels: Sparse<ChannelStatistics>,
    /// How headers fared at each router.
    pub routers: Sparse<RouterStatistics>,
    /// Packets that arrived.
    pub packets: u64,
    /// Flits times channels crossed.
    pub flit_hops: u64,
}

/// Keeps the totals and, if requested, a record of every packet.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// The totals.
    pub statistics: Statistics,
    /// Records of the packets that arrived, in order of arrival.
    pub log: Option<Vec<PacketRecord>>,
}

impl Recorder {
    /// Nothing counted yet.
    pub fn new(network: &FlitNetwork, log: bool) -> Recorder {
        let statistics = Statistics {
            channels: Sparse::filled(ChannelStatistics::default(), network.channels.len()),
            routers: Sparse::filled(RouterStatistics::default(), network.routers.len()),
            packets: 0,
            flit_hops: 0,
        };
        Recorder { statistics, log: log.then(Vec::new) }
    }

    /// Counts a header that was granted a channel at `router` after `blocking`.
    #[inline]
    pub fn granted(&mut self, router: RouterId, blocking: Duration) {
        let router = &mut self.statistics.routers[router.0 as usize];
        router.headers += 1;
        router.blocking += blocking;
    }

    /// Counts a packet that has crossed `channel`, which it had for `held`, each flit taking `flit_time`.
    #[inline]
    pub fn crossed(&mut self, channel: ChannelId, (flits, bytes): (u32, Bytes), held: Duration, flit_time: Duration) {
        let busy = flit_time * u64::from(flits);
        let channel = &mut self.statistics.channels[channel.0 as usize];
        channel.busy += busy;
        channel.blocked += held - busy;
        channel.bytes = Bytes(channel.bytes.0 + bytes.0);
        channel.packets += 1;
        self.statistics.flit_hops += u64::from(flits);
    }

    /// Counts slots behind `channel` that were taken at instants that sum to `taken` and given back at instants that
    /// sum to `given`.
    #[inline]
    pub fn occupied(&mut self, channel: ChannelId, taken: u128, given: u128) {
        let total = &mut self.statistics.channels[channel.0 as usize].occupancy;
        // A sum of differences, whose terms may come in any order: wrapping arithmetic ends at the right value.
        *total = total.wrapping_add(given).wrapping_sub(taken);
    }

    /// Counts a packet that has arrived.
    pub fn delivered(
        &mut self,
        order: &Injection,
        injected: Time,
        hops: impl FnOnce() -> Vec<HopRecord>,
        delivered: Time,
    ) {
        self.statistics.packets += 1;
        if let Some(log) = &mut self.log {
            log.push(PacketRecord {
                source: order.source,
                destination: order.destination,
                bytes: order.bytes,
                flits: order.flits,
                injected,
                hops: hops(),
                delivered,
            });
        }
    }
}
