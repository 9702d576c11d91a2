//! The messages under way.

use endpoint::Message;
use quantities::{Bytes, Rank, Time};

use super::Receive;

/// A message under way.
#[derive(Clone, Debug)]
pub struct Letter {
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// Its tag.
    pub tag: u32,
    /// Its content.
    pub message: Message,
    /// The sender's operation, and its processor.
    pub sending: (u32, u16),
    /// The receiver's operation, and its processor, once they have matched.
    pub receiving: (u32, u16),
    /// Bytes not yet in a packet. [B]
    pub unsent: Bytes,
    /// Packets that have not wholly left the source.
    pub departing: u32,
    /// Packets that the destination's communication processor has not yet dealt with.
    pub arriving: u32,
    /// When the program sent it.
    pub sent: Time,
    /// When the message, or its announcement, and those sent before it had arrived.
    pub arrived: Time,
    /// Whether it has arrived at its receiver, wholly or as an announcement.
    pub there: bool,
    /// The receive that asked for it, while its data is on the way.
    pub waiting_receive: Option<Receive>,
    /// What still refers to it: the receiver, the packets that have not left, the acknowledgement.
    pub references: u8,
}

/// All messages under way, by number; numbers are reused.
#[derive(Debug, Default)]
pub struct Letters {
    letters: Vec<Letter>,
    unused: Vec<u32>,
}

impl Letters {
    /// Adds a message; returns its number.
    pub fn add(&mut self, letter: Letter) -> u32 {
        if let Some(number) = self.unused.pop() {
            self.letters[number as usize] = letter;
            return number;
        }
        self.letters.push(letter);
        self.letters.len() as u32 - 1
    }

    /// Drops one reference; with the last, the message is gone.
    pub fn release(&mut self, number: u32) {
        let letter = &mut self.letters[number as usize];
        letter.references -= 1;
        if letter.references == 0 {
            letter.message = Message::of_size(Bytes(0));
            self.unused.push(number);
        }
    }
}

impl std::ops::Index<u32> for Letters {
    type Output = Letter;
    fn index(&self, number: u32) -> &Letter {
        &self.letters[number as usize]
    }
}

impl std::ops::IndexMut<u32> for Letters {
    fn index_mut(&mut self, number: u32) -> &mut Letter {
        &mut self.letters[number as usize]
    }
}
