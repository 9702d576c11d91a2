//! Schedules: who sends how much to whom in which step, as data.
//!
//! A [`Pattern`] says what is to be sent; an algorithm of [`crate::all_to_all::irregular`] turns it into a
//! [`Schedule`]. A schedule can be printed as a table ([`Schedule::table`]), checked ([`Schedule::check`]), measured
//! ([`Schedule::measures`]), run on any world ([`follow`], [`Scheduled`]) and written for other programs
//! ([`Schedule::to_json`], [`Schedule::to_goal`], [`Schedule::to_msccl`]).
//!
//! ```
//! use maquette_collectives::all_to_all::irregular;
//! use maquette_collectives::schedule::Pattern;
//!
//! // Rank 0 has 8 bytes for rank 1, rank 1 has 8 for 0 and 4 for 2.
//! let pattern = Pattern::new(3, vec![0, 8, 0, 8, 0, 4, 0, 0, 0])?;
//! let schedule = irregular::greedy(&pattern);
//! assert_eq!(schedule.table(80), "Step 1   Step 2\n0 <-> 1  1 -> 2\n");
//! # Ok::<(), maquette_collectives::schedule::PatternError>(())
//! ```

mod check;
mod follow;
mod goal_text;
mod json;
mod measures;
mod msccl;
mod msccl_reader;
mod packing;
mod parts;
mod pattern;
mod rank;
mod table;

pub use check::ScheduleError;
pub use follow::{OverlappedSchedule, Pacing, Scheduled, follow};
pub use json::ReadError;
pub use measures::Measures;
pub use msccl::MscclError;
pub use packing::Packing;
pub use pattern::{MOST_MESSAGES, MOST_RANKS, Pattern, PatternError};
pub use rank::{Action, RankSchedule, SendReceiveOrder};

use quantities::{Bytes, Rank};

/// A message, or a part of one, that goes in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transfer {
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// Its size. [B]
    pub bytes: Bytes,
}

/// What may happen in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// Every rank sends at most once and receives at most once.
    #[default]
    OneEach,
    /// One rank receives from any number of others, one after the other, as in the linear algorithms.
    ManyToOne,
    /// Every rank sends to any number of others and receives from any number, all of it begun at once, as without a
    /// schedule.
    ManyToMany,
}

/// Steps of transfers. A rank completes its part of a step before it goes on to the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// How many ranks there are.
    pub ranks: u32,
    /// What may happen in one step.
    pub rule: Rule,
    /// The transfers of each step, sorted by sender. A step may be empty.
    pub steps: Vec<Vec<Transfer>>,
}

impl Schedule {
    /// A schedule of `steps` in which no rank sends or receives twice in one step. Only [`Schedule::check`] verifies
    /// that.
    pub fn new(ranks: u32, steps: Vec<Vec<Transfer>>) -> Schedule {
        Schedule::with_rule(ranks, Rule::OneEach, steps)
    }

    /// A schedule of `steps` under `rule`.
    pub fn with_rule(ranks: u32, rule: Rule, mut steps: Vec<Vec<Transfer>>) -> Schedule {
        for step in &mut steps {
            step.sort_unstable_by_key(|transfer| (transfer.from, transfer.to));
        }
        Schedule { ranks, rule, steps }
    }

    /// The steps that carry messages, in order.
    pub fn carrying_steps(&self) -> impl Iterator<Item = &[Transfer]> {
        self.steps.iter().filter(|step| !step.is_empty()).map(Vec::as_slice)
    }

    /// All transfers, step after step.
    pub fn transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.steps.iter().flatten()
    }

    /// The pattern that the schedule carries out: parts of one message are joined.
    ///
    /// # Errors
    /// A transfer between ranks that can't send to each other.
    pub fn pattern(&self) -> Result<Pattern, PatternError> {
        let mut transfers: Vec<Transfer> = self.transfers().copied().collect();
        transfers.sort_unstable();
        let mut messages: Vec<Transfer> = Vec::with_capacity(transfers.len());
        for transfer in transfers {
            match messages.last_mut() {
                Some(last) if (last.from, last.to) == (transfer.from, transfer.to) => {
                    last.bytes = Bytes(last.bytes.0.saturating_add(transfer.bytes.0));
                }
                _ => messages.push(transfer),
            }
        }
        Pattern::of_messages(self.ranks, messages)
    }
}
