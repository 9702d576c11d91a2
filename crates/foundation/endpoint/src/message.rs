//! What ranks send each other.

use quantities::Bytes;
use serde::{Deserialize, Serialize};

/// A message: real bytes, or only a size, which is all that a huge simulation needs; or real bytes at the beginning and
/// only a size for the rest.
///
/// A serialized message whose content is longer than its size is refused when read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "SerializedMessage", try_from = "SerializedMessage")]
pub struct Message {
    size: Bytes,
    content: Option<bytes::Bytes>,
}

impl Message {
    /// A message of `size` bytes whose content nobody reads.
    pub const fn of_size(size: Bytes) -> Message {
        Message { size, content: None }
    }
    /// A message that begins with `content`; nobody reads the rest, up to `size`. If `content` is longer than `size`,
    /// it is the whole message.
    pub fn beginning_with(content: impl Into<bytes::Bytes>, size: Bytes) -> Message {
        let content = content.into();
        Message { size: size.max(Bytes(content.len() as u64)), content: Some(content) }
    }
    /// Its size. [B]
    pub const fn size(&self) -> Bytes {
        self.size
    }
    /// How much of it is only a size. [B]
    pub fn unseen(&self) -> Bytes {
        let seen = self.content.as_ref().map_or(0, bytes::Bytes::len);
        Bytes(self.size.0.saturating_sub(seen as u64))
    }
    /// Its bytes, if it carries any: all of them, or its beginning.
    pub fn content(&self) -> Option<&bytes::Bytes> {
        self.content.as_ref()
    }
    /// Its bytes, if it carries all of them: only then can it be cut, joined or combined as bytes.
    pub fn whole_content(&self) -> Option<&bytes::Bytes> {
        self.content.as_ref().filter(|_| self.unseen().0 == 0)
    }
}

impl<T: Into<bytes::Bytes>> From<T> for Message {
    fn from(content: T) -> Message {
        let content = content.into();
        Message { size: Bytes(content.len() as u64), content: Some(content) }
    }
}

/// A message in serialized form.
#[derive(Serialize, Deserialize)]
struct SerializedMessage {
    size: u64,
    content: Option<bytes::Bytes>,
}

impl From<Message> for SerializedMessage {
    fn from(message: Message) -> SerializedMessage {
        SerializedMessage { size: message.size.0, content: message.content }
    }
}

impl TryFrom<SerializedMessage> for Message {
    type Error = &'static str;

    fn try_from(SerializedMessage { size, content }: SerializedMessage) -> Result<Message, &'static str> {
        if content.as_ref().is_some_and(|content| content.len() as u64 > size) {
            return Err("a message that carries more than its size");
        }
        Ok(Message { size: Bytes(size), content })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_only_begins_with_bytes_has_the_size_of_all() {
        let message = Message::beginning_with(vec![1, 2, 3], Bytes(10));
        assert_eq!((message.size(), message.unseen()), (Bytes(10), Bytes(7)));
        assert_eq!(message.content().unwrap().as_ref(), [1, 2, 3]);
        assert_eq!((message.whole_content(), Message::of_size(Bytes(0)).whole_content()), (None, None));
        assert_eq!(Message::from(vec![7]).whole_content().unwrap().as_ref(), [7]);
        assert_eq!(Message::beginning_with(vec![1, 2, 3], Bytes(2)), Message::from(vec![1, 2, 3]));
        assert_eq!(Message::of_size(Bytes(5)).unseen(), Bytes(5));
    }

    #[test]
    fn no_message_is_read_that_carries_more_than_its_size() {
        assert!(
            Message::try_from(SerializedMessage { size: 2, content: Some(bytes::Bytes::from_static(b"abc")) }).is_err()
        );
        let message = Message::beginning_with(vec![1], Bytes(4));
        assert_eq!(Message::try_from(SerializedMessage::from(message.clone())), Ok(message));
    }
}
