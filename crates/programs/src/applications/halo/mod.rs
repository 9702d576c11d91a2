//! The data that the ranks of a partitioned mesh exchange.

mod domain;
mod exchanges;

pub use domain::{Domain, DomainEdge};
pub use exchanges::Exchanges;

use quantities::Rank;

use super::partition::Partition;

/// The vertices that every rank sends to each other one: its own vertices that are next to one of the other's.
///
/// ```text
///    rank 0 | rank 1
///   --a---b-|-c---d--      rank 0 sends b to rank 1, and rank 1 sends c to rank 0
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halo {
    /// For each rank, what it sends, in ascending order of partner.
    sent: Vec<Vec<(Rank, Vec<u32>)>>,
}

impl Halo {
    /// The halo of a partition, for a program in which every vertex needs those that `edges` connect it to.
    pub fn new(partition: &Partition, edges: &[[u32; 2]]) -> Halo {
        let part_of = partition.part_of();
        let mut crossings: Vec<(u32, u32, u32)> = Vec::new();
        for &[a, b] in edges {
            let (of_a, of_b) = (part_of[a as usize], part_of[b as usize]);
            if of_a != of_b {
                crossings.extend([(of_a, of_b, a), (of_b, of_a, b)]);
            }
        }
        crossings.sort_unstable();
        crossings.dedup();
        let mut sent = vec![Vec::new(); partition.parts() as usize];
        for one in crossings.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let vertices = one.iter().map(|crossing| crossing.2).collect();
            sent[one[0].0 as usize].push((Rank(one[0].1), vertices));
        }
        Halo { sent }
    }

    /// How many ranks it is for.
    pub fn ranks(&self) -> u32 {
        self.sent.len() as u32
    }

    /// The receivers of `from`, with the vertices that it sends them, both in ascending order.
    pub fn sent_by(&self, from: Rank) -> &[(Rank, Vec<u32>)] {
        &self.sent[from.0 as usize]
    }
}
