//! What ranks send each other.

use quantities::Bytes;

/// A message: real bytes, or only a size, which is all that a huge simulation needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    size: Bytes,
    content: Option<bytes::Bytes>,
}

impl Message {
    /// A message of `size` bytes that nobody looks at.
    pub const fn of_size(size: Bytes) -> Message {
        Message { size, content: None }
    }
    /// Its size. [B]
    pub const fn size(&self) -> Bytes {
        self.size
    }
    /// Its bytes, if it carries any.
    pub fn content(&self) -> Option<&bytes::Bytes> {
        self.content.as_ref()
    }
}

impl<T: Into<bytes::Bytes>> From<T> for Message {
    fn from(content: T) -> Message {
        let content = content.into();
        Message { size: Bytes(content.len() as u64), content: Some(content) }
    }
}
