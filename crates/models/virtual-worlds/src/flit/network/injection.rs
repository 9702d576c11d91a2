//! A node's injection queue, in which messages wait uncut: a packet is made only when its turn comes.
//!
//! The queue has no bound, and a message of a gigabyte is half a million packets. So the messages that enter the queue
//! at one instant are kept whole.

use std::collections::VecDeque;

use machines::model::{NodeId, PacketFormat};
use quantities::{Bytes, Time};

use super::{Injection, Uncut};

/// A packet at the front of the queue.
#[derive(Clone, Copy, Debug)]
pub struct QueuedPacket {
    /// What to carry.
    pub order: Injection,
    /// Its number among all packets of the run.
    pub number: u64,
    /// When it entered the queue.
    pub injected: Time,
}

/// A node's injection queue, first in, first out.
#[derive(Clone, Debug, Default)]
pub struct InjectionQueue(VecDeque<Waiting>);

#[derive(Clone, Debug)]
enum Waiting {
    Packet(QueuedPacket),
    Messages(Box<Messages>),
}

/// Messages whose packets have entered the queue at one instant, one packet of each in turn.
#[derive(Clone, Debug)]
struct Messages {
    source: NodeId,
    /// What is left of each message, in turn.
    left: VecDeque<Uncut>,
    /// The number of the next packet.
    number: u64,
    injected: Time,
}

impl InjectionQueue {
    /// Puts a packet at the end.
    #[inline]
    pub fn put(&mut self, packet: QueuedPacket) {
        self.0.push_back(Waiting::Packet(packet));
    }

    /// Puts the packets of `messages` at the end, one of each message in turn; the first packet has number `number`.
    pub fn put_uncut(&mut self, source: NodeId, messages: VecDeque<Uncut>, number: u64, injected: Time) {
        let messages = Messages { source, left: messages, number, injected };
        self.0.push_back(Waiting::Messages(Box::new(messages)));
    }

    /// Takes the packet at the front; `format` says how messages are cut.
    #[inline]
    pub fn take(&mut self, format: PacketFormat) -> Option<QueuedPacket> {
        if let Waiting::Messages(messages) = self.0.front_mut()? {
            let packet = messages.cut(format);
            if !messages.left.is_empty() {
                return packet;
            }
            self.0.pop_front();
            return packet;
        }
        match self.0.pop_front()? {
            Waiting::Packet(packet) => Some(packet),
            Waiting::Messages(_) => None,
        }
    }
}

impl Messages {
    /// Cuts the next packet.
    fn cut(&mut self, format: PacketFormat) -> Option<QueuedPacket> {
        let Uncut { destination, token, bytes: left } = self.left.pop_front()?;
        let bytes = left.min(format.payload);
        if bytes < left {
            self.left.push_back(Uncut { destination, token, bytes: Bytes(left.0 - bytes.0) });
        }
        let order = Injection { source: self.source, destination, bytes, flits: format.flits(bytes), token };
        let (number, injected) = (self.number, self.injected);
        self.number += 1;
        Some(QueuedPacket { order, number, injected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_one_packet_of_each_in_turn() {
        let format = PacketFormat { payload: Bytes(10), header: Bytes(1), flit: Bytes(1) };
        let mut queue = InjectionQueue::default();
        let message = |token, bytes| Uncut { destination: NodeId(1), token, bytes: Bytes(bytes) };
        let messages = VecDeque::from([message(7, 25), message(8, 10), message(9, 0)]);
        assert_eq!(messages.iter().map(|message| message.packets(format)).collect::<Vec<_>>(), [3, 1, 1]);
        queue.put_uncut(NodeId(0), messages, 100, Time::ZERO);
        let last = Injection { source: NodeId(0), destination: NodeId(2), bytes: Bytes(1), flits: 2, token: 1 };
        queue.put(QueuedPacket { order: last, number: 105, injected: Time::ZERO });
        let packets: Vec<(u64, u64, u64)> = std::iter::from_fn(|| queue.take(format))
            .map(|packet| (packet.number, packet.order.token, packet.order.bytes.0))
            .collect();
        assert_eq!(packets, [(100, 7, 10), (101, 8, 10), (102, 9, 0), (103, 7, 10), (104, 7, 5), (105, 1, 1)]);
    }
}
