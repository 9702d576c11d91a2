//! How messages are combined.

use endpoint::{Error, Message, Result};

/// A function of two byte strings of the same length, each a sequence of elements.
///
/// The contract: element by element it is **associative and commutative**, because ranks combine their data in
/// different orders. A function that is not must not implement this trait; [`Operator`](super::Operator) offers none by
/// name.
pub trait Combine {
    /// Its name for people.
    fn name(&self) -> String;

    /// The size of an element, at least 1. [B]
    fn element(&self) -> u64;

    /// The name of an operator like it whose elements fill messages of `size`; none, if there is none. [B]
    fn fitting(&self, _size: u64) -> Option<String> {
        None
    }

    /// Replaces `into` by the combination of `into` and `other`. Both have the same number of whole elements.
    fn combine(&self, into: &mut [u8], other: &[u8]);
}

impl<C: Combine + ?Sized> Combine for &C {
    fn name(&self) -> String {
        (**self).name()
    }
    fn element(&self) -> u64 {
        (**self).element()
    }
    fn fitting(&self, size: u64) -> Option<String> {
        (**self).fitting(size)
    }
    fn combine(&self, into: &mut [u8], other: &[u8]) {
        (**self).combine(into, other);
    }
}

/// Checks that a message consists of whole elements.
pub(crate) fn check_elements<C: Combine>(operator: &C, message: &Message) -> Result<()> {
    let (size, element) = (message.size().0, operator.element().max(1));
    if size.is_multiple_of(element) {
        return Ok(());
    }
    let name = operator.name();
    let fitting = operator.fitting(size).map(|other| format!("; {other} takes {size} B")).unwrap_or_default();
    let problem = format!("{name} combines elements of {element} B: {size} B is not a whole number of them{fitting}");
    Err(Error::Unfit(problem))
}

/// The combination of two messages; only a size, unless both carry all their bytes.
pub(crate) fn combined<C: Combine>(operator: &C, one: &Message, other: &Message) -> Result<Message> {
    if one.size() != other.size() {
        let (one, other) = (one.size(), other.size());
        return Err(Error::Unfit(format!(
            "{one} cannot be combined with {other}: all ranks must contribute the same amount"
        )));
    }
    let (Some(into), Some(content)) = (one.whole_content(), other.whole_content()) else {
        return Ok(Message::of_size(one.size()));
    };
    let mut into = into.to_vec();
    operator.combine(&mut into, content);
    Ok(Message::from(into))
}
