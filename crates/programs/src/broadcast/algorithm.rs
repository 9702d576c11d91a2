//! All broadcast algorithms by name, and each as a program.

use endpoint::{Endpoint, Message, Program, Result};
use quantities::Bytes;

use crate::Group;
use crate::catalogue::{Cost, Entry, catalogue};
use crate::postal::Lambda;

/// A broadcast algorithm: its catalogue entries, and how it runs.
pub(super) trait BroadcastAlgorithm {
    /// Its catalogue entries: one for each of its names, the usual one first.
    const ENTRIES: &'static [Entry<Algorithm>];

    /// The entry of this algorithm.
    fn entry(&self) -> &'static Entry<Algorithm> {
        &Self::ENTRIES[0]
    }

    /// Broadcasts the source's `message`; that of the others is overwritten.
    async fn run<E: Endpoint>(&self, endpoint: &E, call: &Call<'_>, message: &mut Message) -> Result<()>;

    /// As [`Catalogue::cost`](crate::catalogue::Catalogue::cost).
    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost;

    /// As [`Algorithm::messages`].
    fn messages(&self, _ranks: u32) -> Option<u64> {
        None
    }

    /// As [`Algorithm::cuts`].
    fn cuts(&self) -> bool {
        false
    }
}

/// What all ranks of a broadcast agree on.
pub(super) struct Call<'a> {
    /// The ranks that take part, in order, the source first.
    pub(super) group: &'a Group,
    /// The size of the message.
    pub(super) size: Bytes,
}

catalogue! {
    /// A broadcast algorithm, with its parameters.
    BroadcastAlgorithm, each, $:
    linear::Linear,
    binomial::Binomial,
    recursive::Recursive,
    lambda_tree::LambdaTree,
    two_queue::TwoQueue,
    segmented::Segmented,
    scatter_gather::ScatterGather,
    hardware::Hardware,
}

impl Algorithm {
    /// How many messages it sends among `ranks` ranks, if that depends on nothing else.
    pub fn messages(&self, ranks: u32) -> Option<u64> {
        each!(self, it => it.messages(ranks))
    }

    /// Whether it cuts the message into parts, so that every rank must know its size.
    pub fn cuts(&self) -> bool {
        each!(self, it => it.cuts())
    }

    /// Broadcasts the source's `message`, of `size`; that of the others is overwritten.
    ///
    /// # Errors
    /// Those of sending and receiving; a message of another size.
    pub async fn broadcast<E: Endpoint>(
        &self,
        endpoint: &E,
        group: &Group,
        size: Bytes,
        message: &mut Message,
    ) -> Result<()> {
        let call = Call { group, size };
        each!(self, it => it.run(endpoint, &call, message).await)
    }
}

/// A broadcast as a program. For one in hardware use [`HardwareBroadcast`](super::HardwareBroadcast): as this program it ends
/// with [`endpoint::Error::Undeclared`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broadcast {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The ranks that take part, in order, the source first.
    pub group: Group,
    /// The message.
    pub message: Message,
}

impl Program for Broadcast {
    /// The message as this rank has it at the end; an empty one at a rank that is not in the group.
    type Output = Message;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Message> {
        let Broadcast { algorithm, group, message: own } = self;
        let mut message = if endpoint.rank() == group.source() { own.clone() } else { Message::default() };
        algorithm.broadcast(endpoint, group, own.size(), &mut message).await?;
        Ok(message)
    }
}
