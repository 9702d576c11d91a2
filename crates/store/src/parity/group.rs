//! A parity member's part: it keeps the parity of a group, and has members that are gone rebuilt on spares.
//!
//! Nobody else says who is in its group and who is lost, and so there is nothing to agree on. **Who is lost is fenced**: before a spare becomes a
//! lost member, that member's next life is written down, and from then on nothing of an earlier one is taken. So a lost member that lives on
//! behind a partition can tell nobody that something was stored.
//!
//! The parity itself is in memory only. A parity member that was started again asks all members of its group for all that they have, and
//! until it has that, takes nobody for lost.
//!
//! Where a group has two parity members, all of this is the part of the one that leads; see [`super::pair`].

use std::collections::BTreeSet;

use super::Output;
use super::code::COLUMNS;
use super::column::Change;
use super::facts::Facts;
use super::message::{Message, Step, Wish};
use super::pair::Pair;
use super::rebuilding::{Lost, Rebuilding};
use super::state::{ParityState, RebuildingState, SeatState};
use super::stripes::{Corrupt, Stripes};
use crate::member::{Identity, Role};
use crate::record::Milliseconds;

/// So many times its patience a member may be silent to which a link leads: it may only have much to do.
pub(super) const PATIENCE_WITH_A_LINK: Milliseconds = 3;
/// As much counts as silence of one look at most: a process that was halted has not listened meanwhile.
const LONGEST_LOOK: Milliseconds = 200;

/// A member of the group.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) identity: Identity,
    /// How often it was rebuilt.
    pub(super) life: u32,
    /// What it says counts if it says so under this; none, if it has to greet first.
    pub(super) session: Option<u64>,
    /// Its last greeting: one that has been overtaken by a later one says nothing.
    pub(super) greeted: u64,
    /// Whether the parity has all that is needed to rebuild it.
    pub(super) is_complete: bool,
    /// For how long nothing was heard of it.
    pub(super) silent: Milliseconds,
    /// Whether it leaves the group: then it is not rebuilt any more.
    pub(super) leaves: bool,
}

impl Seat {
    pub(super) const fn new(identity: Identity, life: u32) -> Seat {
        Seat { identity, life, session: None, greeted: 0, is_complete: false, silent: 0, leaves: false }
    }
}

/// A parity member.
#[derive(Debug)]
pub struct ParityMember {
    pub(super) own: Identity,
    /// As many parity members a group has.
    pub(super) k: usize,
    pub(super) patience: Milliseconds,
    pub(super) seats: [Option<Seat>; COLUMNS],
    pub(super) stripes: Stripes,
    /// Spares to which a link leads.
    pub(super) spares: BTreeSet<Identity>,
    /// The last spare that was given another member.
    pub(super) busy: Option<Identity>,
    /// Members for which there was no room.
    pub(super) refused: BTreeSet<Identity>,
    pub(super) rebuilding: Option<Rebuilding>,
    /// Tells one rebuilding from another.
    pub(super) rebuildings: u64,
    /// As many members it has had rebuilt.
    pub(super) rebuilt: u64,
    /// What it is to the other parity member of its group.
    pub(super) pair: Pair,
}

impl ParityMember {
    /// One that takes nobody for lost of whom it has heard within its patience, of a group that has k of its kind. What it must not have forgotten
    /// is given; and a number that no run before had.
    pub fn new(own: Identity, k: usize, facts: &Facts, patience: Milliseconds, run: u64) -> ParityMember {
        let seat = |column: usize| {
            let (identity, life) = facts.columns[column]?;
            Some(Seat { leaves: facts.leaving[column], ..Seat::new(identity, life) })
        };
        ParityMember {
            own,
            k,
            patience,
            seats: std::array::from_fn(seat),
            stripes: Stripes::new(k, 0),
            spares: BTreeSet::new(),
            busy: None,
            refused: BTreeSet::new(),
            rebuilding: None,
            rebuildings: run,
            rebuilt: 0,
            pair: Pair::new(own, k, facts, run),
        }
    }

    /// What it must not forget.
    pub fn facts(&self) -> Facts {
        let columns = self.seats.each_ref().map(|seat| seat.as_ref().map(|seat| (seat.identity, seat.life)));
        let leaving = self.seats.each_ref().map(|seat| seat.as_ref().is_some_and(|seat| seat.leaves));
        Facts { columns, leaving, views: self.pair.views, ..Facts::default() }
    }

    /// The members of its group that host servers.
    pub fn members(&self) -> impl Iterator<Item = Identity> {
        self.seats.iter().flatten().map(|seat| seat.identity)
    }

