//! The role of a parity member: it keeps the parity of a group, and has lost members rebuilt on spares.
//!
//! It alone decides which members are in its group and which are lost, so there is nothing to agree on. **A lost member
//! is fenced**: before a spare becomes a lost member, that member's next life is written to disk, and from then on
//! nothing from an earlier life is acknowledged. So a lost member that lives on behind a partition can acknowledge no
//! write to anybody.
//!
//! The parity itself is in memory only. A restarted parity member asks all members of its group for everything they
//! have, and takes nobody for lost until it has that. Nor does it know whether a spare has become a lost member: see
//! `hello`.
//!
//! Where a group has two parity members, this is the role of the lead; see `pair`.

use std::collections::BTreeSet;

use super::Output;
use super::code::COLUMNS;
use super::column::Change;
use super::facts::Facts;
use super::message::{LeadStep, Message};
use super::pair::Pair;
use super::rebuilding::{Lost, Rebuilding};
use super::state::{ParityState, RebuildingState, SeatState};
use super::stripes::{Corrupt, Stripes};
use crate::member::{Identity, Role};
use crate::record::Milliseconds;

/// A member with an open link may be silent for this many times the patience: it may just be busy.
pub(super) const PATIENCE_WITH_A_LINK: Milliseconds = 3;
/// The most silence that one tick adds: a process that was itself halted has not been listening.
const LONGEST_LOOK: Milliseconds = 200;

/// A member of the group.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) identity: Identity,
    /// The last life that was given out for it. Nothing of an earlier life is acknowledged.
    pub(super) life: u32,
    /// The last life in which it has said hello: a process in this life or a later one has everything that was ever
    /// acknowledged.
    pub(super) confirmed: u32,
    /// Its messages count only in this session; none, if it has to say hello first.
    pub(super) session: Option<u64>,
    /// The session of its last hello: one that a later one has overtaken is ignored.
    pub(super) hello: u64,
    /// Whether the parity holds everything needed to rebuild it.
    pub(super) is_complete: bool,
    /// Whether the parity has never held that, also in earlier runs.
    pub(super) is_new: bool,
    /// For how long nothing has been heard from it.
    pub(super) silent: Milliseconds,
    /// Whether it is leaving the group: then it is not rebuilt any more.
    pub(super) leaves: bool,
}

impl Seat {
    pub(super) const fn new(identity: Identity, life: u32) -> Seat {
        Seat {
            identity,
            life,
            confirmed: life,
            session: None,
            hello: 0,
            is_complete: false,
            is_new: true,
            silent: 0,
            leaves: false,
        }
    }
}

/// A parity member.
#[derive(Debug)]
pub struct ParityMember {
    pub(super) own: Identity,
    /// How many parity members a group has.
    pub(super) k: usize,
    pub(super) patience: Milliseconds,
    pub(super) seats: [Option<Seat>; COLUMNS],
    pub(super) stripes: Stripes,
    /// Spares with an open link.
    pub(super) spares: BTreeSet<Identity>,
    /// The last spare that refused a member.
    pub(super) busy: Option<Identity>,
    /// Members for which there was no room.
    pub(super) refused: BTreeSet<Identity>,
    /// Newcomers that have lost their places.
    pub(super) let_go: BTreeSet<Identity>,
    pub(super) rebuilding: Option<Rebuilding>,
    /// Tells one rebuilding from another.
    pub(super) rebuildings: u64,
    /// How many members it has had rebuilt.
    pub(super) rebuilt: u64,
    /// Its relation to the other parity member of its group.
    pub(super) pair: Pair,
}

