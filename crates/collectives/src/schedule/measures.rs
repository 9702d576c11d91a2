//! The cost of a schedule, as far as it is known without a machine.

use quantities::{Bytes, Duration, Rank, Rate};

use super::{Rule, Schedule, Transfer};

/// The measures of a schedule, with lower bounds for any schedule of the same messages.
///
/// ```text
///   steps    >= least steps = the most messages that one rank sends, or receives   (for one message a step each way)
///   time     >= least time  = the most bytes that one rank sends, or receives, at the rate of its link
///   in step  >= those bytes;  it is the sum, over the steps, of the most bytes that one rank sends or receives in the
///                             step: the time on the links if all ranks go through the steps together
/// ```
///
/// With one message a step each way, the bytes of a step are those of its largest transfer. Where one rank receives
/// from many, they are all that it receives.
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
    /// The fewest steps in which the same messages can go under the schedule's rule: as many as one rank sends or
    /// receives messages; as there are receivers, where each has its own step; one, where everything is begun at once.
    pub least_steps: u32,
    /// The most messages that one rank sends, or receives.
    pub most_messages_of_a_rank: u32,
    /// The most bytes that one rank sends, or receives. [B]
    pub most_bytes_of_a_rank: Bytes,
    /// The sum, over the steps, of the most transfers that one rank sends or receives in the step.
    pub transfers_in_step: u64,
    /// The sum, over the steps, of the most bytes that one rank sends or receives in the step. [B]
    pub bytes_in_step: Bytes,
}

impl Measures {
    /// How long the busiest rank's bytes take at `rate`, one way: no schedule is faster. [ps]
    pub fn least_time(&self, rate: Rate) -> Duration {
        rate.time_of(self.most_bytes_of_a_rank)
    }

    /// How long the steps take at `rate`, one after the other. [ps]
    pub fn time_in_step(&self, rate: Rate) -> Duration {
        rate.time_of(self.bytes_in_step)
    }
}

impl Schedule {
    /// Its cost, as far as it is known without a machine. Sums that overflow saturate at the largest number.
    pub fn measures(&self) -> Measures {
        let mut measures = Measures { steps: self.steps.len(), ..Measures::default() };
        let mut pairs: Vec<(Rank, Rank)> = Vec::new();
        let mut all = Loads::of(self.ranks);
        let mut of_step = Loads::of(self.ranks);
        for step in self.carrying_steps() {
            measures.carrying_steps += 1;
            measures.transfers += step.len() as u64;
            for transfer in step {
                add(&mut measures.bytes, transfer.bytes);
                all.add(transfer);
                of_step.add(transfer);
                pairs.push((transfer.from, transfer.to));
            }
            let most = of_step.most_of(step);
            add(&mut measures.bytes_in_step, most.bytes);
            measures.transfers_in_step += most.transfers;
            of_step.clear(step);
        }
        pairs.sort_unstable();
        pairs.dedup();
        measures.messages = pairs.len() as u64;
        let degrees = degrees(&pairs, self.ranks);
        let most = degrees.iter().map(|&(sent, received)| sent.max(received)).max();
        measures.most_messages_of_a_rank = most.unwrap_or(0);
        measures.least_steps = match self.rule {
            Rule::OneEach => measures.most_messages_of_a_rank,
            // Nobody sends twice in a step, but nobody has more messages than there are receivers.
            Rule::ManyToOne => degrees.iter().filter(|(_, received)| *received > 0).count() as u32,
            Rule::ManyToMany => u32::from(!pairs.is_empty()),
        };
        measures.most_bytes_of_a_rank = all.most().bytes;
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

/// What a rank sends, or receives.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    transfers: u64,
    bytes: Bytes,
}

impl Load {
    fn add(&mut self, bytes: Bytes) {
        self.transfers += 1;
        add(&mut self.bytes, bytes);
    }

    /// The larger of each figure.
    fn larger(self, other: Load) -> Load {
        Load { transfers: self.transfers.max(other.transfers), bytes: self.bytes.max(other.bytes) }
    }
}

/// For each rank what it sends, and what it receives. Ranks that do not exist have nothing.
struct Loads(Vec<[Load; 2]>);

impl Loads {
    fn of(ranks: u32) -> Loads {
        Loads(vec![[Load::default(); 2]; ranks as usize])
    }

    /// Adds a transfer to its sender and its receiver.
    fn add(&mut self, transfer: &Transfer) {
        for (place, rank) in [transfer.from, transfer.to].into_iter().enumerate() {
            if let Some(load) = self.0.get_mut(rank.0 as usize) {
                load[place].add(transfer.bytes);
            }
        }
    }

    /// The most that one rank sends or receives.
    fn most(&self) -> Load {
        self.0.iter().flatten().copied().fold(Load::default(), Load::larger)
    }

    /// The same, if all is of the ranks of `step`: it takes no longer than the step has transfers.
    fn most_of(&self, step: &[Transfer]) -> Load {
        let ranks = step.iter().flat_map(|transfer| [transfer.from, transfer.to]);
        let loads = ranks.filter_map(|rank| self.0.get(rank.0 as usize)).flatten().copied();
        loads.fold(Load::default(), Load::larger)
    }

    /// Forgets the ranks of `step`.
    fn clear(&mut self, step: &[Transfer]) {
        for rank in step.iter().flat_map(|transfer| [transfer.from, transfer.to]) {
            if let Some(load) = self.0.get_mut(rank.0 as usize) {
                *load = <[Load; 2]>::default();
            }
        }
    }
}

/// In how many pairs each rank is the sender, and in how many the receiver.
fn degrees(pairs: &[(Rank, Rank)], ranks: u32) -> Vec<(u32, u32)> {
    let mut degrees = vec![(0, 0); ranks as usize];
    for (from, to) in pairs {
        if let Some(degree) = degrees.get_mut(from.0 as usize) {
            degree.0 += 1;
        }
        if let Some(degree) = degrees.get_mut(to.0 as usize) {
            degree.1 += 1;
        }
    }
    degrees
}

fn add(sum: &mut Bytes, bytes: Bytes) {
    *sum = Bytes(sum.0.saturating_add(bytes.0));
}
