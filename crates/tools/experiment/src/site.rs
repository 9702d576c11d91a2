//! Where a program will run, as far as its creation may depend on it.

use collectives::postal::Lambda;
use collectives::schedule::SendReceiveOrder;
use endpoint::Message;
use machines::model::Machine;
use quantities::{Bytes, Duration, Rank};

use crate::Error;

/// The largest message allowed: its packets can be counted, however small they are.
pub const LARGEST_MESSAGE: Bytes = Bytes(2 << 30);

/// Where a program will run.
#[derive(Debug)]
pub struct Site<'a> {
    /// The machine; none where real ranks run it.
    machine: Option<&'a Machine>,
    /// The machine as a program asked for it, if it asked for another way to send.
    changed: Option<Machine>,
    /// How many ranks were requested.
    pub requested_ranks: Option<u32>,
    /// The seed of random choices.
    pub seed: u64,
    /// Latency and step, if the machine is the postal model.
    pub postal: Option<(Lambda, Duration)>,
}

impl<'a> Site<'a> {
    /// A model of `machine`.
    pub fn on(machine: &'a Machine, seed: u64) -> Site<'a> {
        Site { machine: Some(machine), changed: None, requested_ranks: None, seed, postal: None }
    }

    /// Real ranks, of which there are `ranks`, without a model.
    pub fn for_real(ranks: u32, seed: u64) -> Site<'static> {
        Site { machine: None, changed: None, requested_ranks: Some(ranks), seed, postal: None }
    }

    /// The machine, as programs have asked for it; none where real ranks run them.
    pub fn machine(&self) -> Option<&Machine> {
        self.changed.as_ref().or(self.machine)
    }

    /// Whether real ranks run it, without a model.
    pub fn is_real(&self) -> bool {
        self.machine.is_none()
    }

    /// The machine as programs have asked for it, if they have changed it.
    pub(crate) fn into_changed(self) -> Option<Machine> {
        self.changed
    }

    /// The number of ranks of a program that runs on any number: as requested, or one on each node.
    ///
    /// # Errors
    /// More than there are nodes, or zero; none requested on a machine without nodes of its own.
    pub fn ranks(&self) -> Result<u32, Error> {
        match (self.machine(), self.requested_ranks) {
            (Some(machine), requested) => ranks_on(machine, requested),
            (None, Some(ranks)) if ranks > 0 => Ok(ranks),
            (None, _) => Err(Error::parameter("nodes", "no ranks", "one or more")),
        }
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
        if let Some(Machine { nodes, name, .. }) = self.machine()
            && ranks > *nodes
        {
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
        self.machine().is_some_and(|machine| machine.network().is_some())
    }

    /// Checks that a message of `largest`, which follows from `parameter`, can be counted in packets.
    ///
    /// # Errors
    /// A message that is too long for a network.
    pub fn check_largest(&self, parameter: &'static str, largest: Bytes) -> Result<(), Error> {
        self.machine().map_or(Ok(()), |machine| check_largest(machine, parameter, largest))
    }

    /// Checks that no send of `size` waits for its receiver, as servers that did could wait for each other.
    ///
    /// # Errors
    /// A machine where one does.
    pub(crate) fn check_sends_do_not_wait(&self, size: Bytes) -> Result<(), Error> {
        match self.machine().filter(|machine| machine.waits_for_receivers(size)) {
            Some(machine) => {
                let allowed = "a machine whose sends do not wait for receivers: servers could wait for each other";
                Err(Error::parameter("machine", &machine.name, allowed))
            }
            None => Ok(()),
        }
    }

    /// Whether a send of `size` completes only when the receiving program has the message.
    pub fn waits_for_receivers(&self, size: Bytes) -> bool {
        self.machine().is_some_and(|machine| machine.waits_for_receivers(size))
    }

    /// Makes sends complete when the message has arrived, if they would wait until the receiver asks for it, and
    /// returns whether they would. Messages that a network announces to the receiver are unchanged.
    pub fn send_without_waiting(&mut self) -> bool {
        let Some(mut machine) = self.machine().cloned() else { return false };
        let would_wait = machine.send_without_waiting();
        if would_wait {
            self.changed = Some(machine);
        }
        would_wait
    }

    /// The order of a rank that both sends and receives in a step, with messages of at most `largest`: where sends wait
    /// for their receivers they alternate, as in the CM-5 paper, on whose machine they waited.
    pub fn order(&self, largest: Bytes) -> SendReceiveOrder {
        if self.waits_for_receivers(largest) { SendReceiveOrder::Alternating } else { SendReceiveOrder::Sendrecv }
    }

    /// A message of `size`: with bytes if it really goes from rank to rank, otherwise only its size.
    pub fn message(&self, size: Bytes) -> Message {
        let length = usize::try_from(size.0).ok().filter(|_| self.is_real());
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
    let Machine { nodes, name, .. } = machine;
    let allowed = || format!("1 to {nodes}, the nodes of {name}");
    match requested {
        Some(ranks) if ranks == 0 || ranks > *nodes => Err(Error::parameter("nodes", ranks, allowed())),
        Some(ranks) => Ok(ranks),
        // Its number of nodes is only an upper limit.
        None if machine.model().is_without_contention() => Err(Error::parameter("nodes", "nothing", allowed())),
        None => Ok(*nodes),
    }
}

/// Checks that `machine` can count a message of `largest`, which follows from `parameter`, in packets.
///
/// # Errors
/// A message that is too long for a network.
pub fn check_largest(machine: &Machine, parameter: &'static str, largest: Bytes) -> Result<(), Error> {
    if machine.network().is_none() || largest <= LARGEST_MESSAGE {
        return Ok(());
    }
    let allowed = format!("messages of at most {LARGEST_MESSAGE} on a network");
    Err(Error::parameter(parameter, format!("a message of {largest}"), allowed))
}
