//! A parity member's part: it keeps the parity of a group, and has members that are gone rebuilt on spares.
//!
//! Nobody else says who is in its group and who is lost, and so there is nothing to agree on. **Who is lost is fenced**: before a spare becomes a
//! lost member, that member's next life is written down, and from then on nothing of an earlier one is taken. So a lost member that lives on
//! behind a partition can tell nobody that something was stored.
//!
//! The parity itself is in memory only. A parity member that was started again asks all members of its group for all that they have, and
//! until it has that, takes nobody for lost.

use std::collections::BTreeSet;

use super::Output;
use super::code::COLUMNS;
use super::facts::Facts;
use super::message::{Message, Successor};
use super::rebuilding::Rebuilding;
use super::stripes::{Corrupt, Stripes};
use crate::log::Event;
use crate::member::Identity;
use crate::record::Milliseconds;

/// So many times its patience a member may be silent to which a link leads: it may only have much to do.
const PATIENCE_WITH_A_LINK: Milliseconds = 3;
/// As much counts as silence of one look at most: a process that was halted has not listened meanwhile.
const LONGEST_LOOK: Milliseconds = 200;

/// A member of the group.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) identity: Identity,
    /// How often it was rebuilt.
    life: u32,
    /// What it says counts if it says so under this; none, if it has to greet first.
    session: Option<u64>,
    /// Its last greeting: one that has been overtaken by a later one says nothing.
    greeted: u64,
    /// Whether the parity has all that is needed to rebuild it.
    is_complete: bool,
    /// For how long nothing was heard of it.
    silent: Milliseconds,
}

impl Seat {
    const fn new(identity: Identity, life: u32) -> Seat {
        Seat { identity, life, session: None, greeted: 0, is_complete: false, silent: 0 }
    }
}

/// How a member of a group stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatState {
    /// Which.
    pub identity: Identity,
    /// Whether it could be rebuilt.
    pub is_complete: bool,
    /// Whether it is being rebuilt.
    pub is_being_rebuilt: bool,
    /// For how long nothing was heard of it. [ms]
    pub silent: Milliseconds,
}

/// A parity member.
#[derive(Debug)]
pub struct ParityMember {
    patience: Milliseconds,
    seats: [Option<Seat>; COLUMNS],
    stripes: Stripes,
    /// Spares to which a link leads.
    spares: BTreeSet<Identity>,
    rebuilding: Option<Rebuilding>,
    /// Tells one rebuilding from another.
    rebuildings: u64,
    /// As many members it has had rebuilt.
    rebuilt: u64,
}

impl ParityMember {
    /// One that takes nobody for lost of whom it has heard within its patience. What it must not have forgotten is given; and a number
    /// that no run before had.
    pub fn new(facts: &Facts, patience: Milliseconds, run: u64) -> ParityMember {
        let seat = |(identity, life)| Seat::new(identity, life);
        ParityMember {
            patience,
            seats: facts.columns.map(|column| column.map(seat)),
            stripes: Stripes::new(1, 0),
            spares: BTreeSet::new(),
            rebuilding: None,
            rebuildings: run,
            rebuilt: 0,
        }
    }

    /// What it must not forget.
    pub fn facts(&self) -> Facts {
        let columns = self.seats.each_ref().map(|seat| seat.as_ref().map(|seat| (seat.identity, seat.life)));
        Facts { columns, ..Facts::default() }
    }

    /// How the members of its group stand.
    pub fn seats(&self) -> impl Iterator<Item = SeatState> {
        let rebuilt = self.rebuilding.as_ref().map(|rebuilding| rebuilding.column);
        self.seats.iter().enumerate().filter_map(move |(column, seat)| {
            let Seat { identity, is_complete, silent, .. } = *seat.as_ref()?;
            Some(SeatState { identity, is_complete, is_being_rebuilt: rebuilt == Some(column), silent })
        })
    }

    /// What the parity takes. [B]
    pub fn size(&self) -> u64 {
        self.stripes.size()
    }

    /// As many members it has had rebuilt since it was started.
    pub const fn rebuilt(&self) -> u64 {
        self.rebuilt
    }

    /// A link leads to a spare.
    pub fn meets_spare(&mut self, spare: Identity) {
        self.spares.insert(spare);
    }

    /// No link leads to a member any more.
    pub fn loses(&mut self, member: Identity) {
        self.spares.remove(&member);
        if let Some(seat) = self.seat_of(member).and_then(|column| self.seats[column].as_mut()) {
            seat.session = None;
        }
        // Another spare may have more luck.
        self.rebuilding.take_if(|rebuilding| rebuilding.spare == member);
    }

    fn seat_of(&self, member: Identity) -> Option<usize> {
        self.seats.iter().position(|seat| seat.as_ref().is_some_and(|seat| seat.identity == member))
    }

    /// Takes what another member says.
    pub fn take(&mut self, from: Identity, message: Message, output: &mut Output) {
        if let Message::Hello { session, life } = message {
            return self.greeted(from, session, life, output);
        }
        let column = self.seat_of(from);
        if let Some(seat) = column.and_then(|column| self.seats[column].as_mut()) {
            seat.silent = 0;
        }
        match (message, column) {
            (Message::Change { session, number, change }, Some(column)) if self.is_in_session(column, session) => {
                match self.stripes.follow(column, &change) {
                    Ok(true) => output.send(from, Message::Acknowledged { session, number }),
                    Ok(false) => self.greet_again(column, output),
                    Err(Corrupt) => self.begin_anew(output),
                }
            }
            (Message::Beat { session, number, is_complete }, Some(column)) if self.is_in_session(column, session) => {
                self.seats[column].iter_mut().for_each(|seat| seat.is_complete |= is_complete);
                output.send(from, Message::Acknowledged { session, number });
            }
            (Message::Behind, Some(column)) => self.is_behind(column, output),
            (Message::Block { request, bytes }, Some(column)) => {
                if let Some(rebuilding) = &mut self.rebuilding
                    && rebuilding.takes_block(request, column, bytes, &mut self.stripes, output).is_err()
                {
                    self.begin_anew(output);
                }
            }
            (Message::Stored(request), _) => {
                if let Some(rebuilding) = self.rebuilding.as_mut().filter(|rebuilding| rebuilding.spare == from) {
                    rebuilding.was_stored(request);
                }
            }
            _ => {}
        }
        self.go_on(output);
    }

