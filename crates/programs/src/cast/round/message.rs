//! The messages of a round, and their encoding: a byte for the kind, then the rest.

use bytes::{Buf, Bytes, BytesMut};
use endpoint::Message;
use serde::{Deserialize, Serialize};

use quantities::shown;

/// The hash of a piece, or of the whole.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(*blake3::hash(bytes).as_bytes())
    }

    /// The hash of a whole transfer: of its manifest, and of its pieces in order.
    pub fn of_all(manifest: &[u8], pieces: impl IntoIterator<Item = Digest>) -> Digest {
        let mut hasher = blake3::Hasher::new_derive_key("maquette cast 2: all of a transfer");
        hasher.update(&(manifest.len() as u64).to_be_bytes()).update(manifest);
        pieces.into_iter().for_each(|Digest(piece)| {
            hasher.update(&piece);
        });
        Digest(*hasher.finalize().as_bytes())
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{self}")
    }
}

/// The length of what precedes the bytes of a piece. [B]
pub const PIECE_HEADER: usize = 1 + 4 + 32;

const MANIFEST: u8 = b'M';
const PIECE: u8 = b'P';
const END: u8 = b'E';
const LEAVES: u8 = b'L';
const BYE: u8 = b'B';
const HAS: u8 = b'H';
const REFUSES: u8 = b'R';
const DONE: u8 = b'D';
const LACKS: u8 = b'N';

/// What the sender tells all receivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToAll {
    /// What is sent.
    Manifest(Bytes),
    /// A piece of it.
    Piece {
        /// Its index.
        index: u32,
        /// The hash of its bytes.
        digest: Digest,
        /// Its bytes.
        content: Bytes,
    },
    /// All pieces of this round have been sent; with the hash of the whole if nobody lacks any others.
    End(Option<Digest>),
    /// The sender ends before every receiver has everything, for this reason.
    Leaves(String),
    /// Every receiver has been heard: the round is over.
    Bye,
}

/// What a receiver tells the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToSender {
    /// The pieces that it has, and their hashes.
    Has(Vec<(u32, Digest)>),
    /// It does not want the files, or cannot continue, for this reason.
    Refuses(String),
    /// All files are complete and in place.
    Done,
    /// This many pieces are missing.
    Lacks(u32),
}

/// Room for a piece of `length` bytes, from [`PIECE_HEADER`] on, in the buffer from which [`piece`] makes a message.
pub fn room_for_piece(length: usize) -> BytesMut {
    BytesMut::zeroed(PIECE_HEADER + length)
}

/// The message of a piece whose bytes are already in `room`, so that they need not be copied.
pub fn piece(index: u32, digest: Digest, mut room: BytesMut) -> Message {
    room[0] = PIECE;
    room[1..5].copy_from_slice(&index.to_be_bytes());
    room[5..PIECE_HEADER].copy_from_slice(&digest.0);
    Message::from(room.freeze())
}

impl ToAll {
    /// Its encoding.
    pub fn encode(&self) -> Message {
        match self {
            ToAll::Manifest(bytes) => tagged(MANIFEST, bytes),
            ToAll::Piece { index, digest, content } => {
                let mut room = room_for_piece(content.len());
                room[PIECE_HEADER..].copy_from_slice(content);
                piece(*index, *digest, room)
            }
            ToAll::End(whole) => tagged(END, whole.as_ref().map_or(&[], |whole| &whole.0[..])),
            ToAll::Leaves(reason) => tagged(LEAVES, reason.as_bytes()),
            ToAll::Bye => tagged(BYE, &[]),
        }
    }

