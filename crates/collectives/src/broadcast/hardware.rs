//! Broadcast over the machine's broadcast network.

use endpoint::{Endpoint, Message, Needs, Program, Result, check_partner};
use quantities::{Bytes, Rank};

use super::algorithm::{Algorithm, BroadcastAlgorithm};
use crate::Group;
use crate::catalogue::{Cost, Entry};
use crate::postal::Lambda;

/// Broadcast of `message` from rank `root` to all ranks by hardware, in one step. The other ranks' own `message` is
/// overwritten.
///
/// All ranks of the program take part: it can't be limited to a group. On a control network of rate r and latency L,
/// with an overhead o at both ends and a message of s bytes: T = o + s / r + L + o, whatever the number of ranks.
///
/// Source: the system broadcast of the CM-5 ("Scheduling Regular and Irregular Communication Patterns on the CM-5",
/// sections 2 and 3.6).
///
/// # Errors
/// When `root` is not a rank of the program, when the machine has no such network, and the errors of sending and
/// receiving.
pub async fn hardware<E: Endpoint>(endpoint: &E, root: Rank, message: &mut Message) -> Result<()> {
    if endpoint.rank() == root {
        return endpoint.multicast(message.clone()).await;
    }
    check_partner(endpoint.rank(), root, endpoint.size())?;
    *message = endpoint.receive_multicast(root).await?;
    Ok(())
}

/// [`hardware`] as a program that declares that it broadcasts in hardware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardwareBroadcast {
    /// The rank that has the message at first.
    pub root: Rank,
    /// The message.
    pub message: Message,
}

impl Program for HardwareBroadcast {
    const NEEDS: Needs = Needs::MULTICAST;
    /// The message as this rank has it at the end.
    type Output = Message;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Message> {
        let mut message = if endpoint.rank() == self.root { self.message.clone() } else { Message::default() };
        hardware(endpoint, self.root, &mut message).await?;
        Ok(message)
    }
}

/// [`hardware`] in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware;

impl BroadcastAlgorithm for Hardware {
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "hardware",
        about: "By the machine's control network",
        formula: "o + s / r + L + o with the rate r and the latency L of the control network",
        parameters: &[],
        needs: Needs::MULTICAST,
        make: |_| Ok(Hardware.into()),
    }];

    async fn run<E: Endpoint>(&self, endpoint: &E, group: &Group, _: Bytes, message: &mut Message) -> Result<()> {
        hardware(endpoint, group.source(), message).await
    }

    fn cost(&self, _: Lambda, ranks: u32, _: Bytes) -> Cost {
        // Nothing goes over the data network between the nodes.
        Cost { messages: f64::from(ranks), ..Cost::default() }
    }
}
