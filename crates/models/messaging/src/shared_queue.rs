//! The Enhanced Queue Architecture: one producer, many consumers, every entry stored once.
//!
//! ```text
//!                first                        next
//!                  |                            |
//!     BUF      .   [a 1] [b 3] [c 3] [d 3] [e 3]   .      an entry, and how many consumers still need it
//!                    ^     ^           ^
//!     LMS            |     consumer 0  |                  where each consumer is
//!                    consumer 2        consumer 1
//!     HMS      first = a, room = capacity - 5
//! ```
//!
//! The buffer (BUF) holds the entries. The home management structure (HMS) belongs to the producer: where the buffer
//! begins and how much room it has. Each consumer has a local management structure (LMS), which is only its position.
//! An entry is freed when the last consumer, the slowest, has passed it. A queue with one consumer is the send buffer
//! of a point-to-point channel; one with n - 1 that of a broadcast.
//!
//! Each entry counts its consumers, so that freeing costs one step for each entry that a consumer passes, instead of a
//! search for the slowest consumer. The paper locks; this queue needs no lock, since nothing is shared between threads.
//!
//! Source: Wong and Wang 2000, section 3.1, figure 2.

use std::collections::VecDeque;

/// Entries that several consumers share.
#[derive(Clone, Debug)]
pub struct SharedQueue<T> {
    /// BUF
    buffer: VecDeque<Slot<T>>,
    /// HMS
    home: Home,
    /// The LMSs, by consumer; none for a consumer that is no longer linked.
    locals: Vec<Option<Local>>,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    entry: T,
    /// How many consumers have not passed it.
    users: u32,
}

/// What the producer needs to know.
#[derive(Clone, Copy, Debug)]
struct Home {
    /// The number of the oldest entry.
    first: u64,
    /// How many entries there is room for.
    capacity: usize,
    /// How many consumers are linked.
    users: u32,
}

/// What a consumer needs to know.
#[derive(Clone, Copy, Debug)]
struct Local {
    /// The number of the oldest entry that it has not passed.
    place: u64,
}

impl<T> SharedQueue<T> {
    /// A queue for `capacity` entries, with this many consumers, whose first entry has number `first`.
    pub fn new(first: u64, capacity: usize, consumers: u32) -> SharedQueue<T> {
        let locals = (0..consumers).map(|_| Some(Local { place: first })).collect();
        SharedQueue { buffer: VecDeque::new(), home: Home { first, capacity, users: consumers }, locals }
    }

    /// The number of the next entry.
    pub fn next(&self) -> u64 {
        self.home.first + self.buffer.len() as u64
    }

    /// The number of the oldest entry, or of the next if there is none.
    pub const fn first(&self) -> u64 {
        self.home.first
    }

    /// How many entries there is room for.
    pub fn room(&self) -> usize {
        self.home.capacity - self.buffer.len()
    }

    /// The entry with this number, if any consumer still needs it.
    pub fn entry(&self, number: u64) -> Option<&T> {
        let place = usize::try_from(number.checked_sub(self.home.first)?).ok()?;
        self.buffer.get(place).map(|slot| &slot.entry)
    }

    /// The entries that consumer `consumer` has not passed: what a lightweight point sees of the queue.
    pub fn view(&self, consumer: usize) -> impl Iterator<Item = &T> {
        let place = self.locals.get(consumer).copied().flatten().map_or(self.next(), |local| local.place);
        let passed = usize::try_from(place - self.home.first).unwrap_or(usize::MAX);
        self.buffer.iter().skip(passed).map(|slot| &slot.entry)
    }

    /// Adds an entry for all consumers.
    ///
    /// # Errors
    /// The entry itself if there is no room for it.
    pub fn produce(&mut self, entry: T) -> Result<(), T> {
        if self.room() == 0 {
            return Err(entry);
        }
        match self.home.users {
            0 => self.home.first += 1,
            users => self.buffer.push_back(Slot { entry, users }),
        }
        Ok(())
    }

