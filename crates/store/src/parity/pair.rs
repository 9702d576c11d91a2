//! The two parity members of a group that survives the loss of two.
//!
//! ```text
//!   data member               lead                            follower
//!   | Change(number) ---------->|                                |
//!   |                           | Step(place, change) ---------->|   the same, in the same order
//!   |                           |<---------------- Follows(next) |
//!   |<---- Acknowledged(number) |
//! ```
//!
//! **Nobody is told anything that the follower does not hold too.** So whatever was acknowledged is in both parities,
//! and both agree on where it lies. This covers everything the lead says: how files stand, that a lost member has a new
//! life, which process becomes it.
//!
//! Two lost members are rebuilt from both parities, one after the other. A lost parity is made anew from what all
//! members have on disk, by the remaining parity member, on another one that keeps no parity yet.
//!
//! **Which one leads** is set by the group's view, see [`super::views`]. A lead that hears nothing from its follower
//! asks a majority of its group for a view without the follower, and goes on alone; a follower that hears nothing from
//! its lead asks for a view in which it leads alone, and takes no step of the former lead from then on. Only one of
//! them can get its view. A lead whose view is out of date can acknowledge nothing to anybody.
//!
//! **A restarted parity member has nothing** and leads only if nothing can be lost by it: if all members of the group,
//! which have everything on disk, have granted it that, or if the other parity member has nothing either.

use std::collections::BTreeSet;

use super::Output;
use super::facts::Facts;
use super::follower::Follower;
use super::group::{PATIENCE_WITH_A_LINK, ParityMember, Seat};
use super::message::{LeadStep, Message, SeatRecord};
use super::views::{Acceptor, Candidacy, Number, View};
use crate::log::Event;
use crate::member::{Identity, Role};
use crate::record::Milliseconds;

/// Where there are other parity members, one that stands by waits this many times its patience before it founds a
/// group: as long as a follower may take to notice that its lead is gone, to lead alone, and to have the group agree on
/// a new follower; and as much again.
pub(super) const PATIENCE_WITH_GROUPS: Milliseconds = 6;

/// A parity member's standing in its group.
#[derive(Debug)]
pub(super) enum Standing {
    /// It is in no group.
    Free,
    /// It has nothing of the parity.
    Empty,
    /// It leads, with this follower or alone.
    Leads(Option<Follower>),
    /// It follows, and has taken all steps before this place.
    Follows(u64),
}

/// A parity member's relation to the other one of its group.
#[derive(Debug)]
pub(super) struct Pair {
    k: usize,
    /// A number that no earlier run had.
    run: u64,
    pub(super) views: Acceptor,
    pub(super) standing: Standing,
    pub(super) candidacy: Option<Candidacy>,
    /// Whether others were asked to record its view: then it cannot go back.
    pub(super) insists: bool,
    /// Whether a member has asked for parity while it was in no group.
    pub(super) is_wanted: bool,
    /// Members with an open link.
    pub(super) links: BTreeSet<Identity>,
    /// The parity members among these.
    parities: BTreeSet<Identity>,
    /// The parity members among these that are in no group.
    pub(super) available: BTreeSet<Identity>,
    /// For how long its lead has been silent, what it waits for has not happened, or it has led a group without
    /// members. [ms]
    pub(super) silent: Milliseconds,
    /// For how long it has neither announced itself nor asked others for anything. [ms]
    pub(super) since_told: Milliseconds,
}

impl Pair {
    pub(super) fn new(own: Identity, k: usize, facts: &Facts, run: u64) -> Pair {
        let has_members = facts.columns.iter().any(Option::is_some);
        let mut views = match facts.views.settled {
            // It was the only parity member of its group.
            None if k > 1 && has_members => Acceptor::of(Some(first_view(own, run))),
            _ => facts.views,
        };
        views.give_up(own);
        let leads_alone = |view: View| view.lead == own && view.follower.is_none();
        let standing = match views.settled {
            _ if k == 1 => Standing::Leads(None),
            Some(view) if leads_alone(view) => Standing::Leads(None),
            Some(_) => Standing::Empty,
            None => Standing::Free,
        };
        Pair {
            k,
            run,
            views,
            standing,
            candidacy: None,
            insists: false,
            is_wanted: false,
            links: BTreeSet::new(),
            parities: BTreeSet::new(),
            available: BTreeSet::new(),
            silent: 0,
            since_told: 0,
        }
    }

