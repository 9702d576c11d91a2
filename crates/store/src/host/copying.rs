//! A large value that others share is copied before it is changed: a part in each turn of the loop, while other clients
//! are served.

use std::collections::BTreeSet;

use super::Host;
use crate::commands::{Flag, Invocation};
use crate::connection::Transaction;
use crate::contents::Operation;
use crate::large::{self, SharedValue};
use crate::record::{Milliseconds, Record};
use crate::resp::OwnedArguments;
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
    /// Whether all of it is copied.
    fn is_whole(&self) -> bool {
        self.copy.len() == self.value.len()
    }

    /// Copies the next part.
    fn go_on(&mut self) {
        let begin = self.copy.len();
        self.copy.extend_from_slice(&self.value[begin..self.value.len().min(begin + PART)]);
    }
}

/// The key whose value a request changes in place, if it is such a request.
#[inline]
fn changed_in_place(invocation: Invocation<'_>) -> Option<&[u8]> {
    invocation.has(Flag::InPlace).then(|| invocation.arguments.get(1))
}

/// The keys whose values these requests change in place.
fn all_changed_in_place(requests: &[OwnedArguments]) -> impl Iterator<Item = &[u8]> {
    requests.iter().filter_map(|request| changed_in_place(Invocation::of(request.borrowed())))
}

impl Host {
    /// Whether a client's request has to wait until the large values that it changes are copied, since others share
    /// them. If so, copies the next part of one. The requests of a transaction do not wait, but its EXEC does.
    #[inline]
    pub fn copies_first(&mut self, transaction: Option<&Transaction>, invocation: Invocation<'_>) -> bool {
        match transaction {
            None => changed_in_place(invocation).is_some_and(|key| self.goes_on_copying([key].into_iter())),
            Some(transaction) => {
                invocation.has(Flag::EndsTransaction)
                    && self.goes_on_copying(all_changed_in_place(&transaction.requests))
            }
        }
    }

    /// The same, for a request of another member.
    pub(crate) fn copies_first_for(&mut self, operation: &Operation) -> bool {
        self.goes_on_copying(all_changed_in_place(operation.requests()))
    }

    /// Whether a request of another member changes large values that others share.
    pub(super) fn changes_shared(&mut self, operation: &Operation) -> bool {
        let now = self.node.borrow().now;
        all_changed_in_place(operation.requests()).any(|key| {
            let number = self.number_of_large(key, now);
            number.is_some_and(|number| self.is_copying(number) || large::if_shared(number).is_some())
        })
    }

    /// The number of the large value of a key among all, if this member has it.
    fn number_of_large(&mut self, key: &[u8], now: Milliseconds) -> Option<u64> {
        let (_, bucket) = self.member.holder(c_of(key))?;
        bucket.peek(key, now).and_then(Record::number_of_large)
    }

    fn is_copying(&self, number: u64) -> bool {
        self.copying.iter().any(|copying| copying.number == number)
    }

    /// Copies the next part of the large values of these keys, as far as others share them. Once all are copied the
    /// copies take their places.
    fn goes_on_copying<'a>(&mut self, keys: impl Iterator<Item = &'a [u8]>) -> bool {
        let now = self.node.borrow().now;
        let numbers: BTreeSet<u64> = keys.filter_map(|key| self.number_of_large(key, now)).collect();
        if numbers.is_empty() {
            return false;
        }
        self.forget_copies(now);
        for &number in &numbers {
            let begins = !self.is_copying(number) && self.copying.len() < MOST;
            if let Some(value) = begins.then(|| large::if_shared(number)).flatten() {
                self.copying.push(Copying { number, copy: Vec::with_capacity(value.len()), value, at: now });
            }
        }
        let (mut has_gone_on, mut is_over) = (false, true);
        for copying in self.copying.iter_mut().filter(|copying| numbers.contains(&copying.number)) {
            copying.at = now;
            if !copying.is_whole() && !std::mem::replace(&mut has_gone_on, true) {
                copying.go_on();
            }
            is_over &= copying.is_whole();
        }
        if !is_over {
            return true;
        }
        for Copying { number, value, copy, .. } in self.copying.extract_if(.., |it| numbers.contains(&it.number)) {
            large::replace(number, &value, copy);
        }
        false
    }

    /// Forgets copies whose clients have gone.
    pub fn forget_copies(&mut self, now: Milliseconds) {
        self.copying.retain(|copying| now.abs_diff(copying.at) < LONGEST_PAUSE);
    }
}
