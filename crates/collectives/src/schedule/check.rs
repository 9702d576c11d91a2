//! Checks that a schedule does what it should.

use quantities::{Bytes, Rank};

use super::{Pattern, Rule, Schedule, Transfer};

/// What is wrong with a schedule. Steps count from 1, as they are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// The schedule and the pattern have different numbers of ranks.
    #[error("the schedule is for {schedule} ranks, the pattern for {pattern}")]
    Ranks {
        /// The schedule's number of ranks.
        schedule: u32,
        /// The pattern's number of ranks.
        pattern: u32,
    },
    /// A rank that does not exist.
    #[error("step {step}: {from} -> {to} names rank {rank}; there are {ranks} ranks, from 0")]
    NoSuchRank {
        /// The step.
        step: usize,
        /// The sender.
        from: Rank,
        /// The receiver.
        to: Rank,
        /// The one that does not exist.
        rank: Rank,
        /// How many ranks there are.
        ranks: u32,
    },
    /// A rank that sends to itself.
    #[error("step {step}: rank {rank} sends to itself")]
    ToItself {
        /// The step.
        step: usize,
        /// The rank.
        rank: Rank,
    },
    /// A rank that sends twice in a step.
    #[error("step {step}: rank {from} sends twice, to {first} and to {second}")]
    SendsTwice {
        /// The step.
        step: usize,
        /// The sender.
        from: Rank,
        /// The first receiver.
        first: Rank,
        /// The second receiver.
        second: Rank,
    },
    /// A rank that receives twice in a step.
    #[error("step {step}: rank {to} receives twice, from {first} and from {second}")]
    ReceivesTwice {
        /// The step.
        step: usize,
        /// The receiver.
        to: Rank,
        /// The first sender.
        first: Rank,
        /// The second sender.
        second: Rank,
    },
    /// A second receiver in a step that may have only one.
    #[error("step {step}: ranks {first} and {second} receive; in a linear schedule only one does")]
    TwoReceivers {
        /// The step.
        step: usize,
        /// The first receiver.
        first: Rank,
        /// The second receiver.
        second: Rank,
    },
    /// A message that is not in the pattern.
    #[error("step {step}: {from} -> {to} is not in the pattern")]
    NotWanted {
        /// The step.
        step: usize,
        /// The sender.
        from: Rank,
        /// The receiver.
        to: Rank,
    },
    /// A message of the pattern that is sent more than once, or with too many bytes.
    #[error("step {step}: {from} -> {to} carries {carried}; the pattern has {wanted} for it, once")]
    TooMuch {
        /// The step.
        step: usize,
        /// The sender.
        from: Rank,
        /// The receiver.
        to: Rank,
        /// How much it has carried so far.
        carried: Bytes,
        /// How much it should carry in all.
        wanted: Bytes,
    },
    /// A message of the pattern that is not sent in full.
    #[error("{from} -> {to} carries {carried} in all; the pattern has {wanted} for it")]
    TooLittle {
        /// The sender.
        from: Rank,
        /// The receiver.
        to: Rank,
        /// How much it carries.
        carried: Bytes,
        /// How much it should carry.
        wanted: Bytes,
    },
    /// A message of the pattern that is not sent.
    #[error("{from} -> {to} is never sent")]
    Missing {
        /// The rank that should send.
        from: Rank,
        /// The rank that should receive.
        to: Rank,
    },
}

impl ScheduleError {
    /// The step of the error, from 1, if it concerns one.
    pub const fn step(&self) -> Option<usize> {
        match *self {
            ScheduleError::Ranks { .. } | ScheduleError::TooLittle { .. } | ScheduleError::Missing { .. } => None,
            ScheduleError::NoSuchRank { step, .. }
            | ScheduleError::ToItself { step, .. }
            | ScheduleError::SendsTwice { step, .. }
            | ScheduleError::ReceivesTwice { step, .. }
            | ScheduleError::TwoReceivers { step, .. }
            | ScheduleError::NotWanted { step, .. }
            | ScheduleError::TooMuch { step, .. } => Some(step),
        }
    }
}

