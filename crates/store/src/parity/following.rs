//! The role of a follower: it learns which parity member leads and takes the lead's steps in order; if a step does not
//! fit, it discards everything.

use super::Output;
use super::group::{ParityMember, Seat};
use super::message::{LeadStep, Message, SeatRecord};
use super::pair::Standing;
use super::stripes::Stripes;
use super::views::{Acceptor, Number, View};
use crate::member::Identity;

impl ParityMember {
    /// The lead of a group announces itself.
    pub(super) fn is_led(&mut self, view: View, output: &mut Output) {
        let settled = self.pair.views.settled;
        match settled {
            None if view.follower != Some(self.own) => return,
            Some(known) if known.group != view.group => return,
            Some(known) if view.number < known.number => {
                // It was the lead in an earlier view, and does not know that this is over.
                if self.pair.leads() {
                    output.send(view.lead, Message::Leads(known));
                }
                return;
            }
            _ => {}
        }
        let is_news = self.pair.views.learn(view);
        if !view.has(self.own) {
            return self.is_let_go(output);
        }
        if view.lead == self.own || self.pair.insists && !is_news {
            return;
        }
        (self.pair.silent, self.pair.candidacy) = (0, None);
        if is_news {
            self.has_nothing();
        }
        let next = match self.pair.standing {
            Standing::Follows(next) => Some(next),
            _ => None,
        };
        output.send(view.lead, self.pair.follows(view.number, next));
    }

    /// Discards everything it has.
    fn has_nothing(&mut self) {
        (self.pair.standing, self.pair.insists, self.rebuilding) = (Standing::Empty, false, None);
        self.pair.views.give_up(self.own);
        self.stripes = Stripes::new(self.k, 0);
        for seat in self.seats.iter_mut().flatten() {
            (seat.session, seat.is_complete) = (None, false);
        }
    }

    /// Its group goes on without it.
    pub(super) fn is_let_go(&mut self, output: &mut Output) {
        self.has_nothing();
        (self.seats, self.let_go) = Default::default();
        (self.pair.standing, self.pair.views, self.pair.candidacy) = (Standing::Free, Acceptor::default(), None);
        (self.pair.is_wanted, self.pair.silent) = (false, 0);
        for member in &self.pair.links {
            output.send(*member, Message::Available);
        }
    }

    /// Takes a step of its lead.
    pub(super) fn follow(&mut self, from: Identity, number: Number, place: u64, step: LeadStep, output: &mut Output) {
        let is_of_lead = |view: View| view.number == number && view.lead == from;
        if !self.pair.view().is_some_and(is_of_lead) || self.pair.insists || self.pair.leads() {
            return;
        }
        (self.pair.silent, self.pair.candidacy) = (0, None);
        let next = match (&self.pair.standing, &step) {
            (Standing::Follows(next), LeadStep::Anew { .. }) if place >= *next => Some(place + 1),
            (Standing::Empty, LeadStep::Anew { .. }) => Some(place + 1),
            (Standing::Follows(next), _) if place == *next => Some(place + 1),
            (Standing::Follows(next), _) => return output.send(from, self.pair.follows(number, Some(*next))),
            _ => None,
        };
        let next = next.filter(|_| self.takes_step(step));
        match next {
            Some(next) => self.pair.standing = Standing::Follows(next),
            None => self.has_nothing(),
        }
        output.send(from, self.pair.follows(number, next));
    }

    /// Takes a step. Returns whether it fits the state so far.
    fn takes_step(&mut self, step: LeadStep) -> bool {
        match step {
            LeadStep::Anew { parity, seats, layouts, let_go } => {
                self.stripes = Stripes::unmade(self.k, parity, layouts);
                self.seats = seats.map(|seat| {
                    let SeatRecord { identity, life, confirmed, is_complete, is_new, leaves } = seat?;
                    Some(Seat { confirmed, is_complete, is_new, leaves, ..Seat::new(identity, life) })
                });
                self.let_go = let_go.into_iter().collect();
            }
            LeadStep::Seat { column, identity, life, confirmed } => {
                let seat = self.seats[column].get_or_insert_with(|| Seat::new(identity, life));
                (seat.life, seat.confirmed, seat.silent) = (life, confirmed, 0);
                self.let_go.remove(&identity);
            }
            LeadStep::Leaves { column } => self.seats[column].iter_mut().for_each(|seat| seat.leaves = true),
            LeadStep::Left { column } => drop(self.free(column)),
            LeadStep::Change { column, change } => {
                self.seats[column].iter_mut().for_each(|seat| seat.silent = 0);
                return self.stripes.follow(column, &change) == Ok(true);
            }
            LeadStep::Beat { column, is_complete } => {
                if let Some(seat) = &mut self.seats[column] {
                    (seat.silent, seat.is_complete) = (0, seat.is_complete | is_complete);
                    seat.is_new &= !is_complete;
                }
            }
            LeadStep::Begins { request, stripe } => self.stripes.begin_stripe(stripe, request),
            LeadStep::Made => return self.stripes.end_making().is_ok(),
        }
        true
    }
}
