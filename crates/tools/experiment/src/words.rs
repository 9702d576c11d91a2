//! The Dutch words from which tables are built by default.

use std::io::Read;

use flate2::read::GzDecoder;
use linear_hash::Key;

/// The list of OpenTaal, compressed; experiments/lh/words-nl.LICENSE states its owner and its licence.
const DUTCH: &[u8] = include_bytes!("../../../../experiments/lh/words-nl.txt.gz");

/// The 180,689 entries of the list, in its order. 3,684 words occur twice: they are inflected in more than one way.
pub fn dutch() -> Vec<Key> {
    let mut text = Vec::new();
    let whole = GzDecoder::new(DUTCH).read_to_end(&mut text);
    debug_assert!(whole.is_ok(), "the list is part of the program, and as it was compressed");
    text.split(|&byte| byte == b'\n').filter(|word| !word.is_empty()).map(Key::from).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::dutch;

    #[test]
    fn the_list_is_whole() {
        let words = dutch();
        assert_eq!(words.len(), 180_689);
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), 180_689 - 3_684);
        assert_eq!(words.first().map(|word| &word[..]), Some("€10-biljet".as_bytes()));
        assert!(words.iter().all(|word| std::str::from_utf8(word).is_ok()));
    }
}
