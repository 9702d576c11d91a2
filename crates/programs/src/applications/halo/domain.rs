//! One rank's part of a partitioned mesh.

use std::ops::Range;

use endpoint::{Error, Message, Result};
use quantities::Rank;

use super::Halo;
use crate::applications::partition::Partition;
use crate::applications::values::{Value, packed, unpacked};

/// The vertices whose values a rank keeps: its own, and copies of those of other ranks that share an edge with them.
///
/// ```text
///   place     0 .. own        own ..
///            +----------+    +-------------+-------------+
///            |   own    |    | of rank 3   | of rank 7   |   copies
///            +----------+    +-------------+-------------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    own: Vec<u32>,
    places: usize,
    links: Vec<DomainEdge>,
    /// The receivers, with the places whose values they are sent.
    sent: Vec<(Rank, Vec<u32>)>,
    /// The senders, with the places for their values.
    received: Vec<(Rank, Range<usize>)>,
}

/// An edge with at least one end that is the rank's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainEdge {
    /// Its number among all edges of the mesh.
    pub edge: u32,
    /// The places of its ends, in the order of the edge.
    pub ends: [u32; 2],
}

impl Domain {
    /// The domain of each rank. The links of each are in the order of `edges`, so that a sum over the links of a vertex
    /// has the same terms in the same order, whatever the number of ranks.
    pub fn all(partition: &Partition, edges: &[[u32; 2]]) -> Vec<Domain> {
        let halo = Halo::new(partition, edges);
        let mut domains: Vec<Domain> = partition.members().into_iter().map(Domain::with_vertices).collect();
        // For each rank, its copies with their places, sorted by vertex.
        let mut copies: Vec<Vec<(u32, u32)>> = vec![Vec::new(); domains.len()];
        for from in (0..halo.ranks()).map(Rank) {
            for (to, vertices) in halo.sent_by(from) {
                let receiver = &mut domains[to.0 as usize];
                let places = receiver.places..receiver.places + vertices.len();
                copies[to.0 as usize].extend(vertices.iter().copied().zip(places.start as u32..));
                receiver.places = places.end;
                receiver.received.push((from, places));
                let sender = &mut domains[from.0 as usize];
                let sent = vertices.iter().map(|&vertex| sender.own_place(vertex)).collect();
                sender.sent.push((*to, sent));
            }
        }
        copies.iter_mut().for_each(|copies| copies.sort_unstable());
        for (edge, &ends) in (0..).zip(edges) {
            let owners = ends.map(|end| partition.part_of()[end as usize] as usize);
            let both = [owners[0], owners[1]];
            for &owner in if owners[0] == owners[1] { &both[..1] } else { &both[..] } {
                let place = |end: usize| match owners[end] == owner {
                    true => domains[owner].own_place(ends[end]),
                    false => place_of_copy(&copies[owner], ends[end]),
                };
                let link = DomainEdge { edge, ends: [place(0), place(1)] };
                domains[owner].links.push(link);
            }
        }
        domains
    }

    fn with_vertices(own: Vec<u32>) -> Domain {
        Domain { places: own.len(), own, links: Vec::new(), sent: Vec::new(), received: Vec::new() }
    }

    fn own_place(&self, vertex: u32) -> u32 {
        self.own.partition_point(|&own| own < vertex) as u32
    }

    /// The rank's own vertices, in ascending order; their values come first.
    pub fn own(&self) -> &[u32] {
        &self.own
    }

    /// How many values it keeps: of own vertices and of copies.
    pub fn places(&self) -> usize {
        self.places
    }

    /// The edges with at least one own end, in ascending order.
    pub fn links(&self) -> &[DomainEdge] {
        &self.links
    }

    /// The ranks that it sends to, in ascending order.
    pub(super) fn partners(&self) -> impl Iterator<Item = &Rank> {
        self.sent.iter().map(|(partner, _)| partner)
    }

    /// The message with its own values that rank `to` keeps copies of.
    pub(super) fn message<T: Value>(&self, to: Rank, own: &[T]) -> Message {
        let places = self.sent.iter().find(|(partner, _)| *partner == to).map(|(_, places)| places.as_slice());
        packed(places.unwrap_or_default().iter().map(|&place| own[place as usize]))
    }

    /// Stores the values received from rank `from` in their places among the copies.
    ///
    /// # Errors
    /// [`Error::Unfit`] when they are not the expected ones.
    pub(super) fn take<T: Value>(&self, from: Rank, message: &Message, copies: &mut [T]) -> Result<()> {
        let places = self.received.iter().find(|(partner, _)| *partner == from).map(|(_, places)| places.clone());
        let Range { start, end } = places.unwrap_or(self.own.len()..self.own.len());
        let kept = &mut copies[start - self.own.len()..end - self.own.len()];
        let came = unpacked(message).filter(|came| came.len() == kept.len());
        let Some(came) = came else {
            let (bytes, due) = (message.size(), kept.len() * T::BYTES);
            return Err(Error::Unfit(format!("rank {from} sent {bytes} of its halo; {due} B were due")));
        };
        kept.copy_from_slice(&came);
        Ok(())
    }
}

fn place_of_copy(copies: &[(u32, u32)], vertex: u32) -> u32 {
    let index = copies.partition_point(|&(copy, _)| copy < vertex);
    copies[index].1
}
