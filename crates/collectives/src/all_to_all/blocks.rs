//! The messages that a rank holds for others while it forwards them, all of one size.

use endpoint::{Endpoint, Error, Message, Result};
use quantities::{Bytes, Duration, Rank};

use crate::pieces::{joined, piece};

/// A set of places: those whose number has the bit `bit` set, or those that do not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// A power of two.
    pub(super) bit: u32,
    /// Whether it is set.
    pub(super) set: bool,
}

impl Places {
    fn contain(self, place: u32) -> bool {
        (place & self.bit != 0) == self.set
    }

    /// How many of the first `count` places are in the set.
    pub(super) fn among(self, count: u32) -> u32 {
        let (count, bit) = (u64::from(count), u64::from(self.bit));
        let set = (count / (2 * bit) * bit + (count % (2 * bit)).saturating_sub(bit)) as u32;
        if self.set { set } else { count as u32 - set }
    }
}

/// A place for each rank of the program, each with a message of one size.
#[derive(Debug)]
pub(super) struct Blocks {
    bytes: Bytes,
    slots: Slots,
}

#[derive(Debug)]
enum Slots {
    /// Only sizes: nobody reads the content.
    Sizes(u32),
    /// The messages themselves.
    Messages(Vec<Message>),
}

impl Blocks {
    /// `count` messages that are only a size.
    pub(super) fn of_size(bytes: Bytes, count: u32) -> Blocks {
        Blocks { bytes, slots: Slots::Sizes(count) }
    }

    /// `messages`, each of `bytes`.
    ///
    /// # Errors
    /// When one is of another size.
    pub(super) fn new(bytes: Bytes, messages: Vec<Message>) -> Result<Blocks> {
        match messages.iter().find(|message| message.size() != bytes) {
            Some(other) => Err(Error::Unfit(format!(
                "an exchange that forwards messages needs them all of one size: one is of {}, not of {bytes}",
                other.size()
            ))),
            None => Ok(Blocks { bytes, slots: Slots::Messages(messages) }),
        }
    }

    /// The messages in `places`, concatenated into one.
    pub(super) fn pack(&self, places: Places) -> Message {
        let messages = match &self.slots {
            Slots::Sizes(count) => {
                let packed = places.among(*count);
                return Message::of_size(Bytes(self.bytes.0.saturating_mul(u64::from(packed))));
            }
            Slots::Messages(messages) => messages,
        };
        let leaving = (0..).zip(messages).filter(|&(place, _)| places.contain(place));
        joined(&leaving.map(|(_, message)| message.clone()).collect::<Vec<Message>>())
    }

    /// Unpacks a received message into `places`.
    ///
    /// # Errors
    /// When its size is not that of the places together.
    pub(super) fn unpack(&mut self, packed: &Message, places: Places) -> Result<()> {
        let expected = self.pack(places).size();
        if packed.size() != expected {
            let found = packed.size();
            return Err(Error::Unfit(format!("an exchange expected {expected} in one message, and {found} came")));
        }
        let Slots::Messages(messages) = &mut self.slots else { return Ok(()) };
        let mut start = 0;
        for (_, message) in (0..).zip(messages).filter(|&(place, _)| places.contain(place)) {
            *message = piece(packed, start..start + self.bytes.0);
            start += self.bytes.0;
        }
        Ok(())
    }

    /// A step of an exchange that forwards messages: those in `leaves` go to rank `to`, and those received from rank
    /// `from` at the same time take their places. Each byte is packed and unpacked at `reshuffle`.
    ///
    /// # Errors
    /// Those of sending and receiving; as [`Blocks::unpack`].
    pub(super) async fn sendrecv<E: Endpoint>(
        &mut self,
        endpoint: &E,
        leaves: Places,
        to: Rank,
        from: Rank,
        reshuffle: Duration,
    ) -> Result<()> {
        let packed = self.pack(leaves);
        let work = copying(&packed, reshuffle);
        endpoint.compute(work).await; // to pack
        let received = endpoint.sendrecv(to, packed, from).await?;
        endpoint.compute(work).await; // to unpack
        self.unpack(&received, leaves)
    }

    /// The messages, place by place; none if they are only sizes.
    pub(super) fn into_messages(self) -> Vec<Message> {
        match self.slots {
            Slots::Sizes(_) => Vec::new(),
            Slots::Messages(messages) => messages,
        }
    }
}

/// How long it takes to pack or unpack `message`, at `reshuffle` per byte.
pub(super) fn copying(message: &Message, reshuffle: Duration) -> Duration {
    Duration::from_picoseconds(message.size().0.saturating_mul(reshuffle.picoseconds()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_as_they_are_contained() {
        for (count, bit, set) in (0..40)
            .flat_map(|count| [1, 2, 4, 32].map(|bit| (count, bit)))
            .flat_map(|(count, bit)| [(count, bit, true), (count, bit, false)])
        {
            let places = Places { bit, set };
            assert_eq!(places.among(count) as usize, (0..count).filter(|&place| places.contain(place)).count());
        }
        assert_eq!(Places { bit: 1 << 31, set: false }.among(u32::MAX), 1 << 31);
    }
}
