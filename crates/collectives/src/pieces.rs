//! Messages cut into pieces and joined again.

use std::ops::Range;

use endpoint::Message;
use quantities::Bytes;

/// The bytes `range` of `message`, which must be within it; only a size, unless it carries all its bytes.
pub(crate) fn piece(message: &Message, range: Range<u64>) -> Message {
    match message.whole_content() {
        Some(content) => Message::from(content.slice(range.start as usize..range.end as usize)),
        None => Message::of_size(Bytes(range.end - range.start)),
    }
}

/// The message that consists of `pieces`, in order. It carries bytes if all of them carry all of theirs.
pub fn joined(pieces: &[Message]) -> Message {
    if let [only] = pieces {
        return only.clone();
    }
    let contents: Option<Vec<_>> = pieces.iter().map(Message::whole_content).collect();
    match contents {
        Some(contents) => {
            let mut whole = Vec::with_capacity(contents.iter().map(|content| content.len()).sum());
            contents.into_iter().for_each(|content| whole.extend_from_slice(content));
            Message::from(whole)
        }
        None => Message::of_size(Bytes(pieces.iter().map(|piece| piece.size().0).sum())),
    }
}

/// The pieces of a message, which arrive in any order. If some are only sizes, only the sum of all sizes is kept, so
/// that a simulation of P ranks with P pieces each does not need memory proportional to P squared.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// The size of all pieces. [B]
    size: u64,
    /// All pieces with their places, as long as each of them carries bytes.
    pieces: Option<Vec<(u32, Message)>>,
}

impl Default for Gathered {
    fn default() -> Gathered {
        Gathered { size: 0, pieces: Some(Vec::new()) }
    }
}

impl Gathered {
    /// Adds the piece at that place.
    pub(crate) fn put(&mut self, place: u32, piece: Message) {
        self.size += piece.size().0;
        match &mut self.pieces {
            Some(pieces) if piece.whole_content().is_some() => pieces.push((place, piece)),
            _ => self.pieces = None,
        }
    }

    /// The message that consists of the pieces, in order of their places. It carries bytes if all of them do.
    pub(crate) fn joined(self) -> Message {
        let Some(mut pieces) = self.pieces else { return Message::of_size(Bytes(self.size)) };
        pieces.sort_by_key(|&(place, _)| place);
        joined(&pieces.into_iter().map(|(_, piece)| piece).collect::<Vec<Message>>())
    }
}

/// Where block `block` of `blocks` begins, if `elements` are divided among them: their sizes differ by at most one. The
/// last block ends where the next would begin.
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
            let mut gathered = Gathered::default();
            [2, 0, 3, 1].into_iter().for_each(|place| gathered.put(place, pieces[place as usize].clone()));
            assert_eq!(gathered.joined(), whole);
        }
        assert_eq!(block_start(u64::MAX, u32::MAX, u32::MAX), u64::MAX);
    }

    /// A program may send a message that begins with bytes, the rest being only a size.
    #[test]
    fn what_only_begins_with_bytes_is_cut_and_joined_by_size() {
        let beginning = Message::beginning_with(vec![1, 2], Bytes(9));
        assert_eq!(piece(&beginning, 4..9), Message::of_size(Bytes(5)));
        assert_eq!(joined(&[beginning.clone(), Message::from(vec![3])]), Message::of_size(Bytes(10)));
        let mut gathered = Gathered::default();
        [beginning, Message::from(vec![3])].into_iter().zip(0..).for_each(|(piece, place)| gathered.put(place, piece));
        assert_eq!(gathered.joined(), Message::of_size(Bytes(10)));
    }

    #[test]
    fn of_pieces_without_bytes_nothing_is_kept() {
        let mut gathered = Gathered::default();
        gathered.put(0, Message::from(b"bytes".to_vec()));
        (1..1000).for_each(|place| gathered.put(place, Message::of_size(Bytes(3))));
        assert!(gathered.pieces.is_none());
        assert_eq!(gathered.joined(), Message::of_size(Bytes(5 + 999 * 3)));
    }
}
