//! How a parity member receives a member that says hello to it.
//!
//! **Until a new life is confirmed, nobody is told that it is lost.** A life is written to disk before it is given to a
//! process, and no two processes are given the same one. Whether a spare has become a lost member is known only when it
//! says hello in its new life. Before that, the lost member may be the only one that has its records: the spare may
//! have gone, and the parity is in memory only. So a process in an earlier life
//!
//! - is told that it is lost if a later life is confirmed: the process that said hello in that life has everything on
//!   its disk;
//! - waits for an answer as long as the parity holds everything, since the spare may say hello, and otherwise another
//!   one becomes the member;
//! - **is readmitted** if the parity member has been restarted, and holds nothing: it is given a life that is later
//!   than all others, with which it says hello again.
//!
//! Whoever is readmitted has everything that was ever acknowledged: nothing is acknowledged to a process before its
//! life is confirmed, so nothing has been since the last confirmation, and both the member that said hello then and
//! whatever spare was given all its data later have all up to there. If the spare comes back as well, the life that is
//! confirmed first is the last one that was given out, as only the process that has that life says hello in it; the
//! other process is told that it is lost, and has told nobody anything.

use super::Output;
use super::group::{ParityMember, Seat};
use super::message::{LeadStep, Message, Wish};
use crate::log::Event;
use crate::member::Identity;

impl ParityMember {
    /// The place of a member that says hello, old or new. If it gets none, it is told why.
    fn place(&mut self, from: Identity, session: u64, life: u32, wish: Wish, output: &mut Output) -> Option<usize> {
        let own = self.seat_of(from).filter(|_| self.pair.leads());
        let free = self.seats.iter().position(Option::is_none).filter(|_| self.pair.leads());
        let group = self.pair.view().map(|view| view.group);
        match wish {
            _ if own.is_some() => return own,
            Wish::Join if free.is_some() => return free,
            // It is in no group, and may ask for a place in one.
            Wish::GoOn(of) if of == group && self.pair.leads() && self.let_go.contains(&from) => {
                self.send_when_shared(from, Message::Left(session), output);
            }
            // The lead knows all members of its group: another process became this member, and has left.
            Wish::GoOn(of) if of == group && self.pair.leads() => output.send(from, Message::Lost(life + 1)),
            Wish::Leave if self.pair.leads() => self.send_when_shared(from, Message::Left(session), output),
            Wish::Join => {
                self.pair.is_wanted = true;
                self.refused.insert(from);
                output.send(from, Message::Full(session));
            }
            Wish::GoOn(_) | Wish::Leave => output.send(from, Message::Full(session)),
        }
        None
    }

    /// A member asks for parity of its files, resumes, or leaves.
    pub(super) fn receive_hello(&mut self, from: Identity, session: u64, life: u32, wish: Wish, output: &mut Output) {
        let Some(column) = self.place(from, session, life, wish, output) else { return };
        let is_known = self.seats[column].is_some();
        let seat = self.seats[column].get_or_insert_with(|| Seat::new(from, life));
        if life < seat.life {
            return self.receive_former_hello(column, session, life, output);
        }
        // A newcomer that was given up can ask for a place again when its share has been taken out of the parity.
        let is_given_up = seat.is_new && seat.leaves && wish != Wish::Leave;
        if session < seat.hello || is_given_up {
            return;
        }
        let is_first = !is_known || (seat.life, seat.confirmed) != (life, life);
        (seat.life, seat.confirmed, seat.session, seat.hello, seat.silent) = (life, life, Some(session), session, 0);
        let (is_complete, begins_to_leave) = (seat.is_complete, wish == Wish::Leave && !seat.leaves);
        seat.leaves |= begins_to_leave;
        let leaves = seat.leaves;
        if is_first {
            self.let_go.remove(&from);
            self.step(LeadStep::Seat { column, identity: from, life, confirmed: life }, output);
        }
        if begins_to_leave {
            self.settling_step(column, LeadStep::Leaves { column }, output);
        }
        let files = self.stripes.column(column).files().collect();
        let view = self.pair.view();
        self.send_when_shared(from, Message::Stands { session, files, is_complete, leaves, view }, output);
        match &mut self.rebuilding {
            // It is back before a spare has become it.
            Some(rebuilding) if rebuilding.column() == Some(column) => self.rebuilding = None,
            // Requests to it may have been lost on the way.
            Some(rebuilding) => rebuilding.ask_again(),
            None => {}
        }
    }

    /// A process says hello that was taken for lost. Another one may have become that member since, or not.
    fn receive_former_hello(&mut self, column: usize, session: u64, life: u32, output: &mut Output) {
        let Some(seat) = &mut self.seats[column] else { return };
        if life < seat.confirmed {
            return output.send(seat.identity, Message::Lost(seat.confirmed));
        }
        if seat.is_complete {
            return;
        }
        seat.life += 1;
        let (identity, life, confirmed) = (seat.identity, seat.life, seat.confirmed);
        self.step(LeadStep::Seat { column, identity, life, confirmed }, output);
        self.send_when_shared(identity, Message::Readmitted { session, life }, output);
        output.events.push(Event::MemberReadmitted { member: identity.to_string() });
    }
}
