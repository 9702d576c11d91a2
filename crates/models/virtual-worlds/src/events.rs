//! The event queue: a radix heap, after Ahuja, Mehlhorn, Orlin and Tarjan (1990), "Faster algorithms for the shortest
//! path problem".
//!
//! Simulated time never runs backward, so every time in the queue is at least the time taken out last. Times are read
//! as numbers with digits of 6 bits. An event lies at the level of the highest digit in which its time differs from the
//! time taken out last, in the bucket for that digit's value. Insertion costs a few shifts; to remove events, the
//! lowest bucket of the lowest level is spread over the levels below, so that an event moves at most once per level: in
//! practice two or three times. Events of one time come out in the order in which they were put in: they are always in
//! the same bucket, and a bucket is emptied in order, into empty buckets.
//!
//! No event comes at [`Time::NEVER`], at which sums of times that are too long saturate: an event scheduled for then is
//! set aside, and the caller that drives the queue ends the run with it.

use quantities::Time;

const DIGIT_BITS: u32 = 6;
const DIGITS: usize = 1 << DIGIT_BITS;
const LEVELS: usize = u64::BITS.div_ceil(DIGIT_BITS) as usize;

/// Events in order of time; first in, first out among equal times.
#[derive(Debug)]
pub struct EventQueue<Event> {
    /// The events of the present, in order.
    present: Vec<Event>,
    /// All later events, by level and digit.
    buckets: Vec<Vec<(Time, Event)>>,
    /// For each level, which buckets are not empty.
    occupied: [u64; LEVELS],
    /// Which levels are not empty.
    levels: u32,
    /// The time of the events taken out last.
    now: Time,
    /// The bucket that is being spread, kept for its room.
    spread: Vec<(Time, Event)>,
    /// The first event scheduled for [`Time::NEVER`].
    beyond: Option<Event>,
}

impl<Event: Copy> Default for EventQueue<Event> {
    fn default() -> EventQueue<Event> {
        EventQueue {
            present: Vec::new(),
            buckets: vec![Vec::new(); LEVELS * DIGITS],
            occupied: [0; LEVELS],
            levels: 0,
            now: Time::ZERO,
            spread: Vec::new(),
            beyond: None,
        }
    }
}

impl<Event: Copy> EventQueue<Event> {
    /// Whether there are no more events.
    pub fn is_empty(&self) -> bool {
        self.present.is_empty() && self.levels == 0
    }

    /// The time of the events taken out last.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The first event scheduled for [`Time::NEVER`], if there was one.
    #[inline]
    pub fn beyond(&self) -> Option<Event> {
        self.beyond
    }

    /// Inserts `event`, to come out at `time`, which is not before [`EventQueue::now`].
    #[inline]
    pub fn put(&mut self, time: Time, event: Event) {
        debug_assert!(time >= self.now, "an event at {time:?}, before the present {:?}", self.now);
        if time == self.now {
            self.present.push(event);
            return;
        }
        if time == Time::NEVER {
            self.beyond = self.beyond.or(Some(event));
            return;
        }
        let (level, digit) = self.place_of(time);
        self.occupied[level] |= 1 << digit;
        self.levels |= 1 << level;
        self.buckets[level * DIGITS + digit].push((time, event));
    }

    /// Takes out all events of the next time, appending them to `events`; returns that time.
    #[inline]
    pub fn take_instant(&mut self, events: &mut Vec<Event>) -> Option<Time> {
        if self.present.is_empty() && !self.advance() {
            return None;
        }
        if events.is_empty() {
            std::mem::swap(events, &mut self.present);
        } else {
            events.append(&mut self.present);
        }
        Some(self.now)
    }

    /// Whether there are more events at the time of the events taken out last.
    #[inline]
    pub fn has_present(&self) -> bool {
        !self.present.is_empty()
    }

    /// The time of the next events, if there are any.
    pub fn next_time(&self) -> Option<Time> {
        if !self.present.is_empty() {
            return Some(self.now);
        }
        let (level, digit) = self.lowest()?;
        self.buckets[level * DIGITS + digit].iter().map(|&(time, _)| time).min()
    }

    /// Where an event of a time after the present lies.
    #[inline]
    fn place_of(&self, time: Time) -> (usize, usize) {
        let different = time.picoseconds() ^ self.now.picoseconds();
        let level = (63 - different.leading_zeros()) / DIGIT_BITS;
        let digit = (time.picoseconds() >> (level * DIGIT_BITS)) as usize % DIGITS;
        (level as usize, digit)
    }

    /// The bucket that holds the next events.
    #[inline]
    fn lowest(&self) -> Option<(usize, usize)> {
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros() as usize;
        Some((level, self.occupied[level].trailing_zeros() as usize))
    }

    /// Advances the present to the earliest event, and spreads its bucket.
    fn advance(&mut self) -> bool {
        let Some((level, digit)) = self.lowest() else { return false };
        self.occupied[level] &= self.occupied[level] - 1;
        if self.occupied[level] == 0 {
            self.levels &= self.levels - 1;
        }
        let bucket = &mut self.buckets[level * DIGITS + digit];
        if let [(time, event)] = bucket[..] {
            // Where the queue holds few events, most are alone in their bucket.
            bucket.clear();
            self.now = time;
            self.present.push(event);
            return true;
        }
        let mut spread = std::mem::take(&mut self.spread);
        std::mem::swap(&mut spread, &mut self.buckets[level * DIGITS + digit]);
        self.now = spread.iter().map(|&(time, _)| time).min().unwrap_or(self.now);
        for &(time, event) in &spread {
            self.put(time, event);
        }
        spread.clear();
        self.spread = spread;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Events come out as a stable sort by time orders them, whatever is inserted meanwhile.
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
