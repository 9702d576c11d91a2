//! How a server moves to another place with all its data, while it keeps answering.
//!
//! ```text
//!   where it was             where it will be
//!   | Open                      |
//!   |-------------------------->|      the left answers for what has not yet moved, the right for what has arrived,
//!   | Chunk                     |      and each forwards requests for the other's part
//!   |-------------------------->|
//!   |<---------------- Received |
//!   | last Chunk                |
//!   |-------------------------->|
//!   | Moved                     |
//!   |-------------------------->|      from now on it is there
//! ```
//!
//! Nothing else changes meanwhile: if it has the token, it neither splits nor lets the file shrink, and a server that
//! asks it to leave waits until it has moved. A server does not know its place: messages to its own number go to its
//! other half.

use super::contents::{Contents, OutputOf};
use super::reorganisation::Change;
use super::{Extent, Server, ServerOutput, Table, ToServer};

impl<C: Contents> Server<C> {
    /// Begins to move, if it is not busy with something else.
    pub fn move_away(&mut self, outputs: &mut Vec<OutputOf<C>>) {
        if !self.is_steady() {
            return;
        }
        let Some(table) = self.contents.table_mut() else { return };
        self.change = Some(Change::MovesAway);
        table.depart();
        let (level, extent) = (table.level(), table.extent());
        self.known_to_receiver.clear();
        outputs.push(ServerOutput::Server(self.number, ToServer::Open { level, extent }));
        self.ship(outputs);
    }

    /// Whether it is moving away.
    pub fn moves_away(&self) -> bool {
        self.change == Some(Change::MovesAway)
    }

    /// Whether it is moving, away or here.
    pub(super) fn moves(&self) -> bool {
        self.moves_away() || self.change == Some(Change::Arrives)
    }

    /// It moves here, with a table whose buckets will arrive.
    pub(super) fn begin_arrival(&mut self, level: u32, extent: Extent) {
        self.change = Some(Change::Arrives);
        // A new server 0 has the token, and would start a new file.
        self.token = None;
        self.contents.open(Table::settling(level, extent));
    }

    /// The last chunk has been sent.
    pub(super) fn be_gone(&mut self, outputs: &mut Vec<OutputOf<C>>) {
        self.contents.close();
        let (token, leave) = (self.token.take(), self.asked_to_leave.take());
        outputs.push(ServerOutput::Server(self.number, ToServer::Moved { token, leave }));
    }

    /// Everything has arrived; what other servers have already told it at its new place is newer.
    pub(super) fn end_arrival(
        &mut self,
        token: Option<Extent>,
        leave: Option<(u32, u32)>,
        outputs: &mut Vec<OutputOf<C>>,
    ) {
        if self.change != Some(Change::Arrives) {
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
