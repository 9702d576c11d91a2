//! Packets that wait for the processors of nodes which route in software ([`Switching::Software`]).

use machines::model::{FlitNetwork, RouterId, Switching};
use quantities::{Duration, Time};

use super::Notice;

/// For each router that is a node: until when its processor forwards packets, and which packets wait for it.
#[derive(Debug)]
pub struct Forwarding {
    per_packet: Duration,
    busy_until: Vec<Time>,
    requested: Vec<(RouterId, u32, u32)>,
}

impl Forwarding {
    /// Idle processors.
    pub fn new(network: &FlitNetwork) -> Forwarding {
        let per_packet = match network.switching {
            Switching::Software { per_packet } => per_packet,
            _ => Duration::ZERO,
        };
        Forwarding { per_packet, busy_until: vec![Time::ZERO; network.routers.len()], requested: Vec::new() }
    }

    /// The time to forward one packet; zero where routers forward in hardware.
    pub fn per_packet(&self) -> Duration {
        self.per_packet
    }

    /// How much longer the processor of `router` is busy forwarding.
    pub fn remaining(&self, router: usize, now: Time) -> Duration {
        self.busy_until.get(router).map_or(Duration::ZERO, |free| free.since(now))
    }

    /// Keeps `notice`, if it asks for forwarding.
    pub fn ask(&mut self, notice: Notice) {
        if let Notice::Forward { router, port, waiting } = notice {
            self.requested.push((router, port, waiting));
        }
    }

    /// Whether packets wait to be served.
    pub fn has_waiting(&self) -> bool {
        !self.requested.is_empty()
    }

    /// Serves each router's packets in order of port, at the end of an instant, when all that are ready are known.
    /// `forwarded` is called with the router, the packet that waited, and when it will have been forwarded.
    pub fn serve(&mut self, now: Time, mut forwarded: impl FnMut(RouterId, u32, Time)) {
        self.requested.sort_unstable();
        for (router, _, waiting) in self.requested.drain(..) {
            let free = &mut self.busy_until[router.0 as usize];
            *free = now.max(*free) + self.per_packet;
            forwarded(router, waiting, *free);
        }
    }
}
