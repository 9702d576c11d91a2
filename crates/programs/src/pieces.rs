//! Messages cut into pieces, and put together again.

use std::ops::Range;

use endpoint::Message;
use quantities::Bytes;

/// The bytes `range` of `message`, which has so many.
pub(crate) fn piece(message: &Message, range: Range<u64>) -> Message {
    match message.content() {
        Some(content) => Message::from(content.slice(range.start as usize..range.end as usize)),
        None => Message::of_size(Bytes(range.end - range.start)),
    }
}

/// The message that consists of `pieces`, in order. It carries bytes if all of them do.
pub(crate) fn joined(pieces: &[Message]) -> Message {
    if let [only] = pieces {
        return only.clone();
    }
    let contents: Option<Vec<_>> = pieces.iter().map(Message::content).collect();
    match contents {
        Some(contents) => {
            let mut whole = Vec::with_capacity(contents.iter().map(|content| content.len()).sum());
            contents.into_iter().for_each(|content| whole.extend_from_slice(content));
            Message::from(whole)
        }
        None => Message::of_size(Bytes(pieces.iter().map(|piece| piece.size().0).sum())),
    }
}

/// Where block `block` of `blocks` begins, if `elements` are shared out among them: their sizes differ by one at most. The
/// last one ends where one more would begin.
pub(crate) fn block_start(elements: u64, blocks: u32, block: u32) -> u64 {
    (u128::from(elements) * u128::from(block) / u128::from(blocks)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_whole() {
        for whole in [Message::from(b"a message".to_vec()), Message::of_size(Bytes(9))] {
            let starts: Vec<u64> = (0..=4).map(|block| block_start(9, 4, block)).collect();
            assert_eq!(starts, [0, 2, 4, 6, 9]);
            let pieces: Vec<Message> = starts.windows(2).map(|ends| piece(&whole, ends[0]..ends[1])).collect();
            assert_eq!(joined(&pieces), whole);
        }
        assert_eq!(block_start(u64::MAX, u32::MAX, u32::MAX), u64::MAX);
    }
}
