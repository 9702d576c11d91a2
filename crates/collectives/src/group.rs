//! Groups: ranks in an order.

use std::ops::Range;

use endpoint::{Error, Result, check_partner};
use quantities::Rank;

use quantities::shuffle::{inverse, permutation};

/// Ranks that take part in a collective, in an order: the algorithms work with places in this order instead of ranks.
/// The first is the source or root.
///
/// The order determines which messages meet in the network. In cyclic row-major order from the source, a broadcast
/// along the lambda tree never has two messages in one channel of a mesh with dimension-order routing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group(Members);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Members {
    /// All `size` ranks of the program in cyclic order from `source`.
    Cyclic { source: Rank, size: u32 },
    /// The listed ranks, and the place of each, in order of rank.
    Listed { ranks: Vec<Rank>, places: Vec<(Rank, u32)> },
}

impl Group {
    /// All ranks of a program of `size`, in cyclic order from `source`.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] when `source` is not one of them.
    pub fn from_source(source: Rank, size: u32) -> Result<Group> {
        if source.0 >= size {
            return Err(Error::NoSuchRank { rank: source, size });
        }
        Ok(Group(Members::Cyclic { source, size }))
    }

    /// The given ranks, in this order.
    ///
    /// # Errors
    /// [`Error::Unfit`] when there are none, or one occurs twice.
    pub fn listed(ranks: Vec<Rank>) -> Result<Group> {
        if ranks.is_empty() {
            return Err(Error::Unfit("a group of no ranks has no source".to_owned()));
        }
        let mut places: Vec<(Rank, u32)> = ranks.iter().copied().zip(0..).collect();
        places.sort_unstable();
        if let Some(pair) = places.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::Unfit(format!("rank {} is twice in a group, where it may be once", pair[0].0)));
        }
        Ok(Group(Members::Listed { ranks, places }))
    }

    /// All ranks of a program of `size`, `source` first, the others in an order that depends only on `seed`.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] when `source` is not one of them.
    pub fn permuted(source: Rank, size: u32, seed: u64) -> Result<Group> {
        if source.0 >= size {
            return Err(Error::NoSuchRank { rank: source, size });
        }
        let mut order = permutation(size, seed);
        let place = inverse(&order)[source.0 as usize];
        order.swap(0, place as usize);
        Group::listed(order.into_iter().map(Rank).collect())
    }

    /// How many ranks it has.
    #[allow(clippy::len_without_is_empty)] // none is empty
    pub fn len(&self) -> u32 {
        match &self.0 {
            Members::Cyclic { size, .. } => *size,
            Members::Listed { ranks, .. } => ranks.len() as u32,
        }
    }

    /// The first rank, the source or root.
    pub fn source(&self) -> Rank {
        self.rank_at(0)
    }

    /// The rank at a place, counted from 0; the place is below [`Group::len`].
    pub fn rank_at(&self, place: u32) -> Rank {
        match &self.0 {
            Members::Cyclic { source, size } => {
                let room = size - source.0;
                Rank(if place < room { source.0 + place } else { place - room })
            }
            Members::Listed { ranks, .. } => ranks[place as usize],
        }
    }

    /// The ranks at these places, which are below [`Group::len`], as the numbers of blocks of which each rank has one.
    pub(crate) fn ranks_at(&self, places: Range<u32>) -> impl Iterator<Item = u32> + Clone + '_ {
        places.map(|place| self.rank_at(place).0)
    }

    /// Whether it is all ranks of a program of `size`, by number.
    pub(crate) fn is_all_in_order(&self, size: u32) -> bool {
        matches!(&self.0, Members::Cyclic { source: Rank(0), size: members } if *members == size)
    }

    /// The place of a rank; none, if it is not in the group.
    pub fn place_of(&self, rank: Rank) -> Option<u32> {
        match &self.0 {
            Members::Cyclic { source, size } => {
                let known = rank.0 < *size;
                known.then(|| if rank >= *source { rank.0 - source.0 } else { size - source.0 + rank.0 })
            }
            Members::Listed { places, .. } => {
                let at = places.binary_search_by_key(&rank, |pair| pair.0).ok()?;
                Some(places[at].1)
            }
        }
    }

    /// Checks that a program of `size` has all of the ranks.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] when it does not.
    pub fn check(&self, size: u32) -> Result<()> {
        let highest = match &self.0 {
            Members::Cyclic { size, .. } => Rank(size.saturating_sub(1)),
            Members::Listed { places, .. } => places.last().map_or(Rank(0), |pair| pair.0),
        };
        // Any rank other than the highest serves as the partner.
        let other = if highest == Rank(0) { Rank(1) } else { Rank(0) };
        check_partner(other, highest, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_ranks_belong_to_each_other() {
        let groups = [
            Group::from_source(Rank(0), 1),
            Group::from_source(Rank(5), 7),
            Group::listed([4, 2, 9].map(Rank).to_vec()),
            Group::permuted(Rank(3), 10, 7),
        ];
        for group in groups.map(Result::unwrap) {
            for place in 0..group.len() {
                assert_eq!(group.place_of(group.rank_at(place)), Some(place), "{group:?}");
            }
            assert_eq!(group.place_of(Rank(10)), None);
            assert_eq!(group.place_of(group.source()), Some(0));
        }
    }

    #[test]
    fn a_permuted_group_begins_with_its_source() {
        let group = Group::permuted(Rank(6), 64, 1).unwrap();
        assert_eq!((group.source(), group.len()), (Rank(6), 64));
        assert_ne!(group, Group::permuted(Rank(6), 64, 2).unwrap());
    }

    #[test]
    fn what_is_not_a_group_is_an_error() {
        let error_of = |group: Result<Group>| group.unwrap_err().to_string();
        assert_eq!(error_of(Group::from_source(Rank(3), 3)), "rank 3 does not exist: the program has 3");
        assert_eq!(error_of(Group::permuted(Rank(0), 0, 1)), "rank 0 does not exist: the program has 0");
        assert_eq!(error_of(Group::listed(Vec::new())), "a group of no ranks has no source");
        let twice = Group::listed([4, 2, 4].map(Rank).to_vec());
        assert_eq!(error_of(twice), "rank 4 is twice in a group, where it may be once");
        let beyond = Group::listed([4, 2].map(Rank).to_vec()).unwrap();
        assert_eq!(beyond.check(4).unwrap_err().to_string(), "rank 4 does not exist: the program has 4");
        assert_eq!(beyond.check(5), Ok(()));
        assert_eq!(Group::listed(vec![Rank(0)]).unwrap().check(1), Ok(()));
    }
}
