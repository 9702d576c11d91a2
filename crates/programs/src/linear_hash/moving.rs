//! How a server moves elsewhere with all that it has, while it answers.
//!
//! ```text
//!   where it was             where it will be
//!   | Open                      |
//!   |-------------------------->|      what has not gone is answered on the left, what has come on the right,
//!   | Chunk                     |      and each sends on what is the other's
//!   |-------------------------->|
//!   |<---------------- Received |
//!   | last Chunk                |
//!   |-------------------------->|
//!   | Moved                     |
//!   |-------------------------->|      from now on it is there
//! ```
//!
//! Nothing else changes meanwhile: with the token it neither splits nor has the file shrink, and who asks it to leave waits until it is there. A
//! server does not know where it is: what it tells its own number goes to its other half.

use super::contents::{Contents, OutputOf};
use super::reorganisation::Change;
use super::{Extent, Place, Server, ServerOutput, Table, ToServer};

impl<C: Contents> Server<C> {
    /// Begins to move elsewhere, if it is not busy with something else.
    pub fn move_away(&mut self, outputs: &mut Vec<OutputOf<C>>) {
        if !self.is_steady() {
            return;
        }
        let Some(table) = self.contents.table_mut() else { return };
        self.change = Some(Change::MovesAway);
        table.depart();
        let (level, extent) = (table.level(), table.extent());
        self.told.clear();
        outputs.push(ServerOutput::Server(self.number, ToServer::Open { level, extent }));
        self.ship(outputs);
    }

    /// Whether it is on its way elsewhere.
    pub fn moves_away(&self) -> bool {
        self.change == Some(Change::MovesAway)
    }

    /// Whether it is on its way elsewhere, or from there.
    pub(super) fn moves(&self) -> bool {
        self.moves_away() || self.change == Some(Change::MovesHere)
    }

    /// Whether it is on its way elsewhere, and the key C has gone there already.
    pub fn has_gone(&self, c: u64) -> bool {
        self.moves_away() && self.table().is_some_and(|table| table.place(c) == Place::Shipped)
    }

    /// It is to be here, with a table whose buckets come.
    pub(super) fn move_here(&mut self, level: u32, extent: Extent) {
        self.change = Some(Change::MovesHere);
        // Server 0 would begin a file.
        self.token = None;
        self.contents.open(Table::settling(level, extent));
    }

    /// The last chunk has gone.
    pub(super) fn be_gone(&mut self, outputs: &mut Vec<OutputOf<C>>) {
        self.contents.close();
        let (token, leave) = (self.token.take(), self.asked_to_leave.take());
        outputs.push(ServerOutput::Server(self.number, ToServer::Moved { token, leave }));
    }

    /// All has come; what other servers have told it here already is newer.
    pub(super) fn be_here(&mut self, token: Option<Extent>, leave: Option<(u32, u32)>, outputs: &mut Vec<OutputOf<C>>) {
        if self.change != Some(Change::MovesHere) {
            return;
        }
        self.change = None;
        self.token = self.token.or(token);
        match self.asked_to_leave.take().or(leave) {
            Some((to, buckets)) => self.prepare_to_leave(to, buckets, outputs),
            None => self.consider_split(outputs),
        }
    }
}
