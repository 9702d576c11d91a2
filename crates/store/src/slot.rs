//! C of a key: the slot of Redis Cluster in its low bits, so that a bucket of the table is a range of slots.

use std::ops::RangeInclusive;

use twox_hash::XxHash3_64;

/// 2^14 slots.
pub const SLOT_BITS: u32 = 14;

/// C of a key: its slot with the bits reversed, and above these the low bits of XXH3 of the whole key.
///
/// ```text
///   63                              14 13            0
///   |  XXH3(key) mod 2^50             | slot, reversed |
/// ```
///
/// Keys with the same h_j(C) = C mod 2^j have slots with the same highest j bits: a contiguous range of 2^(14-j) slots,
/// which a split of the bucket halves.
#[inline]
pub fn c_of(key: &[u8]) -> u64 {
    let reversed = slot_of(key).reverse_bits() >> (u16::BITS - SLOT_BITS);
    XxHash3_64::oneshot(key) << SLOT_BITS | u64::from(reversed)
}

/// The slot of a key: the CRC16, modulo 2^14, of the key or of the text in its first pair of braces, so that
/// `{user}.name` and `{user}.age` are in the same slot.
///
/// Source: Redis Cluster specification, "Hash tags".
#[inline]
pub fn slot_of(key: &[u8]) -> u16 {
    crc16(tag_of(key)) & ((1 << SLOT_BITS) - 1)
}

/// The slots of server a of level j: those whose first j bits are a's, the lowest first.
pub fn slots_of_server(a: u32, j: u32) -> RangeInclusive<u16> {
    let level = j.min(SLOT_BITS);
    let prefix = a & ((1 << level) - 1);
    let first = (prefix as u16).reverse_bits() >> (u16::BITS - SLOT_BITS);
    first..=first + ((1 << (SLOT_BITS - level)) - 1)
}

fn tag_of(key: &[u8]) -> &[u8] {
    // Most keys have none; `contains` finds that out a word at a time.
    if !key.contains(&b'{') {
        return key;
    }
    let Some(open) = key.iter().position(|&byte| byte == b'{') else { return key };
    let inner = &key[open + 1..];
    match inner.iter().position(|&byte| byte == b'}') {
        None | Some(0) => key,
        Some(close) => &inner[..close],
    }
}

/// CRC-16/XMODEM: the polynomial x^16 + x^12 + x^5 + 1, eight bytes at a time, whose table lookups do not depend on
/// each other.
///
/// Source: Kounavis and Berry, "A Systematic Approach to Building High Performance, Software-based, CRC Generators",
/// ISCC 2005: slicing by 8.
#[inline]
fn crc16(bytes: &[u8]) -> u16 {
    let (slices, rest) = bytes.as_chunks::<8>();
    let of_slices = slices.iter().fold(0, |crc: u16, slice| {
        let [high, low] = crc.to_be_bytes();
        let [a, b, c, d, e, f, g, h] = slice.map(usize::from);
        let first = REMAINDERS[7][a ^ usize::from(high)] ^ REMAINDERS[6][b ^ usize::from(low)];
        let second = REMAINDERS[5][c] ^ REMAINDERS[4][d] ^ REMAINDERS[3][e] ^ REMAINDERS[2][f];
        first ^ second ^ REMAINDERS[1][g] ^ REMAINDERS[0][h]
    });
    rest.iter().fold(of_slices, |crc, &byte| crc << 8 ^ REMAINDERS[0][usize::from((crc >> 8) as u8 ^ byte)])
}

/// `REMAINDERS[n][byte]` is the remainder of the byte followed by n zero bytes.
static REMAINDERS: [[u16; 256]; 8] = remainders();

const fn remainders() -> [[u16; 256]; 8] {
    let mut table = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut zeros = 0;
        while zeros < 8 {
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
                bit += 1;
            }
            table[zeros][byte] = crc;
            zeros += 1;
        }
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_redis_cluster() {
        // The check value of CRC-16/XMODEM, and slots that `CLUSTER KEYSLOT` of Redis returns.
        assert_eq!(crc16(b"123456789"), 0x31c3);
        assert_eq!([slot_of(b"foo"), slot_of(b"bar"), slot_of(b"")], [12_182, 5_061, 0]);
    }

    #[test]
    fn eight_bytes_at_a_time_yield_the_same_as_one_at_a_time() {
        let bytes: Vec<u8> = (0..100_u32).map(|place| (place * place * 7 + 3) as u8).collect();
        for length in 0..bytes.len() {
            let one_at_a_time = bytes[..length].iter().fold(0_u16, |crc, &byte| {
                (0..8).fold(
                    crc ^ u16::from(byte) << 8,
                    |crc, _| if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 },
                )
            });
            assert_eq!(crc16(&bytes[..length]), one_at_a_time);
        }
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
                let server = (c_of(key.as_bytes()) & ((1 << level) - 1)) as u32;
                let slots = slots_of_server(server, level);
                assert!(slots.contains(&slot_of(key.as_bytes())) && slots.len() == 1 << (SLOT_BITS - level));
            }
        }
    }
}
