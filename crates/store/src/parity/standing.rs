//! How a parity member becomes the lead of its group, with a follower or alone; see [`super::views`].

use super::Output;
use super::follower::Follower;
use super::group::ParityMember;
use super::message::Message;
use super::pair::Standing;
use super::views::{Candidacy, Number, View};
use crate::log::Event;
use crate::member::Identity;

impl ParityMember {
    /// Asks for a view in which it leads, with a follower or alone; or goes on asking.
    pub(super) fn stand(&mut self, follower: Option<Identity>, output: &mut Output) {
        let pair = &mut self.pair;
        let Some(settled) = pair.views.settled else { return };
        pair.candidacy.take_if(|candidacy| candidacy.view.follower != follower && !candidacy.is_recorded());
        if pair.candidacy.is_none() {
            if pair.since_told < self.patience / 2 {
                // Another candidate has just been granted precedence.
                return;
            }
            let number = pair.views.next(self.own);
            let view = View { group: settled.group, number, lead: self.own, follower };
            let seats = self.seats.iter().flatten().map(|seat| seat.identity);
            let members = seats.chain([settled.lead]).chain(settled.follower).collect();
            pair.candidacy = Some(Candidacy::new(view, members));
            if let Some(newest) = pair.views.newest() {
                let has_parity = self.has_parity();
                self.was_granted(self.own, number, newest, has_parity, output);
            }
        }
        if self.pair.since_told >= self.patience / 2 {
            self.pair.since_told = 0;
            self.ask(output);
        }
    }

    /// Asks the members that have not answered yet.
    fn ask(&mut self, output: &mut Output) {
        let (Some(candidacy), Some(settled)) = (&self.pair.candidacy, self.pair.views.settled) else { return };
        let number = candidacy.view.number;
        for member in candidacy.silent().filter(|member| self.pair.links.contains(member)) {
            let message = match candidacy.is_recorded() {
                true => Message::Record(candidacy.view),
                false => Message::Ask { settled, number },
            };
            output.send(member, message);
        }
    }

    /// Whether a member has not been rebuilt since: only then has it everything that the group holds of it.
    pub(super) fn is_the_last(&self, member: Identity, life: u32) -> bool {
        self.seats.iter().flatten().all(|seat| seat.identity != member || seat.life <= life)
    }

    /// A member has promised to record no older view; `view` is the last one that member knows of.
    pub(super) fn was_granted(
        &mut self,
        by: Identity,
        number: Number,
        view: View,
        has_parity: bool,
        output: &mut Output,
    ) {
        if self.pair.candidacy.as_ref().is_none_or(|candidacy| candidacy.view.number != number) {
            return;
        }
        if has_parity && !self.has_parity() {
            return self.gives_way();
        }
        let Some(candidacy) = &mut self.pair.candidacy else { return };
        let is_over = self.pair.views.is_over(view);
        // It knows of its own views: they are not the group's until it says so.
        let later = Some(view.lead).filter(|lead| !is_over && *lead != self.own);
        candidacy.was_granted(by, has_parity, later);
        self.go_on_with_candidacy(output);
    }

    /// The other parity member should lead. Members may have recorded the view that this one asked for; it is void, as
    /// nobody else counts them.
    fn gives_way(&mut self) {
        (self.pair.candidacy, self.pair.silent, self.pair.insists) = (None, 0, false);
        self.pair.views.give_up(self.own);
    }

    pub(super) fn was_refused(&mut self, number: Number, promised: Number) {
        self.pair.views.receive_number(promised);
        self.pair.candidacy.take_if(|candidacy| candidacy.view.number == number);
    }

    /// A member has left the group: it has no vote any more.
    pub(super) fn has_no_say(&mut self, member: Identity, output: &mut Output) {
        if let Some(candidacy) = &mut self.pair.candidacy {
            candidacy.forget(member);
            self.go_on_with_candidacy(output);
        }
    }

    pub(super) fn go_on_with_candidacy(&mut self, output: &mut Output) {
        let may_lead = self.may_lead();
        let Some(candidacy) = &mut self.pair.candidacy else { return };
        if !candidacy.is_recorded() && may_lead {
            if !matches!(self.pair.views.record(candidacy.view), Some(Ok(()))) {
                return self.pair.candidacy = None;
            }
            self.pair.insists = true;
            candidacy.begin_recording();
            candidacy.was_recorded(self.own);
            self.ask(output);
        }
        if let Some(candidacy) = self.pair.candidacy.take_if(|candidacy| candidacy.is_chosen()) {
            self.takes_the_lead(candidacy.view, output);
        }
    }

    /// Whether enough members have promised.
    fn may_lead(&self) -> bool {
        let Some(candidacy) = self.pair.candidacy.as_ref().filter(|candidacy| candidacy.is_granted()) else {
            return false;
        };
        let other = self.pair.view().and_then(|view| view.other_than(self.own));
        self.has_parity()
            || candidacy.has_all(self.seats.iter().flatten().map(|seat| seat.identity))
            || other.is_some_and(|other| candidacy.has_nothing(other))
    }

    /// Takes the lead in this view.
    fn takes_the_lead(&mut self, view: View, output: &mut Output) {
        let has_parity = self.has_parity();
        self.pair.views.learn(view);
        (self.pair.insists, self.pair.silent) = (false, 0);
        if let Some(follower) = view.follower {
            self.pair.available.remove(&follower);
        }
        let follower = view.follower.map(|follower| Follower::new(follower, view.number, self.all()));
        match std::mem::replace(&mut self.pair.standing, Standing::Leads(follower)) {
            Standing::Leads(None) => {}
            Standing::Leads(Some(former)) => {
                output.events.push(Event::ParityLost { member: former.identity.to_string() });
                self.rebuilding.take_if(|rebuilding| rebuilding.needs_follower());
                former.into_waiting(view).for_each(|(to, message)| output.send(to, message));
            }
            Standing::Follows(_) | Standing::Free | Standing::Empty => {
                output.events.push(Event::LeadsGroup);
                self.seats.iter_mut().flatten().for_each(|seat| (seat.session, seat.silent) = (None, 0));
                if !has_parity {
                    self.begin_anew(output);
                }
            }
        }
        self.announce_lead(output);
    }
}
