//! Broadcasts over a network that loses frames, and what its log says about retransmissions.

use std::collections::BTreeMap;

use endpoint::{Endpoint, Message, Needs, Program, Result};
use quantities::{Bytes, Duration, Rank, Time};
use virtual_worlds::answer::{FrameFate, FrameRecord};

/// The rank that broadcasts.
pub const ROOT: Rank = Rank(0);
/// The sizes of the messages, in turn: one packet, two packets, pushed as a whole, pulled, longer than a window. [B]
const SIZES: [usize; 5] = [8, 256, 860, 4_096, 40_000];

/// Rank 0 broadcasts a number of messages, and every rank checks each.
pub struct CheckedBroadcasts {
    /// Their number.
    pub messages: u32,
}

/// Message `number`: no two have the same bytes, nor the same at two places.
fn message(number: u32) -> Message {
    let size = SIZES[number as usize % SIZES.len()];
    let byte = |place: usize| (place as u64 * 0x9E37_79B9 + u64::from(number) * 0x85EB_CA6B + 1).to_le_bytes()[2];
    Message::from((0..size).map(byte).collect::<Vec<u8>>())
}

impl Program for CheckedBroadcasts {
    const NEEDS: Needs = Needs::MULTICAST;
    /// How many of the messages were the expected next ones, byte by byte.
    type Output = u32;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<u32> {
        let mut right = 0;
        for number in 0..self.messages {
            let message = message(number);
            if endpoint.rank() == ROOT {
                endpoint.multicast(message).await?;
                right += 1;
            } else {
                right += u32::from(endpoint.receive_multicast(ROOT).await? == message);
            }
        }
        Ok(right)
    }
}

/// One broadcast, for which all receivers are late.
pub struct ToLate {
    pub bytes: Bytes,
    pub late: Duration,
}

impl Program for ToLate {
    const NEEDS: Needs = Needs::MULTICAST;
    /// How many messages equalled the one that was broadcast: one, if all is well.
    type Output = u32;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<u32> {
        let message = Message::of_size(self.bytes);
        if endpoint.rank() == ROOT {
            endpoint.multicast(message).await?;
            return Ok(1);
        }
        endpoint.compute(self.late).await;
        Ok(u32::from(endpoint.receive_multicast(ROOT).await? == message))
    }
}

/// How often a new packet was broadcast to all while a receiver of a retransmission had not yet reported since. A
/// report consists of `header` alone.
pub fn broadcast_while_behind(log: &[FrameRecord], header: Bytes) -> u32 {
    let mut events: Vec<(Time, RootEvent)> = log.iter().filter_map(|frame| event(frame, header)).collect();
    events.sort();
    events.dedup();
    let mut behind: BTreeMap<Rank, Time> = BTreeMap::new();
    let mut count = 0;
    for (_, event) in events {
        match event {
            RootEvent::Reported(rank, sent) => {
                if behind.get(&rank).is_some_and(|since| sent > *since) {
                    behind.remove(&rank);
                }
            }
            RootEvent::Broadcast => count += u32::from(!behind.is_empty()),
            RootEvent::SentAgain(rank, arrived) => {
                behind.insert(rank, arrived);
            }
        }
    }
    count
}

/// What the root did or learned; the order of the variants is that within one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RootEvent {
    /// A report from that receiver arrived, which was sent at that time.
    Reported(Rank, Time),
    /// A new packet was broadcast.
    Broadcast,
    /// A packet was retransmitted to that receiver, where it arrived at that time.
    SentAgain(Rank, Time),
}

fn event(frame: &FrameRecord, header: Bytes) -> Option<(Time, RootEvent)> {
    let FrameRecord { source, destination, broadcast, bytes, sent, ended, fate } = *frame;
    let has_data = bytes > header;
    match (source == ROOT, broadcast) {
        (true, true) => Some((sent, RootEvent::Broadcast)),
        (true, false) if has_data => Some((sent, RootEvent::SentAgain(destination, ended))),
        (false, false) if !has_data && fate == FrameFate::Received => Some((ended, RootEvent::Reported(source, sent))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Bytes = Bytes(12);

    fn frame(from: u32, to: u32, bytes: u64, sent: u64) -> FrameRecord {
        let at = |us| Time::ZERO + Duration::from_microseconds(us);
        FrameRecord {
            source: Rank(from),
            destination: Rank(to),
            broadcast: from == 0 && to > 10,
            bytes: Bytes(bytes),
            sent: at(sent),
            ended: at(sent + 10),
            fate: FrameFate::Received,
        }
    }

    #[test]
    fn what_is_broadcast_before_a_resend_is_answered_counts() {
        let again = frame(0, 2, 1_500, 100);
        let answer = frame(2, 0, 12, 115);
        let stale = frame(2, 0, 12, 99);
        let other = frame(3, 0, 12, 115);
        let new = |sent| frame(0, 11, 1_500, sent);
        assert_eq!(broadcast_while_behind(&[again, new(110)], HEADER), 1);
        assert_eq!(broadcast_while_behind(&[again, answer, new(130)], HEADER), 0);
        assert_eq!(broadcast_while_behind(&[again, other, stale, new(130)], HEADER), 1);
        assert_eq!(broadcast_while_behind(&[new(90), again, answer], HEADER), 0);
    }

    #[test]
    fn no_two_messages_are_alike() {
        assert_ne!(message(0), message(5));
        assert_eq!((message(0), message(9).size()), (message(0), Bytes(40_000)));
    }
}
