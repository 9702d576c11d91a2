//! The Reed-Solomon code over the packets of a block.

use bytes::Bytes;
use quantities::Bytes as Size;
use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};

use super::Parity;
use crate::packet::Data;
use crate::sequence::wire;

/// The parity symbols of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    pub(super) symbols: Vec<Bytes>,
    /// The length that the longest packet would have as a symbol, counting the part of its payload that is only a size.
    /// [B]
    pub(super) size: Size,
}

/// Whether there is a code of this shape.
pub(crate) fn is_possible(packets: u16, parity: u16) -> bool {
    packets > 0 && parity > 0 && packets.max(parity) <= 1 << 15
}

/// Computes all parity symbols of a block from its packets; none if there are not exactly K.
pub(super) fn encode<'a>(shape: Parity, block: impl Iterator<Item = &'a Data>) -> Symbols {
    let (mut size, mut length) = (0, 2);
    let mut block: Vec<Vec<u8>> = block
        .map(|data| {
            let mut symbol = Vec::new();
            data.write_symbol(&mut symbol);
            size = size.max(symbol.len() as u64 + data.payload.unseen().0);
            length = length.max(symbol.len().next_multiple_of(2));
            symbol
        })
        .collect();
    block.iter_mut().for_each(|symbol| symbol.resize(length, 0));
    let symbols = encoded(shape, length, &block).unwrap_or_default();
    Symbols { symbols, size: Size(size) }
}

fn encoded(shape: Parity, length: usize, block: &[Vec<u8>]) -> Result<Vec<Bytes>, reed_solomon_simd::Error> {
    let mut encoder = ReedSolomonEncoder::new(shape.packets.into(), shape.parity.into(), length)?;
    block.iter().try_for_each(|symbol| encoder.add_original_shard(symbol))?;
    Ok(encoder.encode()?.recovery_iter().map(Bytes::copy_from_slice).collect())
}

/// Computes missing packets. It keeps its buffers from one call to the next.
#[derive(Default)]
pub(super) struct Decoder {
    decoder: Option<ReedSolomonDecoder>,
    symbol: Vec<u8>,
}

impl Clone for Decoder {
    /// It is empty between calls.
    fn clone(&self) -> Decoder {
        Decoder::default()
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Decoder")
    }
}

impl Decoder {
    /// Computes the missing packets of the block that begins with packet `first`: the empty places of `block`. None if
    /// there are not enough symbols, or if they don't belong to such a block.
    pub(super) fn compute<'a>(
        &mut self,
        shape: Parity,
        first: u64,
        block: &[Option<&Data>],
        symbols: impl Iterator<Item = (u16, &'a Bytes)> + Clone,
    ) -> Option<Vec<Data>> {
        let length = symbols.clone().map(|(_, symbol)| symbol.len()).next()?;
        let (packets, parity) = (shape.packets.into(), shape.parity.into());
        let mut decoder = match self.decoder.take() {
            Some(mut decoder) => decoder.reset(packets, parity, length).ok().map(|()| decoder),
            None => ReedSolomonDecoder::new(packets, parity, length).ok(),
        }?;
        for (place, data) in block.iter().enumerate() {
            if let Some(data) = data {
                self.symbol.clear();
                data.write_symbol(&mut self.symbol);
                if self.symbol.len() > length {
                    return None;
                }
                self.symbol.resize(length, 0);
                decoder.add_original_shard(place, &self.symbol).ok()?;
            }
        }
        for (index, symbol) in symbols {
            decoder.add_recovery_shard(index.into(), symbol).ok()?;
        }
        let restored = decoder.decode().ok()?;
        let missing = (0..).zip(block).zip(first..).filter(|((_, data), _)| data.is_none());
        let computed = missing
            .map(|((place, _), sequence)| {
                let symbol = Bytes::copy_from_slice(restored.restored_original(place)?);
                Data::from_symbol(wire(sequence), &symbol).ok()
            })
            .collect();
        drop(restored);
        self.decoder = Some(decoder);
        computed
    }
}

