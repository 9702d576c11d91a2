//! A member's part in a group: of one that hosts servers, of one that keeps parity, or of a spare.

use std::collections::VecDeque;

use crate::connection::Pause;
use crate::journal::directory::Directory;
use crate::journal::disk::{Disk, Error};
use crate::large::Pieces;
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

/// What a group is to survive.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// The loss of as many of its members.
    pub k: usize,
    /// How long a member may be silent before it is taken for lost. [ms]
    pub patience: Milliseconds,
}

/// What a member is in its group.
#[derive(Debug)]
enum Part {
    Data(Box<DataMember>),
    Parity(Box<ParityMember>),
    Spare(Spare),
}

/// What a member needs that is part of a group.
#[derive(Debug)]
pub(super) struct Group {
    part: Part,
    directory: Directory,
    /// What was written down last.
    facts: Facts,
    /// How often files had come when it was last looked which there are.
    surveyed: Option<u64>,
    looked: Milliseconds,
    output: Output,
    /// Which lost member this one is from now on.
    pub becomes: Option<Successor>,
}

fn system(directory: &Disk) -> impl FnOnce(std::io::Error) -> Error {
    let path = directory.data().directory.clone();
    move |cause| Error::System { what: "read the files of", path, cause }
}

impl Group {
    /// What a member of this role is to do, whose run has this number, with the facts that it has written down.
    pub(super) fn new(
        own: &Peer,
        disk: &Disk,
        facts: Facts,
        run: u64,
        Promise { k, patience }: Promise,
        now: Milliseconds,
    ) -> Group {
        // What it says in one run is told from what it said in those before.
        let first = run << 16;
        let part = match own.role {
            Role::Data => Part::Data(Box::new(DataMember::new(&facts, patience, first))),
            Role::Parity => Part::Parity(Box::new(ParityMember::new(own.identity, k, &facts, patience, first))),
            Role::Spare => Part::Spare(Spare::new(patience)),
        };
        let directory = Directory::new(disk.data().directory.clone());
        Group { part, directory, facts, surveyed: None, looked: now, output: Output::default(), becomes: None }
    }

    /// A link leads to a member.
    pub(super) fn meets(&mut self, now: Milliseconds, peer: &Peer) {
        match (&mut self.part, peer.role) {
            (Part::Data(data), Role::Parity) => data.meets(now, peer.identity, &mut self.output),
            (Part::Parity(parity), role) => parity.meets(peer.identity, role, &mut self.output),
            _ => {}
        }
    }

    /// No link leads to a member any more.
    pub(super) fn loses(&mut self, peer: Identity) {
        match &mut self.part {
            Part::Data(data) => data.loses(peer),
            Part::Parity(parity) => parity.loses(peer),
            Part::Spare(spare) => spare.loses(peer),
        }
    }

