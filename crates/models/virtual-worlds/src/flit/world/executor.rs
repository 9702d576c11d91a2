//! Programs on nodes and the network between them.

use std::sync::Arc;

use endpoint::executor::{self, Machine, OperationEvent, number_of, request_of};
use endpoint::{Error, Event, Operation, Outcome, Program, Request, Result, StartStatus, Tag, Unexpected};
use machines::model::FlitNetwork;
use quantities::{Rank, Time};

use super::{Options, Run, fits};
use crate::answer::{Answer, Timeline, Unreceived};
use crate::flit::network::{Engine, Recorder, stuck};
use crate::flit::nodes::{self, MatchPattern, Nodes};
use crate::flit::traffic::BackgroundTraffic;
use crate::horizon::counted;
use crate::stop::Stop;

/// The number of packets described one by one when the network is stuck.
const PACKETS_DESCRIBED: usize = 8;

/// Nodes that run programs.
struct Running<'run, E> {
    nodes: Nodes<E>,
    network: &'run FlitNetwork,
    stop: Stop,
}

impl<E: Engine> Machine for Running<'_, E> {
    fn now(&self) -> Time {
        self.nodes.now()
    }

    fn check(&self, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Send { message, .. } => fits(message.size()),
            Operation::Multicast(message) => self.check_hardware().and_then(|()| fits(message.size())),
            Operation::ReceiveMulticast(_) => self.check_hardware(),
            Operation::Receive { .. } | Operation::Probe { .. } | Operation::Compute(_) | Operation::Sleep(_) => Ok(()),
        }
    }

    fn begin(&mut self, rank: Rank, number: u32, operation: Operation) {
        self.begin_on(0, rank, number, operation);
    }

    /// A node has as many processors as its rank's requests name; all its interfaces are its one communication
    /// processor.
    fn start(&mut self, rank: Rank, request: Request) -> Result<StartStatus> {
        let (number, processor) = (number_of(&request), u16::from(request.processor));
        self.nodes.provide_processors(rank, processor + 1);
        if request.reports_start {
            self.nodes.report_starts();
        }
        let receives = matches!(request.operation, Operation::Receive { .. });
        self.begin_on(processor, rank, number, request.operation);
        Ok(if receives { StartStatus::Started } else { StartStatus::Later })
    }

    fn reports_starts(&self) -> bool {
        true
    }

    fn next_event(&mut self) -> Result<Option<OperationEvent>> {
        loop {
            self.stop.go_on(|| self.nodes.reached())?;
            if let Some(done) = self.nodes.next_done() {
                let event = match done.result {
                    nodes::OperationStatus::Received(received, passage) => {
                        Event::Completed(Ok(Outcome::Received(received, passage)))
                    }
                    nodes::OperationStatus::Probed(found) => Event::Completed(Ok(Outcome::Probed(found))),
                    nodes::OperationStatus::Late => Event::Completed(Err(Error::Deadline(self.nodes.now()))),
                    nodes::OperationStatus::Over => Event::Completed(Ok(Outcome::Done)),
                    nodes::OperationStatus::Started => Event::Started,
                };
                let (rank, number, at) = (done.rank, done.operation, self.nodes.now());
                return Ok(Some(OperationEvent { rank, number, at, event }));
            }
            if !self.nodes.step()? {
                return Ok(None);
            }
        }
    }

    fn all_ended(&mut self) {
        self.nodes.end_background();
    }
}

impl<E: Engine> Running<'_, E> {
    fn begin_on(&mut self, processor: u16, rank: Rank, number: u32, operation: Operation) {
        match operation {
            Operation::Send { to, tag: Tag(tag), message } => {
                self.nodes.send(rank, processor, to, tag, message, number)
            }
            Operation::Receive { from, tags, deadline } => {
                self.nodes.receive(rank, processor, MatchPattern::new(from, tags), deadline, number);
            }
            Operation::Probe { from, tags, deadline } => {
                self.nodes.probe(rank, MatchPattern::new(from, tags), deadline, number);
            }
            Operation::Compute(work) => self.nodes.compute(rank, processor, work, number),
            Operation::Sleep(until) => self.nodes.sleep(rank, until, number),
            Operation::Multicast(message) => self.nodes.multicast(rank, message, number),
            Operation::ReceiveMulticast(from) => self.nodes.receive_multicast(rank, from, number),
        }
    }

    fn check_hardware(&self) -> Result<()> {
        if self.nodes.has_control_network() {
            return Ok(());
        }
        Err(Error::Unfit("the machine has no control network: it cannot broadcast in hardware".to_string()))
    }
}

