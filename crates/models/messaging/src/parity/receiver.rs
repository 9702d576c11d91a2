//! The receiver's side: it keeps what lost packets may be computed from, and computes them.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::Parity;
use super::code::Decoder;
use crate::packet::{self, Data, Held};
use crate::sequence::{near, wire};

/// What a receiver keeps besides the packets that arrived early.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    shape: Parity,
    /// The packets before the expected one, of the same block.
    kept: Vec<Data>,
    /// The parity symbols of blocks, by their first packets.
    blocks: BTreeMap<u64, Symbols>,
    decoder: Decoder,
}

#[derive(Clone, Debug, Default)]
struct Symbols {
    symbols: BTreeMap<u16, Bytes>,
    next: u16,
}

impl Recovery {
    pub(crate) fn new(shape: Parity) -> Recovery {
        Recovery { shape, kept: Vec::new(), blocks: BTreeMap::new(), decoder: Decoder::default() }
    }

    /// Packet `sequence` was the expected one, and has been stored.
    pub(crate) fn keep(&mut self, sequence: u64, data: Data) {
        self.kept.push(data);
        if self.kept.len() as u64 == self.shape.size() {
            self.kept.clear();
            self.blocks.remove(&self.shape.block_of(sequence));
        }
    }

    /// Takes a parity packet if something of its block may be missing, and returns that block. Everything before
    /// `expected` has arrived.
    pub(crate) fn take(&mut self, parity: &packet::Parity, expected: u64) -> Option<u64> {
        let first = near(expected, parity.first)?;
        let (begin, end) = (self.shape.block_of(expected), expected + u64::from(self.shape.window()));
        let symbol = parity.symbol.content().filter(|symbol| symbol.len() >= 2 && symbol.len() % 2 == 0)?;
        if first < begin || first >= end || first != self.shape.block_of(first) {
            return None;
        }
        let block = self.blocks.entry(first).or_default();
        if block.symbols.values().next().is_none_or(|other| other.len() == symbol.len()) {
            block.symbols.insert(parity.number % self.shape.parity, symbol.clone());
            block.next = block.next.max(parity.number.saturating_add(1));
        }
        Some(first)
    }

    /// The missing packets of the block that begins with packet `first`, if it holds enough to compute them; `early`
    /// has those after the expected one. Nothing is held for a block that is complete.
    pub(crate) fn compute<'a>(
        &'a mut self,
        first: u64,
        expected: u64,
        early: impl Fn(u64) -> Option<&'a Data>,
    ) -> Vec<Data> {
        let Some(Symbols { symbols, .. }) = self.blocks.get(&first) else { return Vec::new() };
        let kept = |sequence: u64| {
            let place = usize::try_from(sequence - first).ok().filter(|_| sequence < expected)?;
            self.kept.get(place)
        };
        let block: Vec<Option<&Data>> =
            (first..first + self.shape.size()).map(|sequence| kept(sequence).or_else(|| early(sequence))).collect();
        let missing = block.iter().filter(|data| data.is_none()).count();
        if missing > symbols.len() {
            return Vec::new();
        }
        let symbols = symbols.iter().map(|(&index, symbol)| (index, symbol)).take(missing);
        let computed = self.decoder.compute(self.shape, first, &block, symbols).unwrap_or_default();
        self.blocks.remove(&first);
        computed
    }

    /// The block of packet `sequence`, if parity packets of it are held.
    pub(crate) fn block_with_parity(&self, sequence: u64) -> Option<u64> {
        let first = self.shape.block_of(sequence);
        self.blocks.contains_key(&first).then_some(first)
    }

    /// What the source is told.
    pub(crate) fn held(&self) -> Vec<Held> {
        let held = self.blocks.iter().map(|(&first, Symbols { symbols, next })| Held {
            first: wire(first),
            count: u16::try_from(symbols.len()).unwrap_or(u16::MAX),
            next: *next,
        });
        held.collect()
    }
}
