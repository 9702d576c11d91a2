//! The source's side: how many parity packets of which block are still to be sent.

use std::collections::VecDeque;

use endpoint::Message;

use super::Parity;
use super::code::{self, Symbols};
use crate::SharedQueue;
use crate::packet::{self, Data, PARITY_HEADER, Report, SEEN_FIELD};
use crate::selective_repeat::has;
use crate::sequence::{FIRST, wire};

/// What is repaired by parity packets.
#[derive(Clone, Debug)]
pub(crate) struct Repairs {
    shape: Parity,
    /// The blocks of which a receiver may miss something, the oldest first.
    blocks: VecDeque<Block>,
    /// The first packet of the block after them.
    next: u64,
    /// How many parity packets were sent since a receiver last reported, and the most of these.
    unreported: u32,
    burst: u32,
    /// How many were sent.
    sent: u64,
}

#[derive(Clone, Debug)]
struct Block {
    first: u64,
    /// How many parity packets were sent, and how many there have to be.
    sent: u16,
    wanted: u16,
    /// The first packet that was sent after the last of them.
    sent_before: u64,
    /// Once there are any.
    symbols: Option<Symbols>,
}

/// What a receiver has: all before `base`, and of what was sent before `seen` what its report says; the rest of that is lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Has<'a> {
    pub(crate) base: u64,
    pub(crate) seen: u64,
    pub(crate) report: &'a Report,
}

impl Has<'_> {
    /// What it misses of the packets from `first` on and before `end`.
    fn holes(&self, first: u64, end: u64) -> impl Iterator<Item = u64> {
        // One that found no room there is not lost.
        let base = self.base + u64::from(self.report.no_room);
        let missing = |sequence: &u64| !has(&self.report.bitmap, self.base, *sequence);
        (first.max(base)..end.min(self.seen)).filter(missing)
    }
}

impl Repairs {
    pub(crate) const fn new(shape: Parity, burst: u32) -> Repairs {
        Repairs { shape, blocks: VecDeque::new(), next: FIRST, unreported: 0, burst, sent: 0 }
    }

    /// The first packet of the block that packet `sequence` belongs to.
    pub(crate) const fn block_of(&self, sequence: u64) -> u64 {
        self.shape.block_of(sequence)
    }

    /// How many parity packets were sent.
    pub(crate) const fn sent(&self) -> u64 {
        self.sent
    }

    /// How many bytes of parity symbols are kept. [B]
    pub(crate) fn memory(&self) -> u64 {
        let symbols = self.blocks.iter().filter_map(|block| block.symbols.as_ref()).flat_map(|it| &it.symbols);
        symbols.map(|symbol| symbol.len() as u64).sum()
    }

    /// All packets before `next` were sent, and no receiver needs those before `base`.
    pub(crate) fn advance(&mut self, base: u64, next: u64) {
        let size = self.shape.size();
        while self.next + size <= next {
            self.blocks.push_back(Block { first: self.next, sent: 0, wanted: 0, sent_before: next, symbols: None });
            self.next += size;
        }
        while self.blocks.front().is_some_and(|block| block.first + size <= base) {
            self.blocks.pop_front();
        }
    }

    /// Takes what a receiver says of itself. `all`: it has seen all parity packets as well. What is to be sent to it alone:
    /// what it misses beyond R of a block, and, if it is `urgent`, what it misses of one that is not full.
    pub(crate) fn report(&mut self, receiver: &Has<'_>, all: bool, urgent: bool) -> Vec<u64> {
        self.unreported = 0;
        let (size, parity) = (self.shape.size(), usize::from(self.shape.parity));
        let mut alone = Vec::new();
        for block in &mut self.blocks {
            let mut holes = receiver.holes(block.first, block.first + size);
            let few = holes.by_ref().take(parity).count();
            alone.extend(holes);
            let held = receiver.report.held.iter().find(|held| held.first == wire(block.first));
            let (count, next) = held.map_or((0, 0), |held| (held.count, held.next.min(block.sent)));
            let lacks = u16::try_from(few).unwrap_or(u16::MAX).saturating_sub(count);
            if lacks > 0 {
                let seen = if all || receiver.seen > block.sent_before { block.sent } else { next };
                block.wanted = block.wanted.max(seen.saturating_add(lacks));
            }
        }
        if urgent {
            alone.extend(receiver.holes(self.next, u64::MAX));
        }
        alone
    }

    /// The next parity packet, of the oldest block first; it is sent before packet `next`. No more than a window of them at once.
    pub(crate) fn next_packet(
        &mut self,
        packets: &SharedQueue<Data>,
        datagram: usize,
    ) -> Option<(packet::Parity, u64)> {
        let shape = self.shape;
        if self.unreported >= self.burst {
            return None;
        }
        let block = self.blocks.iter_mut().find(|block| block.sent < block.wanted)?;
        let (first, end) = (block.first, block.first + shape.size());
        let symbols = block.symbols.get_or_insert_with(|| {
            let block = (first..end).filter_map(|sequence| packets.entry(sequence));
            code::encode(shape, block)
        });
        let symbol = symbols.symbols.get(usize::from(block.sent % shape.parity))?;
        let most = (datagram - PARITY_HEADER - SEEN_FIELD) as u64;
        let size = symbols.size.0.min(most).max(symbol.len() as u64);
        let symbol = Message::that_begins(symbol.clone(), quantities::Bytes(size));
        let parity = packet::Parity { first: wire(first), number: block.sent, symbol };
        block.sent += 1;
        block.sent_before = packets.next();
        self.unreported += 1;
        self.sent += 1;
        Some((parity, end))
    }
}
