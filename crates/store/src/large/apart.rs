//! A value that is a part of a large message keeps all of that in memory, so it is copied soon after it was stored: by
//! a thread of its own, as clients would wait for it.

use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use super::{SharedValue, kept, replace};

/// Lets the value with this number be copied into memory of its own.
pub(super) fn copy_later(number: u64) {
    static COPIES: OnceLock<Sender<u64>> = OnceLock::new();
    // Where the thread could not be started, it is copied at once.
    if COPIES.get_or_init(start).send(number).is_err() {
        copy(number);
    }
}

/// Starts the thread. If the system can't start it, there is no receiver.
fn start() -> Sender<u64> {
    let (sender, receiver) = channel::<u64>();
    let _ = thread::Builder::new().name("copies".to_owned()).spawn(move || receiver.into_iter().for_each(copy));
    sender
}

/// Copies the value with this number, if it is still a smaller part of what it shares.
fn copy(number: u64) {
    let value = kept(number);
    if value.is_smaller_part() {
        replace(number, &value, value.to_vec());
    }
}

impl SharedValue {
    /// Whether it is so small a part that the rest of the memory should not be kept for its sake.
    pub(super) fn is_smaller_part(&self) -> bool {
        self.len() < self.memory.0.len() / 2
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::{LARGE, keep, take};
    use super::*;

    /// Waits until a value with this number does not share `memory` any more, for at most ten seconds.
    #[expect(clippy::disallowed_methods, reason = "it is waited for a thread, and not for ever")]
    fn is_apart(number: u64, memory: &SharedValue) -> bool {
        let begin = Instant::now();
        let within = memory.as_ptr_range();
        while within.contains(&kept(number).as_ptr()) {
            if begin.elapsed() > Duration::from_secs(10) {
                return false;
            }
            thread::yield_now();
        }
        true
    }

    #[test]
    fn the_smaller_parts_of_a_message_get_memory_of_their_own_and_the_largest_keeps_that_of_the_message() {
        let message = SharedValue::from((0..8 * LARGE).map(|place| (place * 31 % 251) as u8).collect::<Vec<u8>>());
        let parts = [0..LARGE, LARGE..3 * LARGE, 3 * LARGE..8 * LARGE].map(|range| message.part(range));
        let [first, second, most] = parts.clone().map(keep);
        assert!(is_apart(first, &message) && is_apart(second, &message));
        for (number, due) in [first, second, most].into_iter().zip(parts) {
            assert!(take(number) == due);
        }
        // The thread takes them in turn, so it has seen this one.
        let most = keep(message.part(3 * LARGE..8 * LARGE));
        let last = keep(message.part(0..LARGE));
        assert!(is_apart(last, &message));
        assert!(message.as_ptr_range().contains(&kept(most).as_ptr()));
        drop([most, last].map(take));
    }

    #[test]
    fn a_value_that_is_gone_before_it_is_copied_stays_gone() {
        let message = SharedValue::from(vec![7; 4 * LARGE]);
        let number = keep(message.part(0..LARGE));
        take(number);
        copy(number);
        assert!(kept(number).is_empty());
    }
}
