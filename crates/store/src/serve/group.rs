//! A member's role in a group: data member, parity member or spare.

use std::collections::VecDeque;

use super::outbox::Outgoing;
use crate::connection::Pause;
use crate::journal::directory::Directory;
use crate::journal::disk::{Disk, Error};
use crate::member::{Identity, Peer, Role};
use crate::node::GroupState;
use crate::parity::Output;
use crate::parity::data::{DataMember, Position};
use crate::parity::facts::Facts;
use crate::parity::group::ParityMember;
use crate::parity::message::{Message, Successor};
use crate::parity::spare::{Spare, Taking};
use crate::parity::views::Acceptor;
use crate::record::Milliseconds;

/// The losses that a group should survive.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// How many of its members may be lost.
    pub k: usize,
    /// How long a member may be silent before it is taken for lost. [ms]
    pub patience: Milliseconds,
}

/// The role of a member in its group.
#[derive(Debug)]
enum GroupRole {
    Data(Box<DataMember>),
    Parity(Box<ParityMember>),
    Spare(Spare),
}

/// The state of a member that is part of a group.
#[derive(Debug)]
pub(super) struct Group {
    part: GroupRole,
    directory: Directory,
    /// The facts written to disk last.
    facts: Facts,
    /// The disk's count of new files at the last tick at them.
    surveyed: Option<u64>,
    ticked: Milliseconds,
    output: Output,
    /// The lost member that this one becomes.
    pub becomes: Option<Successor>,
}

fn system(directory: &Disk) -> impl FnOnce(std::io::Error) -> Error {
    let path = directory.data().directory.clone();
    move |cause| Error::System { what: "read the files of", path, cause }
}

impl Group {
    /// The part of a member of this role, in the run with this number, with the facts on its disk.
    pub(super) fn new(
        own: &Peer,
        disk: &Disk,
        facts: Facts,
        run: u64,
        Promise { k, patience }: Promise,
        now: Milliseconds,
    ) -> Group {
        let first = facts.sessions_before(run);
        let part = match own.role {
            Role::Data => GroupRole::Data(Box::new(DataMember::new(&facts, patience, first))),
            Role::Parity => GroupRole::Parity(Box::new(ParityMember::new(own.identity, k, &facts, patience, first))),
            Role::Spare => GroupRole::Spare(Spare::new(patience)),
        };
        let directory = Directory::new(disk.data().directory.clone());
        Group { part, directory, facts, surveyed: None, ticked: now, output: Output::default(), becomes: None }
    }

    /// A link to a member has opened.
    pub(super) fn connect(&mut self, now: Milliseconds, peer: &Peer) {
        match (&mut self.part, peer.role) {
            (GroupRole::Data(data), Role::Parity) => data.connect(now, peer.identity, &mut self.output),
            (GroupRole::Parity(parity), role) => parity.connect(peer.identity, role, &mut self.output),
            _ => {}
        }
    }

    /// The link to a member is gone.
    pub(super) fn disconnect(&mut self, peer: Identity) {
        match &mut self.part {
            GroupRole::Data(data) => data.disconnect(peer),
            GroupRole::Parity(parity) => parity.disconnect(peer),
            GroupRole::Spare(spare) => spare.disconnect(peer),
        }
    }