/// Nodes and a network with the engine's type hidden, so that each engine is compiled once, and not for every program.
pub(super) trait Nodal: Machine {
    /// The packets that can't go on, in words, if there are any.
    fn stuck(&self) -> Option<String>;

    /// The messages that no receive has taken.
    fn unexpected(&self) -> Vec<Unexpected>;

    /// The answer of the run, when it is over.
    fn answer(self: Box<Self>, finish: Vec<Time>, timeline: Option<Timeline>) -> Result<Answer>;
}

impl<E: Engine> Nodal for Running<'_, E> {
    fn stuck(&self) -> Option<String> {
        let engine = self.nodes.engine();
        let stuck = || stuck::describe(self.network, &engine.stuck(), PACKETS_DESCRIBED);
        (engine.in_flight() > 0).then(stuck)
    }

    fn unexpected(&self) -> Vec<Unexpected> {
        let of_joint = |message: nodes::Unreceived| {
            let nodes::Unreceived { from, to, tag, operation } = message;
            Unexpected { to, from, tag: Tag(tag), request: request_of(operation) }
        };
        self.nodes.unreceived().map(of_joint).collect()
    }

    fn answer(self: Box<Self>, finish: Vec<Time>, timeline: Option<Timeline>) -> Result<Answer> {
        let mut nodes = self.nodes;
        let ranks = finish.len();
        let messages_left = nodes.unreceived().map(|message| (message.from, message.to));
        let unreceived = Unreceived::counted(messages_left.chain(nodes.unreceived_broadcasts()));
        let background = nodes.background();
        let (Recorder { statistics, log }, mut rank_statistics, messages) = nodes.end();
        rank_statistics.truncate(ranks);
        counted(Answer {
            finish,
            messages,
            packets: statistics.packets,
            flit_hops: statistics.flit_hops,
            channels: statistics.channels,
            routers: statistics.routers,
            ranks: rank_statistics,
            packet_log: log.map(|mut log| {
                log.sort_by_key(|packet| (packet.delivered, packet.destination));
                log
            }),
            timeline,
            background,
            unreceived,
            ..Answer::default()
        })
    }
}

/// The nodes of `machine`, of which `ranks` run programs, on its network.
pub(super) fn nodes<'run, E: Engine + 'run>(
    (machine, network): (&'run machines::model::Machine, &'run Arc<FlitNetwork>),
    options: Options,
    ranks: u32,
    background: Option<BackgroundTraffic>,
) -> Box<dyn Nodal + 'run> {
    let mut nodes = Nodes::<E>::new(machine, network, ranks, options.seed, options.packet_log);
    if let Some(traffic) = background {
        nodes.add_background(traffic);
    }
    Box::new(Running { nodes, network, stop: options.stop })
}

/// Runs `program` on every rank of `machine` until all have ended.
pub(super) fn run<P: Program>(
    mut machine: Box<dyn Nodal + '_>,
    ranks: u32,
    program: &P,
    with_timeline: bool,
) -> Run<P::Output> {
    let mut ended = executor::run(&mut *machine, ranks, program, with_timeline)?;
    let (finish, timeline) = (std::mem::take(&mut ended.finish), ended.timeline.take());
    if let Some(stuck) = machine.stuck().filter(|_| !ended.waiting.is_empty()) {
        return Err(Error::Deadlock(stuck));
    }
    let results = ended.all_of(program, &machine.unexpected())?;
    Ok((results, machine.answer(finish, timeline)?))
}
