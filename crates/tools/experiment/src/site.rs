//! Where a program will run, as far as its creation may depend on it.

use collectives::postal::Lambda;
use collectives::schedule::SendReceiveOrder;
use endpoint::Message;
use machines::model::{Interconnect, Machine};
use quantities::{Bytes, Duration, Rank};

use crate::Error;
use virtual_worlds::waits_for_receivers;

use crate::simulate::send_without_waiting;

/// The largest message allowed: its packets can be counted, however small they are.
pub const LARGEST_MESSAGE: Bytes = Bytes(2 << 30);

/// Where a program will run.
#[derive(Debug)]
pub struct Site {
    /// The machine; a program may ask for sends that do not wait.
    pub machine: Machine,
    /// How many ranks were requested.
    pub requested_ranks: Option<u32>,
    /// The seed of random choices.
    pub seed: u64,
    /// Whether real ranks run it, without a model.
    pub is_real: bool,
    /// Latency and step, if the machine is the postal model.
    pub postal: Option<(Lambda, Duration)>,
}

impl Site {
    /// The number of ranks of a program that runs on any number: as requested, or one on each node.
    ///
    /// # Errors
    /// More than there are nodes, or zero; none requested on a machine without nodes of its own.
    pub fn ranks(&self) -> Result<u32, Error> {
        ranks_on(&self.machine, self.requested_ranks)
    }

    /// Checks that a program with `ranks` ranks can run.
    ///
    /// # Errors
    /// If another number was requested, with the reason `why` only this one is possible; if the machine has fewer
    /// nodes.
    pub fn exactly(&self, ranks: u32, why: &str) -> Result<u32, Error> {
        if let Some(requested) = self.requested_ranks.filter(|&requested| requested != ranks) {
            return Err(Error::parameter("nodes", requested, format!("{ranks}, {why}")));
        }
        let Machine { nodes, name, .. } = &self.machine;
        if ranks > *nodes {
            let allowed = format!("a machine with at least {ranks} nodes, as the program has that many ranks");
            return Err(Error::parameter("machine", format!("{name} with {nodes} nodes"), allowed));
        }
        Ok(ranks)
    }

    /// Checks that `rank`, given as the parameter `name`, is one of `ranks`.
    ///
    /// # Errors
    /// If it is not.
    pub(crate) fn check_rank(name: &'static str, rank: Rank, ranks: u32) -> Result<(), Error> {
        if rank.0 < ranks {
            return Ok(());
        }
        let allowed = match ranks {
            1 => "0, the only rank".to_owned(),
            _ => format!("0 to {}, the ranks of the program", ranks.saturating_sub(1)),
        };
        Err(Error::parameter(name, format!("rank {rank}"), allowed))
    }

    /// Whether messages go over a network, in packets.
    pub fn has_network(&self) -> bool {
        !self.is_real && has_network(&self.machine)
    }

    /// Checks that a message of `largest`, which follows from `parameter`, can be counted in packets.
    ///
    /// # Errors
    /// A message that is too long for a network.
    pub fn check_largest(&self, parameter: &'static str, largest: Bytes) -> Result<(), Error> {
        if self.is_real { Ok(()) } else { check_largest(&self.machine, parameter, largest) }
    }

    /// Whether a send of `size` completes only when the receiving program has the message.
    pub fn waits_for_receivers(&self, size: Bytes) -> bool {
        !self.is_real && waits_for_receivers(&self.machine, size)
    }

    /// Makes sends complete when the message has arrived, if they would wait until the receiver asks for it, and
    /// returns whether they would. Messages that a network announces to the receiver are unchanged.
    pub fn send_without_waiting(&mut self) -> bool {
        send_without_waiting(&mut self.machine)
    }

    /// The order of a rank that both sends and receives in a step, with messages of at most `largest`: where sends wait
    /// for their receivers they alternate, as in the CM-5 paper, on whose machine they waited.
    pub fn order(&self, largest: Bytes) -> SendReceiveOrder {
        if self.waits_for_receivers(largest) { SendReceiveOrder::Alternating } else { SendReceiveOrder::Sendrecv }
    }

    /// A message of `size`: with bytes if it really goes from rank to rank, otherwise only its size.
    pub fn message(&self, size: Bytes) -> Message {
        let length = usize::try_from(size.0).ok().filter(|_| self.is_real);
        length.map_or_else(
            || Message::of_size(size),
            |length| (0..length).map(|place| place as u8).collect::<Vec<u8>>().into(),
        )
    }
}

/// How many ranks run on `machine`: as many as were `requested` for, or one on each node.
///
/// # Errors
/// More than there are nodes, or zero; none requested on a machine without nodes of its own.
pub(crate) fn ranks_on(machine: &Machine, requested: Option<u32>) -> Result<u32, Error> {
    let Machine { nodes, name, interconnect, .. } = machine;
    let allowed = || format!("1 to {nodes}, the nodes of {name}");
    match (requested, interconnect) {
        (Some(ranks), _) if ranks == 0 || ranks > *nodes => Err(Error::parameter("nodes", ranks, allowed())),
        (Some(ranks), _) => Ok(ranks),
        (None, Interconnect::Flits(_) | Interconnect::Ethernet(_)) => Ok(*nodes),
        // Its number of nodes is only an upper limit.
        (None, Interconnect::LogGp(_)) => Err(Error::parameter("nodes", "nothing", allowed())),
    }
}

/// Whether a machine carries messages over a network, in packets.
fn has_network(machine: &Machine) -> bool {
    matches!(machine.interconnect, Interconnect::Flits(_))
}

/// Checks that `machine` can count a message of `largest`, which follows from `parameter`, in packets.
///
/// # Errors
/// A message that is too long for a network.
pub fn check_largest(machine: &Machine, parameter: &'static str, largest: Bytes) -> Result<(), Error> {
    if !has_network(machine) || largest <= LARGEST_MESSAGE {
        return Ok(());
    }
    let allowed = format!("messages of at most {LARGEST_MESSAGE} on a network");
    Err(Error::parameter(parameter, format!("a message of {largest}"), allowed))
}
