//! A plain model of LogGOPSim's rules for schedules whose ranks have one processor and one interface, for comparison:
//! one list of everything that wants to happen; the earliest item is taken out, and put back for later if it can't
//! happen.

use std::collections::VecDeque;

use machines::model::LogGp;
use quantities::Time;
use replay::goal::{OperationId, OperationKind, RankOperations, Schedule};

/// Something that wants to happen: time, order of creation, rank, and what.
type Candidate = (u64, u64, usize, Action);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    Operation(usize),
    /// A message: sender, its operation, size, tag.
    Message(usize, usize, u64, u32),
}

#[derive(Default)]
struct RankModel {
    processor: u64,
    sends: u64,
    receives: u64,
    missing: Vec<usize>,
    finished: usize,
    posted: VecDeque<usize>,
    /// Messages that arrived early: sender, its operation, size, tag.
    early: VecDeque<(usize, usize, u64, u32)>,
}

struct Model<'a> {
    blocks: Vec<RankOperations<'a>>,
    ranks: Vec<RankModel>,
    candidates: Vec<Candidate>,
    created: u64,
    free: Vec<(usize, usize)>,
    costs: [u64; 5],
    waits_from: u64,
}

/// When each rank finishes; nothing if the schedule does not end.
pub fn finish(model: &LogGp, schedule: &Schedule) -> Option<Vec<Time>> {
    let blocks: Vec<RankOperations<'_>> =
        (0..schedule.size()).map(|rank| schedule.block(quantities::Rank(rank))).collect();
    let costs = [model.latency, model.overhead, model.gap, model.gap_per_byte, model.overhead_per_byte];
    let mut model = Model {
        ranks: blocks.iter().map(|_| RankModel::default()).collect(),
        blocks,
        candidates: Vec::new(),
        created: 0,
        free: Vec::new(),
        costs: costs.map(|cost| cost.picoseconds()),
        waits_from: model.rendezvous.map_or(u64::MAX, |size| size.0),
    };
    for rank in 0..model.blocks.len() {
        let requirements = || model.blocks[rank].requirements();
        for operation in 0..model.blocks[rank].operations().len() {
            let missing = requirements().filter(|requirement| requirement.operation.0 as usize == operation).count();
            model.ranks[rank].missing.push(missing);
            if missing == 0 {
                model.free.push((rank, operation));
            }
        }
        model.add_candidates();
    }
    while let Some(index) =
        (0..model.candidates.len()).min_by_key(|&index| (model.candidates[index].0, model.candidates[index].1))
    {
        let candidate = model.candidates.swap_remove(index);
        model.grant(candidate);
        model.add_candidates();
    }
    let done = |rank: usize| model.ranks[rank].finished == model.blocks[rank].operations().len();
    let all_done = (0..model.blocks.len()).all(done);
    all_done.then(|| model.ranks.iter().map(|rank| Time::from_picoseconds(rank.processor)).collect())
}

