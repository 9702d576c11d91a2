//! Which ranks need attention, and when: the cost of a datagram does not depend on how many ranks are quiet.
//!
//! ```text
//!     touched   3, 17           have sent or been sent something since the last round
//!     order     (12 us, 5)      when something is due for a rank: a retransmission, a report, a timeout
//!               (80 us, 17)
//! ```
//!
//! A round looks at the ranks that were touched and those for which something is due, and notes when each is due next.

use std::collections::BTreeSet;

use quantities::{Rank, Time};

/// Which ranks the next round has to look at.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    touched: Vec<Rank>,
    is_touched: Vec<bool>,
    /// When something is due for each rank, and the same in order of time.
    due: Vec<Option<Time>>,
    order: BTreeSet<(Time, Rank)>,
}

impl Agenda {
    pub(super) fn new(ranks: u32) -> Agenda {
        let ranks = ranks as usize;
        Agenda { touched: Vec::new(), is_touched: vec![false; ranks], due: vec![None; ranks], order: BTreeSet::new() }
    }

    /// Has the next round look at this rank.
    pub(super) fn touch(&mut self, rank: Rank) {
        if let Some(is_touched) = self.is_touched.get_mut(rank.0 as usize).filter(|is_touched| !**is_touched) {
            *is_touched = true;
            self.touched.push(rank);
        }
    }

    /// And at all ranks for which something is due now.
    pub(super) fn touch_due(&mut self, now: Time) {
        let due: Vec<Rank> = self.order.iter().take_while(|(at, _)| *at <= now).map(|&(_, rank)| rank).collect();
        due.into_iter().for_each(|rank| self.touch(rank));
    }

    /// The touched ranks, in order.
    pub(super) fn touched(&mut self) -> Vec<Rank> {
        self.touched.sort_unstable();
        self.touched.clone()
    }

    /// The touched ranks, in any order.
    pub(super) fn peek(&self) -> &[Rank] {
        &self.touched
    }

    /// The round has looked at this rank, for which something is due then.
    pub(super) fn note(&mut self, rank: Rank, due: Option<Time>) {
        let place = rank.0 as usize;
        let Some(before) = self.due.get_mut(place) else { return };
        if *before != due {
            before.map(|before| self.order.remove(&(before, rank)));
            due.map(|due| self.order.insert((due, rank)));
            *before = due;
        }
    }

    /// The round has ended.
    pub(super) fn clear(&mut self) {
        for rank in self.touched.drain(..) {
            self.is_touched[rank.0 as usize] = false;
        }
    }

    /// When something is first due.
    pub(super) fn first(&self) -> Option<Time> {
        self.order.first().map(|&(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use quantities::Duration;

    use super::*;

    #[test]
    fn a_round_looks_at_those_touched_and_those_due() {
        let at = |microseconds| Time::ZERO + Duration::from_microseconds(microseconds);
        let mut agenda = Agenda::new(9);
        agenda.note(Rank(5), Some(at(12)));
        agenda.note(Rank(7), Some(at(80)));
        agenda.touch(Rank(8));
        agenda.touch(Rank(2));
        agenda.touch(Rank(8));
        agenda.touch(Rank(9));
        agenda.touch_due(at(12));
        assert_eq!(agenda.touched(), [Rank(2), Rank(5), Rank(8)]);
        agenda.note(Rank(5), None);
        agenda.clear();
        assert_eq!((agenda.peek(), agenda.first()), (&[][..], Some(at(80))));
        agenda.note(Rank(7), Some(at(20)));
        assert_eq!(agenda.first(), Some(at(20)));
    }
}
