//! The hash C of a key, a parameter of a run.

use twox_hash::XxHash3_64;

/// The hash function for keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyHash {
    /// XXH3 in 64 bits: all bits depend on all bytes, and servers get about the same number of keys.
    #[default]
    Uniform,
    /// The bytes as a big-endian number, modulo 2^64. Each server gets the words with certain last
    /// letters, some more and some fewer, so splits come in cascades.
    LastLetters,
}

impl KeyHash {
    /// All of them.
    pub const fn all() -> [KeyHash; 2] {
        [KeyHash::Uniform, KeyHash::LastLetters]
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            KeyHash::Uniform => "uniform",
            KeyHash::LastLetters => "last-letters",
        }
    }

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            KeyHash::Uniform => "All bits depend on all letters: servers get about as many keys each",
            KeyHash::LastLetters => "Its low bits are the last letters: splits come in cascades",
        }
    }

    /// C
    pub fn of(self, key: &[u8]) -> u64 {
        match self {
            KeyHash::Uniform => XxHash3_64::oneshot(key),
            KeyHash::LastLetters => key.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)),
        }
    }
}

quantities::written_by_name!(KeyHash);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uniform_one_is_the_published_one() {
        // The reference vector of XXH3 for empty input.
        assert_eq!(KeyHash::Uniform.of(b""), 0x2d06_8005_38d3_94c2);
    }

    #[test]
    fn last_letters_are_the_low_bits() {
        assert_eq!(KeyHash::LastLetters.of(b"ab"), 0x6162);
        assert_eq!(KeyHash::LastLetters.of(b"0123456789"), KeyHash::LastLetters.of(b"23456789"));
    }
}
