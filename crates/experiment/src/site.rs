//! Where a program is to run, as far as its making may depend on that.

use endpoint::Message;
use machines::model::{Interconnect, Machine};
use programs::postal::Lambda;
use programs::schedule::SendReceiveOrder;
use quantities::{Bytes, Duration};

use crate::Error;
use virtual_worlds::waits_for_receivers;

use crate::simulate::send_without_waiting;

/// The largest message that can be asked for: its packets can be counted, however small they are.
pub const LARGEST_MESSAGE: Bytes = Bytes(2 << 30);

/// Where a program is to run.
#[derive(Debug)]
pub struct Site {
    /// The machine; a program may ask for sends that do not wait.
    pub machine: Machine,
    /// How many ranks were asked for.
    pub asked_ranks: Option<u32>,
    /// What random choices follow from.
    pub seed: u64,
    /// Whether real ranks run it, on no model.
    pub is_real: bool,
    /// Latency and step, where the machine is the postal model.
    pub postal: Option<(Lambda, Duration)>,
}

impl Site {
    /// How many ranks a program has that runs on any number: those asked for, or one on each node.
    ///
    /// # Errors
    /// More than there are nodes, or none; nothing asked for on a machine that has no nodes of its own.
    pub fn ranks(&self) -> Result<u32, Error> {
        ranks_on(&self.machine, self.asked_ranks)
    }

    /// That a program which has `ranks` ranks can run.
    ///
    /// # Errors
    /// Another number asked for, with the reason `why` there is only this one; a machine with fewer nodes.
    pub fn exactly(&self, ranks: u32, why: &str) -> Result<u32, Error> {
        if let Some(asked) = self.asked_ranks.filter(|&asked| asked != ranks) {
            return Err(Error::parameter("nodes", asked, format!("{ranks}, {why}")));
        }
        let Machine { nodes, name, .. } = &self.machine;
        if ranks > *nodes {
            let allowed = format!("a machine with at least {ranks} nodes, as the program has so many ranks");
            return Err(Error::parameter("machine", format!("{name} with {nodes} nodes"), allowed));
        }
        Ok(ranks)
    }

    /// Whether messages go over a network, in packets.
    pub fn has_network(&self) -> bool {
        !self.is_real && matches!(self.machine.interconnect, Interconnect::Flits(_))
    }

    /// Whether a send of `size` is over only when the receiving program has the message.
    pub fn waits_for_receivers(&self, size: Bytes) -> bool {
        !self.is_real && waits_for_receivers(&self.machine, size)
    }

    /// Lets sends be over when the message has arrived, if they were to wait until the receiver asks for it, and says whether
    /// they were. Messages that a network announces to the receiver stay as they are.
    pub fn send_without_waiting(&mut self) -> bool {
        send_without_waiting(&mut self.machine)
    }

    /// What a rank does first that both sends and receives in a step, with messages of at most `largest`: where sends wait for
    /// their receivers they take turns, as in the CM-5 paper, whose machine's did.
    pub fn order(&self, largest: Bytes) -> SendReceiveOrder {
        if self.waits_for_receivers(largest) { SendReceiveOrder::Alternating } else { SendReceiveOrder::Sendrecv }
    }

    /// A message of `size`: where it really goes from rank to rank with bytes, otherwise only its size.
    pub fn message(&self, size: Bytes) -> Message {
        let length = usize::try_from(size.0).ok().filter(|_| self.is_real);
        length.map_or_else(
            || Message::of_size(size),
            |length| (0..length).map(|place| place as u8).collect::<Vec<u8>>().into(),
        )
    }
}

/// How many ranks run on `machine`: so many as were `asked` for, or one on each node.
///
/// # Errors
/// More than there are nodes, or none; nothing asked for on a machine that has no nodes of its own.
pub(crate) fn ranks_on(machine: &Machine, asked: Option<u32>) -> Result<u32, Error> {
    let Machine { nodes, name, interconnect, .. } = machine;
    let allowed = || format!("1 to {nodes}, the nodes of {name}");
    match (asked, interconnect) {
        (Some(ranks), _) if ranks == 0 || ranks > *nodes => Err(Error::parameter("nodes", ranks, allowed())),
        (Some(ranks), _) => Ok(ranks),
        (None, Interconnect::Flits(_) | Interconnect::Ethernet(_)) => Ok(*nodes),
        // Its number of nodes is only the most that there can be.
        (None, Interconnect::LogGp(_)) => Err(Error::parameter("nodes", "nothing", allowed())),
    }
}
