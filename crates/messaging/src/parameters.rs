//! What can be chosen.

use endpoint::{Error, Result};
use quantities::{Bytes, Duration};

use crate::packet::{LARGEST_MESSAGE, MOST_RANKS, REPORT_HEADER};
use crate::{LONGEST_HEADER, Repeat, Reporting, Timing};

/// The most packets of a stream under way: as many as the bitmap of a report has bits for in the smallest datagram, and more than
/// that only where there is no bitmap.
const LARGEST_SELECTIVE_WINDOW: u32 = ((SMALLEST_DATAGRAM - REPORT_HEADER) * 8) as u32;
const LARGEST_WINDOW: u32 = 1 << 16;
const SMALLEST_DATAGRAM: usize = 2 * LONGEST_HEADER;
/// The longest time that can be chosen: thirteen days. [ps]
const LONGEST: u64 = 1 << 60;
/// The most that UDP carries. [B]
const LARGEST_DATAGRAM: usize = 65_507;

/// Everything that can be chosen. The ranks of a session choose the same.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Which session this is. What comes from another is not looked at.
    pub session: u32,
    /// The largest datagram: 1,472 bytes of UDP fill an Ethernet frame. [B]
    pub datagram: usize,
    /// W: how many packets of a stream are under way at most.
    pub window: u32,
    /// What is sent again when a packet is lost.
    pub repeat: Repeat,
    /// How much of a message comes without being pulled.
    pub push: Push,
    /// How much of the messages of one rank waits for a receive; and of its broadcasts as much again. [B]
    pub pushed_buffer: u64,
    /// How many messages to one rank, or broadcasts, are under way before a send waits.
    pub send_queue: usize,
    /// The bounds of the retransmission time.
    pub timing: Timing,
    /// When receivers report.
    pub reporting: Reporting,
    /// After how many packets receivers of broadcasts report, if it is another number.
    pub broadcast_packets: Option<u64>,
    /// A rank is gone when nothing was heard of it for so long although it should have spoken.
    pub patience: Duration,
    /// How broadcasts are sent.
    pub manner: Manner,
    /// What becomes of a broadcast when a receiver is gone or too slow.
    pub losses: Losses,
    /// A receiver of broadcasts is too slow when it gets no further for so long, even if it is heard of.
    pub slowest: Option<Duration>,
}

/// BTP, the bytes to push: how much of a message comes without being pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Push {
    /// BTP1: what is in the first packet. [B]
    pub first: u32,
    /// BTP2: what is pushed after that. [B]
    pub second: u32,
}

/// How broadcasts are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// Packet after packet, whether receivers have room or not.
    Simple,
    /// The first bytes are pushed; one receiver pulls the rest for all.
    #[default]
    PushPull,
}

/// What becomes of a broadcast when a receiver is gone or too slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Losses {
    /// It fails, and so do all after it.
    #[default]
    Fail,
    /// It goes on without the receiver, which is told so if it still listens.
    GoOn,
}

impl Default for Parameters {
    /// The window and the bytes to push are the paper's.
    fn default() -> Parameters {
        let ms = |milliseconds: u64| Duration::from_microseconds(1_000 * milliseconds);
        Parameters {
            session: 0,
            datagram: 1_472,
            window: 16,
            repeat: Repeat::GoBackN,
            push: Push { first: 80, second: 780 },
            pushed_buffer: 12 * 1_024,
            send_queue: 64,
            timing: Timing { first: ms(10), least: ms(1), most: ms(500) },
            reporting: Reporting { packets: 4, delay: Duration::from_microseconds(500) },
            broadcast_packets: None,
            patience: ms(10_000),
            manner: Manner::PushPull,
            losses: Losses::Fail,
            slowest: None,
        }
    }
}