    /// The members among these that it has to reach.
    pub(super) fn wants<'a>(&'a self, peers: impl Iterator<Item = &'a Peer> + 'a) -> Vec<Identity> {
        let wants = |peer: &Peer| match &self.part {
            GroupRole::Data(data) => peer.role == Role::Parity && data.is_apart() && data.wants(peer.identity),
            GroupRole::Parity(parity) => parity.wants(peer.identity, peer.role),
            // A restarted parity member may not know of it.
            GroupRole::Spare(_) => peer.role == Role::Parity,
        };
        peers.filter(|peer| wants(peer)).map(|peer| peer.identity).collect()
    }

    /// Handles a message from another member.
    pub(super) fn receive(
        &mut self,
        now: Milliseconds,
        from: Identity,
        message: Message,
        disk: &Disk,
    ) -> Result<(), Error> {
        match (&mut self.part, message) {
            (GroupRole::Data(data), message) => {
                data.receive(now, from, message, &self.directory, &mut self.output).map_err(system(disk))?;
            }
            (GroupRole::Parity(parity), message) => parity.receive(from, message, &mut self.output),
            (GroupRole::Spare(spare), Message::Part { rebuilding, request, piece, bytes }) => {
                let taking = spare.takes(now, from, rebuilding);
                if taking == Taking::Refused {
                    self.output.sends.push((from, Message::Busy(rebuilding)));
                    return Ok(());
                }
                self.directory.store(taking == Taking::First, piece, &bytes)?;
                self.output.sends.push((from, Message::Stored(request)));
            }
            (GroupRole::Spare(spare), Message::Become(successor)) if spare.becomes(from, &successor) => {
                let (life, views) = (successor.life, Acceptor::of(successor.view));
                let facts = Facts { covered_by: Some(from), life, views, ..Facts::default() };
                self.directory.finish(&successor, &facts)?;
                self.becomes = Some(successor);
            }
            (GroupRole::Spare(_), _) => {}
        }
        Ok(())
    }

    /// The data written in this turn is on disk.
    pub(super) fn has_written(&mut self, now: Milliseconds, disk: &Disk) -> Result<(), Error> {
        let GroupRole::Data(data) = &mut self.part else { return Ok(()) };
        let (position, came) = disk.position();
        if self.surveyed != Some(came) {
            data.survey(&self.directory).map_err(system(disk))?;
            self.surveyed = Some(came);
        }
        data.has_written(position);
        data.pump(now, &self.directory, &mut self.output).map_err(system(disk))
    }

    /// Does what is due by time.
    pub(super) fn tick(&mut self, now: Milliseconds) {
        let passed = now.saturating_sub(std::mem::replace(&mut self.ticked, now));
        match &mut self.part {
            GroupRole::Data(data) => data.tick(now, &mut self.output),
            GroupRole::Parity(parity) => parity.tick(passed, &mut self.output),
            GroupRole::Spare(_) => {}
        }
    }

    /// Whether others may be told what was done up to this position of the logs.
    pub(super) fn may_acknowledge(&self, position: Position, now: Milliseconds) -> bool {
        match &self.part {
            GroupRole::Data(data) => data.may_acknowledge(position, now),
            GroupRole::Parity(_) | GroupRole::Spare(_) => true,
        }
    }

    /// The member leaves its pool in order, or has left it: then none of its records are needed any more.
    pub(super) fn leave(&mut self, has_left: bool, now: Milliseconds) {
        match &mut self.part {
            GroupRole::Data(data) if has_left => data.leave(now, &mut self.output),
            GroupRole::Spare(spare) => spare.leave(now),
            GroupRole::Data(_) | GroupRole::Parity(_) => {}
        }
    }

    /// Whether nothing keeps it in its group, once it has left its pool.
    pub(super) fn has_left(&self) -> bool {
        match &self.part {
            GroupRole::Data(data) => data.has_left(),
            GroupRole::Spare(spare) => !spare.is_given(),
            GroupRole::Parity(_) => true,
        }
    }

    /// Whether another process is this member now.
    pub(super) const fn is_replaced(&self) -> bool {
        matches!(&self.part, GroupRole::Data(data) if data.is_lost())
    }

    /// The life in which the member was readmitted to its group, once.
    pub(super) const fn take_new_life(&mut self) -> Option<u32> {
        match &mut self.part {
            GroupRole::Data(data) => data.take_new_life(),
            GroupRole::Parity(_) | GroupRole::Spare(_) => None,
        }
    }

    /// The messages to send and the events for the log. The facts that they rest on are made durable first.
    pub(super) fn take_output(&mut self) -> Result<Output, Error> {
        let facts = match &self.part {
            GroupRole::Data(data) => data.facts(),
            GroupRole::Parity(parity) => parity.facts(),
            GroupRole::Spare(_) => Facts::default(),
        };
        if facts != self.facts {
            self.directory.keep_facts(&facts)?;
            self.facts = facts;
        }
        Ok(std::mem::take(&mut self.output))
    }

    /// Its state.
    pub(super) fn state(&self) -> GroupState {
        match &self.part {
            GroupRole::Data(data) => {
                let covered_by = data.covered_by().map(|by| by.to_string());
                GroupState::Data { covered_by, is_covered: data.is_covered() }
            }
            GroupRole::Parity(parity) => GroupState::Parity(parity.state()),
            GroupRole::Spare(spare) => GroupState::Spare { is_given: spare.is_given() },
        }
    }
}

