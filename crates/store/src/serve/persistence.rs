//! The turns of a node that keeps its data on disk: no reply or message leaves before the change behind it is on disk
//! and, in a group, in the parity too. Messages about splits and merges, and those after them, wait until it is
//! durable, unless the disk never has to be asked for that. Clients don't.

use std::cell::RefMut;
use std::rc::Rc;
use std::sync::Arc;

use mio::Waker;

use crate::connection::Pause;
use crate::host::Host;
use crate::journal::directory::Directory;
use crate::journal::disk::{Data, Disk, Error, FilesState, Recovered};
use crate::journal::{Batch, Journal, start};
use crate::member::{Identity, Peer};
use crate::node::Node;
use crate::parity::facts::Facts;
use crate::parity::message::Message as GroupMessage;
use crate::record::Milliseconds;

use super::group::{Group, Turn, Turns};
use super::outbox::Outgoing;
use super::{Pool, Server};

/// The state of a node that keeps its data on disk.
#[derive(Debug)]
pub(super) struct Persistence {
    journal: Journal,
    disk: Disk,
    /// What was found on disk at the start.
    pub found: Recovered,
    /// When this turn of the loop began, by a monotonic clock: leases depend on it. [ms since the process was started]
    pub at: Milliseconds,
    /// Its role in a group, if it has one.
    pub group: Option<Group>,
    /// The replies and messages of this turn.
    pub turn: Turn,
    /// Those of earlier turns that are still held back.
    turns: Turns,
}

impl Persistence {
    /// Restores the member on disk, or begins a new one: as the founder of a pool, or as a member that has yet to be
    /// admitted. The loop is woken when the disk has done something.
    pub(super) fn begin(
        data: Data,
        pool: &Pool,
        node: Node,
        own: Peer,
        founds: bool,
        at: Milliseconds,
        waker: &Arc<Waker>,
    ) -> Result<(Host, Persistence), Error> {
        let (policy, parity) = (pool.policy, pool.parity);
        let (journal, directory, now) = (Journal::default(), data.directory.clone(), node.now);
        let mut host = Host::with_journal(node, own.clone(), policy, Some(Rc::clone(&journal)));
        let waker = Arc::clone(waker);
        // If it can't be woken, the loop looks again in a tenth of a second.
        let (disk, found) = Disk::open(data, host.member_mut(), move || drop(waker.wake()))?;
        let directory_of_group = Directory::new(directory.clone());
        if found.run.is_some() && founds && !host.member().membership().is_welcome() {
            return Err(Error::NotWelcome(directory));
        }
        let facts = directory_of_group.facts()?;
        // Its disk may be needed to rebuild others of its group, until the group says that it has left the group too.
        if host.member().membership().has_left() && (parity.is_none() || facts.covered_by.is_none()) {
            return Err(Error::Left(directory));
        }
        let own = Peer { life: facts.life, ..own };
        if parity.is_none() && facts.covered_by.is_some() {
            // No parity member covers it from now on.
            directory_of_group.keep_facts(&Facts { life: facts.life, ..Facts::default() })?;
        }
        start(&mut host, &journal, found.run.as_ref(), own, policy, founds);
        let run = found.run.as_ref().map_or(1, |run| run.number + 1);
        let group = parity.map(|promise| Group::new(host.member().own(), &disk, facts, run, promise, at));
        let (turn, turns) = (Turn::default(), Turns::default());
        let mut persistence = Persistence { journal, disk, found, at, group, turn, turns };
        persistence.commit(now)?;
        host.node().borrow_mut().disk = Some(persistence.disk.state());
        // Its run number must not be used again, whatever `--fsync` promises about the rest.
        persistence.disk.keep()?;
        Ok((host, persistence))
    }

