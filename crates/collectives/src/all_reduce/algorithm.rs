//! All all-reduce algorithms by name, and each as a program.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::Bytes;

use super::{AllReduceContext, Combine, Sends};
use crate::Group;
use crate::blocks::WHOLE;
use crate::catalogue::{Cost, Entry, catalogue};
use crate::postal::Lambda;
use crate::{Blocks, Call, Performs};

/// An all-reduce algorithm: its catalogue entries, and how it runs.
pub(super) trait AllReduceAlgorithm {
    /// Its catalogue entries: one for each of its names, the usual one first.
    const ENTRIES: &'static [Entry<Algorithm>];

    /// The entry of this algorithm.
    fn entry(&self) -> &'static Entry<Algorithm> {
        &Self::ENTRIES[0]
    }

    /// Replaces `message`, this rank's data, by the combination of all ranks' data.
    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        context: &AllReduceContext<'_, C>,
        message: &mut Message,
    ) -> Result<()>;

    /// As [`Catalogue::cost`](crate::catalogue::Catalogue::cost).
    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost;
}

catalogue! {
    /// An all-reduce algorithm, with its parameters.
    AllReduceAlgorithm, each, $:
    census::Census,
    reduce_broadcast::ReduceBroadcast,
    recursive_doubling::RecursiveDoubling,
    ring::Ring,
    rabenseifner::Rabenseifner,
}

impl Algorithm {
    /// Replaces `message`, this rank's data, by the combination of all ranks' data.
    ///
    /// # Errors
    /// Those of sending and receiving; messages that do not consist of whole elements.
    pub async fn all_reduce<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        context: &AllReduceContext<'_, C>,
        message: &mut Message,
    ) -> Result<()> {
        each!(self, it => it.run(endpoint, context, message).await)
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
        let context = AllReduceContext { group: &group, operator: call.operator, sends: call.sends };
        let mut message = blocks.take([WHOLE])?;
        self.all_reduce(endpoint, &context, &mut message).await?;
        blocks.put([WHOLE], &message)
    }
}

/// The ranks' input data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// This many bytes each, whose content nobody reads.
    OfSize(Bytes),
    /// A message each, in the order of the group.
    Messages(Vec<Message>),
}

/// The all-reduce of given messages as a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllReduceMessages<C> {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The ranks that take part.
    pub group: Group,
    /// The operator that combines two messages.
    pub operator: C,
    /// The data to combine.
    pub inputs: Inputs,
    /// When sends of this size end on the machine.
    pub sends: Sends,
}

impl<C: Combine> AllReduceMessages<C> {
    /// A rank's input; empty if it is not in the group.
    fn input<E: Endpoint>(&self, endpoint: &E) -> Result<Message> {
        let place = self.group.place_of(endpoint.rank());
        match &self.inputs {
            Inputs::OfSize(bytes) => Ok(place.map_or(Message::default(), |_| Message::of_size(*bytes))),
            Inputs::Messages(messages) if messages.len() == self.group.len() as usize => {
                Ok(place.map_or(Message::default(), |place| messages[place as usize].clone()))
            }
            Inputs::Messages(messages) => {
                let (given, ranks) = (messages.len(), self.group.len());
                Err(Error::Unfit(format!("{given} messages to be combined do not fit a group of {ranks} ranks")))
            }
        }
    }
}

impl<C: Combine> Program for AllReduceMessages<C> {
    /// The result; an empty message at a rank that is not in the group.
    type Output = Message;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Message> {
        let AllReduceMessages { algorithm, group, operator, sends, .. } = self;
        let context = AllReduceContext { group, operator, sends: *sends };
        let mut message = self.input(endpoint)?;
        algorithm.all_reduce(endpoint, &context, &mut message).await?;
        Ok(message)
    }
}
