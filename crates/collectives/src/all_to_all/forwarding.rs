//! What exchanges that forward messages have in common: a rank holds a block in each of P places, and in a step those
//! in half of the places leave, and others come in their stead.

use endpoint::{Endpoint, Message, Result};
use quantities::{Bytes, Duration, Rank};

use crate::Blocks;
use crate::catalogue::{Cost, Stretch, halvings};

/// The first places whose number has the bit `bit` set, or has it not, in ascending order.
pub(super) fn places(bit: u32, set: bool, count: u32) -> impl ExactSizeIterator<Item = u32> + Clone {
    let (below, value) = (bit - 1, if set { bit } else { 0 });
    (0..count).map(move |place| (place & below) | value | ((place & !below) << 1))
}

/// How many of the places of so many ranks have the bit set.
pub(super) fn set_places(bit: u32, ranks: u32) -> u32 {
    let (ranks, bit) = (u64::from(ranks), u64::from(bit));
    (ranks / (2 * bit) * bit + (ranks % (2 * bit)).saturating_sub(bit)) as u32
}

/// A step in which `leaving` go to rank `to`, and `coming` from rank `from` at the same time. Each byte is packed and
/// unpacked at `reshuffle`.
///
/// # Errors
/// Those of sending and receiving.
pub(super) async fn step<E: Endpoint>(
    endpoint: &E,
    blocks: &mut Blocks<'_>,
    (to, leaving): (Rank, impl Iterator<Item = u64> + Clone),
    (from, coming): (Rank, impl Iterator<Item = u64> + Clone),
    reshuffle: Duration,
) -> Result<()> {
    let packed = blocks.hand_over(leaving)?;
    endpoint.compute(copying(&packed, reshuffle)).await;
    let received = endpoint.sendrecv(to, packed, from).await?;
    endpoint.compute(copying(&received, reshuffle)).await;
    blocks.put(coming, &received)
}

/// How long it takes to pack or unpack `message`, at `reshuffle` per byte.
pub(super) fn copying(message: &Message, reshuffle: Duration) -> Duration {
    Duration::from_picoseconds(message.size().0.saturating_mul(reshuffle.picoseconds()))
}

/// The size of the largest message that is sent where half of the blocks of a rank leave in a step. [B]
pub(super) fn half(ranks: u32, bytes: Bytes) -> Bytes {
    Bytes(bytes.0.saturating_mul(u64::from(ranks / 2)))
}

/// The cost of as many such steps as the number of ranks can be halved.
pub(super) fn cost(ranks: u32, bytes: Bytes) -> Cost {
    let (steps, half) = (f64::from(halvings(ranks)), half(ranks, bytes));
    Cost::of(f64::from(ranks) * steps, half, vec![Stretch::of(0.0, steps, half)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_as_they_are_listed() {
        for (ranks, bit) in (1..40).flat_map(|ranks| [1, 2, 4, 32].map(|bit| (ranks, bit))) {
            let set: Vec<u32> = (0..ranks).filter(|place| place & bit != 0).collect();
            assert!(places(bit, true, set_places(bit, ranks)).eq(set), "{bit} of {ranks}");
            let others = (0..ranks).filter(|place| place & bit == 0);
            assert!(places(bit, false, ranks - set_places(bit, ranks)).eq(others), "{bit} of {ranks}");
        }
        assert_eq!(set_places(1 << 31, u32::MAX), (1 << 31) - 1);
    }
}
