//! Encodes large values for other members and for the journal, and decodes those that members send, without copying
//! them.
//!
//! A serializer takes bytes, and a deserializer yields bytes; neither knows of shared memory. So a large value is
//! registered just before it is serialized, and when the encoder is given exactly its bytes, it puts the shared value
//! between the pieces. Decoded bytes that lie within the memory of the message are shared with it.

use std::cell::RefCell;

use postcard::ser_flavors::Flavor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{LARGE, MaybeShared, Pieces, SharedValue};

/// A value or pieces that were registered.
enum Registered {
    /// A large value.
    Value(SharedValue),
    /// Pieces, after their placeholder: as many bytes, which the encoder is given in their stead and which are never
    /// written or read.
    Pieces(SharedValue, Pieces),
}

thread_local! {
    /// The large values of what is being encoded in pieces; none while nothing is.
    static REGISTERED: RefCell<Option<Vec<Registered>>> = const { RefCell::new(None) };
    /// The message that is being decoded, if it is large.
    static DECODED: RefCell<Option<SharedValue>> = const { RefCell::new(None) };
}

/// Encodes a message and appends it to other pieces. Large values are shared.
///
/// # Errors
/// The message can't be encoded.
pub(crate) fn encode<T: Serialize>(message: &T, after: Pieces) -> postcard::Result<Pieces> {
    REGISTERED.set(Some(Vec::new()));
    let outcome = postcard::serialize_with_flavor(message, Encoder(after));
    REGISTERED.set(None);
    outcome
}

/// Encodes the bytes as a whole, not one by one. A large value is shared if `encode` encodes it.
impl Serialize for MaybeShared<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let MaybeShared::Shared(value) = self {
            register(|| Registered::Value(value.clone()));
        }
        serializer.serialize_bytes(self)
    }
}

/// Large bytes are shared with the message that `decode` decodes.
impl<'de: 'a, 'a> Deserialize<'de> for MaybeShared<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MaybeShared<'a>, D::Error> {
        <&[u8]>::deserialize(deserializer).map(decoded)
    }
}

/// Encodes pieces as if they were joined. Large values in them are shared if [`encode`] encodes them.
pub(crate) fn serialize_pieces<S: Serializer>(pieces: &Pieces, serializer: S) -> Result<S::Ok, S::Error> {
    let is_shared = !pieces.large.is_empty() && pieces.len() >= LARGE;
    if !is_shared || REGISTERED.with_borrow(Option::is_none) {
        return serializer.serialize_bytes(&pieces.joined());
    }
    // The system provides memory only when it is used.
    let unused = SharedValue::from(vec![0; pieces.len()]);
    register(|| Registered::Pieces(unused.clone(), pieces.clone()));
    serializer.serialize_bytes(&unused)
}

/// Registers a value or pieces, if a message is being encoded in pieces.
fn register(new: impl FnOnce() -> Registered) {
    REGISTERED.with_borrow_mut(|registered| {
        if let Some(all) = registered {
            all.push(new());
        }
    });
}

/// Encodes into pieces.
struct Encoder(Pieces);