    fn is_in_session(&self, column: usize, session: u64) -> bool {
        self.seats[column].as_ref().is_some_and(|seat| seat.session == Some(session))
    }

    /// A member wants parity of its files, or goes on with that.
    fn greeted(&mut self, from: Identity, session: u64, life: u32, output: &mut Output) {
        let column = self.seat_of(from).or_else(|| self.seats.iter().position(Option::is_none));
        let Some(column) = column else { return output.send(from, Message::Full(session)) };
        let seat = self.seats[column].get_or_insert_with(|| Seat::new(from, life));
        if life < seat.life {
            return output.send(from, Message::Lost(seat.life));
        }
        if session < seat.greeted {
            return;
        }
        (seat.life, seat.session, seat.greeted, seat.silent) = (life, Some(session), session, 0);
        let files = self.stripes.column(column).files().collect();
        output.send(from, Message::Stands { session, files, is_complete: seat.is_complete });
        match &mut self.rebuilding {
            // It is there again before anybody else has become it.
            Some(rebuilding) if rebuilding.column == column => self.rebuilding = None,
            // What it was asked for may have been lost on the way.
            Some(rebuilding) => rebuilding.ask_again(),
            None => {}
        }
        self.go_on(output);
    }

    /// A member says what does not go with what it said before.
    fn greet_again(&mut self, column: usize, output: &mut Output) {
        if let Some(seat) = &mut self.seats[column] {
            seat.session = None;
            output.send(seat.identity, Message::Anew);
        }
    }

    /// A member has less than what it was told that it has: without power it has lost the end of its log.
    fn is_behind(&mut self, column: usize, output: &mut Output) {
        match &mut self.seats[column] {
            Some(seat) if seat.is_complete => (seat.session, seat.silent) = (None, Milliseconds::MAX / 2),
            _ => self.begin_anew(output),
        }
    }

    /// Begins with nothing, as after a start.
    fn begin_anew(&mut self, output: &mut Output) {
        self.stripes = Stripes::new(1, 0);
        self.rebuilding = None;
        for seat in self.seats.iter_mut().flatten() {
            (seat.session, seat.is_complete) = (None, false);
            output.send(seat.identity, Message::Anew);
        }
    }

    /// Looks who is silent for too long, so long after the last time. [ms]
    pub fn look(&mut self, passed: Milliseconds, output: &mut Output) {
        for seat in self.seats.iter_mut().flatten() {
            seat.silent = seat.silent.saturating_add(passed.min(LONGEST_LOOK));
        }
        if self.rebuilding.is_none()
            && let Some(column) = self.lost()
            && let Some(&spare) = self.spares.first()
        {
            self.rebuildings += 1;
            let stripes = self.stripes.column(column).stripes().collect();
            self.rebuilding = Some(Rebuilding::new(self.rebuildings, column, spare, stripes));
            let lost = self.seats[column].as_ref().map(|seat| seat.identity.to_string()).unwrap_or_default();
            output.events.push(Event::MemberTakenForLost { member: lost, spare: spare.to_string() });
        }
        self.go_on(output);
    }

    /// A member that is lost, if there is one, and all others are there of which anything is needed.
    fn lost(&self) -> Option<usize> {
        let seats = || self.seats.iter().enumerate().filter_map(|(column, seat)| Some((column, seat.as_ref()?)));
        let patience = |seat: &Seat| seat.session.map_or(1, |_| PATIENCE_WITH_A_LINK) * self.patience;
        let (column, _) = seats().find(|(_, seat)| seat.is_complete && seat.silent > patience(seat))?;
        let has_nothing = |other: usize| self.stripes.column(other).stripes().next().is_none();
        let mut others = seats().filter(|(other, _)| *other != column);
        others.all(|(other, seat)| seat.session.is_some() || has_nothing(other)).then_some(column)
    }

    /// Goes on with what is being rebuilt. When the spare has all, it is told who it is.
    fn go_on(&mut self, output: &mut Output) {
        let Some(rebuilding) = &mut self.rebuilding else { return };
        let identities = self.seats.each_ref().map(|seat| seat.as_ref().map(|seat| seat.identity));
        if rebuilding.go_on(&mut self.stripes, &identities, output).is_err() {
            return self.begin_anew(output);
        }
        if !rebuilding.is_over() {
            return;
        }
        let (number, column, spare) = (rebuilding.number, rebuilding.column, rebuilding.spare);
        self.rebuilding = None;
        let Some(seat) = &mut self.seats[column] else { return };
        // Written down before this leaves: whoever has an earlier life is not taken any more.
        (seat.life, seat.session, seat.greeted, seat.silent) = (seat.life + 1, None, 0, 0);
        let files = self.stripes.column(column).files().collect();
        output.send(
            spare,
            Message::Become(Successor { rebuilding: number, identity: seat.identity, life: seat.life, files }),
        );
        output.events.push(Event::MemberRebuilt { member: seat.identity.to_string(), spare: spare.to_string() });
        self.spares.remove(&spare);
        self.rebuilt += 1;
    }
}
