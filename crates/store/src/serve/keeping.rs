//! How a node that keeps what it holds on disk takes its turns: nobody is told of anything before it is kept, and in a group not before there is
//! parity of it.

use std::rc::Rc;

use crate::connection::Pause;
use crate::host::Host;
use crate::journal::directory::Directory;
use crate::journal::disk::{Data, Disk, Error, Found, State};
use crate::journal::{Journal, start};
use crate::member::{Identity, Peer, Policy};
use crate::node::Node;
use crate::parity::facts::Facts;
use crate::parity::message::Message;
use crate::record::Milliseconds;

use super::Server;
use super::group::{Group, Promise, Turn, Turns};

/// What a node needs that keeps what it holds.
#[derive(Debug)]
pub(super) struct Keeper {
    journal: Journal,
    disk: Disk,
    /// What was found on disk when it began.
    pub found: Found,
    /// When this turn of the loop has begun, by a clock that nobody sets: leases depend on it. [ms since the process was started]
    pub at: Milliseconds,
    /// Its part in a group, if it has one.
    pub group: Option<Group>,
    /// What this turn has to tell.
    pub turn: Turn,
    /// And those before that may not be told of yet.
    turns: Turns,
}

impl Keeper {
    /// Brings the member back that is kept on disk, or begins one: as the founder of a pool, or as one that has yet to be let in.
    pub(super) fn begin(
        data: Data,
        node: Node,
        own: Peer,
        policy: Policy,
        founds: bool,
        parity: Option<Promise>,
        at: Milliseconds,
    ) -> Result<(Host, Keeper), Error> {
        let (journal, directory, now) = (Journal::default(), data.directory.clone(), node.now);
        let mut host = Host::kept_by(node, own.clone(), policy, Some(Rc::clone(&journal)));
        let (disk, found) = Disk::open(data, host.member_mut())?;
        let directory_of_group = Directory::new(directory.clone());
        if found.run.is_some() && founds && !host.member().is_welcome() {
            return Err(Error::NotWelcome(directory));
        }
        let facts = directory_of_group.facts()?;
        // Others of its group may have to be rebuilt out of what it has, until the group says that it has left that, too.
        if host.member().has_left() && (parity.is_none() || facts.covered_by.is_none()) {
            return Err(Error::Left(directory));
        }
        let own = Peer { life: facts.life, ..own };
        if parity.is_none() && facts.covered_by.is_some() {
            // Nobody keeps parity of it from now on.
            directory_of_group.keep_facts(&Facts { life: facts.life, ..Facts::default() })?;
        }
        start(&mut host, &journal, found.run.as_ref(), own, policy, founds);
        let run = found.run.as_ref().map_or(1, |run| run.number + 1);
        let group = parity.map(|promise| Group::new(host.member().own(), &disk, facts, run, promise, at));
        let mut keeper = Keeper { journal, disk, found, at, group, turn: Turn::default(), turns: Turns::default() };
        keeper.commit(now)?;
        host.node().borrow_mut().kept = Some(keeper.disk.state());
        // Its number must not be given again, whatever is promised of the rest.
        keeper.disk.keep()?;
        Ok((host, keeper))
    }

    /// Keeps what the turn has changed. Nobody must be told of that if it fails.
    pub(super) fn commit(&mut self, now: Milliseconds) -> Result<(), Error> {
        self.write(now)?;
        if self.disk.look(now)? {
            self.journal.borrow_mut().begin_log();
        }
        self.turns.push(std::mem::take(&mut self.turn), self.disk.position().0, self.at);
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

    /// The next turn of which others may be told.
    pub(super) fn next_to_tell(&mut self) -> Option<Turn> {
        let (group, at) = (self.group.as_ref(), self.at);
        self.turns.pop(|position| group.is_none_or(|group| group.may_tell(position, at)))
    }

    /// Turns that wait to be told of.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Turn> {
        self.turns.iter()
    }

    /// Another member says something to this one's part of the group.
    pub(super) fn hear(&mut self, from: Identity, message: Message) -> Result<(), Error> {
        self.group.as_mut().map_or(Ok(()), |group| group.take(self.at, from, message, &self.disk))
    }

    /// Begins a snapshot, if a client has asked for one; and what there is to tell clients of it all.
    pub(super) fn look(&mut self, is_asked: bool, now: Milliseconds) -> Result<State, Error> {
        if is_asked {
            // A value and its parts are in one log.
            self.write(now)?;
            if self.disk.save()? {
                self.journal.borrow_mut().begin_log();
            }
        }
        Ok(self.disk.state())
    }

    /// Keeps everything for good: it ends.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        self.disk.keep()
    }
}

impl Server {
    /// Begins a snapshot, if one was asked for, and lets clients know how it all stands.
    pub(super) fn look_at_snapshot(&mut self) -> Result<(), super::Error> {
        let Some(keeper) = &mut self.keeper else { return Ok(()) };
        let node = &mut *self.host.node().borrow_mut();
        let is_asked = std::mem::take(&mut node.wants_snapshot);
        node.kept = Some(keeper.look(is_asked, node.now).map_err(super::Error::Kept)?);
        Ok(())
    }

    /// Tells clients that wait for a snapshot, if it is made.
    pub(super) fn work_of_snapshot(&mut self) -> Result<(), super::Error> {
        if self.savers.is_empty() {
            return Ok(());
        }
        self.look_at_snapshot()?;
        let state = self.host.node().borrow().kept.as_ref().map(|kept| (kept.is_saving, kept.has_failed));
        let (Some((false, has_failed)), Some(keeper)) = (state, &mut self.keeper) else { return Ok(()) };
        for token in std::mem::take(&mut self.savers) {
            let Some(peer) = self.peers.get_mut(&token) else { continue };
            peer.connection.was_saved(has_failed);
            peer.held += 1;
            keeper.turn.clients.push((token, Pause::Turn));
        }
        Ok(())
    }
}
