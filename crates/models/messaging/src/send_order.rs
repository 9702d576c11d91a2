//! In which order packets were sent: one is lost if the receiver has another one that was sent later.
//!
//! ```text
//!   sent      1  2  3  4  2  5  6
//!   arrived   1     3           6
//!                   |           |
//!                   + 2 is lost + sent after 2 for the second time: it is lost again
//! ```
//!
//! A packet that was sent again needs no timeout to be missed once more. The network may reorder packets a little, so
//! the other one must have been sent by more than a quarter of a round trip later.
//!
//! Source: Y. Cheng, N. Cardwell, N. Dukkipati and P. Jha, The RACK-TLP Loss Detection Algorithm for TCP, RFC 8985
//! (2021), section 6.2.

use std::collections::VecDeque;

use quantities::{Duration, Time};

/// When the packets in flight were sent, from the first one on that the receiver is not known to have.
#[derive(Clone, Debug)]
pub(crate) struct SendOrder {
    sent: VecDeque<SendTimes>,
    /// When the last of the packets was sent that the receiver has, less what the network may reorder.
    latest: Time,
    /// The least round trip that was measured.
    least: Duration,
}

#[derive(Clone, Copy, Debug)]
struct SendTimes {
    first: Time,
    last: Time,
}

impl SendOrder {
    /// Nothing was sent. Until a round trip is measured, `first` stands for one.
    pub(crate) const fn new(first: Duration) -> SendOrder {
        SendOrder { sent: VecDeque::new(), latest: Time::ZERO, least: first }
    }

    /// What it takes for so many packets in flight. [B]
    pub(crate) const fn size(packets: usize) -> usize {
        size_of::<SendOrder>() + packets * size_of::<SendTimes>()
    }

    /// The packets in flight.
    pub(crate) fn packets(&self) -> usize {
        self.sent.len()
    }

    /// A round trip was measured.
    pub(crate) fn measured(&mut self, round_trip: Duration) {
        self.least = self.least.min(round_trip);
    }

    /// The next packet is sent for the first time.
    pub(crate) fn sent(&mut self, now: Time) {
        self.sent.push_back(SendTimes { first: now, last: now });
    }

    /// The packet in this place is sent again.
    pub(crate) fn sent_again(&mut self, place: usize, now: Time) {
        if let Some(sent) = self.sent.get_mut(place) {
            sent.last = now;
        }
    }

    /// The receiver has the packet in this place, and none after it. Which copy of it has arrived is unknown: it was
    /// sent no earlier than the first. The network reorders packets by a quarter of the least round trip at most.
    pub(crate) fn arrived(&mut self, place: usize) {
        let reordering = Duration::from_picoseconds(self.least.picoseconds() / 4);
        if let Some(sent) = self.sent.get(place).filter(|sent| sent.first >= Time::ZERO + reordering) {
            self.latest = self.latest.max(sent.first - reordering);
        }
    }

    /// So many packets are no longer in flight.
    pub(crate) fn pass(&mut self, count: usize) {
        self.sent.drain(..count.min(self.sent.len()));
    }

    /// Whether the receiver has a packet that was sent later than the one in this place.
    pub(crate) fn is_overtaken(&self, place: usize) -> bool {
        self.sent.get(place).is_some_and(|sent| sent.last < self.latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Duration = Duration::from_microseconds(400);

    fn at(microseconds: u64) -> Time {
        Time::ZERO + Duration::from_microseconds(microseconds)
    }

    fn overtaken(order: &SendOrder) -> Vec<usize> {
        (0..10).filter(|&place| order.is_overtaken(place)).collect()
    }

    #[test]
    fn a_packet_is_overtaken_by_one_that_was_sent_later() {
        let mut order = SendOrder::new(LEAST);
        (0..4).for_each(|number| order.sent(at(1_000 + 200 * number)));
        order.arrived(1);
        assert_eq!(overtaken(&order), [0]);
        order.arrived(3);
        assert_eq!(overtaken(&order), [0, 1, 2]);
        // Two are sent again, and then another one.
        [0, 2].into_iter().for_each(|place| order.sent_again(place, at(2_200)));
        order.sent(at(2_400));
        assert_eq!(overtaken(&order), [1]);
        order.arrived(4);
        assert_eq!(overtaken(&order), [0, 1, 2, 3]);
        order.pass(2);
        assert_eq!(overtaken(&order), [0, 1]);
    }

    #[test]
    fn packets_that_were_sent_at_nearly_the_same_time_may_overtake_each_other() {
        let mut order = SendOrder::new(LEAST);
        [0, 50, 100].into_iter().for_each(|time| order.sent(at(1_000 + time)));
        order.arrived(2);
        assert_eq!(overtaken(&order), Vec::<usize>::new());
    }

    #[test]
    fn which_copy_has_arrived_is_unknown() {
        let mut order = SendOrder::new(LEAST);
        [1_000, 1_500].into_iter().for_each(|time| order.sent(at(time)));
        [0, 1].into_iter().for_each(|place| order.sent_again(place, at(1_900 + place as u64 * 500)));
        order.arrived(1);
        assert_eq!(overtaken(&order), Vec::<usize>::new());
    }
}
