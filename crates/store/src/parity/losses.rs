//! Which members of a group are lost, and the order of repair: first members that host servers, then the follower's
//! parity, and then leaving members are taken out.

use std::collections::VecDeque;

use super::Output;
use super::group::{PATIENCE_WITH_A_LINK, ParityMember, Seat};
use super::message::{LeadStep, Message, Successor};
use super::rebuilding::{Lost, Rebuilding};
use crate::log::Event;
use crate::member::Identity;
use crate::record::Milliseconds;

impl ParityMember {
    /// Begins to rebuild what is lost: data members before the follower's parity.
    pub(super) fn begin_rebuilding(&mut self, output: &mut Output) {
        if self.rebuilding.as_ref().is_some_and(|rebuilding| self.hangs(rebuilding)) {
            self.rebuilding = None;
        }
        let is_free = self.rebuilding.as_ref().is_none_or(|rebuilding| rebuilding.column().is_none());
        let spare = self.spares.iter().find(|spare| self.busy != Some(**spare)).or(self.spares.first()).copied();
        let lost = self.lost();
        if let Some((column, absent)) = lost.filter(|_| is_free)
            && let Some(spare) = spare
            && let Some(seat) = &mut self.seats[column]
        {
            // Its further changes would be missing on the spare, so it has to say hello first; then it is not lost.
            seat.session = None;
            let event = Event::MemberTakenForLost { member: seat.identity.to_string(), spare: spare.to_string() };
            output.events.push(event);
            let stripes = self.stripes.column(column).stripes().collect();
            self.rebuild(Lost::Column { column, absent }, spare, stripes);
        } else if let Some(follower) = self.pair.to_be_made().filter(|_| self.rebuilding.is_none() && lost.is_none())
            && self.missing(None).next().is_none()
        {
            let stripes = self.stripes.occupied().into_iter().collect();
            self.rebuild(Lost::Parity, follower, stripes);
        } else if self.rebuilding.is_none() {
            self.begin_to_take_out();
        }
    }

    pub(super) fn rebuild(&mut self, lost: Lost, to: Identity, stripes: VecDeque<u32>) {
        self.rebuildings += 1;
        self.rebuilding = Some(Rebuilding::new(self.rebuildings, lost, to, stripes));
    }

    /// Whether a rebuilding waits for a member that is gone by now, and could go on without it, or later.
    fn hangs(&self, rebuilding: &Rebuilding) -> bool {
        let is_silent = |(_, seat): &(usize, &Seat)| seat.silent > self.patience;
        // The member that was absent at the beginning may be back since, and another one gone.
        let waits_for_another_than = |column: usize, absent: Option<usize>| {
            self.missing(Some(column)).filter(is_silent).any(|(other, _)| Some(other) != absent)
        };
        match rebuilding.lost {
            // A leaving member is not rebuilt: its share of the parity is taken out before the second parity is made.
            Lost::Parity => {
                let waits_for_a_leaver = self.missing(None).filter(is_silent).any(|(_, seat)| seat.leaves);
                waits_for_a_leaver || self.pair.to_be_made() != Some(rebuilding.to)
            }
            // While the follower can't be reached, requests to it wait until it can.
            Lost::Column { absent: Some(_), .. } | Lost::Leaver { absent: Some(_), .. } if !self.pair.has_made() => {
                true
            }
            Lost::Column { column, absent } => self.pair.is_backed() && waits_for_another_than(column, absent),
            // The silent member may be the one that has to be taken out first.
            Lost::Leaver { column, absent } => waits_for_another_than(column, absent),
        }
    }

    /// Members, except one, that are absent (or halted with an open link) and of which the parity holds something.
    fn missing(&self, but: Option<usize>) -> impl Iterator<Item = (usize, &Seat)> {
        let seats = self.seats.iter().enumerate().filter_map(|(column, seat)| Some((column, seat.as_ref()?)));
        let is_away = |seat: &Seat| seat.session.is_none() || seat.silent > self.patience_with(seat);
        let has_something = |column: usize| self.stripes.column(column).stripes().next().is_some();
        seats.filter(move |(column, seat)| Some(*column) != but && is_away(seat) && has_something(*column))
    }

    /// How long a member may be silent. [ms]
    fn patience_with(&self, seat: &Seat) -> Milliseconds {
        seat.session.map_or(1, |_| PATIENCE_WITH_A_LINK) * self.patience
    }

    /// A lost member's column, if all other members that are needed are there; with a second parity, one of them, also
    /// returned, may be absent.
    fn lost(&self) -> Option<(usize, Option<usize>)> {
        let seats = self.seats.iter().enumerate().filter_map(|(column, seat)| Some((column, seat.as_ref()?)));
        let is_late = |seat: &Seat| seat.silent > self.patience_with(seat);
        let mut lost = seats.filter(|(_, seat)| seat.is_complete && !seat.leaves && is_late(seat));
        let (column, _) = lost.next()?;
        Some((column, self.absent_beside(column)?))
    }

    /// The other member that is absent while a column is computed: none, or one if there is a second parity. `None` if
    /// the column can't be computed.
    pub(super) fn absent_beside(&self, column: usize) -> Option<Option<usize>> {
        let mut missing = self.missing(Some(column)).map(|(other, _)| other);
        match (missing.next(), missing.next()) {
            (None, _) => Some(None),
            (Some(absent), None) if self.pair.is_backed() => Some(Some(absent)),
            _ => None,
        }
    }

    /// Goes on with the rebuilding. When the spare has everything, it is told which member it becomes.
    pub(super) fn go_on(&mut self, output: &mut Output) {
        let Some(rebuilding) = &mut self.rebuilding else { return };
        let identities = self.seats.each_ref().map(|seat| seat.as_ref().map(|seat| seat.identity));
        let follower = self.pair.follower_mut();
        if rebuilding.go_on(&mut self.stripes, &identities, follower, output).is_err() {
            return self.begin_anew(output);
        }
        if !rebuilding.is_over() {
            return;
        }
        let (number, column, spare) = (rebuilding.number, rebuilding.column(), rebuilding.to);
        let Some(rebuilding) = self.rebuilding.take() else { return };
        if let Lost::Leaver { column, .. } = rebuilding.lost {
            return self.take_out(column, rebuilding.into_taken(), output);
        }
        let Some(column) = column else { return self.follower_is_made(output) };
        let view = self.pair.view();
        let Some(seat) = &mut self.seats[column] else { return };
        // Written to disk before the message is sent: from then on nothing of an earlier life is acknowledged.
        (seat.life, seat.session, seat.hello, seat.silent) = (seat.life + 1, None, 0, 0);
        let (identity, life, confirmed) = (seat.identity, seat.life, seat.confirmed);
        let files = self.stripes.column(column).files().collect();
        self.settling_step(column, LeadStep::Seat { column, identity, life, confirmed }, output);
        self.send_when_shared(
            spare,
            Message::Become(Successor { rebuilding: number, identity, life, view, files }),
            output,
        );
        output.events.push(Event::MemberRebuilt { member: identity.to_string(), spare: spare.to_string() });
        self.spares.remove(&spare);
        self.rebuilt += 1;
    }
}
