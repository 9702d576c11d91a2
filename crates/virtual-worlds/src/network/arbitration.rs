//! Who gets a free channel.

use machines::model::{Arbitration, ChannelId};
use quantities::Time;

/// A header that has asked for a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it asked.
    pub at: Time,
    /// The input port where it waits.
    pub port: u32,
    /// Its packet.
    pub packet: u32,
    /// The channel in whose far buffer it waits.
    pub input: ChannelId,
}

/// The headers that wait for one channel.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    waiting: Vec<Request>,
    /// The input port served last, for round-robin.
    last: u32,
}

impl Requests {
    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The headers that wait, in no particular order.
    pub fn waiting(&self) -> &[Request] {
        &self.waiting
    }

    /// A header asks.
    pub fn post(&mut self, request: Request) {
        self.waiting.push(request);
    }

    /// Takes out the header that gets the channel.
    pub fn grant(&mut self, arbitration: Arbitration) -> Option<Request> {
        let last = self.last;
        let chosen = match arbitration {
            Arbitration::FirstCome => self.best(|request| (request.at.picoseconds(), request.port)),
            Arbitration::RoundRobin => self.best(|request| (u64::from(request.port <= last), request.port)),
        }?;
        let request = self.waiting.swap_remove(chosen);
        self.last = request.port;
        Some(request)
    }

    fn best(&self, key: impl Fn(&Request) -> (u64, u32)) -> Option<usize> {
        (0..self.waiting.len()).min_by_key(|&index| key(&self.waiting[index]))
    }
}
