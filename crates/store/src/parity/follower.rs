//! The lead's record of its follower.

use std::collections::VecDeque;

use super::Output;
use super::code::COLUMNS;
use super::message::{LeadStep, Message, Successor};
use super::views::{Number, View};
use crate::member::Identity;
use crate::record::Milliseconds;

/// A parity member that follows.
#[derive(Debug)]
pub(super) struct Follower {
    pub(super) identity: Identity,
    /// In which view.
    view: Number,
    /// The place of the first step that it has not acknowledged.
    first: u64,
    /// That step and all after it.
    steps: VecDeque<LeadStep>,
    /// Messages to others, each held back until the follower has all steps before a place.
    waiting: VecDeque<(u64, Identity, Message)>,
    /// Whether steps can be sent to it as they come.
    pub(super) is_reached: bool,
    /// The place of the step which says that its parity is made.
    made: Option<u64>,
    /// The place after the last step with which a member has left the group.
    left: u64,
    /// For each column, the place after the step which says that the parity is complete for its member, or that the
    /// member leaves.
    settled: [u64; COLUMNS],
    /// For how long nothing has been heard from it. [ms]
    pub(super) silent: Milliseconds,
}

impl Follower {
    /// A follower that has nothing, and begins with this step as soon as it is reached.
    pub(super) fn new(identity: Identity, view: Number, first: LeadStep) -> Follower {
        Follower {
            identity,
            view,
            first: 0,
            steps: VecDeque::from([first]),
            waiting: VecDeque::new(),
            is_reached: false,
            made: None,
            left: 1,
            settled: [1; COLUMNS],
            silent: 0,
        }
    }

    /// The place of the next step.
    pub(super) fn next(&self) -> u64 {
        self.first + self.steps.len() as u64
    }

    /// Whether its parity is made, and it knows that.
    pub(super) fn is_made(&self) -> bool {
        self.made.is_some_and(|place| place < self.first)
    }

    /// Whether it knows of all members that have left the group.
    pub(super) const fn knows_who_left(&self) -> bool {
        self.left <= self.first
    }

    /// Whether it knows as well as the lead that the parity is complete for a column's member, that the member leaves,
    /// or that a spare becomes it.
    pub(super) const fn knows_of(&self, column: usize) -> bool {
        self.settled[column] <= self.first
    }

    /// Adds the step which says one of these.
    pub(super) fn push_settling(&mut self, column: usize, step: LeadStep, output: &mut Output) {
        self.settled[column] = self.next() + 1;
        self.push(step, output);
    }

    /// Whether its parity has yet to be made.
    pub(super) const fn is_to_be_made(&self) -> bool {
        self.made.is_none()
    }

    /// Adds a step.
    pub(super) fn push(&mut self, step: LeadStep, output: &mut Output) {
        match step {
            LeadStep::Anew { .. } => (self.made, self.settled) = (None, [self.next() + 1; COLUMNS]),
            LeadStep::Made => self.made = Some(self.next()),
            LeadStep::Left { .. } => self.left = self.next() + 1,
            _ => {}
        }
        if self.is_reached {
            let (number, place) = (self.view, self.next());
            output.send(self.identity, Message::Step { number, place, step: step.clone() });
        }
        self.steps.push_back(step);
    }

    /// Sends a message to another member as soon as the follower has all steps up to now.
    pub(super) fn report_when_complete(&mut self, to: Identity, message: Message, output: &mut Output) {
        if self.steps.is_empty() {
            output.send(to, message);
        } else {
            self.waiting.push_back((self.next(), to, message));
        }
    }

    /// The follower has all steps before a place. Returns whether it has just become reachable again.
    pub(super) fn has(&mut self, next: u64, output: &mut Output) -> bool {
        self.silent = 0;
        while self.first < next && self.steps.pop_front().is_some() {
            self.first += 1;
        }
        while self.waiting.front().is_some_and(|(place, ..)| *place <= self.first)
            && let Some((_, to, message)) = self.waiting.pop_front()
        {
            output.send(to, message);
        }
        let is_reached_again = !self.is_reached;
        if is_reached_again {
            self.is_reached = true;
            self.send_all(output);
        }
        is_reached_again
    }

    /// The follower has nothing: it begins with this step.
    pub(super) fn begin(&mut self, first: LeadStep, output: &mut Output) {
        self.silent = 0;
        if self.is_reached && matches!(self.steps.front(), Some(LeadStep::Anew { .. })) {
            // That step is on its way.
            return;
        }
        self.first = self.next();
        self.steps = VecDeque::from([first]);
        self.waiting.iter_mut().for_each(|(place, ..)| *place = self.first + 1);
        (self.is_reached, self.made, self.left) = (true, None, self.first + 1);
        self.settled = [self.first + 1; COLUMNS];
        self.send_all(output);
    }

    fn send_all(&self, output: &mut Output) {
        for (place, step) in (self.first..).zip(&self.steps) {
            output.send(self.identity, Message::Step { number: self.view, place, step: step.clone() });
        }
    }

    /// The messages held back, after a change of view: a process that becomes a member of the group must learn that the
    /// former view no longer holds.
    pub(super) fn into_waiting(self, view: View) -> impl Iterator<Item = (Identity, Message)> {
        self.waiting.into_iter().map(move |(_, to, message)| match message {
            Message::Become(successor) => (to, Message::Become(Successor { view: Some(view), ..successor })),
            message => (to, message),
        })
    }
}
