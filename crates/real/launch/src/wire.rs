//! The protocol between launcher and ranks: one line of JSON for each message, of limited length.

use std::io::{self, BufRead, Read, Write};
use std::net::{SocketAddr, SocketAddrV4};

use messaging::{Parity, Repeat};
use quantities::Duration;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The longest first line of a rank, which is unknown until then. [B]
pub const LONGEST_HELLO: u64 = 1 << 10;
/// The longest line of any other kind. [B]
pub const LONGEST: u64 = 4 << 20;

/// A rank identifies itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// Derived for this rank from the secret on its standard input, so that nobody else can claim to be this rank.
    pub token: String,
    /// Its rank.
    pub rank: u32,
    /// The address of its UDP socket.
    pub address: SocketAddr,
    /// Identifies a boot of its machine: ranks with the same value have the same clock.
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
    /// The address of broadcasts, if there is multicast.
    pub group: Option<SocketAddrV4>,
    /// The clock reading at time zero, if all ranks have the same clock. [ns]
    pub zero: Option<u64>,
    /// How many times the program runs.
    pub repeat: u32,
    /// What each rank runs.
    pub experiment: Value,
    /// How messages are sent.
    pub tuning: Tuning,
}

/// How messages are sent, where it differs from the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// The most packets in flight.
    pub window: Option<u32>,
    /// The longest datagram. [B]
    pub datagram: Option<u32>,
    /// How losses are repaired.
    pub repair: Option<Repair>,
    /// The highest rate. [bit/s]
    pub rate: Option<u64>,
    /// How long a rank waits for a message. [ps]
    pub patience: Option<u64>,
    /// Whether datagrams are not sealed.
    pub trusted_network: bool,
}

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// A lost packet is sent again, with all after it.
    GoBackN,
    /// Only the lost packet is sent again.
    Selective,
    /// For broadcasts parity packets are sent, each of which repairs a different loss at every receiver.
    Parity,
}

impl Repair {
    /// All of them.
    pub const fn all() -> [Repair; 3] {
        [Repair::GoBackN, Repair::Selective, Repair::Parity]
    }

    /// Its name on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Repair::GoBackN => "go-back-n",
            Repair::Selective => "selective",
            Repair::Parity => "parity",
        }
    }

    /// A line that explains it.
    pub const fn about(self) -> &'static str {
        match self {
            Repair::GoBackN => "Send the lost packet and all after it again",
            Repair::Selective => "Send only the lost packet again",
            Repair::Parity => {
                "For broadcasts, send parity packets, each of which can repair a different loss at every receiver"
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
pub enum RankOutcome {
    /// Its program has ended as many times as it was to run.
    Well(Record),
    /// It can't continue.
    Badly {
        /// Why.
        problem: String,
        /// The exit status for it.
        status: i32,
    },
}

/// What a rank did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The rank that begins, if one does and the others wait for it.
    pub first: Option<u32>,
    /// Whether it shares its clock with all other ranks.
    pub same_clock: bool,
    /// When each run of the program began and ended. [ps]
    pub times: Vec<[u64; 2]>,
    /// How often it was preempted in each run, if the system reports it.
    #[serde(default)]
    pub preempted: Vec<u64>,
    /// Messages that the program sent; a broadcast is one.
    pub messages: u64,
    /// Their bytes. [B]
    pub bytes: u64,
    /// Datagrams that were sent for them.
    pub datagrams: u64,
    /// The bytes of messages in them, each of which the kernel copies once. [B]
    pub copied: u64,
    /// Packets that were sent again.
    pub repeated: u64,
    /// Duplicate packets that arrived.
    pub needless: u64,
    /// Datagrams that arrived.
    pub received: u64,
    /// Datagrams that arrived from strangers.
    pub strangers: u64,
    /// Datagrams that arrived from the address of a rank and were forged or replayed.
    pub forged: u64,
    /// For each rank, the messages sent to it by this one; a broadcast counts once for each.
    pub sent_to: Vec<u64>,
    /// For each rank, the messages that this one received from it.
    pub received_from: Vec<u64>,
    /// What a user's program returned in its last run.
    #[serde(default)]
    pub returned: Option<JsonText>,
}

/// How long each run of the program took: from when the first rank began, or the one for which all others wait, until
/// the last ended. If the ranks have no common clock, how long the busiest was busy.
pub fn times(records: &[Record]) -> Vec<Duration> {
    let runs = records.iter().map(|record| record.times.len()).min().unwrap_or(0);
    let run = |number: usize| {
        let of_rank = |record: &Record| record.times.get(number).copied().unwrap_or_default();
        if records.iter().any(|record| !record.same_clock) {
            return records.iter().map(of_rank).map(|[start, end]| end.saturating_sub(start)).max();
        }
        let first = records.first().and_then(|record| records.get(record.first? as usize));
        let start =
            first.map_or_else(|| records.iter().map(|it| of_rank(it)[0]).min(), |first| Some(of_rank(first)[0]));
        let end = records.iter().map(|record| of_rank(record)[1]).max();
        end.zip(start).map(|(end, start)| end.saturating_sub(start))
    };
    (0..runs).filter_map(run).map(Duration::from_picoseconds).collect()
}

/// A value as the JSON text that its writer chose. It is passed on unread, since numbers may be larger or finer than
/// any of this language: to read them would change them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonText(Box<RawValue>);

impl JsonText {
    /// The value that `text` stands for.
    ///
    /// # Errors
    /// When it is not JSON, or not one value.
    pub fn new(text: String) -> serde_json::Result<JsonText> {
        RawValue::from_string(text).map(JsonText)
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &JsonText) -> bool {
        self.text() == other.text()
    }
}

impl Eq for JsonText {}

/// Writes `what` as a line.
///
/// # Errors
/// Errors of the system.
pub fn write_line(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads a line of at most `longest` bytes; none at the end.
///
/// # Errors
/// When the line is too long, or not what it should be; errors of the system.
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
            machine: "local".to_owned(),
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

    #[test]
    fn a_returned_value_keeps_every_digit() {
        let text = "[18446744073709551617,717897987691852588770249,0.1000000000000000055511151231257827]";
        let returned = Some(JsonText::new(text.to_owned()).unwrap());
        let outcome = RankOutcome::Well(Record { returned, ..Record::default() });
        let mut line = Vec::new();
        write_line(&mut line, &outcome).unwrap();
        let arrived: RankOutcome = read_line(&mut line.as_slice(), LONGEST).unwrap().unwrap();
        let RankOutcome::Well(record) = &arrived else { panic!("{arrived:?}") };
        assert_eq!(record.returned.as_ref().map(JsonText::text), Some(text));
        assert_eq!(arrived, outcome);
    }

    #[test]
    fn what_is_no_json_is_no_returned_value() {
        assert!(JsonText::new("[NaN]".to_owned()).is_err());
        assert!(JsonText::new("1 2".to_owned()).is_err());
    }
}
