//! GOAL schedules on a machine whose network is simulated to the flit.
//!
//! An operation costs what the machine's description says, not o, g and G: a send is over when the machine's sends are, a
//! receive when its message is complete. Each processor that the schedule names is one of the node's; interfaces are all
//! the node's one communication processor.

use std::collections::VecDeque;

use endpoint::{Error, Message, Result};
use machines::model::FlitNetwork;
use programs::goal::{GoalRank, OperationId, OperationKind, Ready, Schedule};
use quantities::{Rank, Time};

use super::{EngineKind, NetworkWorld, answer, fits};
use crate::answer::{Activity, MessageRecord, Span, Timeline};
use crate::flit::network::fast::Fast;
use crate::flit::network::reference::Reference;
use crate::flit::network::{Engine, stuck};
use crate::flit::nodes::{self, ANY, Done, Nodes, Outcome, Wanted};
use crate::loggp::goal::{GoalAnswer, Unreceived, deadlock};
use crate::stop::Stop;

/// As many packets are described one by one when the network is stuck.
const PACKETS_DESCRIBED: usize = 8;

impl NetworkWorld<'_> {
    /// Runs a GOAL schedule.
    ///
    /// # Errors
    /// As for a program; a deadlock names the ranks and the lines that wait.
    pub fn run_goal(&self, schedule: &Schedule) -> Result<GoalAnswer> {
        let network = self.network(schedule.size())?;
        for operation in schedule.busy_ranks().flat_map(|(_, block)| block.operations()) {
            if let OperationKind::Send { size, .. } = operation.kind {
                fits(size)?;
            }
        }
        match self.options.engine {
            EngineKind::Fast => Driver::<Fast>::new(self, network, schedule).run(network),
            EngineKind::Reference => Driver::<Reference>::new(self, network, schedule).run(network),
        }
    }
}

/// A schedule in motion.
struct Driver<'a, E> {
    schedule: &'a Schedule,
    nodes: Nodes<E>,
    ranks: Vec<GoalRank<'a>>,
    ready: VecDeque<(Rank, OperationId)>,
    finish: Vec<Time>,
    timeline: Option<Timeline>,
    stop: Stop,
    /// For each rank and operation, when it started: kept for the timeline only.
    starts: Vec<Vec<Time>>,
    becoming_ready: Vec<Ready>,
}

impl<'a, E: Engine> Driver<'a, E> {
    fn new(world: &NetworkWorld<'_>, network: &FlitNetwork, schedule: &'a Schedule) -> Driver<'a, E> {
        let options = world.options;
        let mut nodes = Nodes::new(world.machine, network, schedule.size(), options.seed, options.packet_log);
        nodes.report_starts();
        let mut driver = Driver {
            schedule,
            nodes,
            ranks: Vec::new(),
            ready: VecDeque::new(),
            finish: vec![Time::ZERO; schedule.size() as usize],
            timeline: options.timeline.then(Timeline::default),
            stop: options.stop,
            starts: Vec::new(),
            becoming_ready: Vec::new(),
        };
        for rank in (0..schedule.size()).map(Rank) {
            let block = schedule.block(rank);
            let processors = block.operations().iter().map(|operation| u16::from(operation.processor) + 1).max();
            driver.nodes.provide_processors(rank, processors.unwrap_or(1));
            let goal = GoalRank::new(block, &mut driver.becoming_ready);
            driver.ranks.push(goal);
            driver.starts.push(vec![Time::ZERO; if options.timeline { block.operations().len() } else { 0 }]);
            driver.note_ready(rank);
        }
        driver
    }

    fn run(mut self, network: &FlitNetwork) -> Result<GoalAnswer> {
        loop {
            self.stop.go_on(|| self.nodes.reached())?;
            if let Some((rank, operation)) = self.ready.pop_front() {
                self.begin(rank, operation);
            } else if let Some(done) = self.nodes.next_done() {
                self.note(done);
            } else if !self.nodes.step()? {
                break;
            }
        }
        if self.nodes.engine().in_flight() > 0 {
            let packets = self.nodes.engine().stuck();
            return Err(Error::Deadlock(stuck::describe(network, &packets, PACKETS_DESCRIBED)));
        }
        let unreceived = self.unreceived();
        if let Some(deadlock) = deadlock(self.schedule, |rank| self.ranks.get(rank.0 as usize), &unreceived) {
            return Err(deadlock);
        }
        Ok(GoalAnswer::new(answer(self.nodes, self.finish, self.timeline)?, unreceived))
    }

    /// The messages that no receive took.
    fn unreceived(&self) -> Vec<Unreceived> {
        let line = |rank, operation| self.schedule.block(rank).operation(OperationId(operation)).line;
        let of_schedule = |left: nodes::Unreceived| {
            let nodes::Unreceived { from, to, tag, operation } = left;
            Unreceived { from, to, tag, line: line(from, operation) }
        };
        self.nodes.unreceived().map(of_schedule).collect()
    }

    fn begin(&mut self, rank: Rank, id: OperationId) {
        let operation = *self.schedule.block(rank).operation(id);
        let processor = u16::from(operation.processor);
        match operation.kind {
            OperationKind::Calculate(work) => self.nodes.compute(rank, processor, work, id.0),
            OperationKind::Send { to, size, tag } => {
                self.nodes.send(rank, processor, to, tag, Message::of_size(size), id.0);
            }
            OperationKind::Receive { from, tag, .. } => {
                let wanted = Wanted { from: from.map_or(ANY, |from| from.0), tag: tag.unwrap_or(ANY) };
                self.started(rank, id);
                self.nodes.receive(rank, processor, wanted, None, id.0);
            }
        }
    }

    fn note(&mut self, Done { rank, operation, result }: Done) {
        let id = OperationId(operation);
        if matches!(result, Outcome::Started) {
            self.started(rank, id);
            return;
        }
        let now = self.nodes.now();
        self.note_in_timeline(rank, id, &result);
        self.finish[rank.0 as usize] = now;
        self.ranks[rank.0 as usize].finished(id, now, &mut self.becoming_ready);
        self.note_ready(rank);
    }

    fn started(&mut self, rank: Rank, id: OperationId) {
        let now = self.nodes.now();
        if let Some(start) = self.starts[rank.0 as usize].get_mut(id.0 as usize) {
            *start = now;
        }
        self.ranks[rank.0 as usize].started(id, now, &mut self.becoming_ready);
        self.note_ready(rank);
    }

    fn note_ready(&mut self, rank: Rank) {
        self.ready.extend(self.becoming_ready.drain(..).map(|ready| (rank, ready.operation)));
    }

    fn note_in_timeline(&mut self, rank: Rank, id: OperationId, result: &Outcome) {
        let Some(timeline) = &mut self.timeline else { return };
        let end = self.nodes.now();
        let activity = match self.schedule.block(rank).operation(id).kind {
            OperationKind::Calculate(_) => Activity::Compute,
            OperationKind::Send { .. } => Activity::Send,
            OperationKind::Receive { .. } => Activity::Receive,
        };
        let start = self.starts[rank.0 as usize][id.0 as usize];
        timeline.spans.push(Span { rank, activity, start, end });
        if let Outcome::Received(endpoint::Received { from, message, .. }, sent) = result {
            let size = message.size();
            timeline.messages.push(MessageRecord { from: *from, to: rank, size, sent: *sent, received: end });
        }
    }
}
