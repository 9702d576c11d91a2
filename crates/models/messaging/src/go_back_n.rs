//! Go-back-n: a lost packet is sent again with all that follow it.
//!
//! ```text
//!   source    0  1  2  3  4  5 ...... 2  3  4  5  6  7        at most W = 4 packets are in flight
//!                   x (lost)    \    ^
//!   receiver  0  1     3  4  5   "expected 2, something is missing"
//!                      thrown away
//! ```
//!
//! The receiver keeps nothing but the packet that it expects, so it needs no memory; a loss costs the source up to W
//! packets.
//!
//! Source: Wong and Wang 2000, section 3.2 (W = 16).

use quantities::{Duration, Time};

/// What a source sends again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repeats {
    /// The next packet to send again, and the one before which to stop.
    next: u64,
    end: u64,
    /// The packet to which it last went back, and when.
    last: Option<(u64, Time)>,
}

impl Repeats {
    /// Packet `base` is lost, and with it everything sent in `base..end`. Ignored if the same was reported less than
    /// `pause` ago.
    pub fn lost(&mut self, now: Time, pause: Duration, (base, end): (u64, u64)) {
        let reported = self.last.is_some_and(|(lost, when)| lost == base && now.since(when) < pause);
        if !reported {
            *self = Repeats { next: base, end, last: Some((base, now)) };
        }
    }

    /// The next packet to send again, if it is not before `base`, and whether it is the last of them.
    pub fn pop(&mut self, base: u64) -> Option<(u64, bool)> {
        self.next = self.next.max(base);
        let sequence = self.next;
        self.next += u64::from(sequence < self.end);
        (sequence < self.end).then_some((sequence, self.next == self.end))
    }

    /// Whether the receiver, which has everything before `base`, still lacks some of what had been sent when it lost
    /// something.
    pub const fn is_going_back(&self, base: u64) -> bool {
        base < self.end
    }
}

/// What a receiver accepts: packets in order, and no others.
#[derive(Clone, Debug)]
pub struct ReceiveWindow<P> {
    /// The first packet that it does not have.
    pub(crate) expected: u64,
    /// That packet, from its arrival until it is stored.
    front: Option<P>,
}

impl<P> ReceiveWindow<P> {
    /// Nothing has arrived; the first packet has this number.
    pub const fn new(first: u64) -> ReceiveWindow<P> {
        ReceiveWindow { expected: first, front: None }
    }

    /// Takes a packet and returns whether something before it is missing.
    pub fn offer(&mut self, sequence: u64, packet: P) -> bool {
        if sequence == self.expected {
            self.front = Some(packet);
        }
        sequence > self.expected
    }

    /// The expected packet, if it has arrived.
    pub const fn front(&self) -> Option<&P> {
        self.front.as_ref()
    }

    /// The expected packet has been stored.
    pub fn advance(&mut self) -> Option<P> {
        let packet = self.front.take()?;
        self.expected += 1;
        Some(packet)
    }

    /// The expected packet could not be stored: it has to be sent again.
    pub fn refuse(&mut self) {
        self.front = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_microseconds(10);

    fn all(repeats: &mut Repeats, base: u64) -> Vec<u64> {
        std::iter::from_fn(|| repeats.pop(base)).map(|(sequence, _)| sequence).collect()
    }

    #[test]
    fn everything_from_the_lost_packet_on_is_sent_again() {
        let mut repeats = Repeats::default();
        repeats.lost(Time::ZERO, PAUSE, (5, 9));
        assert!(repeats.is_going_back(8) && !repeats.is_going_back(9));
        assert_eq!(repeats.pop(5), Some((5, false)));
        assert_eq!(all(&mut repeats, 7), [7, 8], "what was acknowledged meanwhile is skipped");
    }

    #[test]
    fn it_goes_back_once_for_many_reports_of_one_loss() {
        let mut repeats = Repeats::default();
        repeats.lost(Time::ZERO, PAUSE, (5, 7));
        assert_eq!(all(&mut repeats, 5), [5, 6]);
        repeats.lost(Time::ZERO + Duration::from_microseconds(9), PAUSE, (5, 7));
        assert_eq!(all(&mut repeats, 5), [0u64; 0]);
        repeats.lost(Time::ZERO + PAUSE, PAUSE, (5, 7));
        assert_eq!(all(&mut repeats, 5), [5, 6], "and again when the second time was lost too");
    }

    #[test]
    fn only_the_expected_packet_is_kept() {
        let mut order = ReceiveWindow::new(3);
        assert!(order.offer(4, "d"));
        assert!(!order.offer(2, "b"));
        assert_eq!(order.front(), None);
        assert!(!order.offer(3, "c"));
        assert_eq!((order.advance(), order.front(), order.expected), (Some("c"), None, 4));
        order.offer(4, "d");
        order.refuse();
        assert_eq!((order.front(), order.expected), (None, 4));
    }
}
