//! The lambda tree built node by node.

use std::collections::VecDeque;

use endpoint::{Endpoint, Error, Message, Needs, Result};
use quantities::Bytes;

use super::Links;
use super::algorithm::{Algorithm, BroadcastAlgorithm};
use crate::Group;
use crate::catalogue::{Cost, Entry, Parameter, Stretch};
use crate::postal::{Lambda, Steps};

/// A whole broadcast tree: for every place of a group, where it gets the message from and where it passes it on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    links: Vec<Links>,
    /// When each place receives the message, in units of 1 / f.
    received: Vec<u64>,
    lambda: Lambda,
}

impl Tree {
    /// The lambda tree of `n` places, by the greedy construction with two queues: the place that can send first gets
    /// the next place as its child. Takes O(n) time.
    ///
    /// ```text
    ///   old queue     places that have sent before, by the time at which they can send again
    ///   new queue     places that have not,         by the time at which they have the message
    ///
    ///   until there are n:  take place i with the earlier time t from the front of the two,
    ///                       put the new place s with t + lambda into the new queue, i with t + 1 into the old one
    /// ```
    ///
    /// Both queues stay sorted, as the times taken never decrease. Of equal times, the new queue's is taken first.
    ///
    /// Source: the postal paper, section 2.3.
    pub fn two_queue(lambda: Lambda, n: u32) -> Tree {
        let (u, f) = (lambda.scaled(), lambda.scale());
        let mut tree = Tree { links: vec![Links::default()], received: vec![0], lambda };
        let mut old: VecDeque<(u64, u32)> = VecDeque::new();
        let mut new = VecDeque::from([(0, 0)]);
        for s in 1..n {
            let from_new = match (new.front(), old.front()) {
                (Some(new), Some(old)) => new.0 <= old.0,
                (front, _) => front.is_some(),
            };
            let Some((t, i)) = (if from_new { new.pop_front() } else { old.pop_front() }) else { break };
            tree.links[i as usize].children.push(s);
            tree.links.push(Links { parent: Some(i), children: Vec::new() });
            tree.received.push(t + u);
            new.push_back((t + u, s));
            old.push_back((t + f, i));
        }
        tree
    }

    /// How many places it has: at least one.
    #[allow(clippy::len_without_is_empty)] // none is empty
    pub fn len(&self) -> u32 {
        self.links.len() as u32
    }

    /// The links of a place.
    pub fn links(&self, place: u32) -> Option<&Links> {
        self.links.get(place as usize)
    }

    /// When a place receives the message.
    pub fn received(&self, place: u32) -> Option<Steps> {
        Some(Steps::new(*self.received.get(place as usize)?, self.lambda.scale()))
    }

    /// When all places have it.
    pub fn time(&self) -> Steps {
        Steps::new(self.received.iter().copied().max().unwrap_or(0), self.lambda.scale())
    }
}

/// Broadcast of `message` from the source of `group` along `tree`. The others' own `message` is overwritten; a rank
/// that is not in the group does nothing.
///
/// n ranks: n - 1 messages; in the postal model T = T_lambda(n) t0. The tree by splitting is tested against this one,
/// which takes O(n) memory.
///
/// # Errors
/// When the group has ranks outside the program, or another number of them than the tree has; and the errors of sending
/// and receiving.
pub async fn along_tree<E: Endpoint>(endpoint: &E, group: &Group, tree: &Tree, message: &mut Message) -> Result<()> {
    group.check(endpoint.size())?;
    if tree.len() != group.len() {
        let (places, ranks) = (tree.len(), group.len());
        return Err(Error::Unfit(format!("a tree of {places} places does not fit a group of {ranks} ranks")));
    }
    match group.place_of(endpoint.rank()).and_then(|place| tree.links(place)) {
        Some(links) => links.pass_on(endpoint, group, message).await,
        None => Ok(()),
    }
}

/// [`along_tree`] in the catalogue, with the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoQueue(pub Tree);

impl BroadcastAlgorithm for TwoQueue {
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "two-queue",
        about: "The lambda tree for --lambda, built node by node",
        formula: "T_lambda(n) t0",
        parameters: &[Parameter::Lambda],
        needs: Needs::NOTHING,
        make: |parameters| Ok(TwoQueue(Tree::two_queue(parameters.lambda()?, parameters.ranks)).into()),
    }];

    async fn run<E: Endpoint>(&self, endpoint: &E, group: &Group, _: Bytes, message: &mut Message) -> Result<()> {
        along_tree(endpoint, group, &self.0, message).await
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        Cost::of(f64::from(ranks), bytes, vec![Stretch::of(self.0.time().as_f64(), 0.0, bytes)])
    }

    fn messages(&self, ranks: u32) -> Option<u64> {
        Some(u64::from(ranks) - 1)
    }
}
