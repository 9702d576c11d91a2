//! Every broadcast by name, and each as a program.

use endpoint::{Endpoint, Message, Program, Result};
use quantities::Bytes;

use super::{Pipe, Tree, along_tree, bcast, binomial_among, linear, recursive, scatter_gather, segmented};
use crate::postal::{Lambda, Splitting};
use crate::{Group, Sends};

/// A way to broadcast, with what it has to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The source sends to all others: [`linear`].
    Linear,
    /// Doubling distances: [`binomial_among`].
    Binomial,
    /// Halving distances: [`recursive`].
    Recursive,
    /// Recursive splitting: [`bcast`].
    LambdaTree(Splitting),
    /// The lambda tree built node by node: [`along_tree`].
    TwoQueue(Tree),
    /// In segments of so many bytes: [`segmented`].
    Segmented(Pipe, Bytes),
    /// Van de Geijn's, for long messages: [`scatter_gather`].
    ScatterGather,
}

impl Algorithm {
    /// The names of all of them.
    pub const NAMES: [&'static str; 8] =
        ["linear", "binomial", "recursive", "lambda-tree", "two-queue", "pipeline", "segmented-tree", "scatter-gather"];

    /// Its name, without what it was told.
    pub const fn name(&self) -> &'static str {
        match self {
            Algorithm::Linear => "linear",
            Algorithm::Binomial => "binomial",
            Algorithm::Recursive => "recursive",
            Algorithm::LambdaTree(_) => "lambda-tree",
            Algorithm::TwoQueue(_) => "two-queue",
            Algorithm::Segmented(Pipe::Chain, _) => "pipeline",
            Algorithm::Segmented(Pipe::Tree(_), _) => "segmented-tree",
            Algorithm::ScatterGather => "scatter-gather",
        }
    }

    /// The size of the largest message that ranks send each other in a ring, if they do so at all, when a message of
    /// `size` is broadcast in a group of `ranks`. Only where sends of so much are synchronous need a program be told.
    pub fn ring_message(&self, size: Bytes, ranks: u32) -> Option<Bytes> {
        matches!(self, Algorithm::ScatterGather).then(|| Bytes(size.0.div_ceil(u64::from(ranks.max(1)))))
    }

    /// Those that there are for a group of `size` ranks where the latency is `lambda`, long messages going in segments of
    /// `segment`.
    pub fn all(lambda: Lambda, size: u32, segment: Bytes) -> Vec<Algorithm> {
        let optimal = Splitting::optimal(lambda, u64::from(size));
        vec![
            Algorithm::Linear,
            Algorithm::Binomial,
            Algorithm::Recursive,
            Algorithm::LambdaTree(optimal.clone()),
            Algorithm::TwoQueue(Tree::two_queue(lambda, size)),
            Algorithm::Segmented(Pipe::Chain, segment),
            Algorithm::Segmented(Pipe::Tree(optimal), segment),
            Algorithm::ScatterGather,
        ]
    }
}

/// A broadcast as a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broadcast {
    /// How.
    pub algorithm: Algorithm,
    /// From whom and to whom, in which order.
    pub group: Group,
    /// The message.
    pub message: Message,
    /// When the sends of the machine are over.
    pub sends: Sends,
}

impl Program for Broadcast {
    /// The message, as this rank has it in the end; an empty one at a rank that is not in the group.
    type Output = Message;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Message> {
        let Broadcast { algorithm, group, message: own, sends } = self;
        let mut message = if endpoint.rank() == group.source() { own.clone() } else { Message::default() };
        match algorithm {
            Algorithm::Linear => linear(endpoint, group, &mut message).await?,
            Algorithm::Binomial => binomial_among(endpoint, group, &mut message).await?,
            Algorithm::Recursive => recursive(endpoint, group, &mut message).await?,
            Algorithm::LambdaTree(splitting) => bcast(endpoint, group, splitting, &mut message).await?,
            Algorithm::TwoQueue(tree) => along_tree(endpoint, group, tree, &mut message).await?,
            Algorithm::Segmented(pipe, segment) => {
                segmented(endpoint, group, pipe, *segment, own.size(), &mut message).await?;
            }
            Algorithm::ScatterGather => scatter_gather(endpoint, group, *sends, own.size(), &mut message).await?,
        }
        Ok(message)
    }
}