    pub(super) const fn leads(&self) -> bool {
        matches!(self.standing, Standing::Leads(_))
    }

    pub(super) fn view(&self) -> Option<View> {
        self.views.settled.filter(|_| self.k > 1)
    }

    pub(super) const fn follower_mut(&mut self) -> Option<&mut Follower> {
        match &mut self.standing {
            Standing::Leads(Some(follower)) => Some(follower),
            _ => None,
        }
    }

    pub(super) const fn follower(&self) -> Option<&Follower> {
        match &self.standing {
            Standing::Leads(Some(follower)) => Some(follower),
            _ => None,
        }
    }

    pub(super) fn is_followed_by(&self, member: Identity) -> bool {
        self.follower().is_some_and(|follower| follower.identity == member)
    }

    /// Whether there is a second parity.
    pub(super) fn is_backed(&self) -> bool {
        self.follower().is_some_and(|follower| follower.is_made() && follower.is_reached)
    }

    /// Whether there is a second parity, even if its member can't be reached now.
    pub(super) fn has_made(&self) -> bool {
        self.follower().is_some_and(Follower::is_made)
    }

    /// Whether the follower knows of all members that have left the group.
    pub(super) fn knows_who_left(&self) -> bool {
        self.follower().is_none_or(Follower::knows_who_left)
    }

    /// The follower, if it has no parity yet.
    pub(super) fn to_be_made(&self) -> Option<Identity> {
        let follower = self.follower().filter(|follower| follower.is_to_be_made() && follower.is_reached);
        follower.map(|follower| follower.identity)
    }

    /// The answer of a follower to its lead. While it asks for a view itself, it has not given up that one.
    pub(super) fn follows(&self, number: Number, next: Option<u64>) -> Message {
        let has_given_up = !self.insists && self.candidacy.is_none();
        let void = if has_given_up { self.views.promised() } else { Number::default() };
        Message::Follows { number, next, void }
    }

    pub(super) fn disconnect(&mut self, member: Identity) {
        self.links.remove(&member);
        self.parities.remove(&member);
        self.available.remove(&member);
        if let Some(follower) = self.follower_mut().filter(|follower| follower.identity == member) {
            follower.is_reached = false;
        }
    }
}

/// The first view of a group.
const fn first_view(lead: Identity, run: u64) -> View {
    View { group: Number(run, lead), number: Number(1, lead), lead, follower: None }
}

impl ParityMember {
    /// Takes a step, which the follower has to take too.
    pub(super) fn step(&mut self, step: LeadStep, output: &mut Output) {
        if let Some(follower) = self.pair.follower_mut() {
            follower.push(step, output);
        }
    }

    /// The same, if the step decides whether a column's member can be rebuilt, or need not be, or who it is.
    pub(super) fn settling_step(&mut self, column: usize, step: LeadStep, output: &mut Output) {
        if let Some(follower) = self.pair.follower_mut() {
            follower.push_settling(column, step, output);
        }
    }

    /// Sends a message as soon as the follower has all steps so far.
    pub(super) fn send_when_shared(&mut self, to: Identity, message: Message, output: &mut Output) {
        match self.pair.follower_mut() {
            Some(follower) => follower.report_when_complete(to, message, output),
            None => output.send(to, message),
        }
    }

    /// Everything that a parity member with nothing has to know.
    pub(super) fn all(&self) -> LeadStep {
        let seats = self.seats.each_ref().map(|seat| {
            let Seat { identity, life, confirmed, is_complete, is_new, leaves, .. } = *seat.as_ref()?;
            Some(SeatRecord { identity, life, confirmed, is_complete, is_new, leaves })
        });
        let (parity, layouts) = (self.k - 1 - self.stripes.number(), self.stripes.layouts());
        LeadStep::Anew { parity, seats, layouts, let_go: self.let_go.iter().copied().collect() }
    }

    pub(super) fn follower_begins_anew(&mut self, output: &mut Output) {
        let all = self.all();
        if let Some(follower) = self.pair.follower_mut() {
            follower.push(all, output);
        }
    }

