//! Building LH*LH tables: what a single run and the study of the paper both need.

mod built;

use programs::linear_hash::Key;
use quantities::Bytes;

pub use built::{Built, Split};

/// What an entry takes in a chunk beside its key and its body, about. [B]
const ENTRY_HEADER: u64 = 16;

/// V, with which a uniform hash has the last of the servers come into the file as the last of so many keys are inserted, if servers
/// are filled to the share M. [entries]
pub fn filled_capacity(keys: usize, servers: u32, sensitivity: f64) -> u64 {
    ((keys as f64 / (sensitivity * f64::from(servers))).ceil() as u64).max(1)
}

/// How many entries with such keys and bodies make a chunk of that size.
pub fn entries_of_chunk(chunk: Bytes, keys: &[Key], body: Bytes) -> u64 {
    let total: u64 = keys.iter().map(|key| key.len() as u64).sum();
    let mean = total / (keys.len() as u64).max(1);
    (chunk.0 / mean.saturating_add(ENTRY_HEADER).saturating_add(body.0)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_just_fill_all_servers() {
        assert_eq!(filled_capacity(180_000, 11, 0.8), 20_455);
        assert_eq!(filled_capacity(0, 11, 0.8), 1);
    }

    #[test]
    fn a_chunk_has_at_least_one_entry() {
        let keys = [Key::from(*b"abcd"), Key::from(*b"ef")];
        assert_eq!(entries_of_chunk(Bytes(190), &keys, Bytes(0)), 10);
        assert_eq!(entries_of_chunk(Bytes(190), &keys, Bytes(8192)), 1);
        assert_eq!(entries_of_chunk(Bytes(190), &[], Bytes(u64::MAX)), 1);
    }
}