    /// How its group stands.
    pub fn state(&self) -> ParityState {
        let rebuilt = self.rebuilding.as_ref().and_then(Rebuilding::column);
        let of_seat = |(column, seat): (usize, &Option<Seat>)| {
            let Seat { identity, is_complete, silent, leaves, .. } = *seat.as_ref()?;
            let (member, is_being_rebuilt) = (identity.to_string(), rebuilt == Some(column));
            Some(SeatState { member, is_complete, is_being_rebuilt, leaves, silent })
        };
        let of_rebuilding = |rebuilding: &Rebuilding| {
            let lost = rebuilding.column().and_then(|column| self.seats[column].as_ref());
            let (done, stripes) = rebuilding.progress();
            let member = lost.map(|seat| seat.identity.to_string());
            RebuildingState { member, to: rebuilding.to.to_string(), done, stripes }
        };
        let rebuilding = self.rebuilding.as_ref().filter(|it| !matches!(it.lost, Lost::Leaver { .. }));
        ParityState {
            leads: self.leads(),
            other: self.other().map(|other| other.to_string()),
            is_backed: self.is_backed(),
            promised: self.k,
            survives: self.survives(),
            columns: self.seats.iter().enumerate().filter_map(of_seat).collect(),
            rebuilding: rebuilding.map(of_rebuilding),
            spares: self.spares.len(),
            bytes: self.stripes.size(),
            rebuilt: self.rebuilt,
        }
    }

    /// A link leads to another member.
    pub fn meets(&mut self, member: Identity, role: Role, output: &mut Output) {
        if role == Role::Spare {
            self.spares.insert(member);
        }
        // Who has another's former address calls itself there.
        if self.k > 1 && member != self.own {
            self.pair_meets(member, role, output);
        }
    }

    /// Whether a link to another member is of use to it.
    pub fn wants(&self, member: Identity, role: Role) -> bool {
        role == Role::Spare || self.k > 1 && (role == Role::Parity || self.seat_of(member).is_some())
    }

    /// No link leads to a member any more.
    pub fn loses(&mut self, member: Identity) {
        self.spares.remove(&member);
        if let Some(seat) = self.seat_of(member).and_then(|column| self.seats[column].as_mut()) {
            seat.session = None;
        }
        // Another spare may have more luck.
        self.rebuilding.take_if(|rebuilding| rebuilding.to == member && rebuilding.lost != Lost::Parity);
        self.pair.loses(member);
    }

    pub(super) fn seat_of(&self, member: Identity) -> Option<usize> {
        self.seats.iter().position(|seat| seat.as_ref().is_some_and(|seat| seat.identity == member))
    }

    /// Takes what another member says.
    pub fn take(&mut self, from: Identity, message: Message, output: &mut Output) {
        let column = self.seat_of(from);
        if let Some(seat) = column.and_then(|column| self.seats[column].as_mut()) {
            seat.silent = 0;
        }
        match message {
            Message::Hello { session, life, wish } => self.greeted(from, session, life, wish, output),
            message if !self.pair.leads() => self.takes_of_pair(from, message, output),
            Message::Change { session, number, change } => self.changed(column, session, number, change, output),
            Message::Beat { session, number, is_complete } => {
                if let Some(column) = self.in_session(column, session, output) {
                    self.seats[column].iter_mut().for_each(|seat| seat.is_complete |= is_complete);
                    self.step(Step::Beat { column, is_complete }, output);
                    self.tell(from, Message::Acknowledged { session, number }, output);
                }
            }
            Message::Behind => column.into_iter().for_each(|column| self.is_behind(column, output)),
            Message::Block { request, bytes } => self.takes_block(request, from, bytes, output),
            Message::Stored(request) => {
                if let Some(rebuilding) = self.rebuilding.as_mut().filter(|rebuilding| rebuilding.to == from) {
                    rebuilding.was_stored(request);
                }
            }
            Message::Busy(number) => {
                let is_given = |rebuilding: &mut Rebuilding| rebuilding.to == from && rebuilding.number == number;
                self.busy = self.rebuilding.take_if(is_given).map(|rebuilding| rebuilding.to).or(self.busy);
            }
            message => self.takes_of_pair(from, message, output),
        }
        self.go_on(output);
    }

    /// The column of a member that says something in its session. One that is being rebuilt has to greet first.
    fn in_session(&mut self, column: Option<usize>, session: u64, output: &mut Output) -> Option<usize> {
        let column = column?;
        let seat = self.seats[column].as_ref()?;
        if seat.session == Some(session) {
            return Some(column);
        }
        if self.rebuilding.as_ref().and_then(Rebuilding::column) == Some(column) {
            output.send(seat.identity, Message::Anew);
        }
        None
    }

    fn changed(&mut self, column: Option<usize>, session: u64, number: u64, change: Change, output: &mut Output) {
        let Some(column) = self.in_session(column, session, output) else { return };
        if self.leaves(column) {
            return;
        }
        match self.stripes.follow(column, &change) {
            Ok(true) => {
                self.step(Step::Change { column, change }, output);
                if let Some(to) = self.seats[column].as_ref().map(|seat| seat.identity) {
                    self.tell(to, Message::Acknowledged { session, number }, output);
                }
            }
            Ok(false) => self.greet_again(column, output),
            Err(Corrupt) => self.begin_anew(output),
        }
    }

