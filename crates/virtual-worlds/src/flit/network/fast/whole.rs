//! Packets that cross a channel as a whole.
//!
//! Usually, when a packet is granted a channel, all of it is in the buffer before, or is known to arrive there, and there is room for all
//! of it in the buffer behind. Then all its starts on the channel follow from what is known of these two buffers, and other channels do
//! not matter: that is one row of what `solve` computes for many, so that no second pass is needed. And usually the flits, once the
//! header goes, go in the channel's own step: then the starts are one run, and nothing is computed for each.

use std::slice;

use machines::model::ChannelId;
use quantities::Time;

use super::packet::Row;
use super::runs::{Cursor, Pace, Run, Runs, serve};
use super::{Fast, NetworkEvent, RELEASE, Schedule, may_grant};

impl Fast {
    /// Whether all starts of a packet on its last channel are now determined, and all its other starts are known.
    pub(super) fn is_whole(&self, packet: u32) -> bool {
        let packet = &self.packets[packet as usize];
        let Some((row, behind)) = packet.rows.split_last() else { return false };
        if packet.first != behind.len() || !row.started || row.sent > 0 {
            return false;
        }
        let link = &self.links[row.link as usize];
        let before = behind.last().map(|row| &self.links[row.link as usize]);
        let has_room = row.reserved || !link.counts_slots || link.credits.count() >= packet.order.flits;
        has_room && link.binding_loop.is_none() && before.is_none_or(|before| before.binding_loop.is_none())
    }

    /// Lets a packet for which [`Fast::is_whole`] holds cross its last channel.
    pub(super) fn cross_whole<S: Schedule>(&mut self, packet: u32, schedule: &mut S) {
        let crossing = &self.packets[packet as usize];
        let Some((&row, behind)) = crossing.rows.split_last() else { return };
        let (flits, before) = (crossing.order.flits, behind.last().copied());
        let link = &self.links[row.link as usize];
        let input = before.map(|before| &self.links[before.link as usize]);
        let slots = (link.counts_slots && !row.reserved).then_some(&link.credits);
        let start = row.earliest.max(slots.and_then(|slots| slots.first()).unwrap_or(0));
        let line = Run { start, step: self.pace.unwrap_or(link.flit_time), count: flits };
        let comes_in_time = input.is_none_or(|input| input.held.keep_up_with(&line));
        if comes_in_time && slots.is_none_or(|slots| slots.keep_up_with(&line)) {
            return self.cross_at(packet, row, before, slice::from_ref(&line), schedule);
        }
        let mut starts = std::mem::take(&mut self.starts);
        let arrivals = Cursor::new(input.map_or(&[][..], |input| input.held.as_slice()), &[], 0);
        let slots = Cursor::new(slots.map_or(&[][..], Runs::as_slice), &[], 0);
        let pace = Pace { step: line.step, loops: [None, None] };
        serve(&mut starts, flits, row.earliest, arrivals, slots, &pace);
        self.cross_at(packet, row, before, &starts, schedule);
        self.starts = starts;
    }

    /// Records that the flits of a packet start at `starts` on its last channel, that of `row`, out of the buffer of the row `before`.
    fn cross_at<S: Schedule>(&mut self, packet: u32, row: Row, before: Option<Row>, starts: &[Run], schedule: &mut S) {
        let total: u128 = starts.iter().map(Run::sum).sum();
        let sent = starts.iter().map(|run| run.count).sum();
        let row = Row { sent, last: starts.last().map_or(row.last, Run::last), ..row };
        if row.last > Time::HORIZON.picoseconds() {
            self.beyond = true;
            return schedule.at(Time::NEVER, NetworkEvent::new(RELEASE, 0));
        }
        let link = &mut self.links[row.link as usize];
        let channel = ChannelId(row.channel);
        if link.is_sink() {
            self.recorder.occupied(channel, total, total + u128::from(link.advance) * u128::from(sent));
        } else {
            if !row.reserved {
                link.credits.take(sent);
            }
            link.held.extend(starts, link.advance);
            self.recorder.occupied(channel, total, 0);
        }
        let follower = before.and_then(|before| self.waits_for_slots(before.channel, packet));
        if let Some(before) = before {
            let input = &mut self.links[before.link as usize];
            input.held.take(sent);
            input.credits.extend(starts, input.credit);
            if input.shared {
                // Packets may be waiting for this room: when it will be there is known now.
                may_grant(&mut self.to_grant, self.network.waits_for, before.channel);
            }
            self.recorder.occupied(ChannelId(before.channel), 0, total);
        }
        let crossing = &mut self.packets[packet as usize];
        let index = crossing.rows.len() - 1;
        crossing.rows[index] = row;
        self.finish_row(packet, index, row, schedule);
        self.to_consider.extend(follower);
    }
}
