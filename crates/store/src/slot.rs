//! C of a key: the slot of Redis Cluster in its low bits, so that a bucket of the table is a range of slots.

use twox_hash::XxHash3_64;

/// 2^14 slots.
pub const SLOT_BITS: u32 = 14;

/// C of a key: its slot with the bits in the opposite order, and above these the low bits of XXH3 of the whole key.
///
/// ```text
///   63                              14 13            0
///   |  XXH3(key) mod 2^50             | slot, reversed |
/// ```
///
/// The keys with the same h_j(C) = C mod 2^j have slots whose highest j bits are the same: a range of 2^(14-j) slots one after
/// another, which a split of the bucket halves.
#[inline]
pub fn c_of(key: &[u8]) -> u64 {
    let reversed = slot_of(key).reverse_bits() >> (u16::BITS - SLOT_BITS);
    XxHash3_64::oneshot(key) << SLOT_BITS | u64::from(reversed)
}

/// The slot of a key: CRC16 of it modulo 2^14, or of what stands in its first pair of braces, so that `{user}.name` and `{user}.age`
/// are in the same slot.
///
/// Source: Redis Cluster specification, "Hash tags".
#[inline]
pub fn slot_of(key: &[u8]) -> u16 {
    crc16(tag_of(key)) & ((1 << SLOT_BITS) - 1)
}

fn tag_of(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|&byte| byte == b'{') else { return key };
    let inner = &key[open + 1..];
    match inner.iter().position(|&byte| byte == b'}') {
        None | Some(0) => key,
        Some(close) => &inner[..close],
    }
}

/// CRC-16/XMODEM: the polynomial x^16 + x^12 + x^5 + 1, a byte at a time.
fn crc16(bytes: &[u8]) -> u16 {
    const TABLE: [u16; 256] = remainders();
    bytes.iter().fold(0, |crc, &byte| crc << 8 ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

const fn remainders() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_redis_cluster() {
        // The check value of CRC-16/XMODEM, and slots that `CLUSTER KEYSLOT` of Redis gives.
        assert_eq!(crc16(b"123456789"), 0x31c3);
        assert_eq!([slot_of(b"foo"), slot_of(b"bar"), slot_of(b"")], [12_182, 5_061, 0]);
    }

    #[test]
    fn braces_keep_keys_together() {
        assert_eq!(slot_of(b"{user}.name"), slot_of(b"user"));
        assert_eq!(slot_of(b"a{user}{other}"), slot_of(b"user"));
        assert_eq!(tag_of(b"{}user"), b"{}user");
        assert_eq!(tag_of(b"{user"), b"{user");
        assert_eq!(tag_of(b"{{user}}"), b"{user");
    }

    #[test]
    fn a_bucket_is_a_range_of_slots() {
        for number in 0..2_000_u32 {
            let key = number.to_string();
            for level in 0..=SLOT_BITS {
                let residue = (c_of(key.as_bytes()) & ((1 << level) - 1)) as u16;
                let first = residue.reverse_bits() >> (u16::BITS - SLOT_BITS);
                let slot = slot_of(key.as_bytes());
                assert!(first <= slot && u32::from(slot) < u32::from(first) + (1 << (SLOT_BITS - level)));
            }
        }
    }
}
