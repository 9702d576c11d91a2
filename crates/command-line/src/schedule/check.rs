//! Whether a schedule is right, in words.

use programs::schedule::{Pattern, Rule, Schedule};

/// What came out of a check.
pub(super) struct Checked {
    /// What is known if nothing is wrong.
    pub(super) right: &'static str,
    /// What is wrong.
    pub(super) wrong: Option<String>,
}

/// Checks a schedule of `pattern`; only its steps, if messages are forwarded, so that no pattern says what it moves.
pub(super) fn check(schedule: &Schedule, pattern: Option<&Pattern>) -> Checked {
    let (right, checked) = match (pattern, schedule.rule) {
        (Some(pattern), Rule::OneEach) => {
            let right = "every message is sent once; no rank sends or receives twice in a step";
            (right, schedule.check(pattern))
        }
        (Some(pattern), Rule::ManyToOne) => {
            let right = "every message is sent once; in each step one rank receives, and none sends twice";
            (right, schedule.check(pattern))
        }
        (None, _) => {
            let right = "no rank sends or receives twice in a step; where forwarded messages end is not looked at";
            (right, schedule.check_steps())
        }
    };
    Checked { right, wrong: checked.err().map(|error| error.to_string()) }
}
