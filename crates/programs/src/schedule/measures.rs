//! The cost of a schedule, as far as it is known without a machine.

use quantities::{Bytes, Duration, Rank, Rate};

use super::{Schedule, Transfer};

/// The measures of a schedule, with lower bounds for any schedule of the same messages.
///
/// ```text
///   steps   >= least steps  = the most messages that one rank sends, or receives   (for one message per step each way)
///   time    >= least time   = the most bytes that one rank sends, or receives, at the rate of its link
///   in step >= in step      = sum of the largest transfer of each step: the time on the links if all ranks
///                             go through the steps together
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// All steps, empty or not.
    pub steps: usize,
    /// Steps that carry messages.
    pub carrying_steps: usize,
    /// Messages; the parts of a message that was cut count as one.
    pub messages: u64,
    /// Transfers, each of which is one send.
    pub transfers: u64,
    /// The bytes of all transfers together. [B]
    pub bytes: Bytes,
    /// The most messages that one rank sends, or receives.
    pub least_steps: u32,
    /// The most bytes that one rank sends, or receives. [B]
    pub most_bytes_of_a_rank: Bytes,
    /// The sum of the largest transfer of each step. [B]
    pub bytes_in_step: Bytes,
}

impl Measures {
    /// How long the busiest rank's bytes take at `rate`, one way: no schedule is faster. [ps]
    pub fn least_time(&self, rate: Rate) -> Duration {
        rate.time_of(self.most_bytes_of_a_rank)
    }

    /// How long the steps' largest transfers take at `rate`, one after the other. [ps]
    pub fn time_in_step(&self, rate: Rate) -> Duration {
        rate.time_of(self.bytes_in_step)
    }
}

impl Schedule {
    /// Its cost, as far as it is known without a machine. Sums that overflow saturate at the largest number.
    pub fn measures(&self) -> Measures {
        let mut measures = Measures { steps: self.steps.len(), ..Measures::default() };
        let mut pairs: Vec<(Rank, Rank)> = Vec::new();
        let mut loads = vec![(Bytes(0), Bytes(0)); self.ranks as usize];
        for step in self.carrying_steps() {
            measures.carrying_steps += 1;
            measures.transfers += step.len() as u64;
            let largest = step.iter().map(|transfer| transfer.bytes).max().unwrap_or(Bytes(0));
            add(&mut measures.bytes_in_step, largest);
            for &Transfer { from, to, bytes } in step {
                add(&mut measures.bytes, bytes);
                if let Some(load) = loads.get_mut(from.0 as usize) {
                    add(&mut load.0, bytes);
                }
                if let Some(load) = loads.get_mut(to.0 as usize) {
                    add(&mut load.1, bytes);
                }
                pairs.push((from, to));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        measures.messages = pairs.len() as u64;
        measures.least_steps = most_of_a_rank(&pairs, self.ranks);
        measures.most_bytes_of_a_rank =
            loads.into_iter().map(|(sent, received)| sent.max(received)).max().unwrap_or_default();
        measures
    }

    /// For each step, how many of its transfers cross the root of a tree whose branches below the root have
    /// `branch` consecutive ranks each; all of them if `branch` is 0.
    pub fn root_crossings(&self, branch: u32) -> Vec<usize> {
        let branch_of = |rank: Rank| rank.0.checked_div(branch).unwrap_or(rank.0);
        let crosses = |transfer: &&Transfer| branch_of(transfer.from) != branch_of(transfer.to);
        self.steps.iter().map(|step| step.iter().filter(crosses).count()).collect()
    }
}

/// The most pairs in which one rank is the sender, or the receiver.
fn most_of_a_rank(pairs: &[(Rank, Rank)], ranks: u32) -> u32 {
    let mut degrees = vec![(0, 0); ranks as usize];
    for (from, to) in pairs {
        if let Some(degree) = degrees.get_mut(from.0 as usize) {
            degree.0 += 1;
        }
        if let Some(degree) = degrees.get_mut(to.0 as usize) {
            degree.1 += 1;
        }
    }
    degrees.into_iter().map(|(sent, received): (u32, u32)| sent.max(received)).max().unwrap_or(0)
}

fn add(sum: &mut Bytes, bytes: Bytes) {
    *sum = Bytes(sum.0.saturating_add(bytes.0));
}
