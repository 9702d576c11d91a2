//! Whether the ranks of a run agree on the collectives that they call.

use std::collections::VecDeque;
use std::rc::Rc;

use endpoint::{Error, Result};
use quantities::{Bytes, Rank};

use crate::Group;

/// The collectives of a run, as its ranks call them: as in MPI, the n-th call of one rank and the n-th of any other are
/// one collective.
///
/// It belongs to a run whose ranks are in one process, as on a model: each of them notes its call before it begins. No
/// message is sent for it, and no time passes.
#[derive(Debug)]
pub struct Agreement {
    /// How many collectives each rank has called.
    called: Vec<usize>,
    /// The collectives that some rank has called, but not every rank, in order.
    open: VecDeque<Open>,
    /// How many every rank has called.
    closed: usize,
    /// The ranks whose places are counted, where it is not all ranks in order.
    group: Option<Group>,
}

/// A collective that some ranks have called and others have not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The collective, with all that its ranks must agree on, in words.
    pub what: Rc<str>,
    /// The ranks that have called it.
    pub called: Vec<Rank>,
    /// Those that have not.
    pub missing: Vec<Rank>,
}

/// A collective that not every rank has called yet.
#[derive(Debug)]
struct Open {
    /// The rank that has called it first, and what.
    first: (Rank, Rc<str>),
    /// The first rank that has stated a size, and which.
    size: Option<(Rank, Bytes)>,
    /// How many ranks have called it.
    ranks: usize,
}

impl Agreement {
    /// Among `ranks` ranks, of which none has called any.
    pub fn new(ranks: u32) -> Agreement {
        Agreement { called: vec![0; ranks as usize], open: VecDeque::new(), closed: 0, group: None }
    }

    /// Among the ranks of a group, of which none has called any.
    pub fn among(group: &Group) -> Agreement {
        Agreement { group: Some(group.clone()), ..Agreement::new(group.len()) }
    }

    /// The rank at a place.
    fn rank_at(&self, place: Rank) -> Rank {
        self.group.as_ref().map_or(place, |group| group.rank_at(place.0))
    }

    /// The oldest collective that some ranks have called and others have not, with both.
    pub fn unfinished(&self) -> Option<Unfinished> {
        let open = self.open.front()?;
        let ranks = |has_called: bool| {
            let places = (0..).map(Rank).zip(&self.called);
            places
                .filter(|called| (*called.1 > self.closed) == has_called)
                .map(|(place, _)| self.rank_at(place))
                .collect()
        };
        Some(Unfinished { what: Rc::clone(&open.first.1), called: ranks(true), missing: ranks(false) })
    }

    /// Notes that the rank at the place `rank` calls `what`: a collective with all that its ranks must agree on, in
    /// words. `size` is how large its message is if that must be the same at every rank which states it.
    ///
    /// # Errors
    /// [`Error::Mismatch`] names the two ranks that differ, and what each has called.
    pub fn note(&mut self, rank: Rank, what: &Rc<str>, size: Option<Bytes>) -> Result<()> {
        let ranks = self.called.len();
        let called = self.called.get_mut(rank.0 as usize).ok_or(Error::NoSuchRank { rank, size: ranks as u32 })?;
        let place = *called - self.closed;
        *called += 1;
        let number = *called;
        if self.open.len() == place {
            self.open.push_back(Open { first: (rank, Rc::clone(what)), size: None, ranks: 0 });
        }
        let name = |place: Rank| self.group.as_ref().map_or(place, |group| group.rank_at(place.0));
        let open = &mut self.open[place];
        open.ranks += 1;
        let (first, expected) = (name(open.first.0), &open.first.1);
        let rank_named = name(rank);
        // The same words are in one place for most.
        if !Rc::ptr_eq(what, expected) && what != expected {
            return Err(Error::Mismatch(format!(
                "rank {rank_named} calls {what} as its collective {number}, where rank {first} calls {expected}; allowed is the same at every rank"
            )));
        }
        if let (Some((other, expected)), Some(found)) = (open.size, size)
            && expected != found
        {
            return Err(Error::Mismatch(format!(
                "rank {rank_named} calls {what} with {} B as its collective {number}, where rank {} calls it with {} B; allowed is the \
                 same size at every rank",
                found.0,
                name(other),
                expected.0
            )));
        }
        open.size = open.size.or(size.map(|size| (rank, size)));
        while self.open.front().is_some_and(|open| open.ranks == ranks) {
            self.open.pop_front();
            self.closed += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(error: Result<()>) -> String {
        error.unwrap_err().to_string()
    }

    #[test]
    fn ranks_may_be_any_number_of_collectives_apart() {
        let (one, other): (Rc<str>, Rc<str>) = ("barrier".into(), "broadcast (root 0)".into());
        let mut agreement = Agreement::new(3);
        for rank in [2, 0, 1].map(Rank) {
            for _ in 0..4 {
                agreement.note(rank, &one, None).unwrap();
                agreement.note(rank, &"broadcast (root 0)".into(), Some(Bytes(8))).unwrap();
                agreement.note(rank, &other, (rank == Rank(0)).then_some(Bytes(9))).unwrap();
            }
        }
        assert_eq!((agreement.open.len(), agreement.closed), (0, 12));
    }

    #[test]
    fn who_has_not_called_is_known_by_rank() {
        let group = Group::listed([5, 1, 3].map(Rank).to_vec()).unwrap();
        let mut agreement = Agreement::among(&group);
        assert_eq!(agreement.unfinished(), None);
        let what: Rc<str> = "barrier".into();
        agreement.note(Rank(0), &what, None).unwrap();
        agreement.note(Rank(2), &what, None).unwrap();
        let unfinished = agreement.unfinished().unwrap();
        assert_eq!((unfinished.called, unfinished.missing), (vec![Rank(5), Rank(3)], vec![Rank(1)]));
        let wrong = agreement.note(Rank(1), &"scan".into(), None);
        assert!(text(wrong).starts_with("rank 1 calls scan as its collective 1, where rank 5 calls barrier"));
    }

    #[test]
    fn the_two_ranks_that_differ_are_named() {
        let (one, other): (Rc<str>, Rc<str>) = ("barrier".into(), "broadcast (root 0)".into());
        let mut agreement = Agreement::new(4);
        for rank in [3, 1].map(Rank) {
            agreement.note(rank, &one, None).unwrap();
        }
        agreement.note(Rank(3), &other, None).unwrap();
        assert_eq!(
            text(agreement.note(Rank(1), &one, None)),
            "rank 1 calls barrier as its collective 2, where rank 3 calls broadcast (root 0); allowed is the same at every rank"
        );
    }

    #[test]
    fn sizes_are_compared_with_the_first_that_was_stated() {
        let what: Rc<str> = "broadcast (root 0)".into();
        let mut agreement = Agreement::new(4);
        agreement.note(Rank(2), &what, None).unwrap();
        agreement.note(Rank(0), &what, Some(Bytes(40))).unwrap();
        assert_eq!(
            text(agreement.note(Rank(1), &what, Some(Bytes(44)))),
            "rank 1 calls broadcast (root 0) with 44 B as its collective 1, where rank 0 calls it with 40 B; allowed is the same size at \
             every rank"
        );
    }
}
