//! Broadcasts by the library's own collective, `MPI_Ibcast`.
//!
//! Broadcasts of different ranks are not ordered among each other, but MPI requires all ranks to call the collectives
//! of a communicator in one order. So each rank that broadcasts has a communicator of its own. Nor do receivers know
//! how long a broadcast is: a block of [`BLOCK`] bytes says so and holds its beginning, and a second broadcast carries
//! the rest, if there is any.
//!
//! As in MPI, a broadcast completes only where every rank takes part in it: a rank that never receives may delay the
//! others.

use std::collections::VecDeque;

use bytes::Bytes;
use endpoint::{Message, Result, Tag};
use mpi::{Broadcast, Communicator, MpiError};
use quantities::Rank;

use super::envelope::{ENVELOPE, Envelope};
use super::transport::{Transport, failed};

/// The first part of every broadcast. [B]
const BLOCK: usize = 1 << 10;
/// How much of the message goes with the first part. [B]
const FIRST: usize = BLOCK - ENVELOPE;
/// The most ranks of a program that broadcasts: each needs a communicator, and a library has only some thousands.
pub(super) const MOST_RANKS: u32 = 256;

/// The state of a broadcast under way.
#[derive(Debug)]
enum BroadcastState {
    /// At its root: parts that are still being sent.
    Leaves(VecDeque<Broadcast>),
    /// At a receiver: it has not begun, since an earlier broadcast of the same root comes first.
    Queued,
    Block(Broadcast),
    Rest(Envelope, Vec<u8>, Broadcast),
}

/// A completed broadcast.
#[derive(Debug)]
pub(super) struct CompletedBroadcast {
    /// The operation.
    pub(super) number: u32,
    /// The message received, and its root; nothing at the root itself.
    pub(super) received: Option<(Rank, Message)>,
}

/// The communicators of the ranks, and the broadcasts under way on each.
#[derive(Debug)]
pub(super) struct Broadcasts {
    me: Rank,
    of_root: Vec<Communicator>,
    /// By root, then in the order in which they were begun: the number of the operation, and its state.
    under_way: Vec<VecDeque<(u32, BroadcastState)>>,
}

impl Broadcasts {
    /// Creates a communicator for each rank; collective over all ranks.
    pub(super) fn new(transport: &Transport) -> Result<Broadcasts> {
        let size = transport.size();
        let of_root = (0..size).map(|_| transport.another()).collect::<Result<Vec<Communicator>>>()?;
        Ok(Broadcasts { me: transport.rank(), of_root, under_way: (0..size).map(|_| VecDeque::new()).collect() })
    }

    /// Frees the communicators; collective over all ranks.
    pub(super) fn end(self) -> std::result::Result<(), MpiError> {
        self.of_root.into_iter().try_for_each(Communicator::free)
    }

    /// Begins to broadcast `message`, as operation `number`.
    pub(super) fn send(&mut self, number: u32, message: &Message) -> Result<()> {
        let size = usize::try_from(message.size().0).unwrap_or(usize::MAX);
        let content = message.content().map_or(&[][..], |content| &content[..]);
        let part = |from: usize, to: usize| {
            let mut bytes = content.get(from.min(content.len())..to.min(content.len())).unwrap_or_default().to_vec();
            bytes.resize(to - from, 0);
            bytes
        };
        let mut block = Envelope::of(Tag::default(), message, None).to_bytes().to_vec();
        block.extend(part(0, FIRST));
        let root = self.me.0;
        let communicator = &self.of_root[root as usize];
        let mut parts = VecDeque::from([communicator.ibcast(root, block).map_err(failed)?]);
        if size > FIRST {
            parts.push_back(communicator.ibcast(root, part(FIRST, size)).map_err(failed)?);
        }
        self.under_way[root as usize].push_back((number, BroadcastState::Leaves(parts)));
        Ok(())
    }

    /// Begins to receive the next broadcast of `root`, as operation `number`.
    pub(super) fn receive(&mut self, number: u32, root: Rank) -> Result<()> {
        let Some(queue) = self.under_way.get_mut(root.0 as usize) else { return Ok(()) };
        queue.push_back((number, BroadcastState::Queued));
        self.begin_next(root)
    }

    /// Joins the next broadcast of `root`, if one is due.
    fn begin_next(&mut self, root: Rank) -> Result<()> {
        if let Some((_, part @ BroadcastState::Queued)) = self.under_way[root.0 as usize].front_mut() {
            let block = self.of_root[root.0 as usize].ibcast(root.0, vec![0; BLOCK]).map_err(failed)?;
            *part = BroadcastState::Block(block);
        }
        Ok(())
    }

    /// Forgets the operations of a program that has ended. Those that MPI has begun go on.
    pub(super) fn forget(&mut self) {
        self.under_way.iter_mut().for_each(VecDeque::clear);
    }

    /// A completed operation, if there is one.
    pub(super) fn poll(&mut self) -> Result<Option<CompletedBroadcast>> {
        for root in 0..self.under_way.len() {
            let communicator = &self.of_root[root];
            let Some((number, part)) = self.under_way[root].front_mut() else { continue };
            let (number, root) = (*number, Rank(root as u32));
            let Some(message) = advance(part, communicator, root)? else { continue };
            self.under_way[root.0 as usize].pop_front();
            self.begin_next(root)?;
            return Ok(Some(CompletedBroadcast { number, received: message.map(|message| (root, message)) }));
        }
        Ok(None)
    }
}

/// Advances a broadcast; when it completes, returns its message, or none at its root.
fn advance(part: &mut BroadcastState, communicator: &Communicator, root: Rank) -> Result<Option<Option<Message>>> {
    match part {
        BroadcastState::Queued => Ok(None),
        BroadcastState::Leaves(parts) => {
            while let Some(first) = parts.front_mut() {
                if first.test().map_err(failed)?.is_none() {
                    return Ok(None);
                }
                parts.pop_front();
            }
            Ok(Some(None))
        }
        BroadcastState::Block(block) => {
            let Some(block) = block.test().map_err(failed)? else { return Ok(None) };
            let unknown = || endpoint::Error::Network(format!("rank {root} runs another version of maquette"));
            let envelope = Envelope::read(&block).ok_or_else(unknown)?;
            let size = usize::try_from(envelope.size).map_err(|_| unknown())?;
            if size <= FIRST {
                return Ok(Some(Some(envelope.message(&Bytes::from(block).slice(ENVELOPE..ENVELOPE + size)))));
            }
            let rest = communicator.ibcast(root.0, vec![0; size - FIRST]).map_err(failed)?;
            *part = BroadcastState::Rest(envelope, block, rest);
            Ok(None)
        }
        BroadcastState::Rest(envelope, block, rest) => {
            let Some(rest) = rest.test().map_err(failed)? else { return Ok(None) };
            let bytes = if envelope.seen.is_some() { [&block[ENVELOPE..], &rest[..]].concat() } else { Vec::new() };
            Ok(Some(Some(envelope.message(&bytes.into()))))
        }
    }
}
