//! The question for a plan.

use collectives::Collective;
use collectives::schedule::Pattern;
use experiment::Error;
use experiment::site::check_largest;
use machines::model::Machine;
use quantities::Bytes;

/// The operation to do as fast as possible.
#[derive(Clone, Debug)]
pub enum Question {
    /// Ranks have messages for some others.
    Irregular(Pattern),
    /// A collective of the list, with root 0 where it has one.
    Listed {
        /// Which.
        collective: Collective,
        /// How many ranks.
        ranks: u32,
        /// Size of a block. [B]
        bytes: Bytes,
    },
}

impl Question {
    /// Its command on a command line.
    pub fn command(&self) -> &'static str {
        match self {
            Question::Irregular(_) => "all-to-all",
            Question::Listed { collective, .. } => collective.name(),
        }
    }

    /// Its name: `broadcast`.
    pub fn name(&self) -> &'static str {
        match self {
            Question::Irregular(_) => "irregular all-to-all",
            Question::Listed { collective, .. } => collective.name(),
        }
    }

    /// What ranks send each other, if the question is about a pattern.
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            Question::Irregular(pattern) => Some(pattern),
            _ => None,
        }
    }

    /// Checks that `machine` can carry its messages, as a run of them does.
    ///
    /// # Errors
    /// A message that is too long for a network.
    pub fn check_on(&self, machine: &Machine) -> Result<(), Error> {
        let parameter = if self.pattern().is_some() { "traffic" } else { "bytes" };
        check_largest(machine, parameter, self.most_bytes())
    }

    /// How many ranks take part.
    pub fn ranks(&self) -> u32 {
        match self {
            Question::Listed { ranks, .. } => *ranks,
            Question::Irregular(pattern) => pattern.ranks(),
        }
    }

    /// The size of a message, or the mean size if they differ. [B]
    pub fn bytes(&self) -> Bytes {
        match self {
            Question::Listed { bytes, .. } => *bytes,
            Question::Irregular(pattern) => {
                let all: u64 = pattern.messages().iter().map(|message| message.bytes.0).sum();
                Bytes(all.checked_div(pattern.messages().len() as u64).unwrap_or(0))
            }
        }
    }

    /// The size of the longest message that an algorithm joins from those of the question. [B]
    pub fn longest_joined(&self) -> Bytes {
        match self {
            Question::Listed { collective, ranks, bytes } => {
                Bytes(bytes.0.saturating_mul(collective.shape().most_joined(*ranks)))
            }
            Question::Irregular(_) => self.most_bytes(),
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