    /// The follower has been given all of its parity.
    pub(super) fn follower_is_made(&mut self, output: &mut Output) {
        if let Some(follower) = self.pair.follower_mut() {
            follower.push(LeadStep::Made, output);
        }
    }

    /// A link to another member has opened.
    pub(super) fn pair_meets(&mut self, member: Identity, role: Role, output: &mut Output) {
        self.pair.links.insert(member);
        if role == Role::Parity {
            self.pair.parities.insert(member);
        }
        if let Some(follower) = self.pair.follower_mut().filter(|follower| follower.identity == member) {
            follower.is_reached = false;
        }
        match (self.pair.view(), &self.pair.standing) {
            (Some(view), Standing::Leads(_)) if role != Role::Spare => output.send(member, Message::Leads(view)),
            (Some(view), Standing::Empty) if view.has(member) => {
                output.send(member, self.pair.follows(view.number, None));
            }
            (_, Standing::Free) if role == Role::Parity => output.send(member, Message::Available),
            _ => {}
        }
    }

    /// Handles a message that concerns the parity members of a group.
    pub(super) fn takes_of_pair(&mut self, from: Identity, message: Message, output: &mut Output) {
        match message {
            _ if self.k == 1 => {}
            Message::Available => drop(self.pair.available.insert(from)),
            Message::Leads(view) if view.lead == from => {
                self.pair.available.retain(|parity| !view.has(*parity));
                self.is_led(view, output);
            }
            Message::Follows { number, next, void } => self.is_followed(from, (number, void), next, output),
            Message::Step { number, place, step } => self.follow(from, number, place, step, output),
            Message::ReadParity { request, after, stripe } => {
                if matches!(self.pair.standing, Standing::Follows(next) if next == after)
                    && self.stripes.is_made()
                    && let Some(block) = self.stripes.block(stripe)
                {
                    output.send(from, Message::Block { request, bytes: block.to_vec() });
                }
            }
            Message::Make { request, stripe, bytes } => {
                self.stripes.make(stripe, request, &bytes);
                output.send(from, Message::Stored(request));
            }
            Message::Ask { settled, number } => {
                let has_parity = self.has_parity();
                match self.pair.views.ask(settled.group, number) {
                    Some(Ok(view)) => output.send(from, Message::Granted { number, view, life: 0, has_parity }),
                    Some(Err(promised)) => output.send(from, Message::Refused { number, promised }),
                    None => {}
                }
            }
            Message::Record(view) => match self.pair.views.record(view) {
                Some(Ok(())) => output.send(from, Message::Recorded(view.number)),
                Some(Err(promised)) => output.send(from, Message::Refused { number: view.number, promised }),
                None => {}
            },
            Message::Granted { number, view, life, has_parity } if self.is_the_last(from, life) => {
                self.was_granted(from, number, view, has_parity, output);
            }
            Message::Refused { number, promised } => self.was_refused(number, promised),
            Message::Recorded(number) => {
                if let Some(candidacy) = self.pair.candidacy.as_mut().filter(|it| it.view.number == number) {
                    candidacy.was_recorded(from);
                }
                self.go_on_with_candidacy(output);
            }
            _ => {}
        }
    }

    /// Whether it has all of a parity.
    pub(super) fn has_parity(&self) -> bool {
        match self.pair.standing {
            Standing::Leads(_) => true,
            Standing::Follows(_) => self.stripes.is_made(),
            Standing::Free | Standing::Empty => false,
        }
    }

