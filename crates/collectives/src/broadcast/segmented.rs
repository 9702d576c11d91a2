//! Broadcast of a long message in segments.

use endpoint::{Endpoint, Error, Message, Needs, Result};
use quantities::Bytes;

use super::Links;
use super::algorithm::{Algorithm, BroadcastAlgorithm};
use super::lambda_tree::reaches;
use crate::Group;
use crate::catalogue::{Cost, Entry, Parameter, Stretch, halvings};
use crate::pieces::{Gathered, piece};
use crate::postal::{Lambda, Splitting};

/// The tree along which segments are pipelined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// Every rank passes them on to the next of the group.
    Chain,
    /// Along the tree that splitting the group makes.
    Tree(Splitting),
}

/// Broadcast of `message`, which is of `size`, from the source of `group` in segments of `segment` along `pipe`: a rank
/// forwards a segment while the next one is on its way to it. The others' own `message` is overwritten; a rank that is
/// not in the group does nothing.
///
/// ```text
///   0 -> 1 -> 2 -> 3        segment   3    2    1        on a chain of four, the third step
/// ```
///
/// n ranks and m = size / segment segments, rounded up: (n - 1) m messages. In the postal model, with t0 and lambda
/// those of a segment, a chain takes T = (m - 1 + (n - 1) lambda) t0, and a tree (m - 1) d t0 more than one segment,
/// where d is the largest number of children of a rank.
///
/// Source: the chain is the usual pipeline, as in the "pipelined broadcast" of Watts and van de Geijn, Parallel
/// Processing Letters 5(2), 1995.
///
/// # Errors
/// When segments have no bytes, the source's `message` has another size, the group has ranks outside the program or
/// more than a table goes to; and the errors of sending and receiving.
pub async fn segmented<E: Endpoint>(
    endpoint: &E,
    group: &Group,
    pipe: &Pipe,
    segment: Bytes,
    size: Bytes,
    message: &mut Message,
) -> Result<()> {
    group.check(endpoint.size())?;
    if segment.0 == 0 {
        return Err(Error::Unfit("segments of 0 B: allowed is 1 B or more".to_owned()));
    }
    let Some(me) = group.place_of(endpoint.rank()) else { return Ok(()) };
    let links = links(pipe, group.len(), me)?;
    of_known_size(group, endpoint, message, size)?;

    let mut received = Gathered::default();
    // An empty message is one segment too.
    for number in 0..size.0.div_ceil(segment.0).max(1) {
        let start = number * segment.0;
        let payload = match links.parent {
            Some(parent) => endpoint.receive(group.rank_at(parent)).await?,
            None => piece(message, start..size.0.min(start.saturating_add(segment.0))),
        };
        for &child in &links.children {
            endpoint.send(group.rank_at(child), payload.clone()).await?;
        }
        // Segments arrive in order, which a stable sort by place keeps.
        received.put(0, payload);
    }
    if links.parent.is_some() {
        *message = received.joined();
    }
    Ok(())
}

fn links(pipe: &Pipe, n: u32, me: u32) -> Result<Links> {
    match pipe {
        Pipe::Chain => {
            let next = me + 1;
            Ok(Links { parent: me.checked_sub(1), children: (next < n).then_some(next).into_iter().collect() })
        }
        Pipe::Tree(splitting) => {
            reaches(splitting, n)?;
            Ok(Links::by_splitting(splitting, n, me))
        }
    }
}

/// Checks that the source's message has the size that all ranks were given.
pub(super) fn of_known_size<E: Endpoint>(group: &Group, endpoint: &E, message: &Message, size: Bytes) -> Result<()> {
    if endpoint.rank() == group.source() && message.size() != size {
        return Err(Error::Unfit(format!("the source has {}, but the broadcast is of {size}", message.size())));
    }
    Ok(())
}

/// [`segmented`] in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segmented {
    /// The tree that segments follow.
    pub pipe: Pipe,
    /// The size of a segment.
    pub segment: Bytes,
}

impl BroadcastAlgorithm for Segmented {
    const ENTRIES: &'static [Entry<Algorithm>] = &[
        Entry {
            name: "pipeline",
            about: "In segments along a chain of all nodes",
            formula: "(m - 1 + (n - 1) lambda) t0 with m segments, lambda and t0 being those of a segment",
            parameters: &[Parameter::Segment],
            needs: Needs::NOTHING,
            make: |parameters| Ok(Segmented { pipe: Pipe::Chain, segment: parameters.segment() }.into()),
        },
        Entry {
            name: "segmented-tree",
            about: "In segments along the tree by splitting",
            formula: "(T_lambda(n) + (m - 1) d) t0 with m segments, lambda and t0 being those of a segment, d children at most",
            parameters: &[Parameter::Alpha, Parameter::Lambda, Parameter::Segment],
            needs: Needs::NOTHING,
            make: |parameters| {
                let pipe = Pipe::Tree(parameters.splitting()?);
                Ok(Segmented { pipe, segment: parameters.segment() }.into())
            },
        },
    ];

    fn entry(&self) -> &'static Entry<Algorithm> {
        match self.pipe {
            Pipe::Chain => &Self::ENTRIES[0],
            Pipe::Tree(_) => &Self::ENTRIES[1],
        }
    }

    async fn run<E: Endpoint>(&self, endpoint: &E, group: &Group, size: Bytes, message: &mut Message) -> Result<()> {
        segmented(endpoint, group, &self.pipe, self.segment, size, message).await
    }

    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let (n, m) = (f64::from(ranks), bytes.0.div_ceil(self.segment.0.max(1)).max(1) as f64);
        let stretch = match &self.pipe {
            Pipe::Chain => Stretch::of(m - 1.0, n - 1.0, self.segment),
            Pipe::Tree(splitting) => {
                // Each further segment takes the source as many sends as it has children.
                let (first, children) = (splitting.time(lambda, u64::from(ranks)), f64::from(halvings(ranks)));
                Stretch::of(first.as_f64() + (m - 1.0) * children, 0.0, self.segment)
            }
        };
        let to_next_rank = matches!(self.pipe, Pipe::Chain);
        Cost { messages: n * m, bytes: n * bytes.0 as f64, to_next_rank, chain: vec![stretch] }
    }

    fn needs_sizes(&self) -> bool {
        true
    }
}