impl Parameters {
    /// Says whether `ranks` ranks can speak so.
    ///
    /// # Errors
    /// [`Error::Unfit`], with what is allowed.
    pub fn check(&self, ranks: u32) -> Result<()> {
        let selective = self.repeat == Repeat::Selective;
        let window = if selective { LARGEST_SELECTIVE_WINDOW } else { LARGEST_WINDOW };
        let Timing { first, least, most } = self.timing;
        let limits = [
            ("ranks", u64::from(ranks), 1, u64::from(MOST_RANKS)),
            ("bytes of a datagram", self.datagram as u64, SMALLEST_DATAGRAM as u64, LARGEST_DATAGRAM as u64),
            ("packets of a window", u64::from(self.window), 1, u64::from(window)),
            ("messages of a send queue", self.send_queue as u64, 1, u64::from(LARGEST_WINDOW)),
            ("packets to a report", self.reporting.packets, 1, u64::from(self.window)),
            ("packets of broadcasts to a report", self.broadcast_packets.unwrap_or(1), 1, u64::from(self.window)),
            ("picoseconds of the least retransmission time", least.picoseconds(), 1, most.picoseconds()),
            ("picoseconds of the first retransmission time", first.picoseconds(), 1, most.picoseconds()),
            ("picoseconds of the most retransmission time", most.picoseconds(), 1, LONGEST),
            ("picoseconds before a report", self.reporting.delay.picoseconds(), 0, LONGEST),
            ("picoseconds of patience", self.patience.picoseconds(), 1, LONGEST),
            ("picoseconds of the slowest receiver", self.slowest.map_or(1, Duration::picoseconds), 1, LONGEST),
        ];
        let wrong = limits.into_iter().find(|(_, found, least, most)| !(least..=most).contains(&found));
        wrong.map_or(Ok(()), |(what, found, least, most)| {
            Err(Error::Unfit(format!("{found} {what}: allowed are {least} to {most}")))
        })
    }

    /// Says whether a message of that size can be sent.
    ///
    /// # Errors
    /// [`Error::Unfit`], with what is allowed.
    pub fn check_size(&self, size: Bytes) -> Result<()> {
        if size.0 > LARGEST_MESSAGE {
            return Err(Error::Unfit(format!("a message of {size}: allowed are {}", Bytes(LARGEST_MESSAGE))));
        }
        Ok(())
    }

    /// BTP1, and BTP1 + BTP2, of a message of that size: how much is in its first packet, and how much is pushed. [B]
    pub(crate) fn push_of(&self, size: Bytes) -> (u64, u64) {
        let (first, second) = (u64::from(self.push.first), u64::from(self.push.second));
        (size.0.min(first), size.0.min(first + second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(parameters: Parameters, ranks: u32) -> String {
        parameters.check(ranks).map_or_else(|error| error.to_string(), |()| "fine".to_string())
    }

    #[test]
    fn what_cannot_be_is_told_with_what_can() {
        let usual = Parameters::default();
        assert_eq!(told(usual, 65_536), "fine");
        assert_eq!(told(usual, 65_537), "65537 ranks: allowed are 1 to 65536");
        assert_eq!(told(Parameters { datagram: 79, ..usual }, 2), "79 bytes of a datagram: allowed are 80 to 65507");
        assert_eq!(told(Parameters { window: 0, ..usual }, 2), "0 packets of a window: allowed are 1 to 65536");
        let selective = Parameters { window: 401, repeat: Repeat::Selective, ..usual };
        assert_eq!(told(selective, 2), "401 packets of a window: allowed are 1 to 400");
        assert_eq!(
            told(Parameters { send_queue: 0, ..usual }, 2),
            "0 messages of a send queue: allowed are 1 to 65536"
        );
        let timing = Timing { least: Duration::ZERO, ..usual.timing };
        assert!(told(Parameters { timing, ..usual }, 2).starts_with("0 picoseconds of the least retransmission time"));
        assert!(
            usual.check_size(Bytes(LARGEST_MESSAGE + 1)).is_err() && usual.check_size(Bytes(LARGEST_MESSAGE)).is_ok()
        );
    }
}