#[cfg(test)]
mod tests {
    use endpoint::Message;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, subsequence};
    use quantities::Rank;

    use super::*;
    use crate::packet::{Label, Opening, Part};

    const SHAPE: Parity = Parity { packets: 6, parity: 5, blocks: 1 };

    fn data() -> impl Strategy<Value = Data> {
        let opening =
            Opening { size: 1 << 40, content: Some(1 << 39), pushed: 1 << 20, label: Label::acknowledged_by(Rank(7)) };
        let part = prop_oneof![Just(Part::Opening(opening)), (0_u64..1 << 40).prop_map(Part::From)];
        let payload = (vec(any::<u8>(), 0..80), prop_oneof![Just(0_u64), 1_u64..1_000]);
        (any::<u32>(), part, payload).prop_map(|(message, part, (bytes, more))| {
            let size = Size(bytes.len() as u64 + more);
            let payload = if bytes.is_empty() { Message::of_size(size) } else { Message::beginning_with(bytes, size) };
            Data { sequence: 0, message, part, payload }
        })
    }

    fn block() -> impl Strategy<Value = Vec<Data>> {
        vec(data(), 6).prop_map(|mut block| {
            (100..).zip(&mut block).for_each(|(sequence, data)| data.sequence = sequence);
            block
        })
    }

    proptest! {
        #[test]
        fn any_k_of_all_symbols_yield_the_packets(
            block in block(),
            lost in (0_usize..=5).prop_flat_map(|lost| subsequence((0..6).collect::<Vec<usize>>(), lost)),
            symbols in Just((0_u16..5).collect::<Vec<u16>>()).prop_shuffle(),
        ) {
            let parity = encode(SHAPE, block.iter());
            prop_assert_eq!(parity.symbols.len(), 5);
            let there: Vec<Option<&Data>> =
                block.iter().enumerate().map(|(place, data)| (!lost.contains(&place)).then_some(data)).collect();
            let symbols = symbols.iter().take(lost.len()).map(|&index| (index, &parity.symbols[usize::from(index)]));
            let mut decoder = Decoder::default();
            for _ in 0..2 {
                let computed = decoder.compute(SHAPE, 100, &there, symbols.clone());
                let expected: Vec<Data> = lost.iter().map(|&place| block[place].clone()).collect();
                prop_assert_eq!(computed.unwrap_or_default(), expected);
            }
        }

        /// Foreign symbols yield nothing, or packets that don't belong to the block; they do no harm.
        #[test]
        fn any_bytes_as_symbols_do_no_harm(block in block(), symbol in vec(any::<u8>(), 2..200), lost: Index) {
            let lost = lost.index(6);
            let there: Vec<Option<&Data>> =
                block.iter().enumerate().map(|(place, data)| (place != lost).then_some(data)).collect();
            let symbol = Bytes::from(symbol);
            let computed = Decoder::default().compute(SHAPE, 100, &there, [(3, &symbol)].into_iter());
            prop_assert!(computed.is_none_or(|computed| computed.len() == 1));
            prop_assert!(Data::from_symbol(0, &symbol).map_or(true, |data| data.payload.size().0 <= 65_535));
        }
    }

    #[test]
    fn too_few_symbols_yield_nothing() {
        let data = |sequence| Data { sequence, message: 0, part: Part::From(0), payload: Message::from(vec![1; 9]) };
        let block: Vec<Data> = (0..6).map(data).collect();
        let parity = encode(SHAPE, block.iter());
        let there: Vec<Option<&Data>> = block.iter().enumerate().map(|(at, data)| (at > 1).then_some(data)).collect();
        let symbols = [(0, &parity.symbols[0])];
        assert_eq!(Decoder::default().compute(SHAPE, 0, &there, symbols.into_iter()), None);
        assert!(encode(SHAPE, block.iter().take(5)).symbols.is_empty(), "nor do fewer packets than a block has");
    }
}
