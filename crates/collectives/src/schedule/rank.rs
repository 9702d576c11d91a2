//! The part of one rank in a schedule.

use std::collections::BTreeMap;

use quantities::{Bytes, Rank};

use super::{Rule, Schedule, Transfer};

/// What a rank does first if it both sends and receives in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendReceiveOrder {
    /// They take turns: of two partners the lower one receives first (CM-5 paper, figure 2), and along a chain or ring
    /// of messages every other rank does.
    #[default]
    Alternating,
    /// Both at once ([`endpoint::Endpoint::sendrecv`]), so that messages pass each other.
    Sendrecv,
}

impl SendReceiveOrder {
    /// All of them.
    pub const fn all() -> [SendReceiveOrder; 2] {
        [SendReceiveOrder::Alternating, SendReceiveOrder::Sendrecv]
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            SendReceiveOrder::Alternating => "alternating",
            SendReceiveOrder::Sendrecv => "sendrecv",
        }
    }

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            SendReceiveOrder::Alternating => "They take turns: of two that exchange the lower one receives first",
            SendReceiveOrder::Sendrecv => "Both at once, so that messages pass each other",
        }
    }
}

/// One action of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// Its step, among those that carry messages, from 0.
    pub step: u32,
    /// Whether it sends; otherwise it receives.
    pub sends: bool,
    /// The receiver, or the sender.
    pub partner: Rank,
    /// The size. [B]
    pub bytes: Bytes,
    /// Which part of the message between the two it is, from 0.
    pub part: u32,
    /// How many parts that message has: one if it is not cut.
    pub parts: u32,
}

/// The actions of one rank, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankSchedule {
    pub(super) ranks: u32,
    pub(super) steps: u32,
    pub(super) rule: Rule,
    pub(super) order: SendReceiveOrder,
    pub(super) actions: Vec<Action>,
}

impl RankSchedule {
    /// How many ranks the whole schedule has.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// How many steps the whole schedule has that carry messages.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The rank's actions, in order. If it both sends and receives in a step, the schedule's [`SendReceiveOrder`] gives
    /// their order: the send first if both go at once. Where a step has many of either, the sends to the next ranks
    /// come first, and the receives from the ranks just before.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// How much it sends to each other rank, all parts together. [B]
    pub fn bytes_by_receiver(&self) -> BTreeMap<Rank, Bytes> {
        let mut bytes: BTreeMap<Rank, Bytes> = BTreeMap::new();
        for action in self.actions.iter().filter(|action| action.sends) {
            let sum = bytes.entry(action.partner).or_default();
            *sum = Bytes(sum.0.saturating_add(action.bytes.0));
        }
        bytes
    }
}

impl Schedule {
    /// The actions of `rank`; none if there is no such rank. [`Schedule::by_rank`] does this for all ranks in the same
    /// time.
    pub fn of_rank(&self, rank: Rank) -> RankSchedule {
        self.by_rank(SendReceiveOrder::Alternating).into_iter().nth(rank.0 as usize).unwrap_or_default()
    }

    /// The actions of each rank, in order of rank, in the steps that carry messages. Transfers between ranks that do
    /// not exist are left out.
    pub fn by_rank(&self, order: SendReceiveOrder) -> Vec<RankSchedule> {
        let steps = self.carrying_steps().count() as u32;
        let (rule, many) = (self.rule, self.rule == Rule::ManyToMany);
        let nothing = RankSchedule { ranks: self.ranks, steps, rule, order, actions: Vec::new() };
        let mut ranks = vec![nothing; self.ranks as usize];
        let mut parts = Parts::of(self);
        let mut turns = Turns::new(self.ranks);
        for (number, step) in (0..).zip(self.carrying_steps()) {
            let exists = |transfer: &&Transfer| transfer.from.0.max(transfer.to.0) < self.ranks;
            let mut step: Vec<_> =
                step.iter().filter(exists).map(|transfer| (transfer, parts.next(transfer))).collect();
            if many {
                // Else all ranks would begin with rank 0.
                step.sort_by_key(|(transfer, _)| (transfer.to.0 + self.ranks - transfer.from.0) % self.ranks);
            } else if order == SendReceiveOrder::Alternating {
                turns.alternate(&step);
            }
            let mut act = |rank: Rank, sends, partner, bytes, Part { part, parts }| {
                let action = Action { step: number, sends, partner, bytes, part, parts };
                ranks[rank.0 as usize].actions.push(action);
            };
            let (first, last) = step.iter().partition::<Vec<_>, _>(|(transfer, _)| turns.sends_first(transfer.from));
            first.into_iter().for_each(|&(it, part)| act(it.from, true, it.to, it.bytes, part));
            step.iter().for_each(|&(it, part)| act(it.to, false, it.from, it.bytes, part));
            last.into_iter().for_each(|&(it, part)| act(it.from, true, it.to, it.bytes, part));
        }
        ranks
    }
}