    /// Writes the changes of this turn to disk. If that fails, nobody may be told of them.
    pub(super) fn commit(&mut self, now: Milliseconds) -> Result<(), Error> {
        self.write(now)?;
        let has_begun_values = self.journal.borrow().has_begun_values();
        if self.disk.poll(now, has_begun_values)? {
            self.journal.borrow_mut().begin_log();
        }
        let (turn, after) = (std::mem::take(&mut self.turn), self.disk.urgent());
        self.turns.push(turn, self.disk.position().0, after, self.at);
        match &mut self.group {
            Some(group) => group.has_written(self.at, &self.disk),
            None => Ok(()),
        }
    }

    /// Writes what has changed since the last time.
    fn write(&mut self, now: Milliseconds) -> Result<(), Error> {
        let mut batch = self.journal.borrow_mut();
        if !batch.is_empty() {
            let ready = batch.close(now, self.disk.kept()).ok_or(Error::Unwritable)?;
            self.disk.append(&ready)?;
            batch.begin();
        }
        Ok(())
    }

    /// The batch of this turn.
    pub(super) fn batch(&self) -> RefMut<'_, Batch> {
        self.journal.borrow_mut()
    }

    /// The clients of the next turn whose replies may leave, and how each goes on.
    pub(super) fn next_to_reply(&mut self) -> Option<Vec<(usize, Pause)>> {
        let (group, at) = (self.group.as_ref(), self.at);
        self.turns.pop(|position| group.is_none_or(|group| group.may_acknowledge(position, at)))
    }

    /// The next message to another member that may leave.
    pub(super) fn next_to_send(&mut self) -> Option<(Identity, Outgoing)> {
        let disk = &self.disk;
        self.turns.pop_message(|position| disk.is_durable(position))
    }

    /// Whether messages to other members wait for the disk alone.
    pub(super) fn waits_for_disk(&self) -> bool {
        self.turns.waits_for_disk()
    }

    /// The turns held back.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Turn> {
        self.turns.iter()
    }

    /// Handles another member's message about the group.
    pub(super) fn receive(&mut self, from: Identity, message: GroupMessage) -> Result<(), Error> {
        self.group.as_mut().map_or(Ok(()), |group| group.receive(self.at, from, message, &self.disk))
    }

    /// Begins a snapshot, if a client has asked for one, and returns the state of the disk to show to clients.
    pub(super) fn update_snapshot(&mut self, is_asked: bool, now: Milliseconds) -> Result<FilesState, Error> {
        if is_asked {
            // A value and its parts must be in one log.
            self.write(now)?;
            if self.disk.save()? {
                self.journal.borrow_mut().begin_log();
            }
        }
        Ok(self.disk.state())
    }

    /// Makes everything durable before the process exits.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        self.disk.keep()
    }
}

impl Server {
    /// Begins a snapshot, if one was asked for, and updates the state that clients see.
    pub(super) fn check_snapshot(&mut self) -> Result<(), super::Error> {
        let Some(persistence) = &mut self.persistence else { return Ok(()) };
        let node = &mut *self.host.node().borrow_mut();
        let is_asked = std::mem::take(&mut node.wants_snapshot);
        node.disk = Some(persistence.update_snapshot(is_asked, node.now).map_err(super::Error::Persistence)?);
        Ok(())
    }

    /// Answers the clients that wait for a snapshot, once it is made.
    pub(super) fn answer_savers(&mut self) -> Result<(), super::Error> {
        if self.clients.savers.is_empty() {
            return Ok(());
        }
        self.check_snapshot()?;
        let state = self.host.node().borrow().disk.as_ref().map(|disk| (disk.is_saving, disk.has_failed));
        let (Some((false, has_failed)), Some(persistence)) = (state, &mut self.persistence) else { return Ok(()) };
        for token in std::mem::take(&mut self.clients.savers) {
            let Some(socket) = self.clients.sockets.get_mut(&token) else { continue };
            socket.connection.was_saved(has_failed);
            self.clients.hold(token, Pause::Turn, &mut persistence.turn);
        }
        Ok(())
    }
}