impl Model<'_> {
    fn kind(&self, rank: usize, operation: usize) -> OperationKind {
        self.blocks[rank].operation(OperationId(operation as u32)).kind
    }

    /// A freed operation asks to begin when its rank's processor is free; sends before receives before calculations.
    fn add_candidates(&mut self) {
        let mut free = std::mem::take(&mut self.free);
        free.sort_by_key(|&(rank, operation)| {
            let order = match self.kind(rank, operation) {
                OperationKind::Send { .. } => 0,
                OperationKind::Receive { .. } => 1,
                OperationKind::Calculate(_) => 2,
            };
            (rank, order)
        });
        for (rank, operation) in free {
            self.created += 1;
            self.candidates.push((self.ranks[rank].processor, self.created, rank, Action::Operation(operation)));
        }
    }

    fn completed(&mut self, rank: usize, operation: usize, only_started: bool) {
        for requirement in self.blocks[rank].requirements() {
            if requirement.on.0 as usize == operation && requirement.only_started == only_started {
                let waiting = requirement.operation.0 as usize;
                self.ranks[rank].missing[waiting] -= 1;
                if self.ranks[rank].missing[waiting] == 0 {
                    self.free.push((rank, waiting));
                }
            }
        }
        if !only_started {
            self.ranks[rank].finished += 1;
        }
    }

    fn grant(&mut self, (time, order, rank, action): Candidate) {
        let state = &self.ranks[rank];
        let possible_from = match action {
            Action::Message(..) => state.processor.max(state.receives),
            Action::Operation(operation) => match self.kind(rank, operation) {
                OperationKind::Calculate(_) => state.processor,
                OperationKind::Send { .. } => state.processor.max(state.sends),
                OperationKind::Receive { .. } => 0,
            },
        };
        if possible_from > time {
            self.candidates.push((possible_from, order, rank, action));
            return;
        }
        match action {
            Action::Message(from, send, size, tag) => self.arrive(time, rank, (from, send, size, tag)),
            Action::Operation(operation) => self.start(time, rank, operation),
        }
    }

    fn start(&mut self, time: u64, rank: usize, operation: usize) {
        let [latency, overhead, gap, gap_per_byte, overhead_per_byte] = self.costs;
        match self.kind(rank, operation) {
            OperationKind::Calculate(work) => {
                self.ranks[rank].processor = time + work.picoseconds();
                self.completed(rank, operation, true);
                self.completed(rank, operation, false);
            }
            OperationKind::Send { to, size, tag } => {
                let more = size.0.saturating_sub(1);
                self.ranks[rank].processor = time + overhead + more * overhead_per_byte;
                self.ranks[rank].sends = time + gap + more * gap_per_byte;
                self.created += 1;
                let message = Action::Message(rank, operation, size.0, tag);
                self.candidates.push((time + overhead + latency, self.created, to.0 as usize, message));
                self.completed(rank, operation, true);
                if size.0 < self.waits_from {
                    self.completed(rank, operation, false);
                }
            }
            OperationKind::Receive { .. } => {
                self.completed(rank, operation, true);
                let early = &self.ranks[rank].early;
                let Some(place) = early.iter().position(|&message| self.matches(rank, operation, message)) else {
                    self.ranks[rank].posted.push_back(operation);
                    return;
                };
                if let Some(message) = self.ranks[rank].early.remove(place) {
                    self.deliver(time, rank, operation, message);
                }
            }
        }
    }

    fn arrive(&mut self, time: u64, rank: usize, message: (usize, usize, u64, u32)) {
        let [_, overhead, gap, gap_per_byte, overhead_per_byte] = self.costs;
        let more = message.2.saturating_sub(1);
        self.ranks[rank].processor = time + overhead + more * gap_per_byte.max(overhead_per_byte);
        self.ranks[rank].receives = time + gap + more * gap_per_byte;
        let posted = &self.ranks[rank].posted;
        let Some(place) = posted.iter().position(|&operation| self.matches(rank, operation, message)) else {
            self.ranks[rank].early.push_back(message);
            return;
        };
        if let Some(operation) = self.ranks[rank].posted.remove(place) {
            self.deliver(time, rank, operation, message);
        }
    }

    fn matches(&self, rank: usize, operation: usize, (sender, _, _, sent_tag): (usize, usize, u64, u32)) -> bool {
        match self.kind(rank, operation) {
            OperationKind::Receive { from, tag, .. } => {
                from.is_none_or(|from| from.0 as usize == sender) && tag.is_none_or(|tag| tag == sent_tag)
            }
            _ => false,
        }
    }

    fn deliver(&mut self, time: u64, rank: usize, operation: usize, (sender, send, size, _): (usize, usize, u64, u32)) {
        if size >= self.waits_from {
            self.ranks[sender].processor = self.ranks[sender].processor.max(time);
            self.ranks[sender].sends = self.ranks[sender].sends.max(time);
            self.completed(sender, send, false);
        }
        self.completed(rank, operation, false);
    }
}