/// A part of a message, and the number of parts.
#[derive(Clone, Copy, Debug)]
struct Part {
    part: u32,
    parts: u32,
}

/// Counts the parts of messages that have several: few, and in most schedules none.
struct Parts {
    cut: BTreeMap<(Rank, Rank), Part>,
}

impl Parts {
    fn of(schedule: &Schedule) -> Parts {
        let mut pairs: Vec<(Rank, Rank)> = schedule.transfers().map(|transfer| (transfer.from, transfer.to)).collect();
        pairs.sort_unstable();
        let several = pairs.chunk_by(PartialEq::eq).filter(|same| same.len() > 1);
        Parts { cut: several.map(|same| (same[0], Part { part: 0, parts: same.len() as u32 })).collect() }
    }

    fn next(&mut self, transfer: &Transfer) -> Part {
        let Some(next) = self.cut.get_mut(&(transfer.from, transfer.to)) else { return Part { part: 0, parts: 1 } };
        let this = *next;
        next.part += 1;
        this
    }
}

/// Determines which of the ranks that both send and receive in a step send first.
struct Turns {
    /// The receiver that each rank sends to in the step, if it sends.
    to: Vec<Option<Rank>>,
    receives: Vec<bool>,
    sends_first: Vec<Option<bool>>,
}

impl Turns {
    fn new(ranks: u32) -> Turns {
        let ranks = ranks as usize;
        Turns { to: vec![None; ranks], receives: vec![false; ranks], sends_first: vec![None; ranks] }
    }

    fn sends_first(&self, rank: Rank) -> bool {
        self.sends_first[rank.0 as usize].unwrap_or(true)
    }

    /// Lets every other rank send first, along each chain of messages and round each ring.
    ///
    /// ```text
    ///   chain    3 -> 0 -> 5 -> 1          3 and 5 send first, 0 and 1 receive first
    ///   ring     2 -> 4 -> 6 -> 7 -> 2     2 and 6 receive first (2 is the lowest), 4 and 7 send first
    /// ```
    ///
    /// So all messages go in two turns, or in three in a ring of an odd number of ranks.
    fn alternate(&mut self, step: &[(&Transfer, Part)]) {
        self.to.fill(None);
        self.receives.fill(false);
        self.sends_first.fill(None);
        for (transfer, _) in step {
            self.to[transfer.from.0 as usize] = Some(transfer.to);
            self.receives[transfer.to.0 as usize] = true;
        }
        for (transfer, _) in step {
            if !self.receives[transfer.from.0 as usize] {
                self.walk(transfer.from, true);
            }
        }
        for (transfer, _) in step {
            self.walk(transfer.from, false);
        }
    }

    /// Assigns turns to `start` and those after it that have none yet.
    fn walk(&mut self, start: Rank, sends_first: bool) {
        let (mut next, mut sends_first) = (Some(start), sends_first);
        while let Some(rank) = next.filter(|rank| self.sends_first[rank.0 as usize].is_none()) {
            self.sends_first[rank.0 as usize] = Some(sends_first);
            sends_first = !sends_first;
            next = self.to[rank.0 as usize];
        }
    }
}

quantities::written_by_name!(SendReceiveOrder);
