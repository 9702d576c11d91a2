//! The parameters.

use endpoint::{Error, Result};
use quantities::{Bytes, Duration};

use crate::packet::{HELD, LARGEST_MESSAGE, MOST_RANKS, PARITY_REPORT_HEADER, REPORT_HEADER};
use crate::parity;
use crate::{Parity, Repeat, Reporting, Timing};

/// The most packets of a stream in flight, unless reports need a bitmap with a bit for each of them.
const LARGEST_WINDOW: u32 = 1 << 16;
/// The smallest datagram: a header and the same again. [B]
const SMALLEST_DATAGRAM: usize = 80;
/// In a window that holds the packets of more reports than this, no report needs to be asked for.
const REPORTS_OF_A_WINDOW: u64 = 4;
/// The longest time that can be chosen: thirteen days. [ps]
const LONGEST: u64 = 1 << 60;
/// The most that UDP carries. [B]
pub(crate) const LARGEST_DATAGRAM: usize = 65_507;

/// All parameters. The ranks of a session use the same.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// The session. Datagrams of any other are ignored.
    pub session: u32,
    /// The largest datagram: 1,472 bytes of UDP fill an Ethernet frame. [B]
    pub datagram: usize,
    /// W: how many packets of a stream are in flight at most.
    pub window: u32,
    /// What is sent again when a packet is lost.
    pub repeat: Repeat,
    /// How much of a message is sent without being pulled.
    pub push: Push,
    /// How many bytes of messages from one rank may wait for a receive; the same again for its broadcasts. [B]
    pub pushed_buffer: u64,
    /// The largest message that is accepted: nothing is stored of one that claims to be larger, whoever sends it. [B]
    pub largest: u64,
    /// How many messages to one rank with one tag, or broadcasts, may be in flight before a send waits.
    pub send_queue: usize,
    /// How many datagrams are handed over before the rank looks again at what has arrived and at the clock; a few more
    /// if all are due.
    pub batch: usize,
    /// The bounds of the retransmission time.
    pub timing: Timing,
    /// What is sent when the retransmission time has passed.
    pub probe: Probe,
    /// When receivers report.
    pub reporting: Reporting,
    /// After how many packets receivers of broadcasts report, if different.
    pub broadcast_packets: Option<u64>,
    /// A rank counts as gone when nothing has arrived from it for this long although it should have sent something.
    pub patience: Duration,
    /// How broadcasts are sent.
    pub broadcast_protocol: BroadcastProtocol,
    /// What happens to a broadcast when a receiver is gone or too slow.
    pub losses: Losses,
    /// A receiver of broadcasts is too slow when it gets no further for this long, even if it still sends something.
    pub slowest: Option<Duration>,
}

/// What a source sends when nothing has arrived for a retransmission time. The answer tells what is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Probe {
    /// The first packet that the receiver is not known to have, once more: if it is lost, this saves a round trip.
    #[default]
    WithPacket,
    /// A question without any data: if nothing is lost but time, little is wasted. With parity packets broadcasts ask
    /// with a packet all the same.
    Alone,
}

/// BTP, the bytes to push: how much of a message is sent without being pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Push {
    /// BTP1: what is in the first packet. [B]
    pub first: u32,
    /// BTP2: what is pushed after that. [B]
    pub second: u32,
}

/// How broadcasts are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BroadcastProtocol {
    /// Packet after packet, whether or not the receivers have room.
    Simple,
    /// The first bytes are pushed; one receiver pulls the rest for all.
    #[default]
    PushPull,
}

/// What happens to a broadcast when a receiver is gone or too slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Losses {
    /// It fails, and so do all after it.
    #[default]
    Fail,
    /// It continues without the receiver, which is told so if it still listens.
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
            largest: LARGEST_MESSAGE,
            send_queue: 64,
            batch: usize::MAX,
            timing: Timing { first: ms(10), least: ms(1), most: ms(500) },
            probe: Probe::WithPacket,
            reporting: Reporting { packets: 4, delay: Duration::from_microseconds(500) },
            broadcast_packets: None,
            patience: ms(10_000),
            broadcast_protocol: BroadcastProtocol::PushPull,
            losses: Losses::Fail,
            slowest: None,
        }
    }
}

impl Parameters {
    /// For large messages to many receivers at wire speed, over a lossy network.
    ///
    /// - Lost packets are repaired by parity packets: at a loss of 1% for each of seven receivers 1.7% more packets,
    ///   where sending them again would take 7% more.
    /// - W = 256: the wire stays busy while a receiver is not scheduled for 30 ms at 100 Mbit/s. What is in flight
    ///   waits mostly in the source's own queue, ahead of repairs: twice as many delay the end of a message.
    /// - Each receiver reports every 32 packets, so that seven reports may be lost or late before the window is full,
    ///   and 2 ms after the last packet; all seven together send one short packet for about every five that arrive.
    /// - Nobody is asked before 20 ms, five times as long as until a report: while reports arrive, nobody needs to be
    ///   asked.
    /// - Nothing is pulled: a broadcast waits for no acknowledgement before it continues. The next message may arrive
    ///   before it is received.
    pub fn for_bulk() -> Parameters {
        let ms = |milliseconds: u64| Duration::from_microseconds(1_000 * milliseconds);
        Parameters {
            window: 256,
            repeat: Repeat::Parity(Parity::default()),
            pushed_buffer: 16 << 20,
            timing: Timing { first: ms(20), least: ms(20), most: ms(500) },
            reporting: Reporting { packets: 32, delay: ms(2) },
            broadcast_protocol: BroadcastProtocol::Simple,
            ..Parameters::default()
        }
    }

