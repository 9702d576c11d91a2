//! How IP splits a packet that is longer than a frame carries, and puts it together again (RFC 791, sections 2.3 and
//! 3.2).

use std::collections::{BTreeMap, BTreeSet};

use quantities::{Bytes, Rank};

/// The header of each fragment. [B]
const HEADER: u64 = 20;
/// Fragments other than the last carry a multiple of this. [B]
const UNIT: u64 = 8;

/// One of the fragments of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Which packet of its source it is of.
    pub packet: u64,
    /// Its place among the fragments.
    pub index: u32,
    /// How many there are.
    pub count: u32,
}

/// The sizes, as payloads of frames, of the fragments of a packet that is longer than `longest`, what a frame carries.
/// [B]
pub fn split(packet: Bytes, longest: Bytes) -> Vec<Bytes> {
    let each = longest.0.saturating_sub(HEADER).max(UNIT) / UNIT * UNIT;
    let content = packet.0.saturating_sub(HEADER);
    (0..content.div_ceil(each)).map(|index| Bytes(HEADER + each.min(content - index * each))).collect()
}

/// The fragments that have come to a node of packets of which some are missing, forever if they are lost.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    incomplete: BTreeMap<(Rank, u64), Incomplete>,
}

#[derive(Debug, Default)]
struct Incomplete {
    indices: BTreeSet<u32>,
    /// Of all of them, without headers. [B]
    content: u64,
}

impl Reassembly {
    /// Takes a fragment, the payload of a frame of `size`; returns the size of the packet if it is complete now.
    pub(super) fn take(&mut self, from: Rank, fragment: Fragment, size: Bytes) -> Option<Bytes> {
        let Fragment { packet, index, count } = fragment;
        let incomplete = self.incomplete.entry((from, packet)).or_default();
        // A duplicate adds nothing.
        if incomplete.indices.insert(index) {
            incomplete.content += size.0 - HEADER;
        }
        if incomplete.indices.len() < count as usize {
            return None;
        }
        let complete = self.incomplete.remove(&(from, packet))?;
        Some(Bytes(HEADER + complete.content))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_fragments_but_the_last_carry_a_multiple_of_eight() {
        assert_eq!(split(Bytes(2_980), Bytes(1_500)), [Bytes(1_500), Bytes(1_500)]);
        assert_eq!(split(Bytes(1_501), Bytes(1_500)), [Bytes(1_500), Bytes(21)]);
        assert_eq!(split(Bytes(1_501), Bytes(1_499)), [Bytes(1_492), Bytes(29)]);
    }

    /// The lengths of a packet and of what a frame carries, and the packet's fragments in some order, each perhaps
    /// twice.
    fn packets() -> impl Strategy<Value = (Bytes, Bytes, Vec<u32>)> {
        (28_u64..9_000, 1_u64..60_000).prop_flat_map(|(longest, more)| {
            let (size, longest) = (Bytes(longest + more), Bytes(longest));
            let count = split(size, longest).len() as u32;
            let repeated = prop::collection::vec(0..count, 0..8);
            let order =
                repeated.prop_flat_map(move |more| Just((0..count).chain(more).collect::<Vec<_>>()).prop_shuffle());
            order.prop_map(move |order| (size, longest, order))
        })
    }

    proptest! {
        /// In any order, with some twice, the last that was missing completes the packet.
        #[test]
        fn fragments_make_the_packet_again((size, longest, order) in packets()) {
            let sizes = split(size, longest);
            prop_assert!(sizes.iter().all(|&it| it <= longest));
            let (mut reassembly, count) = (Reassembly::default(), sizes.len() as u32);
            let mut missing: BTreeSet<u32> = (0..count).collect();
            for index in order {
                if missing.is_empty() {
                    break;
                }
                missing.remove(&index);
                let fragment = Fragment { packet: 3, index, count };
                let whole = reassembly.take(Rank(1), fragment, sizes[index as usize]);
                prop_assert_eq!(whole, missing.is_empty().then_some(size));
                // Another source numbers its packets alike.
                prop_assert_eq!(reassembly.take(Rank(2), Fragment { index: 0, ..fragment }, sizes[0]), None);
            }
        }
    }
}