impl Flavor for Encoder {
    type Output = Pieces;

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.bytes.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        if bytes.len() < LARGE {
            self.0.bytes.extend_from_slice(bytes);
            return Ok(());
        }
        match registered(bytes) {
            Some(Registered::Value(value)) => self.0.push_large(value),
            Some(Registered::Pieces(_, pieces)) => self.0.append(&pieces),
            None => self.0.bytes.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Pieces> {
        Ok(self.0)
    }
}

/// Takes out what was registered with exactly these bytes, at this address.
fn registered(bytes: &[u8]) -> Option<Registered> {
    REGISTERED.with_borrow_mut(|registered| {
        let all = registered.as_mut()?;
        let place = all.iter().position(|one| match one {
            Registered::Value(value) | Registered::Pieces(value, _) => std::ptr::eq(&**value, bytes),
        });
        place.map(|place| all.swap_remove(place))
    })
}

/// Decodes a message. Large values share its memory.
pub(crate) fn decode<R>(message: Vec<u8>, decodes: impl FnOnce(&[u8]) -> R) -> R {
    if message.len() < LARGE {
        return decodes(&message);
    }
    let message = SharedValue::from(message);
    DECODED.set(Some(message.clone()));
    let decoded = decodes(&message);
    DECODED.set(None);
    decoded
}

fn decoded(bytes: &[u8]) -> MaybeShared<'_> {
    if bytes.len() < LARGE {
        return MaybeShared::Borrowed(bytes);
    }
    let shared = DECODED.with_borrow(|message| {
        let message = message.as_ref()?;
        let start = bytes.as_ptr().addr().checked_sub(message.as_ptr().addr())?;
        let end = start.checked_add(bytes.len()).filter(|end| *end <= message.len())?;
        Some(message.part(start..end))
    });
    shared.map_or(MaybeShared::Borrowed(bytes), MaybeShared::Shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Whole<'a>(u32, MaybeShared<'a>, #[serde(serialize_with = "serialize_pieces")] Pieces, u8);

    #[derive(Deserialize)]
    struct Read<'a>(u32, #[serde(borrow)] MaybeShared<'a>, #[serde(borrow)] MaybeShared<'a>, u8);

    fn pieces(value: &SharedValue) -> Pieces {
        let mut pieces = Pieces::from(b"before".to_vec());
        pieces.push_large(value.clone());
        pieces.bytes.extend_from_slice(b"after");
        pieces
    }

    #[test]
    fn what_is_encoded_in_pieces_is_what_is_encoded_at_once() {
        for length in [0, 100, LARGE - 1, LARGE, 2 * LARGE + 7] {
            let value = SharedValue::from((0..length).map(|place| (place * 31 % 251) as u8).collect::<Vec<u8>>());
            let message = Whole(77, value.clone().into(), pieces(&value), 5);
            let encoded = encode(&message, Pieces::from(b"header".to_vec())).unwrap();
            let at_once = postcard::to_stdvec(&message).unwrap();
            assert!(*encoded.joined() == [b"header", &at_once[..]].concat());
            let shared = encoded.large.iter().filter(|(_, it)| it.as_ptr() == value.as_ptr()).count();
            assert_eq!(shared, if length >= LARGE { 2 } else { usize::from(length == LARGE - 1) });
            assert!(REGISTERED.with_borrow(Option::is_none));
        }
    }

    #[test]
    fn large_parts_of_a_message_are_shared_with_it_and_others_are_not() {
        for (length, is_shared) in [(LARGE - 1, false), (LARGE, true), (3 * LARGE, true), (4 * LARGE, true)] {
            let value = SharedValue::from(vec![7; length]);
            let message = Whole(77, value.into(), pieces(&SharedValue::from(vec![8; length / 4])), 5);
            let bytes = postcard::to_stdvec(&message).unwrap();
            let place = bytes.as_ptr().addr();
            decode(bytes, |bytes| {
                let Read(first, value, smaller, last): Read<'_> = postcard::from_bytes(bytes).unwrap();
                assert_eq!((first, last, smaller.len()), (77, 5, length / 4 + 11));
                assert_eq!(matches!(smaller, MaybeShared::Shared(_)), smaller.len() >= LARGE);
                assert_eq!(matches!(value, MaybeShared::Shared(_)), is_shared);
                assert!(*value == vec![7; length] && smaller[6] == 8);
                assert!([value, smaller].iter().all(|it| (place..place + bytes.len()).contains(&it.as_ptr().addr())));
            });
            assert!(DECODED.with_borrow(Option::is_none));
        }
        let other = vec![1; LARGE];
        decode(vec![2; LARGE], |_| assert!(matches!(decoded(&other), MaybeShared::Borrowed(_))));
    }
}