/// The replies and messages of a turn, held back until they may leave.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The end of the logs with this turn.
    position: Position,
    since: Milliseconds,
    /// Clients that had their turn, and how each goes on.
    pub clients: Vec<(usize, Pause)>,
    /// Messages to other members.
    pub messages: Vec<(Identity, Outgoing)>,
    /// The messages also wait until the logs are durable up to this position.
    after: Option<Position>,
}

impl Turn {
    /// When it began to wait. [ms since the process was started]
    pub(super) const fn since(&self) -> Milliseconds {
        self.since
    }
}

/// Turns whose replies and messages are held back, in order.
#[derive(Debug, Default)]
pub(super) struct Turns {
    turns: VecDeque<Turn>,
    /// The messages of turns whose replies may leave, each with the position up to which the logs have to be durable
    /// before.
    messages: VecDeque<(Option<Position>, Identity, Outgoing)>,
}

impl Turns {
    /// Adds a turn that has been written; its logs end at `position`. Its messages also wait until the logs are durable
    /// up to `after`.
    pub(super) fn push(&mut self, turn: Turn, position: Position, after: Option<Position>, since: Milliseconds) {
        if !turn.clients.is_empty() || !turn.messages.is_empty() {
            self.turns.push_back(Turn { position, since, after, ..turn });
        }
    }

    /// The clients of the next turn whose replies may leave.
    pub(super) fn pop(&mut self, may_acknowledge: impl FnOnce(Position) -> bool) -> Option<Vec<(usize, Pause)>> {
        self.turns.front().filter(|turn| may_acknowledge(turn.position))?;
        let turn = self.turns.pop_front()?;
        self.messages.extend(turn.messages.into_iter().map(|(to, message)| (turn.after, to, message)));
        Some(turn.clients)
    }

    /// The next message that may leave.
    pub(super) fn pop_message(&mut self, is_durable: impl FnOnce(Position) -> bool) -> Option<(Identity, Outgoing)> {
        self.messages.front().filter(|(after, ..)| after.is_none_or(is_durable))?;
        self.messages.pop_front().map(|(_, to, message)| (to, message))
    }

    /// Whether messages wait for the disk alone.
    pub(super) fn waits_for_disk(&self) -> bool {
        !self.messages.is_empty()
    }

    /// The turns that wait.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Turn> {
        self.turns.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(client: usize, message: u8) -> Turn {
        let messages = vec![(Identity(1), Outgoing::new(vec![message].into(), false))];
        Turn { clients: vec![(client, Pause::Turn)], messages, ..Turn::default() }
    }

    #[test]
    fn messages_wait_in_order_until_the_log_is_durable_and_clients_do_not() {
        let mut turns = Turns::default();
        turns.push(turn(1, 1), (1, 100), None, 0);
        turns.push(turn(2, 2), (1, 200), Some((1, 200)), 0);
        turns.push(turn(3, 3), (1, 300), Some((1, 200)), 0);
        let clients = std::iter::from_fn(|| turns.pop(|_| true)).flatten().map(|(client, _)| client);
        assert_eq!(clients.collect::<Vec<_>>(), [1, 2, 3]);
        let mut leaving = |durable: u64| {
            let mut next = || turns.pop_message(|position| position <= (1, durable));
            std::iter::from_fn(|| next().map(|(_, message)| message.pieces.joined()[0])).collect::<Vec<u8>>()
        };
        assert_eq!(leaving(199), [1]);
        assert_eq!(leaving(200), [2, 3]);
    }

    #[test]
    fn both_wait_until_others_may_be_told_of_the_turn() {
        let mut turns = Turns::default();
        turns.push(turn(1, 1), (1, 100), None, 0);
        turns.push(turn(2, 2), (1, 200), None, 0);
        let mut acknowledged =
            |to: u64| (turns.pop(|position| position <= (1, to)), turns.pop_message(|_| true).is_some());
        assert!(matches!(acknowledged(99), (None, false)));
        assert!(matches!(acknowledged(100), (Some(_), true)));
        assert!(matches!(acknowledged(199), (None, false)));
        assert!(matches!(acknowledged(200), (Some(_), true)));
    }
}