    /// Checks whether `ranks` ranks can communicate with these parameters.
    ///
    /// # Errors
    /// [`Error::Unfit`], stating what is allowed.
    pub fn check(&self, ranks: u32) -> Result<()> {
        let packets = self.largest_window();
        let (all_blocks, least_blocks, most_blocks) = self.all_blocks();
        let Timing { first, least, most } = self.timing;
        let limits = [
            ("ranks", u64::from(ranks), 1, u64::from(MOST_RANKS)),
            ("bytes of a datagram", self.datagram as u64, SMALLEST_DATAGRAM as u64, LARGEST_DATAGRAM as u64),
            ("packets of a window", u64::from(self.window), 1, packets),
            ("packets of all blocks", all_blocks, least_blocks, most_blocks),
            ("messages of a send queue", self.send_queue as u64, 1, u64::from(LARGEST_WINDOW)),
            ("datagrams of a batch", self.batch.min(u32::MAX as usize) as u64, 1, u64::from(u32::MAX)),
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
        })?;
        match self.repeat {
            Repeat::Parity(Parity { packets, parity, .. }) if !parity::is_possible(packets, parity) => {
                Err(Error::Unfit(format!(
                    "blocks of {packets} packets and {parity} for parity: allowed are 1 to 32768 of each"
                )))
            }
            _ => Ok(()),
        }
    }

    /// The most packets of a window: as many as the bitmap of a report has bits, if it has one.
    fn largest_window(&self) -> u64 {
        match self.repeat {
            Repeat::GoBackN => LARGEST_WINDOW.into(),
            Repeat::Selective | Repeat::Parity(_) => self.bits(REPORT_HEADER).min(LARGEST_WINDOW.into()),
        }
    }

    /// How many packets all blocks of broadcasts have, and the least and the most that is allowed.
    fn all_blocks(&self) -> (u64, u64, u64) {
        match self.repeat {
            Repeat::GoBackN | Repeat::Selective => (0, 0, 0),
            Repeat::Parity(parity) => {
                let held = (usize::from(parity.blocks) + 1) * HELD;
                (parity.window().into(), 1, self.bits(PARITY_REPORT_HEADER + held))
            }
        }
    }

    /// How many bits a datagram has room for after a header of this length.
    const fn bits(&self, header: usize) -> u64 {
        self.datagram.saturating_sub(header) as u64 * 8
    }

    /// Whether the packet that fills the window asks for a report. If a window has room for the packets of many
    /// reports, these come steadily and need not be asked for.
    pub(crate) fn asks_when_full(&self) -> bool {
        u64::from(self.window) <= REPORTS_OF_A_WINDOW * self.reporting.packets
    }

    /// Checks whether a message of this size can be sent.
    ///
    /// # Errors
    /// [`Error::Unfit`], stating what is allowed.
    pub fn check_size(&self, size: Bytes) -> Result<()> {
        if size.0 > LARGEST_MESSAGE {
            return Err(Error::Unfit(format!("a message of {size}: allowed are {}", Bytes(LARGEST_MESSAGE))));
        }
        Ok(())
    }

    /// BTP1, and BTP1 + BTP2, for a message of this size: how much is in its first packet, and how much is pushed. [B]
    pub(crate) fn push_of(&self, size: Bytes) -> (u64, u64) {
        let (first, second) = (u64::from(self.push.first), u64::from(self.push.second));
        (size.0.min(first), size.0.min(first + second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(parameters: Parameters, ranks: u32) -> String {
        parameters.check(ranks).map_or_else(|error| error.to_string(), |()| "fine".to_string())
    }

    #[test]
    fn impossible_parameters_are_reported_with_what_is_allowed() {
        let usual = Parameters::default();
        assert_eq!(complaint(usual, 65_536), "fine");
        assert_eq!(complaint(usual, 65_537), "65537 ranks: allowed are 1 to 65536");
        assert_eq!(
            complaint(Parameters { datagram: 79, ..usual }, 2),
            "79 bytes of a datagram: allowed are 80 to 65507"
        );
        assert_eq!(complaint(Parameters { window: 0, ..usual }, 2), "0 packets of a window: allowed are 1 to 65536");
        let selective = Parameters { window: 11_537, repeat: Repeat::Selective, ..usual };
        assert_eq!(complaint(selective, 2), "11537 packets of a window: allowed are 1 to 11536");
        let selective = Parameters { window: 401, datagram: 80, ..selective };
        assert_eq!(complaint(selective, 2), "401 packets of a window: allowed are 1 to 400");
        assert_eq!(
            complaint(Parameters { send_queue: 0, ..usual }, 2),
            "0 messages of a send queue: allowed are 1 to 65536"
        );
        let timing = Timing { least: Duration::ZERO, ..usual.timing };
        assert!(
            complaint(Parameters { timing, ..usual }, 2).starts_with("0 picoseconds of the least retransmission time")
        );
        assert!(
            usual.check_size(Bytes(LARGEST_MESSAGE + 1)).is_err() && usual.check_size(Bytes(LARGEST_MESSAGE)).is_ok()
        );
    }
}
