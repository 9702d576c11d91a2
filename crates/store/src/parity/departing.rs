//! How a member leaves its group in order, without weakening the parity's protection of the others.
//!
//! ```text
//!   data member that has left its pool            parity member
//!   | Hello(leave) ----------------------------------->|   from now on it is not rebuilt, and its column stays
//!   |<---------------------------------- Stands(files) |
//!   |   the files stay on its disk, and are still used |   its column is taken out of the parity, from the end,
//!   |   to rebuild other members                       |   as computed from the other columns and the parity
//!   |<----------------------------------- Left(session)|   once the parity holds nothing of it: its place is free
//! ```
//!
//! Its servers have moved away before, as they do without parity: no move is announced before the parity holds it, and
//! a member that is lost meanwhile is rebuilt and goes on leaving. So it sends this hello to its group only when nobody
//! needs any of its records any more.
//!
//! **Until its column is empty the member stays**, so any member of the group may still be lost: with the leaving
//! member, every block needed for a rebuild is there. If the leaving member itself is lost, its column counts as
//! absent; it is computed and taken out all the same. Lost members come first. If the other parity has to be made, that
//! comes before the taking out as long as all members are there; it can't be made without a member that is gone, and
//! then waits until that member's column is taken out. The column does not change meanwhile, so blocks of it that have
//! been computed stay right whatever the others do.
//!
//! **Its place is free** once the follower knows of all members that left before. So two members that count a majority
//! of the group differ by one member at most, and their majorities intersect; a candidate for another view at that
//! moment does not wait for the member that has left. That member is told once both parity members have written it
//! down. If a process with its identity comes back later, from behind a partition, it is told that it is lost: a lead
//! knows all members of its group.
//!
//! **A newcomer that goes before the parity has held everything of it** loses its place in the same way, though nobody
//! has asked for that: it can't be rebuilt, and waiting for it would leave the others of its group with no promise for
//! ever. If it lives on, it is not told that it is lost, since nobody else has its records, but that it is in no group.
//! So the parity members keep in mind who has always been new, and who was let go.

use std::collections::BTreeMap;

use super::Output;
use super::column::{Change, Effect};
use super::group::{ParityMember, Seat};
use super::message::{LeadStep, Message};
use super::pair::PATIENCE_WITH_GROUPS;
use super::rebuilding::Lost;
use crate::log::Event;

/// How many stripes of a column are computed before they are taken out.
const MOST_AT_ONCE: usize = 64;

impl ParityMember {
    pub(super) fn leaves(&self, column: usize) -> bool {
        self.seats[column].as_ref().is_some_and(|seat| seat.leaves)
    }

    /// Begins to compute what the parity holds of a leaving member.
    pub(super) fn begin_to_take_out(&mut self) {
        let leaving = (0..self.seats.len()).filter(|column| self.leaves(*column));
        let mut ready = leaving.filter_map(|column| {
            let stripes = self.stripes.column(column).last_stripes(MOST_AT_ONCE);
            let absent = self.absent_beside(column).filter(|_| !stripes.is_empty())?;
            Some((Lost::Leaver { column, absent }, stripes))
        });
        if let Some((lost, stripes)) = ready.next() {
            self.rebuild(lost, self.own, stripes.into());
        }
    }

    /// Takes the last stripes of a column, now known, out of the parity.
    pub(super) fn take_out(&mut self, column: usize, mut taken: BTreeMap<u32, Vec<u8>>, output: &mut Output) {
        for stripe in self.stripes.column(column).last_stripes(taken.len()) {
            let (Some(piece), Some(bytes)) = (self.stripes.column(column).piece(stripe), taken.remove(&stripe)) else {
                return self.begin_anew(output);
            };
            let change = Change { file: piece.file, at: piece.at, bytes, effect: Effect::Shrinks };
            if self.stripes.follow(column, &change) != Ok(true) {
                return self.begin_anew(output);
            }
            self.step(LeadStep::Change { column, change }, output);
        }
        self.let_go_of_leavers(output);
    }

    /// Newcomers that have been silent for too long lose their places.
    pub(super) fn give_up_newcomers(&mut self, output: &mut Output) {
        let patience = PATIENCE_WITH_GROUPS * self.patience;
        for column in 0..self.seats.len() {
            let is_gone = |seat: &&mut Seat| seat.is_new && !seat.leaves && seat.silent > patience;
            if let Some(seat) = self.seats[column].as_mut().filter(is_gone) {
                (seat.leaves, seat.session) = (true, None);
                self.settling_step(column, LeadStep::Leaves { column }, output);
            }
        }
    }

    /// Frees a place.
    pub(super) fn free(&mut self, column: usize) -> Option<Seat> {
        let seat = self.seats[column].take()?;
        if seat.is_new {
            self.let_go.insert(seat.identity);
        }
        Some(seat)
    }

    /// Frees the places of leaving members, one after the other, once the parity holds nothing of them.
    pub(super) fn let_go_of_leavers(&mut self, output: &mut Output) {
        for column in (0..self.seats.len()).filter(|column| self.leaves(*column)).collect::<Vec<usize>>() {
            let is_empty = self.stripes.column(column).stripes().next().is_none();
            let may_be_free = is_empty && self.pair.knows_who_left();
            let Some(seat) = may_be_free.then(|| self.free(column)).flatten() else { continue };
            self.step(LeadStep::Left { column }, output);
            self.send_when_shared(seat.identity, Message::Left(seat.hello), output);
            output.events.push(Event::LeftGroup { member: seat.identity.to_string() });
            for refused in std::mem::take(&mut self.refused) {
                output.send(refused, Message::Room);
            }
            self.has_no_say(seat.identity, output);
        }
    }
}