    fn takes_block(&mut self, request: u64, from: Identity, bytes: Vec<u8>, output: &mut Output) {
        let column = self.seat_of(from);
        if column.is_none() && !self.pair.is_followed_by(from) {
            return;
        }
        if let Some(rebuilding) = &mut self.rebuilding
            && rebuilding.takes_block(request, column, bytes, &mut self.stripes, output).is_err()
        {
            self.begin_anew(output);
        }
    }

    /// Where a member has its place that greets, or gets one; where it has none, it is told why.
    fn place(&mut self, from: Identity, session: u64, life: u32, wish: Wish, output: &mut Output) -> Option<usize> {
        let own = self.seat_of(from).filter(|_| self.pair.leads());
        let free = self.seats.iter().position(Option::is_none).filter(|_| self.pair.leads());
        let group = self.pair.view().map(|view| view.group);
        match wish {
            _ if own.is_some() => return own,
            Wish::Join if free.is_some() => return free,
            // Whoever leads knows all that are in its group: another one was this member, and has left.
            Wish::GoOn(of) if of == group && self.pair.leads() => output.send(from, Message::Lost(life + 1)),
            Wish::Leave if self.pair.leads() => self.tell(from, Message::Left(session), output),
            Wish::Join => {
                self.pair.is_wanted = true;
                self.refused.insert(from);
                output.send(from, Message::Full(session));
            }
            Wish::GoOn(_) | Wish::Leave => output.send(from, Message::Full(session)),
        }
        None
    }

    /// A member wants parity of its files, goes on with that, or leaves.
    fn greeted(&mut self, from: Identity, session: u64, life: u32, wish: Wish, output: &mut Output) {
        let Some(column) = self.place(from, session, life, wish, output) else { return };
        let before = self.seats[column].as_ref().map(|seat| seat.life);
        let seat = self.seats[column].get_or_insert_with(|| Seat::new(from, life));
        if life < seat.life {
            return output.send(from, Message::Lost(seat.life));
        }
        if session < seat.greeted {
            return;
        }
        (seat.life, seat.session, seat.greeted, seat.silent) = (life, Some(session), session, 0);
        let (is_complete, begins_to_leave) = (seat.is_complete, wish == Wish::Leave && !seat.leaves);
        seat.leaves |= begins_to_leave;
        let leaves = seat.leaves;
        if before != Some(life) {
            self.step(Step::Seat { column, identity: from, life }, output);
        }
        if begins_to_leave {
            self.step(Step::Leaves { column }, output);
        }
        let files = self.stripes.column(column).files().collect();
        let view = self.pair.view();
        self.tell(from, Message::Stands { session, files, is_complete, leaves, view }, output);
        match &mut self.rebuilding {
            // It is there again before anybody else has become it.
            Some(rebuilding) if rebuilding.column() == Some(column) => self.rebuilding = None,
            // What it was asked for may have been lost on the way.
            Some(rebuilding) => rebuilding.ask_again(),
            None => {}
        }
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
    pub(super) fn begin_anew(&mut self, output: &mut Output) {
        self.stripes = Stripes::new(self.k, self.stripes.number());
        self.rebuilding = None;
        for seat in self.seats.iter_mut().flatten() {
            (seat.session, seat.is_complete) = (None, false);
            output.send(seat.identity, Message::Anew);
        }
        self.follower_begins_anew(output);
    }

    /// Looks who is silent for too long, so long after the last time. [ms]
    pub fn look(&mut self, passed: Milliseconds, output: &mut Output) {
        let passed = passed.min(LONGEST_LOOK);
        for seat in self.seats.iter_mut().flatten() {
            seat.silent = seat.silent.saturating_add(passed);
        }
        if self.k > 1 {
            self.look_at_pair(passed, output);
        }
        if self.pair.leads() {
            self.let_go_of_leavers(output);
            self.begin_rebuilding(output);
            self.go_on(output);
        }
    }

    /// Whether both parity members of its group have all of the parity, as the one knows that leads.
    pub fn is_backed(&self) -> bool {
        self.pair.is_backed()
    }

    /// Whether it leads its group; it is the only parity member of it, if there is one only.
    pub const fn leads(&self) -> bool {
        self.pair.leads()
    }

    /// The other parity member of its group, if there is one.
    pub fn other(&self) -> Option<Identity> {
        self.pair.view().and_then(|view| view.other_than(self.own))
    }

    /// As many members of the group as may be lost now. Where members were asked to have it lead alone, the one that follows may be of no use any more.
    pub fn survives(&self) -> usize {
        let mut seats = self.seats.iter().flatten().peekable();
        let is_complete = seats.peek().is_some() && seats.all(|seat| seat.is_complete || seat.leaves);
        let is_backed = self.pair.is_backed() && !self.pair.insists;
        if self.pair.leads() && is_complete { 1 + usize::from(is_backed) } else { 0 }
    }
}