impl Schedule {
    /// Checks that every message of `pattern` is sent exactly once, in one piece or in parts that add up to it, and
    /// nothing else; and that every step obeys the schedule's rule.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self, pattern: &Pattern) -> Result<(), ScheduleError> {
        if self.ranks != pattern.ranks() {
            return Err(ScheduleError::Ranks { schedule: self.ranks, pattern: pattern.ranks() });
        }
        self.check_steps()?;
        // How much each message of the pattern has carried; nothing until it is first sent.
        let mut carried: Vec<Option<Bytes>> = vec![None; pattern.messages().len()];
        let place = |transfer: &Transfer| {
            pattern.messages().binary_search_by_key(&(transfer.from, transfer.to), |message| (message.from, message.to))
        };
        for (step, transfer) in self.numbered() {
            let Transfer { from, to, bytes } = *transfer;
            let Ok(place) = place(transfer) else { return Err(ScheduleError::NotWanted { step, from, to }) };
            let wanted = pattern.messages()[place].bytes;
            let before = carried[place];
            let sum = Bytes(before.unwrap_or_default().0.saturating_add(bytes.0));
            // An empty part after the whole message would send it a second time.
            if sum > wanted || before == Some(wanted) {
                return Err(ScheduleError::TooMuch { step, from, to, carried: sum, wanted });
            }
            carried[place] = Some(sum);
        }
        for (message, carried) in pattern.messages().iter().zip(carried) {
            let &Transfer { from, to, bytes: wanted } = message;
            match carried {
                None => return Err(ScheduleError::Missing { from, to }),
                Some(carried) if carried < wanted => {
                    return Err(ScheduleError::TooLittle { from, to, carried, wanted });
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Checks that all ranks exist, that none sends to itself, and that every step obeys the schedule's rule: no rank
    /// sends twice in a step, and none receives twice; in a linear schedule one rank receives any number of times, and
    /// no other one does; where everything is begun at once, no rank sends twice to the same one in a step.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check_steps(&self) -> Result<(), ScheduleError> {
        let ranks = self.ranks as usize;
        // Where each rank sent last, and where it received from last, each with the step.
        let (mut sent, mut received) = (vec![(0, Rank(0)); ranks], vec![(0, Rank(0)); ranks]);
        let mut receiver = (0, Rank(0));
        for (step, &Transfer { from, to, .. }) in self.numbered() {
            if let Some(rank) = [from, to].into_iter().find(|rank| rank.0 >= self.ranks) {
                return Err(ScheduleError::NoSuchRank { step, from, to, rank, ranks: self.ranks });
            }
            if from == to {
                return Err(ScheduleError::ToItself { step, rank: from });
            }
            let (before, first) = std::mem::replace(&mut sent[from.0 as usize], (step, to));
            // The transfers of a step are in order of sender and receiver: one that comes twice follows itself.
            if before == step && (self.rule != Rule::ManyToMany || first == to) {
                return Err(ScheduleError::SendsTwice { step, from, first, second: to });
            }
            match self.rule {
                Rule::OneEach => {
                    let (before, first) = std::mem::replace(&mut received[to.0 as usize], (step, from));
                    if before == step {
                        return Err(ScheduleError::ReceivesTwice { step, to, first, second: from });
                    }
                }
                Rule::ManyToOne => {
                    let (before, first) = std::mem::replace(&mut receiver, (step, to));
                    if before == step && first != to {
                        return Err(ScheduleError::TwoReceivers { step, first, second: to });
                    }
                }
                Rule::ManyToMany => {}
            }
        }
        Ok(())
    }

    /// All transfers with the number of their step, from 1.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Transfer)> {
        (1..).zip(&self.steps).flat_map(|(step, transfers)| transfers.iter().map(move |transfer| (step, transfer)))
    }
}
