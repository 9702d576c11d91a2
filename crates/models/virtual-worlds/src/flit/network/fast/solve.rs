//! When the flits of one packet start, on all the channels that it holds.
//!
//! With D_i(j) the start of flit j on the packet's i-th channel, tau the flit time, a = tau + wire latency, B the slots
//! and c the credit latency of a channel, the rules of the network say
//!
//! ```text
//! D_i(j) = max( D_{i-1}(j) + a_{i-1},     the flit has arrived
//!               D_i(j-1) + tau_i,         the channel is idle
//!               D_{i+1}(j - B_i) + c_i,   a slot is free
//!               G_i  for j = 0 )          the channel is granted
//! ```
//!
//! a system over (max, +) whose dependencies all lead to later flits or further channels, so that it has one solution.
//! It is solved from below: a pass upward takes what arrivals force, a pass downward what slots force, until nothing
//! changes. Each D_i is a few arithmetic progressions, so that a pass costs as many steps as there are changes of pace,
//! not flits. Where a buffer is too small for its loop of channel and credit, D_i(j) >= D_i(j - B_i) + a_i + c_i
//! follows; it is built into [`serve`], or else each pass would get only B flits further. McKinley and Trefftz (1993)
//! and Pimentel and Hertzberger (figure 4) had the case of one packet per buffer, equal rates and no latencies, where
//! two passes suffice.

use super::link::Links;
use super::runs::{Cursor, Loop, Pace, Run, same, serve};
use super::{FastChannel, Row};

/// Scratch space for the solution of one packet.
#[derive(Debug, Default)]
pub(super) struct Solution {
    /// For each channel of the packet, the computed starts.
    starts: Vec<Vec<Run>>,
    stale: Vec<bool>,
    next: Vec<Run>,
}

/// The channels of one packet over which it still has flits to send.
pub(super) struct Path<'a> {
    pub links: &'a Links,
    pub rows: &'a [Row],
    /// The first of `rows` whose starts are to be computed; those before it are done.
    pub first: usize,
    /// For each row from `first` on, how many more starts are to be computed.
    pub counts: &'a [u32],
    /// The pace of all channels, if it is the same for all and buffers cover their loops at it.
    pub uniform: Option<u64>,
}

impl Path<'_> {
    fn link(&self, row: usize) -> &FastChannel {
        &self.links[self.rows[row].link as usize]
    }

    /// The best pace of a row, given its own loop and that of the channel before it.
    fn pace(&self, row: usize) -> Pace {
        if let Some(step) = self.uniform {
            return Pace { step, loops: [None, None] };
        }
        let link = self.link(row);
        let mut pace = Pace { step: link.flit_time, loops: [None, None] };
        let before = row.checked_sub(1).map(|before| self.link(before));
        let loops = [Some(link), before].map(|link| link.and_then(FastChannel::binding_loop));
        for bound in loops.into_iter().flatten().filter(|bound| bound.slots == 1) {
            pace.step = pace.step.max(bound.latency);
        }
        for (kept, bound) in pace.loops.iter_mut().zip(loops) {
            *kept = bound.filter(|&Loop { slots, latency }| slots > 1 && latency > pace.step * u64::from(slots));
        }
        pace
    }
}

impl Solution {
    /// The starts computed for row `row` of the path solved last.
    pub fn starts(&self, row: usize, first: usize) -> &[Run] {
        &self.starts[row - first]
    }

    /// Computes the starts that `path` asks for.
    pub fn solve(&mut self, path: &Path<'_>) {
        let rows = path.counts.len();
        if self.starts.len() < rows {
            self.starts.resize_with(rows, Vec::new);
        }
        self.starts[..rows].iter_mut().for_each(Vec::clear);
        self.stale.clear();
        self.stale.resize(rows, false);
        for row in 0..rows {
            self.update(path, row);
        }
        self.stale[rows - 1] = false;
        loop {
            let mut changed = false;
            for row in (0..rows).rev() {
                changed |= self.stale[row] && self.update(path, row);
            }
            // Where all paces are equal and loops are covered, further passes force nothing that the channel's own pace
            // does not.
            if !changed || path.uniform.is_some() {
                return;
            }
            for row in 0..rows {
                if self.stale[row] {
                    self.update(path, row);
                }
            }
        }
    }

    /// Recomputes one row's starts from its neighbours'; returns whether they changed.
    fn update(&mut self, path: &Path<'_>, index: usize) -> bool {
        self.stale[index] = false;
        let count = path.counts[index];
        if count == 0 {
            return false;
        }
        let row = path.first + index;
        let link = path.link(row);
        let pace = path.pace(row);
        let current = &path.rows[row];
        let earliest = if current.sent == 0 { current.earliest } else { current.last + pace.step };
        let arrivals = match row.checked_sub(1) {
            None => Cursor::new(&[], &[], 0),
            Some(before) => {
                let before = path.link(before);
                let fresh: &[Run] = if index > 0 { &self.starts[index - 1] } else { &[] };
                Cursor::new(before.held.as_slice(), fresh, before.advance)
            }
        };
        let slots = if current.reserved || !link.counts_slots {
            Cursor::new(&[], &[], 0)
        } else {
            let freed: &[Run] = if index + 1 < path.counts.len() { &self.starts[index + 1] } else { &[] };
            Cursor::new(link.credits.as_slice(), freed, link.credit)
        };
        serve(&mut self.next, count, earliest, arrivals, slots, &pace);
        if same(&self.next, &self.starts[index]) {
            return false;
        }
        std::mem::swap(&mut self.next, &mut self.starts[index]);
        if index > 0 {
            self.stale[index - 1] = true;
        }
        if index + 1 < self.stale.len() {
            self.stale[index + 1] = true;
        }
        true
    }
}
