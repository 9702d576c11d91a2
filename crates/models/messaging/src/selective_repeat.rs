//! Selective repeat: only what is lost is sent again. Beyond the paper.
//!
//! ```text
//!   source    0  1  2  3  4  5 ...... 2  6  7
//!                   x (lost)    \    ^
//!   receiver  0  1     3  4  5   "expected 2; after it I have 3, 4 and 5"
//!                      kept
//! ```
//!
//! A loss costs the source one packet, and the receiver room for up to W packets that arrive early.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use quantities::{Duration, Time};

/// What a source sends again.
#[derive(Clone, Debug, Default)]
pub struct Repeats {
    waiting: BTreeSet<u64>,
    /// The packets that were sent again, and when they last were.
    sent_again: BTreeMap<u64, Time>,
}

impl Repeats {
    /// The packets `missing` are lost. Those that were sent again less than `pause` ago are probably still in flight.
    pub fn lost(&mut self, now: Time, pause: Duration, missing: impl Iterator<Item = u64>) {
        for sequence in missing {
            let under_way = self.sent_again.get(&sequence).is_some_and(|&when| now.since(when) < pause);
            if !under_way {
                self.waiting.insert(sequence);
                self.sent_again.insert(sequence, now);
            }
        }
    }

    /// The receiver has all packets before `base`, and `has` tells which of the others.
    pub fn acknowledged(&mut self, base: u64, has: impl Fn(u64) -> bool) {
        self.waiting.retain(|&sequence| sequence >= base && !has(sequence));
        self.sent_again.retain(|&sequence, _| sequence >= base);
    }

    /// The next packet to send again, and whether it is the last of them.
    pub fn pop(&mut self) -> Option<(u64, bool)> {
        let sequence = self.waiting.pop_first()?;
        Some((sequence, self.waiting.is_empty()))
    }
}

/// What a receiver accepts: packets in order, and early ones, which wait for their turn.
#[derive(Clone, Debug)]
pub struct ReceiveWindow<P> {
    /// The first packet that it lacks or has not stored yet.
    pub(crate) expected: u64,
    /// How many packets after that it accepts.
    window: u64,
    early: BTreeMap<u64, P>,
}

impl<P> ReceiveWindow<P> {
    /// Nothing has arrived; the first packet has number `first`.
    pub const fn new(first: u64, window: u64) -> ReceiveWindow<P> {
        ReceiveWindow { expected: first, window, early: BTreeMap::new() }
    }

    /// Takes a packet and returns whether something before it is missing.
    pub fn offer(&mut self, sequence: u64, packet: P) -> bool {
        if sequence >= self.expected && sequence - self.expected < self.window {
            self.early.insert(sequence, packet);
        }
        sequence > self.expected && !self.early.contains_key(&self.expected)
    }

    /// The expected packet, if it has arrived.
    pub fn front(&self) -> Option<&P> {
        self.early.get(&self.expected)
    }

    /// The packet with this number, if it has arrived and has not been stored.
    pub fn early(&self, sequence: u64) -> Option<&P> {
        self.early.get(&sequence)
    }

    /// The expected packet has been stored.
    pub fn advance(&mut self) -> Option<P> {
        let packet = self.early.remove(&self.expected)?;
        self.expected += 1;
        Some(packet)
    }

    /// Which of the packets after the expected one it has, a bit each.
    pub fn bitmap(&self) -> Bytes {
        let after = self.early.keys().filter(|&&sequence| sequence > self.expected);
        let places: Vec<usize> = after.filter_map(|sequence| (sequence - self.expected - 1).try_into().ok()).collect();
        let mut bitmap = vec![0_u8; places.last().map_or(0, |last| last / 8 + 1)];
        places.iter().for_each(|place| bitmap[place / 8] |= 1 << (place % 8));
        bitmap.into()
    }
}

/// Whether a report with `expected` and `bitmap` acknowledges packet `sequence`.
pub fn has(bitmap: &[u8], expected: u64, sequence: u64) -> bool {
    let place = sequence.checked_sub(expected.saturating_add(1)).and_then(|place| usize::try_from(place).ok());
    place.is_some_and(|place| bitmap.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1))
}

/// The first packet after the last that a receiver has.
pub fn end(bitmap: &[u8], expected: u64) -> u64 {
    let last = bitmap.iter().enumerate().rev().find(|(_, byte)| **byte != 0);
    last.map_or(expected, |(place, byte)| expected + 1 + place as u64 * 8 + u64::from(8 - byte.leading_zeros()))
}

/// The packets missing before the last that a receiver has: those that are probably lost.
pub fn holes(bitmap: &[u8], expected: u64) -> impl Iterator<Item = u64> {
    let zeros = bitmap.last().map_or(0, |byte| byte.leading_zeros());
    let end = expected + (bitmap.len() * 8) as u64 + 1 - u64::from(zeros);
    (expected..end).filter(move |&sequence| !has(bitmap, expected, sequence))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_microseconds(10);

    #[test]
    fn the_bitmap_tells_which_packets_have_arrived() {
        let mut order = ReceiveWindow::new(7, 32);
        assert!(!order.offer(7, ()));
        order.advance();
        assert!([9, 10, 18].iter().all(|&early| order.offer(early, ())));
        let bitmap = order.bitmap();
        let there: Vec<u64> = (0..50).filter(|&sequence| has(&bitmap, 8, sequence)).collect();
        assert_eq!(there, [9, 10, 18]);
        assert_eq!(holes(&bitmap, 8).collect::<Vec<_>>(), [8, 11, 12, 13, 14, 15, 16, 17]);
        assert_eq!(holes(&[], 8).count(), 1);
    }

    #[test]
    fn early_packets_are_kept_as_far_as_the_window() {
        let mut order = ReceiveWindow::new(0, 4);
        for (sequence, packet) in [(3, "d"), (4, "e"), (1, "b"), (0, "a"), (2, "c")] {
            order.offer(sequence, packet);
        }
        let taken: Vec<_> = std::iter::from_fn(|| order.advance()).collect();
        assert_eq!((taken, order.expected), (vec!["a", "b", "c", "d"], 4));
    }

    #[test]
    fn a_packet_is_sent_again_once_in_a_pause() {
        let mut repeats = Repeats::default();
        repeats.lost(Time::ZERO, PAUSE, [3, 5].into_iter());
        assert_eq!((repeats.pop(), repeats.pop(), repeats.pop()), (Some((3, false)), Some((5, true)), None));
        repeats.lost(Time::ZERO, PAUSE, [3, 5, 6].into_iter());
        repeats.acknowledged(4, |sequence| sequence == 5);
        assert_eq!((repeats.pop(), repeats.pop()), (Some((6, true)), None));
        repeats.lost(Time::ZERO + PAUSE, PAUSE, [5, 6].into_iter());
        assert_eq!(repeats.pop(), Some((5, false)));
    }
}
