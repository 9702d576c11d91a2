//! A wire, and the frames that wait for it.

use std::collections::VecDeque;

use machines::model::Ethernet;
use quantities::{Bytes, Duration, Rate, Time};

use super::network::FrameId;

/// What precedes a frame: preamble and start delimiter. [B]
const PREAMBLE: u64 = 8;
/// Destination, source and type before the payload, and the check sequence after it. [B]
const HEADER_AND_CHECK: u64 = 14 + 4;
/// A shorter payload is filled up. [B]
const SHORTEST_PAYLOAD: u64 = 46;
/// What is kept between frames. [B]
const GAP: u64 = 12;

/// How large a frame is in a queue. [B]
pub(super) fn frame_size(payload: Bytes) -> u64 {
    payload.0.max(SHORTEST_PAYLOAD) + HEADER_AND_CHECK
}

/// What wires are like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    rate: Rate,
    latency: Duration,
}

impl Wire {
    pub(super) fn new(ethernet: &Ethernet) -> Wire {
        Wire { rate: ethernet.rate, latency: ethernet.wire_latency }
    }

    /// How long a frame occupies the wire, the gap included.
    pub(super) fn occupied(self, payload: Bytes) -> Duration {
        self.rate.time_of(Bytes(PREAMBLE + frame_size(payload) + GAP))
    }

    /// From the beginning of a frame until its last bit is at the far end.
    pub(super) fn arrives(self, payload: Bytes) -> Duration {
        self.rate.time_of(Bytes(PREAMBLE + frame_size(payload))) + self.latency
    }
}

/// A wire in one direction, with the queue before it.
#[derive(Debug, Default)]
pub(super) struct Link {
    queue: VecDeque<FrameId>,
    /// What the queue holds. [B]
    queued: u64,
    /// The most that it held. [B]
    pub(super) most_queued: u64,
    /// How long frames occupied the wire.
    pub(super) busy: Duration,
    occupied: bool,
}

impl Link {
    /// Frames that wait or are on the wire.
    pub(super) fn frames(&self) -> usize {
        self.queue.len() + usize::from(self.occupied)
    }

    /// What the queue holds. [B]
    pub(super) fn queued(&self) -> u64 {
        self.queued
    }

    /// Puts a frame of so many bytes at the end of the queue.
    pub(super) fn put(&mut self, frame: FrameId, size: u64) {
        self.queue.push_back(frame);
        self.queued += size;
        self.most_queued = self.most_queued.max(self.queued);
    }

    /// The frame whose turn it is, if the wire is free: the wire is occupied by it from now on. `size` tells its bytes, and
    /// for how long.
    pub(super) fn start(&mut self, now: Time, size: impl Fn(FrameId) -> (u64, Duration)) -> Option<(FrameId, Time)> {
        if self.occupied {
            return None;
        }
        let frame = self.queue.pop_front()?;
        let (bytes, time) = size(frame);
        self.queued -= bytes;
        self.busy += time;
        self.occupied = true;
        Some((frame, now + time))
    }

    /// The wire is free again.
    pub(super) fn free(&mut self) {
        self.occupied = false;
    }
}
