//! How long the process computed before a recorded call, if it tested for something without success in between.
//!
//! ```text
//!     recorded    test of x   test of x   test of y   test of x       recorded
//!     |-----------|..|--------|..|--------|..|--------|..|------------|
//!      computing   unsuccessful ...
//! ```
//!
//! The time between two unsuccessful tests is either work, or a loop that only polls. No call tells which, but the next
//! recorded one does:
//!
//! - It is something other than what the process tested for: then the process has not waited. All of that time was its
//!   own, including that of the tests: it would pass on any machine, however early the messages came.
//! - It gets what the process tested for: from the first of these tests on it may have waited, and would have tested
//!   less often if that had come sooner. The time between two tests is work if it is longer than a polling loop ever
//!   takes, and otherwise belongs to the waiting, as the tests do. Before the first of these tests, the first case
//!   holds.

use crate::abi::Handle;
use crate::requests::ByHandle;

/// If less than this passes between two unsuccessful tests of a process that waited, it is not work. [ns]
const POLLING: u64 = 1_000;

/// What a call obtains, or looks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sought<'a> {
    /// Nothing that the process may have waited for.
    Nothing,
    /// The completion of these requests.
    Requests(&'a [Handle]),
    /// A message that no request stands for.
    Message,
}

/// The time since the last recorded call.
#[derive(Debug)]
pub(crate) struct Computed {
    /// When the process returned from the last call. [ns]
    returned: u64,
    /// What was certainly work. [ns]
    work: u64,
    /// What was work unless the process waited, including unsuccessful tests. [ns]
    testing: u64,
    /// The value of `testing` at the first unsuccessful test for each request, and for a message.
    requests: ByHandle<u64>,
    message: Option<u64>,
    /// Whether there has been an unsuccessful test.
    has_tested: bool,
    /// Whether the process is in an unsuccessful test.
    is_testing: bool,
}

impl Computed {
    /// No time yet, at `now`. [ns]
    pub(crate) fn new(now: u64) -> Computed {
        let requests = ByHandle::default();
        Computed { returned: now, work: 0, testing: 0, requests, message: None, has_tested: false, is_testing: false }
    }

    /// A test for a message, entered at `entered`, found none. [ns]
    pub(crate) fn test_for_message(&mut self, entered: u64) {
        self.enter_test(entered);
        self.message.get_or_insert(self.testing);
    }

    /// A test for requests, entered at `entered`, found none complete. [ns]
    pub(crate) fn test_for_requests(&mut self, entered: u64, requests: impl Iterator<Item = Handle>) {
        self.enter_test(entered);
        for request in requests {
            self.requests.entry(request).or_insert(self.testing);
        }
    }

    fn enter_test(&mut self, entered: u64) {
        let since = entered.saturating_sub(self.returned);
        let is_certain = !self.has_tested || since >= POLLING;
        *(if is_certain { &mut self.work } else { &mut self.testing }) += since;
        (self.returned, self.has_tested, self.is_testing) = (entered, true, true);
    }

    /// A call that was entered at `entered` is over at `now`. [ns]
    pub(crate) fn leave(&mut self, entered: u64, now: u64) {
        if self.is_testing {
            self.testing += now.saturating_sub(entered);
        } else {
            self.work += entered.saturating_sub(self.returned);
        }
        (self.returned, self.is_testing) = (now, false);
    }

    /// A call that was entered at `entered` is recorded: how long the process computed before it. [ns]
    pub(crate) fn before(&mut self, entered: u64, gets: Sought<'_>) -> u64 {
        let waits_since = match gets {
            Sought::Nothing => None,
            Sought::Requests(requests) => {
                requests.iter().filter_map(|request| self.requests.get(request)).min().copied()
            }
            Sought::Message => self.message,
        };
        let computed = self.work + entered.saturating_sub(self.returned) + waits_since.unwrap_or(self.testing);
        (self.work, self.testing, self.message, self.has_tested) = (0, 0, None, false);
        self.requests.clear();
        // A further call recorded at this entry has no computing before it.
        self.returned = entered;
        computed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECEIVE: Handle = 7;
    const SEND: Handle = 8;
    const TAKES: u64 = 50;

    /// `count` unsuccessful tests of these requests, or for a message if there are none, each after `gap`; returns the
    /// time after them.
    fn tests(computed: &mut Computed, mut now: u64, count: u64, gap: u64, requests: &[Handle]) -> u64 {
        for _ in 0..count {
            now += gap;
            match requests {
                [] => computed.test_for_message(now),
                _ => computed.test_for_requests(now, requests.iter().copied()),
            }
            computed.leave(now, now + TAKES);
            now += TAKES;
        }
        now
    }

    #[test]
    fn a_process_that_gets_what_it_tested_for_has_waited_since_the_first_test() {
        let mut computed = Computed::new(0);
        let now = tests(&mut computed, 400, 100, 30, &[RECEIVE]);
        assert_eq!(computed.before(now + 20, Sought::Requests(&[RECEIVE])), 400 + 30 + 20);
        let now = tests(&mut computed, now + 20, 100, 30, &[]);
        assert_eq!(computed.before(now, Sought::Message), 30);
    }

    #[test]
    fn a_process_that_continues_with_something_else_has_not_waited() {
        for gets in [Sought::Nothing, Sought::Message, Sought::Requests(&[SEND])] {
            let mut computed = Computed::new(0);
            let now = tests(&mut computed, 400, 100, 30, &[RECEIVE]);
            assert_eq!(computed.before(now + 20, gets), now + 20, "{gets:?}");
        }
    }

    #[test]
    fn before_the_first_test_for_what_it_gets_a_process_has_not_waited() {
        let mut computed = Computed::new(0);
        let first = tests(&mut computed, 0, 100, 30, &[RECEIVE]);
        let now = tests(&mut computed, first, 100, 30, &[SEND]);
        assert_eq!(computed.before(now, Sought::Requests(&[SEND])), first + 30);
    }

    #[test]
    fn a_long_time_between_two_tests_is_work_in_any_case() {
        let mut computed = Computed::new(0);
        let now = tests(&mut computed, 0, 10, POLLING, &[RECEIVE]);
        assert_eq!(computed.before(now, Sought::Requests(&[RECEIVE])), 10 * POLLING);
    }

    #[test]
    fn tests_before_a_recorded_call_do_not_count_after_it() {
        let mut computed = Computed::new(0);
        let now = tests(&mut computed, 0, 10, 30, &[RECEIVE]);
        assert_eq!(computed.before(now, Sought::Nothing), now);
        let then = tests(&mut computed, now, 10, 30, &[SEND]);
        assert_eq!(computed.before(then, Sought::Requests(&[RECEIVE])), then - now);
    }
}
