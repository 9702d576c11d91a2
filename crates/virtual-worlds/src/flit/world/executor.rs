//! Programs on nodes and the network between them.

use endpoint::executor::{self, Machine, Over, number_of, request_of};
use endpoint::{Begun, Error, Event, Operation, Outcome, Program, Request, Result, Tag, Unexpected};
use machines::model::FlitNetwork;
use quantities::{Rank, Time};

use super::{NetworkWorld, Run, answer, fits};
use crate::flit::network::{Engine, stuck};
use crate::flit::nodes::{self, Nodes, Wanted};
use crate::flit::traffic::BackgroundTraffic;
use crate::stop::Stop;

/// As many packets are described one by one when the network is stuck.
const PACKETS_DESCRIBED: usize = 8;

/// Nodes on which programs run.
struct Running<E> {
    nodes: Nodes<E>,
    stop: Stop,
}

impl<E: Engine> Machine for Running<E> {
    fn now(&self) -> Time {
        self.nodes.now()
    }

    fn check(&self, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Send { message, .. } => fits(message.size()),
            Operation::Multicast(message) => self.check_hardware().and_then(|()| fits(message.size())),
            Operation::ReceiveMulticast(_) => self.check_hardware(),
            Operation::Receive { .. } | Operation::Compute(_) | Operation::Sleep(_) => Ok(()),
        }
    }

    fn begin(&mut self, rank: Rank, number: u32, operation: Operation) {
        self.begin_on(0, rank, number, operation);
    }

    /// A node has as many processors as its rank's requests name; its interfaces are all its one communication processor.
    fn start(&mut self, rank: Rank, request: Request) -> Result<Begun> {
        let (number, processor) = (number_of(&request), u16::from(request.processor));
        self.nodes.provide_processors(rank, processor + 1);
        if request.tells_start {
            self.nodes.report_starts();
        }
        let receives = matches!(request.operation, Operation::Receive { .. });
        self.begin_on(processor, rank, number, request.operation);
        Ok(if receives { Begun::Started } else { Begun::Later })
    }

    fn tells_starts(&self) -> bool {
        true
    }

    fn next_over(&mut self) -> Result<Option<Over>> {
        loop {
            self.stop.go_on(|| self.nodes.reached())?;
            if let Some(done) = self.nodes.next_done() {
                let event = match done.result {
                    nodes::Outcome::Received(received, sent) => Event::Over(Ok(Outcome::Received(received, sent))),
                    nodes::Outcome::Late => Event::Over(Err(Error::Deadline(self.nodes.now()))),
                    nodes::Outcome::Over => Event::Over(Ok(Outcome::Done)),
                    nodes::Outcome::Started => Event::Started,
                };
                let (rank, number, at) = (done.rank, done.operation, self.nodes.now());
                return Ok(Some(Over { rank, number, at, event }));
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

impl<E: Engine> Running<E> {
    fn begin_on(&mut self, processor: u16, rank: Rank, number: u32, operation: Operation) {
        match operation {
            Operation::Send { to, tag: Tag(tag), message } => {
                self.nodes.send(rank, processor, to, tag, message, number)
            }
            Operation::Receive { from, tags, deadline } => {
                self.nodes.receive(rank, processor, Wanted::new(from, tags), deadline, number);
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

/// Runs `program` on every rank until all have ended, beside `background` traffic if there is some.
pub(super) fn run<E: Engine, P: Program>(
    world: &NetworkWorld<'_>,
    network: &FlitNetwork,
    ranks: u32,
    program: &P,
    background: Option<BackgroundTraffic>,
) -> Run<P::Output> {
    let options = world.options;
    let mut nodes = Nodes::<E>::new(world.machine, network, ranks, options.seed, options.packet_log);
    if let Some(traffic) = background {
        nodes.add_background(traffic);
    }
    let running = Running { nodes, stop: options.stop };
    let (Running { nodes, .. }, mut ended) = executor::run(running, ranks, program, options.timeline)?;
    let (finish, timeline) = (std::mem::take(&mut ended.finish), ended.timeline.take());
    if !ended.waiting.is_empty() && nodes.engine().in_flight() > 0 {
        let packets = nodes.engine().stuck();
        return Err(Error::Deadlock(stuck::describe(network, &packets, PACKETS_DESCRIBED)));
    }
    let results = ended.all_of(program, &unexpected(&nodes))?;
    Ok((results, answer(nodes, finish, timeline)?))
}

/// The messages that no receive has taken.
fn unexpected<E: Engine>(nodes: &Nodes<E>) -> Vec<Unexpected> {
    let of_joint = |message: nodes::Unreceived| {
        let nodes::Unreceived { from, to, tag, operation } = message;
        Unexpected { to, from, tag: Tag(tag), request: request_of(operation) }
    };
    nodes.unreceived().map(of_joint).collect()
}
