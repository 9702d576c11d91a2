//! A wire, and the frames queued for it.

use std::collections::VecDeque;

use machines::model::{Ethernet, Trunk};
use quantities::{Bytes, Duration, Rate, Time};

use super::network::FrameId;

/// Preamble and start delimiter, before a frame. [B]
const PREAMBLE: u64 = 8;
/// Destination, source and type before the payload. [B]
const HEADER: u64 = 14;
/// Header, and the check sequence after the payload. [B]
const HEADER_AND_CHECK: u64 = HEADER + 4;
/// A shorter payload is padded. [B]
const SHORTEST_PAYLOAD: u64 = 46;
/// The gap between frames. [B]
const GAP: u64 = 12;

/// The size of a frame in a node or on a wire.
fn frame_size(payload: Bytes) -> u64 {
    payload.0.max(SHORTEST_PAYLOAD) + HEADER_AND_CHECK
}

/// The properties of a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    rate: Rate,
    /// The capacity of the token bucket that stands for the wire, if one does.
    bucket: Option<Bytes>,
    /// How late a frame passes that had to wait for tokens.
    bucket_delay: Duration,
    bucket_carry: Duration,
    latency: Duration,
}

/// The times of a frame on a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// Its last bit is at the far end.
    pub(super) arrives: Time,
    /// The wire is free for the next frame.
    pub(super) free: Time,
    /// Whether the frame had to wait for tokens, so that an interrupt carries it on when the wire is free.
    pub(super) interrupts: bool,
}

impl Wire {
    pub(super) fn new(ethernet: &Ethernet) -> Wire {
        let Ethernet { rate, bucket, bucket_delay, bucket_carry, wire_latency: latency, .. } = *ethernet;
        Wire { rate, bucket, bucket_delay, bucket_carry, latency }
    }

    /// The trunk between two switches of an Ethernet.
    pub(super) fn of_trunk(trunk: &Trunk, ethernet: &Ethernet) -> Wire {
        let Trunk { rate, bucket, latency, .. } = *trunk;
        let Ethernet { bucket_delay, bucket_carry, .. } = *ethernet;
        Wire { rate, bucket, bucket_delay, bucket_carry, latency }
    }

    /// The size of a frame in the queue before it. A token bucket knows no padding and no check sequence.
    pub(super) fn queued_size(self, payload: Bytes) -> u64 {
        match self.bucket {
            Some(_) => HEADER + payload.0,
            None => frame_size(payload),
        }
    }

    /// How long a frame occupies the wire, or keeps its tokens from others.
    fn occupied(self, payload: Bytes) -> Duration {
        match self.bucket {
            Some(_) => self.rate.time_of(Bytes(HEADER + payload.0)),
            None => self.rate.time_of(Bytes(PREAMBLE + frame_size(payload) + GAP)),
        }
    }

    /// When a frame passes a bucket that will be full at `full`; at once without a bucket.
    fn passes(self, payload: Bytes, now: Time, full: Time) -> Time {
        let Some(bucket) = self.bucket else { return now };
        // As soon as the tokens that it lacks have come: that long before the bucket is full again.
        let spare = self.rate.time_of(Bytes(bucket.0.saturating_sub(HEADER + payload.0)));
        let enough = Time::ZERO + full.since(Time::ZERO + spare);
        if enough <= now { now } else { enough + self.bucket_delay }
    }

    /// Carries a frame that begins now, on a wire whose bucket would be full at `full`, and updates `full`.
    fn carry(self, payload: Bytes, now: Time, full: &mut Time) -> Passage {
        if self.bucket.is_none() {
            let arrives = now + self.rate.time_of(Bytes(PREAMBLE + frame_size(payload))) + self.latency;
            return Passage { arrives, free: now + self.occupied(payload), interrupts: false };
        }
        let passes = self.passes(payload, now, *full);
        *full = passes.max(*full) + self.occupied(payload);
        let interrupts = passes > now && !self.bucket_carry.is_zero();
        let carried = if interrupts { passes + self.bucket_carry } else { passes };
        Passage { arrives: carried + self.latency, free: passes, interrupts }
    }
}

/// A wire in one direction, with the queue before it.
#[derive(Debug, Default)]
pub(super) struct QueuedWire {
    queue: VecDeque<FrameId>,
    /// The bytes in the queue. [B]
    queued: u64,
    /// The most bytes that the queue held. [B]
    pub(super) most_queued: u64,
    /// How long frames occupied the wire.
    pub(super) busy: Duration,
    occupied: bool,
    /// What the frame on the wire still takes of the queue: with a token bucket, all of it until it passes. [B]
    on_wire: u64,
    /// When the bucket will be full again, where one stands for the wire.
    full: Time,
}

impl QueuedWire {
    /// Frames that wait or are on the wire.
    pub(super) fn frames(&self) -> usize {
        self.queue.len() + usize::from(self.occupied)
    }

    /// Whether a frame would pass now: no other is before it, and no token lacks.
    pub(super) fn passes_at_once(&self, payload: Bytes, now: Time, wire: Wire) -> bool {
        self.frames() == 0 && wire.passes(payload, now, self.full) <= now
    }

    /// The bytes in the queue. [B]
    pub(super) fn queued(&self) -> u64 {
        self.queued
    }

    /// Puts a frame of `size` bytes at the end of the queue.
    pub(super) fn put(&mut self, frame: FrameId, size: u64) {
        self.queue.push_back(frame);
        self.queued += size;
        self.most_queued = self.most_queued.max(self.queued);
    }

    /// The next frame in the queue, if the wire is free, and its times: it occupies the wire from now on. `payload`
    /// returns the size of a frame's payload.
    pub(super) fn start(
        &mut self,
        now: Time,
        wire: Wire,
        payload: impl Fn(FrameId) -> Bytes,
    ) -> Option<(FrameId, Passage)> {
        if self.occupied {
            return None;
        }
        let frame = self.queue.pop_front()?;
        let payload = payload(frame);
        self.on_wire = wire.queued_size(payload);
        if wire.bucket.is_none() {
            self.leave_queue();
        }
        self.busy += wire.occupied(payload);
        self.occupied = true;
        Some((frame, wire.carry(payload, now, &mut self.full)))
    }

    /// The wire is free again.
    pub(super) fn free(&mut self) {
        self.occupied = false;
        self.leave_queue();
    }

    /// The frame on the wire is no longer in the queue.
    fn leave_queue(&mut self) {
        self.queued -= std::mem::take(&mut self.on_wire);
    }
}
