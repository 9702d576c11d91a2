//! Packets that cross a channel as a whole.
//!
//! Usually, when a packet is granted a channel, all of it is in the buffer before, or is known to arrive there, and
//! there is room for all of it in the buffer behind. Then all its starts on the channel follow from what is known of
//! these two buffers, and other channels do not matter: that is one row of what `solve` computes for many, so that no
//! second pass is needed. And usually the flits, once the header goes, go in the channel's own step: then the starts
//! are one run, and nothing is computed for each.

use std::slice;

use machines::model::ChannelId;
use quantities::Time;

use super::link::FastChannel;
use super::packet::Packet;
use super::runs::{Cursor, Pace, Run, Runs, serve};
use super::{Fast, NetworkEvent, RELEASE, Schedule, may_grant};

impl Fast {
    /// If all starts of a packet on its last channel are now determined, and all its other starts are known, lets it
    /// cross that channel; returns whether it does.
    #[inline]
    pub(super) fn cross_whole<S: Schedule>(&mut self, packet: u32, schedule: &mut S) -> bool {
        let crossing = &self.packets[packet as usize];
        let Some((row, behind)) = crossing.rows.split_last() else { return false };
        if crossing.first != behind.len() || !row.started || row.sent > 0 {
            return false;
        }
        let flits = crossing.order.flits;
        let link = &self.links[row.link as usize];
        let input = behind.last().map(|before| &self.links[before.link as usize]);
        let slots = (link.counts_slots && !row.reserved).then_some(&link.credits);
        let has_room = slots.is_none_or(|slots| slots.count() >= flits);
        if !has_room || link.has_binding_loop() || input.is_some_and(FastChannel::has_binding_loop) {
            return false;
        }
        let start = row.earliest.max(slots.and_then(Runs::first).unwrap_or(0));
        let line = Run { start, step: self.pace.unwrap_or(link.flit_time), count: flits };
        let comes_in_time = input.is_none_or(|input| input.held.keep_up_with(&line));
        if comes_in_time && slots.is_none_or(|slots| slots.keep_up_with(&line)) {
            self.cross_at(packet, slice::from_ref(&line), schedule);
            return true;
        }
        let mut starts = std::mem::take(&mut self.starts);
        let arrivals = Cursor::new(input.map_or(&[][..], |input| input.held.as_slice()), &[], 0);
        let slots = Cursor::new(slots.map_or(&[][..], Runs::as_slice), &[], 0);
        let pace = Pace { step: line.step, loops: [None, None] };
        serve(&mut starts, flits, row.earliest, arrivals, slots, &pace);
        self.cross_at(packet, &starts, schedule);
        self.starts = starts;
        true
    }

    /// Records that all flits of a packet start at `starts` on its last channel, out of the buffer of the one before.
    #[inline]
    fn cross_at<S: Schedule>(&mut self, packet: u32, starts: &[Run], schedule: &mut S) {
        let total: u128 = starts.iter().map(Run::sum).sum();
        let last = starts.last().map_or(0, Run::last);
        if last >= Time::NEVER.picoseconds() {
            self.beyond = true;
            return schedule.at(Time::NEVER, NetworkEvent::new(RELEASE, 0));
        }
        let Packet { order, rows, first: index, .. } = &mut self.packets[packet as usize];
        let (index, flits) = (*index, order.flits);
        let before = index.checked_sub(1).map(|before| (rows[before].channel, rows[before].link));
        let row = &mut rows[index];
        (row.sent, row.last) = (flits, last);
        let link = &mut self.links[row.link as usize];
        let channel = ChannelId(row.channel);
        if link.is_sink() {
            self.recorder.occupied(channel, total, total + u128::from(link.advance) * u128::from(flits));
        } else {
            if !row.reserved {
                link.credits.take(flits);
            }
            link.held.extend(starts, link.advance);
            self.recorder.occupied(channel, total, 0);
        }
        if let Some((channel, link)) = before {
            let follower = self.waits_for_slots(channel, packet);
            let input = &mut self.links[link as usize];
            input.held.take(flits);
            input.credits.extend(starts, input.credit);
            if input.shared {
                // Packets may be waiting for this room: when it will be there is known now.
                may_grant(&mut self.to_grant, self.network.waits_for, channel);
            }
            self.recorder.occupied(ChannelId(channel), 0, total);
            self.to_consider.extend(follower);
        }
        self.finish_row(packet, index, schedule);
    }
}
