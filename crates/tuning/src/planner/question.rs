//! What a plan is asked.

use programs::schedule::Pattern;
use quantities::Bytes;

/// What is to be done as quickly as can be.
#[derive(Clone, Debug)]
pub enum Question {
    /// One rank has a message, and all shall have it.
    Broadcast {
        /// How many ranks.
        ranks: u32,
        /// Size of the message. [B]
        bytes: Bytes,
    },
    /// Every rank has data, and all shall have their sum or the like.
    AllReduce {
        /// How many ranks.
        ranks: u32,
        /// What a rank has. [B]
        bytes: Bytes,
    },
    /// Every rank has a message for every other.
    Complete {
        /// How many ranks.
        ranks: u32,
        /// Size of a message. [B]
        bytes: Bytes,
    },
    /// Ranks have messages for some others.
    Irregular(Pattern),
}

impl Question {
    /// What it is called on a command line.
    pub fn command(&self) -> &'static str {
        match self {
            Question::Broadcast { .. } => "broadcast",
            Question::AllReduce { .. } => "all-reduce",
            Question::Complete { .. } | Question::Irregular(_) => "all-to-all",
        }
    }

    /// What it is called: `broadcast`.
    pub fn name(&self) -> &'static str {
        match self {
            Question::Broadcast { .. } => "broadcast",
            Question::AllReduce { .. } => "all-reduce",
            Question::Complete { .. } => "complete exchange",
            Question::Irregular(_) => "irregular exchange",
        }
    }

    /// What ranks have for each other, where that is asked of.
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            Question::Irregular(pattern) => Some(pattern),
            _ => None,
        }
    }

    /// How many ranks take part.
    pub fn ranks(&self) -> u32 {
        match self {
            Question::Broadcast { ranks, .. }
            | Question::AllReduce { ranks, .. }
            | Question::Complete { ranks, .. } => *ranks,
            Question::Irregular(pattern) => pattern.ranks(),
        }
    }

    /// The size of a message, of the mean one where they differ. [B]
    pub fn bytes(&self) -> Bytes {
        match self {
            Question::Broadcast { bytes, .. }
            | Question::AllReduce { bytes, .. }
            | Question::Complete { bytes, .. } => *bytes,
            Question::Irregular(pattern) => {
                let all: u64 = pattern.messages().iter().map(|message| message.bytes.0).sum();
                Bytes(all.checked_div(pattern.messages().len() as u64).unwrap_or(0))
            }
        }
    }

    /// The size of the largest message. [B]
    pub fn most_bytes(&self) -> Bytes {
        match self {
            Question::Irregular(pattern) => {
                pattern.messages().iter().map(|message| message.bytes).max().unwrap_or_default()
            }
            _ => self.bytes(),
        }
    }
}