    /// Of other members, those that it has to reach.
    pub(super) fn wants<'a>(&'a self, peers: impl Iterator<Item = &'a Peer> + 'a) -> Vec<Identity> {
        let wants = |peer: &Peer| match &self.part {
            Part::Data(data) => peer.role == Role::Parity && data.is_apart() && data.wants(peer.identity),
            Part::Parity(parity) => parity.wants(peer.identity, peer.role),
            // A parity member that was started again may not know of it.
            Part::Spare(_) => peer.role == Role::Parity,
        };
        peers.filter(|peer| wants(peer)).map(|peer| peer.identity).collect()
    }

    /// Takes what another member says.
    pub(super) fn take(
        &mut self,
        now: Milliseconds,
        from: Identity,
        message: Message,
        disk: &Disk,
    ) -> Result<(), Error> {
        match (&mut self.part, message) {
            (Part::Data(data), message) => {
                data.take(now, from, message, &self.directory, &mut self.output).map_err(system(disk))?;
            }
            (Part::Parity(parity), message) => parity.take(from, message, &mut self.output),
            (Part::Spare(spare), Message::Part { rebuilding, request, piece, bytes }) => {
                let taking = spare.takes(now, from, rebuilding);
                if taking == Taking::Refused {
                    self.output.sends.push((from, Message::Busy(rebuilding)));
                    return Ok(());
                }
                self.directory.store(taking == Taking::First, piece, &bytes)?;
                self.output.sends.push((from, Message::Stored(request)));
            }
            (Part::Spare(spare), Message::Become(successor)) if spare.becomes(from, &successor) => {
                let (life, views) = (successor.life, Acceptor::of(successor.view));
                let facts = Facts { covered_by: Some(from), life, views, ..Facts::default() };
                self.directory.finish(&successor, &facts)?;
                self.becomes = Some(successor);
            }
            (Part::Spare(_), _) => {}
        }
        Ok(())
    }

    /// What the turn has written is on disk.
    pub(super) fn has_written(&mut self, now: Milliseconds, disk: &Disk) -> Result<(), Error> {
        let Part::Data(data) = &mut self.part else { return Ok(()) };
        let (position, came) = disk.position();
        if self.surveyed != Some(came) {
            data.survey(&self.directory).map_err(system(disk))?;
            self.surveyed = Some(came);
        }
        data.has_written(position);
        data.pump(now, &self.directory, &mut self.output).map_err(system(disk))
    }

    /// Does what time brings.
    pub(super) fn look(&mut self, now: Milliseconds) {
        let passed = now.saturating_sub(std::mem::replace(&mut self.looked, now));
        match &mut self.part {
            Part::Data(data) => data.look(now, &mut self.output),
            Part::Parity(parity) => parity.look(passed, &mut self.output),
            Part::Spare(_) => {}
        }
    }

    /// Whether others may be told what was done until logs had gone so far.
    pub(super) fn may_tell(&self, position: Position, now: Milliseconds) -> bool {
        match &self.part {
            Part::Data(data) => data.may_tell(position, now),
            Part::Parity(_) | Part::Spare(_) => true,
        }
    }

    /// The member leaves its pool in order, or has left it: then nothing of it is needed any more.
    pub(super) fn leave(&mut self, has_left: bool, now: Milliseconds) {
        match &mut self.part {
            Part::Data(data) if has_left => data.leave(now, &mut self.output),
            Part::Spare(spare) => spare.leave(now),
            Part::Data(_) | Part::Parity(_) => {}
        }
    }

    /// Whether nothing keeps it in its group, once it has left its pool.
    pub(super) fn has_left(&self) -> bool {
        match &self.part {
            Part::Data(data) => data.has_left(),
            Part::Spare(spare) => !spare.is_given(),
            Part::Parity(_) => true,
        }
    }

    /// Whether somebody else is this member now.
    pub(super) const fn is_replaced(&self) -> bool {
        matches!(&self.part, Part::Data(data) if data.is_lost())
    }

    /// What is to be sent, and what whoever runs it wants to know. What must not be forgotten is kept for good before that.
    pub(super) fn take_output(&mut self) -> Result<Output, Error> {
        let facts = match &self.part {
            Part::Data(data) => data.facts(),
            Part::Parity(parity) => parity.facts(),
            Part::Spare(_) => Facts::default(),
        };
        if facts != self.facts {
            self.directory.keep_facts(&facts)?;
            self.facts = facts;
        }
        Ok(std::mem::take(&mut self.output))
    }

    /// How it stands.
    pub(super) fn state(&self) -> GroupState {
        match &self.part {
            Part::Data(data) => {
                let covered_by = data.covered_by().map(|by| by.to_string());
                GroupState::Data { covered_by, is_covered: data.is_complete() }
            }
            Part::Parity(parity) => GroupState::Parity(parity.state()),
            Part::Spare(spare) => GroupState::Spare { is_given: spare.is_given() },
        }
    }
}

/// What a turn has to tell, as soon as it may.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// How far logs go with it.
    position: Position,
    since: Milliseconds,
    /// Clients that had their turn, and what is to become of them.
    pub clients: Vec<(usize, Pause)>,
    /// What is to be sent to other members, and whether it may be lost.
    pub messages: Vec<(Identity, Pieces, bool)>,
}

impl Turn {
    /// Since when it waits. [ms since the process was started]
    pub(super) const fn since(&self) -> Milliseconds {
        self.since
    }
}

/// Turns that wait until they may be told of, in order.
#[derive(Debug, Default)]
pub(super) struct Turns(VecDeque<Turn>);

impl Turns {
    /// A turn is written, as far as logs go now.
    pub(super) fn push(&mut self, turn: Turn, position: Position, since: Milliseconds) {
        if !turn.clients.is_empty() || !turn.messages.is_empty() {
            self.0.push_back(Turn { position, since, ..turn });
        }
    }

    /// The next turn that may be told of.
    pub(super) fn pop(&mut self, may_tell: impl FnOnce(Position) -> bool) -> Option<Turn> {
        let is_next = self.0.front().is_some_and(|turn| may_tell(turn.position));
        if is_next { self.0.pop_front() } else { None }
    }

    /// Those that wait.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Turn> {
        self.0.iter()
    }
}
