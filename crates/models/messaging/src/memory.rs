//! The memory that messaging needs: a broadcast from a shared queue, compared with one over a channel to each receiver.
//!
//! ```text
//!     one channel to each:    (s_SDP + s_RDP) n                      s_SDP   a sending point                 [B]
//!     shared:                 s_SDP + (n - 1) s_LDP + n s_RDP        s_RDP   a receiving point               [B]
//!                                                                    s_LDP   a lightweight point             [B]
//!                             s_SDP - s_LDP                          n       ranks
//!     saved:   M_save(n)  =   ------------- (1 - 1/n)
//!                             s_SDP + s_RDP
//! ```
//!
//! The size of a point is what it may hold at most: its queues and buffers when they are full. Each channel's buffer
//! holds other packets, so each channel needs its own; the packets of a broadcast are the same for all receivers, so
//! one buffer is enough. Nothing is copied into these buffers: a packet is a slice of the message that its program
//! passed in, which is kept as a whole until the last of its packets is acknowledged. The bytes counted are those that
//! the packets keep of it.
//!
//! Source: Wong and Wang 2000, section 4.2, figure 6.

use crate::broadcast;
use crate::fragmenter::Fragmenter;
use crate::packet::{Data, FRAGMENT_HEADER};
use crate::push_pull;
use crate::send_order::SendOrder;
use crate::{Parameters, Repeat, SendStream, SharedQueue};

/// The sizes of the three kinds of points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Points {
    /// s_SDP: a sending point. [B]
    pub send: f64,
    /// s_RDP: a receiving point. [B]
    pub receive: f64,
    /// s_LDP: a lightweight point, which sends from another's buffer. [B]
    pub light: f64,
}

impl Points {
    /// The published sizes: 33.8, 41.4 and 4.4 KiB. They make M_save(n) 0.391 (1 - 1/n); the paper prints 0.386, from
    /// sizes with more digits.
    pub const PUBLISHED: Points = Points { send: 33.8 * 1_024.0, receive: 41.4 * 1_024.0, light: 4.4 * 1_024.0 };

    /// The sizes in this implementation.
    pub fn of(parameters: &Parameters) -> Points {
        let window = match parameters.repeat {
            Repeat::Parity(parity) => parity.window() as usize,
            Repeat::GoBackN | Repeat::Selective => parameters.window as usize,
        };
        let packets = (window * (parameters.datagram - FRAGMENT_HEADER)) as u64;
        let buffer = SharedQueue::<Data>::home_size(window) as u64 + packets;
        // With selective repeat a receiver keeps packets that arrive early.
        let early = if parameters.repeat == Repeat::GoBackN { 0 } else { packets };
        // And a sender to one rank knows when each packet was sent.
        let order = if parameters.repeat == Repeat::GoBackN { 0 } else { SendOrder::size(window) as u64 };
        let receiver = size_of::<push_pull::Receiver>().max(size_of::<broadcast::Receiver>()) as u64;
        Points {
            send: (send_queue(parameters.send_queue) + buffer + light_point() + order) as f64,
            receive: (receiver + parameters.pushed_buffer + early) as f64,
            light: light_point() as f64,
        }
    }

    /// What a broadcast takes with one channel to each of n ranks. [B]
    pub fn separate(&self, n: u32) -> f64 {
        (self.send + self.receive) * f64::from(n)
    }

    /// What a broadcast takes with a shared queue. [B]
    pub fn shared(&self, n: u32) -> f64 {
        self.send + self.light * f64::from(n.saturating_sub(1)) + self.receive * f64::from(n)
    }

    /// M_save(n): the fraction saved.
    pub fn saved(&self, n: u32) -> f64 {
        1.0 - self.shared(n) / self.separate(n)
    }
}

/// What a send queue takes for `messages` messages, without the messages themselves. [B]
pub(crate) fn send_queue(messages: usize) -> u64 {
    (messages * size_of::<Fragmenter>()) as u64
}

/// What a buffer takes, including the packets in it. [B]
pub(crate) fn buffer(packets: &SharedQueue<Data>) -> u64 {
    let payload: u64 = packets.entries().map(|data| data.payload.size().0).sum();
    SharedQueue::<Data>::home_size(packets.stored()) as u64 + payload
}

/// What a lightweight point takes. [B]
pub(crate) fn light_point() -> u64 {
    (size_of::<Option<SendStream>>() + SharedQueue::<Data>::local_size()) as u64
}

#[cfg(test)]
mod tests {
    use endpoint::{Message, Tag};
    use quantities::{Rank, Time};

    use super::*;
    use crate::{BroadcastProtocol, Engine, Push};

    #[test]
    fn the_formula_with_the_published_sizes_is_the_published_one() {
        for n in 1..=128 {
            let formula = (33.8 - 4.4) / (33.8 + 41.4) * (1.0 - 1.0 / f64::from(n));
            assert!((Points::PUBLISHED.saved(n) - formula).abs() < 1e-12, "{n}");
        }
        let saved = Points::PUBLISHED.saved(128);
        assert!((0.38..0.39).contains(&saved), "{saved}");
    }

    /// Counted in the state machine itself, with full buffers: every rank is sent a long message over its own channel,
    /// and the same message is broadcast, before anyone has acknowledged anything.
    #[test]
    fn at_128_ranks_more_than_38_percent_are_saved() {
        let push = Push { first: 1_000_000, second: 0 };
        let parameters = Parameters { push, broadcast_protocol: BroadcastProtocol::Simple, ..Parameters::default() };
        let n = 128_u32;
        let mut engine = Engine::new(Rank(0), n, parameters).unwrap();
        let message = |rank: u32| Message::from(vec![rank as u8; 100_000]);
        assert_eq!(engine.multicast(message(0)), Ok(None));
        for rank in 1..n {
            assert_eq!(engine.send(Rank(rank), Tag::default(), message(rank)), Ok(None));
        }
        assert_eq!(engine.drain(Time::ZERO).len(), 16 * 128);
        let (separate, shared) = engine.memory();
        let points = Points::of(&parameters);
        let receiving = points.receive * f64::from(n);
        let saved = 1.0 - (shared as f64 + receiving) / (separate as f64 + receiving);
        assert!(saved >= 0.38, "{saved}");
        assert!(separate as f64 <= points.send * f64::from(n) && shared as f64 <= points.shared(n) - receiving);
        assert!(points.saved(n) >= 0.38, "{}", points.saved(n));
        println!("saved at {n} ranks: {saved:.3} counted, {:.3} by the sizes of the points", points.saved(n));
    }
}
