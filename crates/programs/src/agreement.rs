//! Whether the ranks of a run agree on the collectives that they call.

use std::collections::VecDeque;
use std::rc::Rc;

use endpoint::{Error, Result};
use quantities::{Bytes, Rank};

/// The collectives of a run, as its ranks call them: as in MPI, the n-th call of one rank and the n-th of any other are one collective.
///
/// It belongs to a run whose ranks are in one process, as on a model: each of them notes its call before it begins. No message is sent
/// for it, and no time passes.
#[derive(Debug)]
pub struct Agreement {
    /// How many collectives each rank has called.
    called: Vec<usize>,
    /// The collectives that some rank has called, but not every rank, in order.
    open: VecDeque<Open>,
    /// How many every rank has called.
    closed: usize,
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
        Agreement { called: vec![0; ranks as usize], open: VecDeque::new(), closed: 0 }
    }

    /// Notes that `rank` calls `what`: a collective with all that its ranks must agree on, in words. `size` is how large its message is
    /// if that must be the same at every rank which states it.
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
        let open = &mut self.open[place];
        open.ranks += 1;
        let (first, expected) = &open.first;
        // The same words are in one place for most.
        if !Rc::ptr_eq(what, expected) && what != expected {
            return Err(Error::Mismatch(format!(
                "rank {rank} calls {what} as its collective {number}, where rank {first} calls {expected}; allowed is the same at every rank"
            )));
        }
        if let (Some((other, expected)), Some(found)) = (open.size, size)
            && expected != found
        {
            return Err(Error::Mismatch(format!(
                "rank {rank} calls {what} with {} B as its collective {number}, where rank {other} calls it with {} B; allowed is the \
                 same size at every rank",
                found.0, expected.0
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