    /// Consumer `consumer` passes all entries before number `place`.
    pub fn pass(&mut self, consumer: usize, place: u64) {
        let (first, next) = (self.home.first, self.next());
        let Some(Some(local)) = self.locals.get_mut(consumer) else { return };
        let place = place.min(next).max(local.place);
        for number in std::mem::replace(&mut local.place, place)..place {
            if let Some(slot) = usize::try_from(number - first).ok().and_then(|place| self.buffer.get_mut(place)) {
                slot.users -= 1;
            }
        }
        while self.buffer.front().is_some_and(|slot| slot.users == 0) {
            self.buffer.pop_front();
            self.home.first += 1;
        }
    }

    /// This consumer needs no more entries, present or future.
    pub fn unlink(&mut self, consumer: usize) {
        self.pass(consumer, self.next());
        if self.locals.get_mut(consumer).and_then(Option::take).is_some() {
            self.home.users -= 1;
        }
    }

    /// How many entries are stored.
    pub fn stored(&self) -> usize {
        self.buffer.len()
    }

    /// The entries that are stored.
    pub fn entries(&self) -> impl Iterator<Item = &T> {
        self.buffer.iter().map(|slot| &slot.entry)
    }

    /// What BUF and HMS take with this many entries, without what the entries point to. [B]
    pub const fn home_size(entries: usize) -> usize {
        size_of::<SharedQueue<T>>() + entries * size_of::<Slot<T>>()
    }

    /// What each LMS takes. [B]
    pub const fn local_size() -> usize {
        size_of::<Option<Local>>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_entry_is_freed_when_the_slowest_consumer_has_passed_it() {
        let mut queue = SharedQueue::new(10, 2, 3);
        assert_eq!((queue.produce("a"), queue.produce("b"), queue.produce("c")), (Ok(()), Ok(()), Err("c")));
        queue.pass(0, 12);
        queue.pass(1, 11);
        assert_eq!((queue.room(), queue.entry(10)), (0, Some(&"a")));
        assert_eq!(queue.view(1).collect::<Vec<_>>(), [&"b"]);
        queue.pass(2, 11);
        assert_eq!((queue.room(), queue.entry(10), queue.entry(11)), (1, None, Some(&"b")));
        queue.unlink(1);
        queue.unlink(2);
        assert_eq!((queue.stored(), queue.next()), (0, 12));
        assert_eq!(queue.produce("d"), Ok(()));
        assert_eq!((queue.view(0).count(), queue.view(1).count()), (1, 0));
        queue.unlink(0);
        assert_eq!((queue.produce("e"), queue.stored(), queue.next()), (Ok(()), 0, 14), "nobody listens");
    }

    proptest! {
        /// What is stored is always exactly what lies between the slowest linked consumer and the producer.
        #[test]
        fn the_slowest_consumer_decides(steps in prop::collection::vec((0_usize..4, 0_u64..6), 1..200)) {
            let mut queue = SharedQueue::new(0, 8, 3);
            let mut places = [Some(0_u64); 3];
            for (what, far) in steps {
                match (what, far) {
                    (3, _) => drop(queue.produce(queue.next())),
                    (consumer, 5) => {
                        queue.unlink(consumer);
                        places[consumer] = None;
                    }
                    (consumer, far) => {
                        let next = queue.next();
                        if let Some(place) = &mut places[consumer] {
                            *place = (*place + far).min(next);
                            queue.pass(consumer, *place);
                        }
                    }
                }
                let first = places.iter().flatten().min().copied().unwrap_or(queue.next());
                prop_assert_eq!(queue.stored() as u64, queue.next() - first);
                prop_assert!((first..queue.next()).all(|number| queue.entry(number) == Some(&number)));
                for (consumer, place) in places.iter().enumerate() {
                    let seen: Vec<u64> = queue.view(consumer).copied().collect();
                    prop_assert_eq!(seen, (place.unwrap_or(queue.next())..queue.next()).collect::<Vec<_>>());
                }
            }
        }
    }
}
