//! A large value that others share is copied before it is changed: a part in each turn of the loop, while other clients are served.

use super::Host;
use crate::large::{self, SharedValue};
use crate::record::{Milliseconds, Record};
use crate::resp::Arguments;
use crate::slot::c_of;

/// How much of a value is copied in a turn. [B]
const PART: usize = 1 << 20;
/// A copy that no client has gone on with for this long is given up. [ms]
const LONGEST_PAUSE: Milliseconds = 10_000;
/// How many values are copied at the same time. One more is copied at once.
const MOST: usize = 4;

/// A value that is being copied.
#[derive(Debug)]
pub(super) struct Copying {
    /// Its number among all large values.
    number: u64,
    value: SharedValue,
    copy: Vec<u8>,
    /// When a part was copied last. [ms since 1970]
    at: Milliseconds,
}

impl Copying {
    /// Copies the next part. Returns whether that was the last one.
    fn go_on(&mut self, now: Milliseconds) -> bool {
        let begin = self.copy.len();
        self.copy.extend_from_slice(&self.value[begin..self.value.len().min(begin + PART)]);
        self.at = now;
        self.copy.len() == self.value.len()
    }
}

impl Host {
    /// Whether a request has to wait until the large value that it changes is copied, since others share it. If so, copies the next part of it.
    #[inline]
    pub fn copies_first(&mut self, arguments: Arguments<'_>) -> bool {
        let name = arguments.get(0);
        (name.eq_ignore_ascii_case(b"append") || name.eq_ignore_ascii_case(b"setrange"))
            && self.goes_on_copying(arguments)
    }

    fn goes_on_copying(&mut self, arguments: Arguments<'_>) -> bool {
        let (key, now) = (arguments.get(1), self.node.borrow().now);
        let Some((_, bucket)) = self.member.holder(c_of(key)) else { return false };
        let Some(number) = bucket.peek(key, now).and_then(Record::number_of_large) else { return false };
        self.forget_copies(now);
        let place = self.copying.iter().position(|copying| copying.number == number);
        let place = place.or_else(|| {
            let value = large::if_shared(number).filter(|_| self.copying.len() < MOST)?;
            self.copying.push(Copying { number, copy: Vec::with_capacity(value.len()), value, at: now });
            Some(self.copying.len() - 1)
        });
        let Some(place) = place else { return false };
        if !self.copying[place].go_on(now) {
            return true;
        }
        let Copying { value, copy, .. } = self.copying.swap_remove(place);
        large::replace(number, &value, copy);
        false
    }

    /// Forgets copies whose clients have gone.
    pub fn forget_copies(&mut self, now: Milliseconds) {
        self.copying.retain(|copying| now.abs_diff(copying.at) < LONGEST_PAUSE);
    }
}
