//! Programs on nodes and the network between them.

use endpoint::executor::{self, Machine, Over};
use endpoint::{Error, Operation, Outcome, Program, Result, Tag};
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
        match operation {
            Operation::Send { to, tag: Tag(tag), message } => self.nodes.send(rank, 0, to, tag, message, number),
            Operation::Receive { from, tags, deadline } => {
                self.nodes.receive(rank, 0, Wanted::new(from, tags), deadline, number);
            }
            Operation::Compute(work) => self.nodes.compute(rank, 0, work, number),
            Operation::Sleep(until) => self.nodes.sleep(rank, until, number),
            Operation::Multicast(message) => self.nodes.multicast(rank, message, number),
            Operation::ReceiveMulticast(from) => self.nodes.receive_multicast(rank, from, number),
        }
    }

    fn next_over(&mut self) -> Result<Option<Over>> {
        loop {
            self.stop.go_on(|| self.nodes.reached())?;
            if let Some(done) = self.nodes.next_done() {
                let result = match done.result {
                    nodes::Outcome::Received(received, sent) => Ok(Outcome::Received(received, sent)),
                    nodes::Outcome::Late => Err(Error::Deadline(self.nodes.now())),
                    nodes::Outcome::Over | nodes::Outcome::Started => Ok(Outcome::Done),
                };
                return Ok(Some(Over { number: done.operation, result }));
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
    let results = ended.all(|rank| program.name_of(rank))?;
    Ok((results, answer(nodes, finish, timeline)?))
}