    /// A follower reports how many steps it has.
    fn is_followed(
        &mut self,
        from: Identity,
        (number, void): (Number, Number),
        next: Option<u64>,
        output: &mut Output,
    ) {
        let pair = &mut self.pair;
        if pair.view().is_none_or(|view| view.number != number) || !pair.links.contains(&from) {
            return;
        }
        if pair.view().and_then(|view| view.other_than(self.own)) == Some(from) {
            pair.views.receive_void(void);
        }
        let has_to_lead = match pair.standing {
            Standing::Follows(_) => true,
            // Neither has anything.
            Standing::Empty => self.own < from,
            Standing::Leads(_) | Standing::Free => false,
        };
        if has_to_lead && next.is_none() {
            // The other one has been restarted.
            return pair.silent = Milliseconds::MAX / 2;
        }
        if !pair.is_followed_by(from) {
            return;
        }
        // The follower is there after all: no need to lead without it, unless others may have recorded that already.
        if !self.pair.insists {
            self.pair.candidacy = None;
        }
        let all = next.is_none().then(|| self.all());
        let Some(follower) = self.pair.follower_mut() else { return };
        let was_made = follower.is_made();
        if let Some(all) = all {
            follower.begin(all, output);
            self.rebuilding.take_if(|rebuilding| rebuilding.needs_follower());
        } else if let Some(next) = next {
            let is_reached_again = follower.has(next, output);
            if follower.is_made() && !was_made {
                output.events.push(Event::ParityMade { member: follower.identity.to_string() });
            }
            if is_reached_again && let Some(rebuilding) = &mut self.rebuilding {
                rebuilding.ask_again();
            }
        }
    }

    /// Decides what the pair does next; `passed` is the time since the last tick. [ms]
    pub(super) fn poll_pair(&mut self, passed: Milliseconds, output: &mut Output) {
        let (pair, patience) = (&mut self.pair, self.patience);
        (pair.silent, pair.since_told) = (pair.silent.saturating_add(passed), pair.since_told.saturating_add(passed));
        let has_members = self.seats.iter().any(Option::is_some);
        if has_members && pair.leads() {
            pair.silent = 0;
        }
        match &mut pair.standing {
            Standing::Free => {
                pair.silent = if pair.is_wanted { pair.silent } else { 0 };
                let is_first = !pair.available.iter().any(|other| *other < self.own);
                // A parity member in a group may have lost its partner, and need this one instead.
                let may_be_needed = pair.parities.iter().any(|other| !pair.available.contains(other));
                let patience = if may_be_needed { PATIENCE_WITH_GROUPS * patience } else { patience };
                if pair.silent > patience && is_first {
                    self.found(output);
                }
            }
            Standing::Empty | Standing::Follows(_) if pair.silent > patience && !has_members => self.is_let_go(output),
            Standing::Empty => {
                let is_in_view = pair.view().is_some_and(|view| view.has(self.own));
                if pair.silent > PATIENCE_WITH_A_LINK * patience && is_in_view {
                    self.stand(None, output);
                }
            }
            Standing::Follows(_) => {
                let is_linked = pair.view().is_some_and(|view| pair.links.contains(&view.lead));
                let patience = if is_linked { PATIENCE_WITH_A_LINK * patience } else { patience };
                if pair.insists || pair.silent > patience {
                    self.stand(None, output);
                }
            }
            Standing::Leads(Some(follower)) => {
                follower.silent = follower.silent.saturating_add(passed);
                let is_gone = follower.silent > if follower.is_reached { PATIENCE_WITH_A_LINK } else { 1 } * patience;
                let follower = follower.identity;
                if pair.since_told >= patience / 4 && pair.links.contains(&follower) {
                    output.sends.extend(pair.view().map(|view| (follower, Message::Leads(view))));
                }
                match is_gone || pair.insists {
                    true if !has_members => self.is_let_go(output),
                    true => self.stand(None, output),
                    false => pair.since_told = if pair.since_told >= patience / 4 { 0 } else { pair.since_told },
                }
            }
            // The member that asked it for parity is in another group by now.
            Standing::Leads(None) if !has_members && pair.silent > PATIENCE_WITH_GROUPS * patience => {
                self.is_let_go(output);
            }
            Standing::Leads(None) => match pair.available.first() {
                Some(follower) => {
                    let follower = *follower;
                    self.stand(Some(follower), output);
                }
                None => pair.candidacy = None,
            },
        }
    }

    /// Founds a group.
    fn found(&mut self, output: &mut Output) {
        self.pair.views.learn(first_view(self.own, self.pair.run));
        (self.pair.standing, self.pair.silent) = (Standing::Leads(None), 0);
        self.announce_lead(output);
    }

    pub(super) fn announce_lead(&mut self, output: &mut Output) {
        let Some(view) = self.pair.view() else { return };
        for member in &self.pair.links {
            output.send(*member, Message::Leads(view));
        }
    }
}