    /// Decodes a message; none if it is invalid.
    pub fn decode(message: &Message) -> Option<ToAll> {
        let (tag, mut rest) = untagged(message)?;
        match tag {
            MANIFEST => Some(ToAll::Manifest(rest)),
            PIECE if rest.len() >= PIECE_HEADER - 1 => {
                let index = rest.get_u32();
                let digest = Digest(rest.split_to(32).as_ref().try_into().ok()?);
                Some(ToAll::Piece { index, digest, content: rest })
            }
            END if rest.is_empty() => Some(ToAll::End(None)),
            END => Some(ToAll::End(Some(Digest(rest.as_ref().try_into().ok()?)))),
            LEAVES => Some(ToAll::Leaves(text(&rest))),
            BYE => Some(ToAll::Bye),
            _ => None,
        }
    }
}

impl ToSender {
    /// Its encoding.
    pub fn encode(&self) -> Message {
        match self {
            ToSender::Has(pieces) => {
                let entry = |(index, digest): &(u32, Digest)| [&index.to_be_bytes()[..], &digest.0].concat();
                tagged(HAS, &pieces.iter().flat_map(entry).collect::<Vec<u8>>())
            }
            ToSender::Refuses(reason) => tagged(REFUSES, reason.as_bytes()),
            ToSender::Done => tagged(DONE, &[]),
            ToSender::Lacks(pieces) => tagged(LACKS, &pieces.to_be_bytes()),
        }
    }

    /// Decodes a message; none if it is invalid.
    pub fn decode(message: &Message) -> Option<ToSender> {
        let (tag, rest) = untagged(message)?;
        match tag {
            HAS => {
                let (entries, []) = rest.as_chunks::<36>() else { return None };
                let entry =
                    |[a, b, c, d, digest @ ..]: &[u8; 36]| (u32::from_be_bytes([*a, *b, *c, *d]), Digest(*digest));
                Some(ToSender::Has(entries.iter().map(entry).collect()))
            }
            REFUSES => Some(ToSender::Refuses(text(&rest))),
            DONE => Some(ToSender::Done),
            LACKS => Some(ToSender::Lacks(u32::from_be_bytes(rest.as_ref().try_into().ok()?))),
            _ => None,
        }
    }
}

fn tagged(tag: u8, rest: &[u8]) -> Message {
    Message::from([&[tag], rest].concat())
}

fn untagged(message: &Message) -> Option<(u8, Bytes)> {
    let mut bytes = message.content().filter(|content| content.len() as u64 == message.size().0)?.clone();
    (!bytes.is_empty()).then(|| (bytes.get_u8(), bytes))
}

/// The other side's text, made safe to print.
fn text(bytes: &[u8]) -> String {
    shown(&String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn messages_are_decoded_as_they_were_encoded() {
        let digest = Digest::of(b"content");
        let all = [
            ToAll::Manifest(Bytes::from_static(b"anything")),
            ToAll::Piece { index: 7, digest, content: Bytes::from_static(b"content") },
            ToAll::Piece { index: u32::MAX, digest, content: Bytes::new() },
            ToAll::End(None),
            ToAll::End(Some(digest)),
            ToAll::Leaves("no more".to_string()),
            ToAll::Bye,
        ];
        for message in all {
            assert_eq!(ToAll::decode(&message.encode()), Some(message));
        }
        let all = [
            ToSender::Has(vec![]),
            ToSender::Has(vec![(1, digest), (9, Digest::of(b""))]),
            ToSender::Refuses("no room".to_string()),
            ToSender::Done,
            ToSender::Lacks(3),
        ];
        for message in all {
            assert_eq!(ToSender::decode(&message.encode()), Some(message));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_decode_to_a_message_or_none(tag in prop::sample::select(b"MPELBHRDN?".to_vec()), rest in vec(any::<u8>(), 0..80)) {
            let message = tagged(tag, &rest);
            if let Some(decoded) = ToAll::decode(&message) {
                prop_assert!(matches!(decoded, ToAll::Leaves(_) | ToAll::Bye) || decoded.encode() == message);
            }
            if let Some(decoded) = ToSender::decode(&message) {
                prop_assert!(matches!(decoded, ToSender::Refuses(_) | ToSender::Done) || decoded.encode() == message);
            }
        }
    }
}
