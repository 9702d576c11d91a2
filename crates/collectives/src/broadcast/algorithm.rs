//! All broadcast algorithms by name, and each as a program.

use endpoint::{Endpoint, Message, Program, Result};
use quantities::Bytes;

use crate::Group;
use crate::all_reduce::Combine;
use crate::blocks::WHOLE;
use crate::catalogue::{Cost, Entry, catalogue};
use crate::postal::Lambda;
use crate::{Blocks, Call, Performs};

/// A broadcast algorithm: its catalogue entries, and how it runs.
pub(super) trait BroadcastAlgorithm {
    /// Its catalogue entries: one for each of its names, the usual one first.
    const ENTRIES: &'static [Entry<Algorithm>];

    /// The entry of this algorithm.
    fn entry(&self) -> &'static Entry<Algorithm> {
        &Self::ENTRIES[0]
    }

    /// Broadcasts the `message` of the source of `group`, which is of `size`; that of the others is overwritten.
    async fn run<E: Endpoint>(&self, endpoint: &E, group: &Group, size: Bytes, message: &mut Message) -> Result<()>;

    /// As [`Catalogue::cost`](crate::catalogue::Catalogue::cost).
    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost;

    /// As [`Performs::messages`].
    fn messages(&self, _ranks: u32) -> Option<u64> {
        None
    }

    /// As [`Performs::needs_sizes`].
    fn needs_sizes(&self) -> bool {
        false
    }
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
        each!(self, it => it.run(endpoint, group, size, message).await)
    }
}

impl Performs for Algorithm {
    async fn perform<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()> {
        let group = Group::from_source(call.root, endpoint.size())?;
        let mut message = if endpoint.rank() == call.root { blocks.take([WHOLE])? } else { Message::default() };
        self.broadcast(endpoint, &group, blocks.size_of(WHOLE), &mut message).await?;
        blocks.put([WHOLE], &message)
    }

    fn messages(&self, ranks: u32) -> Option<u64> {
        each!(self, it => BroadcastAlgorithm::messages(it, ranks))
    }

    fn needs_sizes(&self) -> bool {
        each!(self, it => BroadcastAlgorithm::needs_sizes(it))
    }
}

/// The broadcast of a given message as a program. For one in hardware use
/// [`HardwareBroadcast`](super::HardwareBroadcast): as this program it ends with [`endpoint::Error::Undeclared`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroadcastMessage {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The ranks that take part, in order, the source first.
    pub group: Group,
    /// The message.
    pub message: Message,
}

impl Program for BroadcastMessage {
    /// The message as this rank has it at the end; an empty one at a rank that is not in the group.
    type Output = Message;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Message> {
        let BroadcastMessage { algorithm, group, message: own } = self;
        let mut message = if endpoint.rank() == group.source() { own.clone() } else { Message::default() };
        algorithm.broadcast(endpoint, group, own.size(), &mut message).await?;
        Ok(message)
    }
}
