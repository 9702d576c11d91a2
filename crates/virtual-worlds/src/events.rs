//! The event queue: a radix heap, after Ahuja, Mehlhorn, Orlin and Tarjan (1990), "Faster algorithms for the shortest
//! path problem".
//!
//! Simulated time never runs backward, so every time in the queue is at least the time taken out last. Bucket b holds the
//! events whose time differs from that time in bit b - 1 and in no higher bit; bucket 0 holds those of that very time.
//! Putting in costs one shift, taking out moves an event to a lower bucket at most 64 times, in practice a few. Events of
//! one time come out in the order in which they were put in: a bucket is emptied in order, and only into empty buckets.

use quantities::Time;

const BUCKETS: usize = 65;

/// Events in order of time, first in first out among equal times.
#[derive(Debug)]
pub struct EventQueue<Event> {
    buckets: Vec<Vec<(Time, Event)>>,
    /// Bit b is set when bucket b + 1 is not empty.
    occupied: u64,
    /// The time of the events taken out last.
    now: Time,
    length: usize,
}

impl<Event: Copy> Default for EventQueue<Event> {
    fn default() -> EventQueue<Event> {
        EventQueue { buckets: vec![Vec::new(); BUCKETS], occupied: 0, now: Time::ZERO, length: 0 }
    }
}

impl<Event: Copy> EventQueue<Event> {
    /// Whether nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The time of the events taken out last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Puts `event` in, to come out at `time`, which is not before [`EventQueue::now`].
    #[inline]
    pub fn put(&mut self, time: Time, event: Event) {
        debug_assert!(time >= self.now, "an event at {time:?}, before the present {:?}", self.now);
        let bucket = self.bucket_of(time);
        if bucket > 0 {
            self.occupied |= 1 << (bucket - 1);
        }
        self.buckets[bucket].push((time, event));
        self.length += 1;
    }

    /// Takes all events of the next time out, appending them to `events`; gives that time.
    pub fn take_instant(&mut self, events: &mut Vec<Event>) -> Option<Time> {
        if self.length == 0 {
            return None;
        }
        if self.buckets[0].is_empty() {
            self.refill();
        }
        self.length -= self.buckets[0].len();
        events.extend(self.buckets[0].drain(..).map(|(_, event)| event));
        Some(self.now)
    }

    /// The time of the next events, when there are any.
    pub fn next_time(&self) -> Option<Time> {
        if !self.buckets[0].is_empty() {
            return Some(self.now);
        }
        let lowest = self.occupied.trailing_zeros() as usize + 1;
        self.buckets.get(lowest)?.iter().map(|&(time, _)| time).min()
    }

    #[inline]
    fn bucket_of(&self, time: Time) -> usize {
        (64 - (time.picoseconds() ^ self.now.picoseconds()).leading_zeros()) as usize
    }

    /// Moves time on to the earliest event and spreads its bucket over the lower ones.
    fn refill(&mut self) {
        let lowest = self.occupied.trailing_zeros() as usize + 1;
        self.occupied &= self.occupied - 1;
        let mut bucket = std::mem::take(&mut self.buckets[lowest]);
        self.now = bucket.iter().map(|&(time, _)| time).min().unwrap_or(self.now);
        for &(time, event) in &bucket {
            let lower = self.bucket_of(time);
            if lower > 0 {
                self.occupied |= 1 << (lower - 1);
            }
            self.buckets[lower].push((time, event));
        }
        bucket.clear();
        self.buckets[lowest] = bucket;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Out of the queue comes what a stable sort by time gives, whatever goes in meanwhile.
        #[test]
        fn events_come_out_in_order_of_time_then_of_arrival(steps in prop::collection::vec((0u64..5, 0u64..1 << 40), 1..200)) {
            let mut queue = EventQueue::default();
            let mut expected: Vec<(Time, usize)> = Vec::new();
            let mut seen = Vec::new();
            for (number, &(takes, ahead)) in steps.iter().enumerate() {
                let time = Time::from_picoseconds(queue.now().picoseconds() + (ahead >> (8 * takes)));
                queue.put(time, number);
                expected.push((time, number));
                if takes == 0 {
                    let mut instant = Vec::new();
                    prop_assert_eq!(queue.next_time(), expected.iter().map(|&(time, _)| time).min());
                    let now = queue.take_instant(&mut instant).unwrap();
                    seen.extend(instant.iter().map(|&event| (now, event)));
                    expected.retain(|&(time, _)| time != now);
                }
            }
            let before = seen.len();
            let mut instant = Vec::new();
            while let Some(now) = queue.take_instant(&mut instant) {
                seen.extend(instant.drain(..).map(|event| (now, event)));
            }
            expected.sort_by_key(|&(time, _)| time);
            prop_assert_eq!(&seen[before..], &expected[..]);
            prop_assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(queue.is_empty());
        }
    }
}
