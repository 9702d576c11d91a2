//! How a member leaves its group in order, without that the others lose anything of what parity promises.
//!
//! ```text
//!   data member that has left its pool            parity member
//!   | Hello(leave) ----------------------------------->|   it is not rebuilt any more, and its column changes no more
//!   |<---------------------------------- Stands(files) |
//!   |   the files on its disk stay, and others are     |   its column is taken out, from the end of its files on, as the others
//!   |   rebuilt out of them, too                       |   and the parity say that it is
//!   |<----------------------------------- Left(session)|   once nothing of it is in the parity: its place is free
//! ```
//!
//! Its servers have moved before, as where there is no parity: nothing of that is told before the parity has it, and a member that is lost meanwhile is
//! rebuilt, and goes on leaving. So it greets its group with that only when nobody needs any of its records any more.
//!
//! **Until its column is empty the member stays**, and so any member of the group may be lost, as before: with the one that leaves, all are there out
//! of which that is rebuilt. If it is the one that leaves, its column is one that is not there, and all the same computed and taken out. Lost members come
//! first. The other parity, if that is to be made, comes before what leaves as long as all are there; it can't be made without one that is gone, and so
//! waits then until that one is taken out. Nothing of the column changes meanwhile: what was found of it stays right whatever the others do.
//!
//! **Its place is free** when the parity member that follows knows it of the last one. So two that count which members are more than half of the
//! group differ by one member at most, and have one in common; whoever asks for another view just then does not wait for the one that has left. That
//! one hears of it when both have written it down. Whoever comes later and was that member once, behind a partition, is told that it is
//! lost: a lead knows all members of its group.

use std::collections::BTreeMap;

use super::Output;
use super::column::{Change, Effect};
use super::group::ParityMember;
use super::message::{Message, Step};
use super::rebuilding::Lost;
use crate::log::Event;

/// As many stripes of a column are found before they are taken out.
const MOST_AT_ONCE: usize = 64;

impl ParityMember {
    pub(super) fn leaves(&self, column: usize) -> bool {
        self.seats[column].as_ref().is_some_and(|seat| seat.leaves)
    }

    /// Begins to find what a member has in the parity that leaves.
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

    /// What the last stripes of a column hold is known, and is taken out of the parity.
    pub(super) fn take_out(&mut self, column: usize, mut taken: BTreeMap<u32, Vec<u8>>, output: &mut Output) {
        for stripe in self.stripes.column(column).last_stripes(taken.len()) {
            let (Some(piece), Some(bytes)) = (self.stripes.column(column).piece(stripe), taken.remove(&stripe)) else {
                return self.begin_anew(output);
            };
            let change = Change { file: piece.file, at: piece.at, bytes, effect: Effect::Shrinks };
            if self.stripes.follow(column, &change) != Ok(true) {
                return self.begin_anew(output);
            }
            self.step(Step::Change { column, change }, output);
        }
        self.let_go_of_leavers(output);
    }

    /// The places of members that leave are free, one after the other, if nothing of them is in the parity.
    pub(super) fn let_go_of_leavers(&mut self, output: &mut Output) {
        for column in (0..self.seats.len()).filter(|column| self.leaves(*column)).collect::<Vec<usize>>() {
            let is_empty = self.stripes.column(column).stripes().next().is_none();
            let knows = self.pair.knows_who_left();
            let Some(seat) = self.seats[column].take_if(|_| is_empty && knows) else { continue };
            self.step(Step::Left { column }, output);
            self.tell(seat.identity, Message::Left(seat.greeted), output);
            output.events.push(Event::LeftGroup { member: seat.identity.to_string() });
            for refused in std::mem::take(&mut self.refused) {
                output.send(refused, Message::Room);
            }
            self.has_no_say(seat.identity, output);
        }
    }
}
