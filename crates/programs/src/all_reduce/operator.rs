//! What is combined with what, and how.

use endpoint::{Error, Message, Result};

/// A function of two byte strings of the same length, each a row of elements.
///
/// The contract: element by element it is **associative and commutative**, for ranks combine what they have in different
/// orders. What is not must not be given this trait; by name it can't be had (see [`Operator`](super::Operator)).
pub trait Combine {
    /// What people call it.
    fn name(&self) -> String;

    /// The size of an element, at least 1. [B]
    fn element(&self) -> u64;

    /// Makes `into` the combination of `into` and `other`. Both have the same number of whole elements.
    fn combine(&self, into: &mut [u8], other: &[u8]);
}

impl<C: Combine + ?Sized> Combine for &C {
    fn name(&self) -> String {
        (**self).name()
    }
    fn element(&self) -> u64 {
        (**self).element()
    }
    fn combine(&self, into: &mut [u8], other: &[u8]) {
        (**self).combine(into, other);
    }
}

/// Says whether a message consists of whole elements.
pub(super) fn check_elements<C: Combine>(operator: &C, message: &Message) -> Result<()> {
    let (size, element) = (message.size().0, operator.element().max(1));
    if size.is_multiple_of(element) {
        return Ok(());
    }
    let name = operator.name();
    Err(Error::Unfit(format!("{name} combines elements of {element} B: {size} B is not a whole number of them")))
}

/// The combination of two messages; only a size, unless both carry bytes.
pub(crate) fn combined<C: Combine>(operator: &C, one: &Message, other: &Message) -> Result<Message> {
    if one.size() != other.size() {
        let (one, other) = (one.size(), other.size());
        return Err(Error::Unfit(format!("{one} cannot be combined with {other}: all ranks must have as much")));
    }
    let (Some(into), Some(content)) = (one.content(), other.content()) else {
        return Ok(Message::of_size(one.size()));
    };
    let mut into = into.to_vec();
    operator.combine(&mut into, content);
    Ok(Message::from(into))
}
