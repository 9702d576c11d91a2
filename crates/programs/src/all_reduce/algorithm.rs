//! Every global combine by name, and each as a program.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Duration};

use super::{AllReduceContext, Census, Combine, census, rabenseifner, recursive_doubling, reduce_broadcast, ring};
use crate::postal::{Lambda, Splitting};
use crate::{Group, Sends};

/// A way to combine what all ranks have, with what it has to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The census of the postal model: [`census`].
    Census(Census),
    /// To the source and back along the tree by splitting: [`reduce_broadcast`].
    ReduceBroadcast(Splitting),
    /// Exchanges of everything: [`recursive_doubling`].
    RecursiveDoubling,
    /// Round the ring twice: [`ring`].
    Ring,
    /// Exchanges of halves: [`rabenseifner`].
    Rabenseifner,
}

impl Algorithm {
    /// The names of all of them.
    pub const NAMES: [&'static str; 6] =
        ["delay-receive", "delay-send", "reduce-broadcast", "recursive-doubling", "ring", "rabenseifner"];

    /// Its name, without what it was told. A census is called by what it delays.
    pub const fn name(&self) -> &'static str {
        match self {
            Algorithm::Census(census) if census.delays_sends() => "delay-send",
            Algorithm::Census(_) => "delay-receive",
            Algorithm::ReduceBroadcast(_) => "reduce-broadcast",
            Algorithm::RecursiveDoubling => "recursive-doubling",
            Algorithm::Ring => "ring",
            Algorithm::Rabenseifner => "rabenseifner",
        }
    }

    /// The size of the largest message that ranks send each other in a ring or in pairs, if they do so at all, when `size`
    /// bytes in elements of `element` are combined in a group of `ranks`. Only where sends of so much are synchronous need
    /// a program be told.
    pub fn ring_message(&self, size: Bytes, element: Bytes, ranks: u32) -> Option<Bytes> {
        let block = |blocks: u32| {
            let element = element.0.max(1);
            Bytes((size.0 / element).div_ceil(u64::from(blocks.max(1))).saturating_mul(element))
        };
        match self {
            Algorithm::Census(_) | Algorithm::RecursiveDoubling => Some(size),
            Algorithm::ReduceBroadcast(_) => None,
            Algorithm::Ring => Some(block(ranks)),
            Algorithm::Rabenseifner => Some(block(2)),
        }
    }

    /// Those that there are for a group of `size` ranks where the latency is `lambda` and a send takes `t0`.
    pub fn all(lambda: Lambda, t0: Duration, size: u32) -> Vec<Algorithm> {
        vec![
            Algorithm::Census(Census::delay_receive(lambda, size)),
            Algorithm::Census(Census::delay_send(lambda, t0, size)),
            Algorithm::ReduceBroadcast(Splitting::optimal(lambda, u64::from(size))),
            Algorithm::RecursiveDoubling,
            Algorithm::Ring,
            Algorithm::Rabenseifner,
        ]
    }
}

/// What the ranks have at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// So many bytes each, which nobody looks at.
    OfSize(Bytes),
    /// A message each, in the order of the group.
    Messages(Vec<Message>),
}

/// A global combine as a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllReduce<C> {
    /// How.
    pub algorithm: Algorithm,
    /// Who takes part.
    pub group: Group,
    /// How two messages become one.
    pub operator: C,
    /// What is combined.
    pub inputs: Inputs,
    /// When the sends of the machine are over.
    pub sends: Sends,
}

impl<C: Combine> AllReduce<C> {
    /// What a rank has at first; nothing, if it is not in the group.
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

impl<C: Combine> Program for AllReduce<C> {
    /// The result; an empty message at a rank that is not in the group.
    type Output = Message;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Message> {
        let AllReduce { algorithm, group, operator, sends, .. } = self;
        let context = AllReduceContext { group, operator, sends: *sends };
        let mut message = self.input(endpoint)?;
        match algorithm {
            Algorithm::Census(plan) => census(endpoint, &context, plan, &mut message).await?,
            Algorithm::ReduceBroadcast(splitting) => {
                reduce_broadcast(endpoint, &context, splitting, &mut message).await?;
            }
            Algorithm::RecursiveDoubling => recursive_doubling(endpoint, &context, &mut message).await?,
            Algorithm::Ring => ring(endpoint, &context, &mut message).await?,
            Algorithm::Rabenseifner => rabenseifner(endpoint, &context, &mut message).await?,
        }
        Ok(message)
    }
}
