//! The source's side: how many parity packets of which block have still to be sent.

use std::collections::VecDeque;

use endpoint::Message;

use super::Parity;
use super::code::{self, Symbols};
use crate::SharedQueue;
use crate::packet::{self, Data, PARITY_HEADER, ReceiverReport, SEEN_FIELD};
use crate::selective_repeat::has;
use crate::sequence::{FIRST, wire};

/// The repairs by parity packets.
#[derive(Clone, Debug)]
pub(crate) struct Repairs {
    shape: Parity,
    /// The blocks of which a receiver may lack something, oldest first.
    blocks: VecDeque<ParityBlock>,
    /// The first packet of the block after them.
    next: u64,
    /// How many parity packets have been sent since a receiver last reported, and the most allowed.
    unreported: u32,
    burst: u32,
    /// How many have been sent.
    sent: u64,
}

#[derive(Clone, Debug)]
struct ParityBlock {
    first: u64,
    /// How many parity packets have been sent, and how many are needed.
    sent: u16,
    wanted: u16,
    /// The first packet that was sent after the last of them.
    sent_before: u64,
    /// Computed when first needed.
    symbols: Option<Symbols>,
}

/// What a receiver has: everything before `base`, and of what was sent before `seen` what its report lists; the rest of
/// that is lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiverState<'a> {
    pub(crate) base: u64,
    pub(crate) seen: u64,
    pub(crate) report: &'a ReceiverReport,
}

impl ReceiverState<'_> {
    /// The packets from `first` on and before `end` that it misses.
    fn holes(&self, first: u64, end: u64) -> impl Iterator<Item = u64> {
        // A packet that it had no room for is not lost.
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

    /// How many parity packets have been sent.
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
            self.blocks.push_back(ParityBlock {
                first: self.next,
                sent: 0,
                wanted: 0,
                sent_before: next,
                symbols: None,
            });
            self.next += size;
        }
        while self.blocks.front().is_some_and(|block| block.first + size <= base) {
            self.blocks.pop_front();
        }
    }

    /// Takes a receiver's report. `all`: it has seen all parity packets as well. Returns what to send to it alone: what
    /// it misses of a block beyond R, and, if `urgent`, what it misses of an incomplete block.
    pub(crate) fn report(&mut self, receiver: &ReceiverState<'_>, all: bool, urgent: bool) -> Vec<u64> {
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

    /// The next parity packet, from the oldest block; it is sent before the packet whose number is returned. At most a
    /// window of them at once.
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
        let symbol = Message::beginning_with(symbol.clone(), quantities::Bytes(size));
        let parity = packet::Parity { first: wire(first), number: block.sent, symbol };
        block.sent += 1;
        block.sent_before = packets.next();
        self.unreported += 1;
        self.sent += 1;
        Some((parity, end))
    }
}

#[cfg(test)]
mod tests {
    use quantities::Bytes as Size;

    use super::*;
    use crate::packet::{Held, Part};

    const SHAPE: Parity = Parity { packets: 8, parity: 3, blocks: 2 };

    /// Twelve packets were sent: a block and a half.
    fn sent() -> (Repairs, SharedQueue<Data>) {
        let mut packets = SharedQueue::new(FIRST, 16, 1);
        for sequence in 0..12 {
            let payload = Message::of_size(Size(9));
            let data = Data { sequence, message: 0, part: Part::From(0), payload };
            assert_eq!(packets.produce(data), Ok(()));
        }
        let mut repairs = Repairs::new(SHAPE, 10);
        repairs.advance(packets.first(), packets.next());
        (repairs, packets)
    }

    /// A receiver reports that it misses these packets of the first ten, and how many parity packets it holds.
    fn report(repairs: &mut Repairs, missing: &[u64], held: Option<(u16, u16)>, urgent: bool) -> Vec<u64> {
        let base = missing.first().copied().unwrap_or(10);
        let there = (base + 1..10).filter(|sequence| !missing.contains(sequence));
        let bits = there.fold(0_u16, |bits, sequence| bits | 1 << (sequence - base - 1));
        let held = held.map(|(count, next)| Held { first: wire(FIRST), count, next }).into_iter().collect();
        let bitmap = bits.to_le_bytes().to_vec().into();
        let report = ReceiverReport { expected: wire(FIRST + base), bitmap, held, ..ReceiverReport::default() };
        let receiver = ReceiverState { base: FIRST + base, seen: FIRST + 10, report: &report };
        repairs.report(&receiver, false, urgent).into_iter().map(|sequence| sequence - FIRST).collect()
    }

    fn parity(repairs: &mut Repairs, packets: &SharedQueue<Data>) -> Vec<u16> {
        std::iter::from_fn(|| repairs.next_packet(packets, 1_472)).map(|(parity, _)| parity.number).collect()
    }

    #[test]
    fn as_many_are_sent_as_the_receiver_that_misses_most_needs() {
        let (mut repairs, packets) = sent();
        assert_eq!(report(&mut repairs, &[3], None, false), [0u64; 0]);
        assert_eq!(parity(&mut repairs, &packets), [0]);
        report(&mut repairs, &[1, 5], None, false);
        report(&mut repairs, &[2], None, false);
        assert_eq!(parity(&mut repairs, &packets), [1], "the first one is on its way to all of them");
        assert_eq!(repairs.sent(), 2);
    }

    #[test]
    fn a_lost_parity_packet_is_replaced_by_another() {
        let (mut repairs, packets) = sent();
        report(&mut repairs, &[1, 5], None, false);
        assert_eq!(parity(&mut repairs, &packets), [0, 1]);
        report(&mut repairs, &[1, 5], Some((0, 1)), false);
        assert_eq!(parity(&mut repairs, &packets), [2], "the first is lost, and the second may still come");
        report(&mut repairs, &[1, 5], Some((1, 3)), false);
        assert_eq!(parity(&mut repairs, &packets), [3], "and the first once more, as there are only three");
    }

    #[test]
    fn what_the_code_cannot_repair_goes_to_the_receiver_alone() {
        let (mut repairs, packets) = sent();
        assert_eq!(report(&mut repairs, &[0, 1, 4, 6, 7, 9], None, false), [6, 7]);
        assert_eq!(parity(&mut repairs, &packets), [0, 1, 2]);
        assert_eq!(report(&mut repairs, &[9], None, false), [0u64; 0], "the block of 9 is not full");
        assert_eq!(report(&mut repairs, &[9], None, true), [9], "and nothing more comes");
    }

    #[test]
    fn a_packet_without_room_is_not_lost() {
        let (mut repairs, packets) = sent();
        let report = ReceiverReport { expected: wire(FIRST + 4), no_room: true, ..ReceiverReport::default() };
        repairs.report(&ReceiverState { base: FIRST + 4, seen: FIRST + 5, report: &report }, false, true);
        assert_eq!(parity(&mut repairs, &packets), [0u16; 0]);
    }

    #[test]
    fn no_more_than_a_window_is_sent_until_someone_reports() {
        let (mut repairs, packets) = sent();
        repairs.burst = 1;
        report(&mut repairs, &[1, 5], None, false);
        assert_eq!(parity(&mut repairs, &packets), [0]);
        report(&mut repairs, &[3], None, false);
        assert_eq!(parity(&mut repairs, &packets), [1]);
    }
}