impl ParityMember {
    /// A parity member of a group with k of them, which takes a member for lost after a silence longer than `patience`.
    /// `facts` were recorded in earlier runs; `run` is a number that no earlier run had.
    pub fn new(own: Identity, k: usize, facts: &Facts, patience: Milliseconds, run: u64) -> ParityMember {
        let seat = |column: usize| {
            let (identity, life) = facts.columns[column]?;
            let (confirmed, is_new) = (facts.confirmed[column].unwrap_or(life), facts.newcomers[column]);
            Some(Seat { confirmed, is_new, leaves: facts.leaving[column], ..Seat::new(identity, life) })
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
            let_go: facts.let_go.clone(),
            rebuilding: None,
            rebuildings: run,
            rebuilt: 0,
            pair: Pair::new(own, k, facts, run),
        }
    }

    /// What must survive a restart.
    pub fn facts(&self) -> Facts {
        let seats = self.seats.each_ref().map(Option::as_ref);
        let columns = seats.map(|seat| seat.map(|seat| (seat.identity, seat.life)));
        let confirmed = seats.map(|seat| seat.map(|seat| seat.confirmed));
        let newcomers = seats.map(|seat| seat.is_some_and(|seat| seat.is_new));
        let leaving = seats.map(|seat| seat.is_some_and(|seat| seat.leaves));
        let let_go = self.let_go.clone();
        Facts { columns, confirmed, newcomers, leaving, let_go, views: self.pair.views, ..Facts::default() }
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
            let is_complete = is_complete && self.is_known_to_both(column);
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

    /// A link to another member has opened.
    pub fn connect(&mut self, member: Identity, role: Role, output: &mut Output) {
        if role == Role::Spare {
            self.spares.insert(member);
        }
        // A member that has taken over another's former address connects to itself there.
        if self.k > 1 && member != self.own {
            self.pair_meets(member, role, output);
        }
    }

    /// Whether a link to another member is of use to it.
    pub fn wants(&self, member: Identity, role: Role) -> bool {
        role == Role::Spare || self.k > 1 && (role == Role::Parity || self.seat_of(member).is_some())
    }

    /// The link to a member is gone.
    pub fn disconnect(&mut self, member: Identity) {
        self.spares.remove(&member);
        if let Some(seat) = self.seat_of(member).and_then(|column| self.seats[column].as_mut()) {
            seat.session = None;
        }
        // Another spare may have more luck.
        self.rebuilding.take_if(|rebuilding| rebuilding.to == member && rebuilding.lost != Lost::Parity);
        self.pair.disconnect(member);
    }

    pub(super) fn seat_of(&self, member: Identity) -> Option<usize> {
        self.seats.iter().position(|seat| seat.as_ref().is_some_and(|seat| seat.identity == member))
    }

    /// Handles a message from another member.
    pub fn receive(&mut self, from: Identity, message: Message, output: &mut Output) {
        let column = self.seat_of(from);
        // A hello may come from a process that is this member no longer.
        if let Some(seat) = column.and_then(|column| self.seats[column].as_mut())
            && !matches!(message, Message::Hello { .. })
        {
            seat.silent = 0;
        }
        match message {
            Message::Hello { session, life, wish } => self.receive_hello(from, session, life, wish, output),
            message if !self.pair.leads() => self.takes_of_pair(from, message, output),
            Message::Change { session, number, change } => self.changed(column, session, number, change, output),
            Message::Beat { session, number, is_complete } => {
                if let Some(column) = self.in_session(column, session, output) {
                    self.beats(column, is_complete, output);
                    self.send_when_shared(from, Message::Acknowledged { session, number }, output);
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

    /// The column of a member that sends a message in its session. One that is being rebuilt has to say hello first.
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

    /// A member is there, and says whether the parity has everything that is needed to rebuild it.
    fn beats(&mut self, column: usize, is_complete: bool, output: &mut Output) {
        let step = LeadStep::Beat { column, is_complete };
        match &mut self.seats[column] {
            Some(seat) if is_complete && !seat.is_complete => {
                (seat.is_complete, seat.is_new) = (true, false);
                self.settling_step(column, step, output);
            }
            _ => self.step(step, output),
        }
    }

    fn changed(&mut self, column: Option<usize>, session: u64, number: u64, change: Change, output: &mut Output) {
        let Some(column) = self.in_session(column, session, output) else { return };
        if self.leaves(column) {
            return;
        }
        match self.stripes.follow(column, &change) {
            Ok(true) => {
                self.step(LeadStep::Change { column, change }, output);
                if let Some(to) = self.seats[column].as_ref().map(|seat| seat.identity) {
                    self.send_when_shared(to, Message::Acknowledged { session, number }, output);
                }
            }
            Ok(false) => self.request_hello(column, output),
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

    /// A member's message contradicts its earlier ones.
    fn request_hello(&mut self, column: usize, output: &mut Output) {
        if let Some(seat) = &mut self.seats[column] {
            seat.session = None;
            output.send(seat.identity, Message::Anew);
        }
    }

    /// A member has less on disk than the parity holds of it: a power failure has cost it the end of its log.
    fn is_behind(&mut self, column: usize, output: &mut Output) {
        match &mut self.seats[column] {
            Some(seat) if seat.is_complete => (seat.session, seat.silent) = (None, Milliseconds::MAX / 2),
            _ => self.begin_anew(output),
        }
    }

    /// Starts over with nothing, as after a restart.
    pub(super) fn begin_anew(&mut self, output: &mut Output) {
        self.stripes = Stripes::new(self.k, self.stripes.number());
        self.rebuilding = None;
        for seat in self.seats.iter_mut().flatten() {
            (seat.session, seat.is_complete) = (None, false);
            output.send(seat.identity, Message::Anew);
        }
        self.follower_begins_anew(output);
    }

    /// Looks for members that have been silent too long; `passed` is the time since the last tick. [ms]
    pub fn tick(&mut self, passed: Milliseconds, output: &mut Output) {
        let passed = passed.min(LONGEST_LOOK);
        for column in 0..COLUMNS {
            // A spare hears that it is this member when the follower knows of it, and can't say hello before.
            let may_answer = self.is_known_to_both(column);
            if let Some(seat) = self.seats[column].as_mut().filter(|seat| may_answer || seat.life == seat.confirmed) {
                seat.silent = seat.silent.saturating_add(passed);
            }
        }
        if self.k > 1 {
            self.poll_pair(passed, output);
        }
        if self.pair.leads() {
            self.give_up_newcomers(output);
            self.let_go_of_leavers(output);
            self.begin_rebuilding(output);
            self.go_on(output);
        }
    }

    /// Whether both parity members of its group have all of the parity, as far as the lead knows. A lead that has asked
    /// members to record that it leads alone can't count on its follower: if the lead is lost then, nobody knows
    /// whether it did lead alone, and the follower does not go on.
    pub fn is_backed(&self) -> bool {
        self.pair.is_backed() && !self.pair.insists
    }

    /// Whether a follower, if there is one that has all of its parity, knows as well that a column's member can be
    /// rebuilt, or leaves: this parity member may be lost, too.
    fn is_known_to_both(&self, column: usize) -> bool {
        self.pair.follower().is_none_or(|follower| !follower.is_made() || follower.knows_of(column))
    }

    /// Whether it leads its group. The only parity member of a group always does.
    pub const fn leads(&self) -> bool {
        self.pair.leads()
    }

    /// The other parity member of its group, if there is one.
    pub fn other(&self) -> Option<Identity> {
        self.pair.view().and_then(|view| view.other_than(self.own))
    }

    /// How many members of the group may be lost now. The follower is of no use for a second one while it does not know
    /// what the lead knows of a member.
    pub fn survives(&self) -> usize {
        let mut seats = (0..COLUMNS).filter_map(|column| Some((column, self.seats[column].as_ref()?))).peekable();
        if !self.pair.leads() || seats.peek().is_none() {
            return 0;
        }
        let [mut is_complete, mut is_known] = [true, self.pair.knows_who_left()];
        for (column, seat) in seats {
            is_complete &= seat.is_complete || seat.leaves;
            is_known &= self.is_known_to_both(column);
        }
        if is_complete { 1 + usize::from(self.is_backed() && is_known) } else { 0 }
    }
}
