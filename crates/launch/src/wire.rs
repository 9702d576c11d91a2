//! What launcher and ranks tell each other: a line of JSON each, none longer than what is allowed.

use std::io::{self, BufRead, Read, Write};
use std::net::{SocketAddr, SocketAddrV4};

use messaging::{Parity, Repeat};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest first line of a rank, of which nothing is known yet. [B]
pub const LONGEST_HELLO: u64 = 1 << 10;
/// The longest line of any other kind. [B]
pub const LONGEST: u64 = 4 << 20;

/// A rank tells who it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// What follows for this rank from the secret on its standard input, so that nobody else can say that it is this rank.
    pub token: String,
    /// Which rank it is.
    pub rank: u32,
    /// Its UDP socket.
    pub address: SocketAddr,
    /// Which machine it is on, since when that runs: ranks that say the same have the same clock.
    pub machine: String,
}

/// What all ranks have to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roster {
    /// The address of each rank.
    pub ranks: Vec<SocketAddr>,
    /// The number of the session.
    pub session: u32,
    /// Where broadcasts go, if there is multicast.
    pub group: Option<SocketAddrV4>,
    /// What the clock shows when time begins, if all ranks have the same clock. [ns]
    pub zero: Option<u64>,
    /// How often the program runs.
    pub repeat: u32,
    /// What each of them runs.
    pub experiment: Value,
    /// How messages are sent.
    pub tuning: Tuning,
}

/// How messages are sent, where that is not as usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// How many packets are under way at most.
    pub window: Option<u32>,
    /// What becomes of what is lost.
    pub repair: Option<Repair>,
    /// The most to be sent. [bit/s]
    pub rate: Option<u64>,
    /// How long a rank waits for a message. [ps]
    pub patience: Option<u64>,
    /// Whether datagrams are not sealed.
    pub trusted_network: bool,
}

/// What becomes of what is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// It is sent again, with all after it.
    GoBackN,
    /// It alone is sent again.
    Selective,
    /// Of broadcasts parity packets are sent, each of which repairs another loss at every receiver.
    Parity,
}

impl Repair {
    /// All of them.
    pub const fn all() -> [Repair; 3] {
        [Repair::GoBackN, Repair::Selective, Repair::Parity]
    }

    /// Its name, as it is written on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Repair::GoBackN => "go-back-n",
            Repair::Selective => "selective",
            Repair::Parity => "parity",
        }
    }

    /// What it means, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Repair::GoBackN => "It is sent again, with all after it",
            Repair::Selective => "It alone is sent again",
            Repair::Parity => {
                "Of broadcasts parity packets are sent, each of which repairs another loss at every receiver"
            }
        }
    }
}

impl From<Repair> for Repeat {
    fn from(repair: Repair) -> Repeat {
        match repair {
            Repair::GoBackN => Repeat::GoBackN,
            Repair::Selective => Repeat::Selective,
            Repair::Parity => Repeat::Parity(Parity::default()),
        }
    }
}

/// How a rank has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Ended {
    /// Its program has ended as often as it was to run.
    Well(Record),
    /// It can't go on.
    Badly {
        /// Why.
        problem: String,
        /// The exit status that tells it.
        status: i32,
    },
}

/// What a rank did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Which rank begins, where one does and the others wait for it.
    pub first: Option<u32>,
    /// Whether its clock is that of all other ranks.
    pub same_clock: bool,
    /// When each run of the program began and ended. [ps]
    pub times: Vec<[u64; 2]>,
    /// How often it lost its processor to another process in each run, if the system tells.
    #[serde(default)]
    pub preempted: Vec<u64>,
    /// Messages that the program sent; a broadcast is one.
    pub messages: u64,
    /// Their bytes. [B]
    pub bytes: u64,
    /// Datagrams that were sent for them.
    pub datagrams: u64,
    /// The bytes of messages in these, each of which the kernel copies once. [B]
    pub copied: u64,
    /// Packets that were sent again.
    pub repeated: u64,
    /// Packets that came although they were here already.
    pub needless: u64,
    /// Datagrams that came.
    pub received: u64,
    /// Datagrams that came from nobody that belongs to the program.
    pub strangers: u64,
    /// Datagrams that came from the address of a rank and that no rank had sent, or had come before.
    pub forged: u64,
    /// For each rank, the messages that it was to receive from this one; a broadcast is one for each.
    pub sent_to: Vec<u64>,
    /// For each rank, the messages that this one received from it.
    pub received_from: Vec<u64>,
    /// What a program of somebody's own returned in its last run.
    #[serde(default)]
    pub returned: Option<Value>,
}

/// Writes `what` as a line.
///
/// # Errors
/// What the system says.
pub fn write_line(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads a line of at most `longest` bytes; nothing at the end.
///
/// # Errors
/// That the line is too long, or something else than what it should be; what the system says.
pub fn read_line<T: DeserializeOwned>(from: &mut impl BufRead, longest: u64) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    from.take(longest).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a line that is too long or has no end"));
    }
    Ok(Some(serde_json::from_slice(&line)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Option<Hello>> {
        read_line(&mut text.as_bytes(), LONGEST_HELLO)
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let hello = Hello {
            token: "secret".to_owned(),
            rank: 3,
            address: "127.0.0.1:7".parse().unwrap(),
            machine: "here".to_owned(),
        };
        let mut line = Vec::new();
        write_line(&mut line, &hello).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert_eq!(read(&line).unwrap(), Some(hello));
        assert_eq!(read("").unwrap(), None);
        assert!(read(line.trim_end()).is_err(), "it has no end");
        assert!(read(&line.replace("rank", "rang")).is_err());
        assert!(read(&format!("{}\n", "x".repeat(2_000))).is_err(), "it is too long");
    }
}
