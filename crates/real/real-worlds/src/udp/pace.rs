//! Limits the rate of sending.

use quantities::{Bytes, Duration, Rate, Time};

/// What Ethernet and IP add to a packet, including gap, preamble and checksum. [B]
const AROUND: u64 = 38 + 20;
/// What UDP adds to a datagram. [B]
const UDP: u64 = 8;
/// How much of a datagram a packet carries; IP splits longer ones into fragments. [B]
const FRAGMENT: u64 = 1_480;
/// The least that a frame takes on an Ethernet. [B]
const LEAST: u64 = 84;
/// How much unused time may be caught up with. [ps]
const LAG: Duration = Duration::from_microseconds(1_000);

/// A token bucket, stored as the time at which the wire is idle again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    rate: Rate,
    idle: Time,
}

impl Pace {
    pub(super) const fn new(rate: Rate) -> Pace {
        Pace { rate, idle: Time::ZERO }
    }

    /// When datagrams of these sizes may be sent; assumes that they are. [B]
    pub(super) fn send(&mut self, now: Time, sizes: impl Iterator<Item = usize>) -> Time {
        let earliest = Time::from_picoseconds(now.picoseconds().saturating_sub(LAG.picoseconds()));
        let start = self.idle.max(earliest);
        self.idle = start + self.rate.time_of(Bytes(sizes.map(on_the_wire).sum()));
        start
    }

    /// How many datagrams of this size make a burst that may be sent at once. [B]
    pub(super) fn burst(&self, size: usize) -> usize {
        let one = self.rate.time_of(Bytes(on_the_wire(size))).picoseconds().max(1);
        usize::try_from(LAG.picoseconds() / one).unwrap_or(usize::MAX).max(1)
    }
}

fn on_the_wire(size: usize) -> u64 {
    let carried = size as u64 + UDP;
    (carried + carried.div_ceil(FRAGMENT) * AROUND).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,538 bytes per frame at 100 Mbit/s are 123.04 us.
    #[test]
    fn a_thousand_frames_take_as_long_as_the_wire_needs() {
        let mut pace = Pace::new(Rate::from_bits_per_second(100_000_000));
        let mut now = Time::ZERO + Duration::from_microseconds(1_000_000);
        let first = now;
        for _ in 0..1_000 {
            now = now.max(pace.send(now, std::iter::once(1_472)));
        }
        let took = now.since(first).microseconds();
        assert!((123_040.0 - 1_200.0..123_040.0).contains(&took), "{took} us");
        assert_eq!(pace.burst(1_472), 8);
    }

    #[test]
    fn small_datagrams_fill_the_smallest_frame() {
        assert_eq!((on_the_wire(0), on_the_wire(18), on_the_wire(19)), (84, 84, 85));
    }

    /// 1,480 bytes of each frame, and 58 around them.
    #[test]
    fn long_datagrams_are_split_into_frames() {
        assert_eq!((on_the_wire(1_472), on_the_wire(1_473), on_the_wire(2_952)), (1_538, 1_597, 2 * 1_538));
    }
}
