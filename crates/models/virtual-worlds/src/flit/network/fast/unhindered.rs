//! Packets that nothing hinders: the usual way across a channel.
//!
//! Most packets that are granted a channel cross it at once and in one run: all their flits are in the buffer before
//! it, or are known to arrive there in time, there is room for all in the buffer behind, and no packet behind waits for
//! the slots that they leave. Then what `enter` and `consider` do step by step, each step looking up the packet and its
//! two links again, is done here in one go. The times are the same, because under these conditions the steps are always
//! the same ones: the header starts as soon as the first slot is free, the packet crosses as a whole (`whole`), and no
//! other packet has to be considered: none ahead, since the free slots suffice, and none behind. Every other packet
//! takes the steps.
//!
//! What `cross_at` and `finish_row` record is spelled out here for a single run: a call of `cross_at` in its place
//! takes 10 % more instructions in a pairwise exchange of 64 B between 64 nodes of cm5-256.

use std::slice;

use machines::model::{ChannelEnd, ChannelId, Switching};
use quantities::Time;

use super::packet::{Packet, Row};
use super::runs::Run;
use super::{DELIVER, Fast, NetworkEvent, RELEASE, Schedule, UNKNOWN};

impl Fast {
    /// If nothing hinders a packet on the channel of `row`, which it is granted, lets it cross; returns whether it
    /// does. If not, nothing has changed.
    pub(super) fn cross_unhindered<S: Schedule>(&mut self, packet: u32, row: &Row, schedule: &mut S) -> bool {
        let Some(line) = self.unhindered(packet, row) else { return false };
        let Packet { order, rows, first, header_at, .. } = &mut self.packets[packet as usize];
        let (before, last, total) = (rows.last().map(|row| row.channel), line.last(), line.sum());
        rows.push(Row { sent: order.flits, last, started: true, ..*row });
        *first = rows.len();
        let link = &mut self.links[row.link as usize];
        if link.is_inner() && link.requests.is_empty() {
            link.release(last + link.flit_time, order.flits, order.bytes);
        } else {
            link.owner = packet;
            schedule.at(Time::from_picoseconds(last + link.flit_time), NetworkEvent::new(RELEASE, row.channel));
        }
        link.granted = row.granted;
        let mut given = 0;
        *header_at = UNKNOWN;
        if link.is_sink() {
            given = total + u128::from(link.advance) * u128::from(line.count);
            if link.advance > link.flit_time {
                schedule.at(Time::from_picoseconds(last + link.advance), NetworkEvent::new(DELIVER, packet));
            }
        } else {
            *header_at = line.start + link.advance;
            link.credits.take(line.count);
            link.held.extend(slice::from_ref(&line), link.advance);
            link.line.push(packet);
            if link.line.first == packet {
                self.reach_front(row.link, schedule);
            }
        }
        self.recorder.occupied(ChannelId(row.channel), total, given);
        match before {
            Some(before) => self.leave_in_one_run(before, &line, total, schedule),
            None => {
                if let ChannelEnd::Node(node) = self.links[row.link as usize].from {
                    self.sources[node.0 as usize].front_since = last;
                }
            }
        }
        true
    }

    /// All flits of the packet at the front of the buffer behind `channel` leave it at the times of `line`, which sum
    /// to `total`.
    #[inline]
    fn leave_in_one_run<S: Schedule>(&mut self, channel: u32, line: &Run, total: u128, schedule: &mut S) {
        let input = &mut self.links[channel as usize];
        input.held.take(line.count);
        input.credits.extend(slice::from_ref(line), input.credit);
        input.line.pop();
        input.front_free = line.last();
        self.recorder.occupied(ChannelId(channel), 0, total);
        self.reach_front(channel, schedule);
    }

    /// The starts of a packet on the channel of `row`, which it is granted, if nothing hinders it there.
    #[inline]
    fn unhindered(&self, packet: u32, row: &Row) -> Option<Run> {
        if self.network.switching != Switching::Wormhole || self.beyond {
            return None;
        }
        let crossing = &self.packets[packet as usize];
        let link = &self.links[row.link as usize];
        let flits = crossing.order.flits;
        if crossing.first != crossing.rows.len() || link.shared || link.has_binding_loop() {
            return None;
        }
        let mut start = row.granted;
        if link.counts_slots {
            if link.credits.count() < flits {
                return None;
            }
            start = start.max(link.credits.first()?);
        }
        let line = Run { start, step: self.pace.unwrap_or(link.flit_time), count: flits };
        if link.counts_slots && !link.credits.keep_up_with(&line) {
            return None;
        }
        if let Some(before) = crossing.rows.last() {
            let input = &self.links[before.link as usize];
            let followed = self.waits_for_slots(before.channel, packet).is_some();
            if followed || input.shared || input.has_binding_loop() || !input.held.keep_up_with(&line) {
                return None;
            }
        }
        (line.last() < Time::NEVER.picoseconds()).then_some(line)
    }
}
