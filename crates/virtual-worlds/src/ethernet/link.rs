//! A wire, and the frames that wait for it.

use std::collections::VecDeque;

use machines::model::{Ethernet, Trunk};
use quantities::{Bytes, Duration, Rate, Time};

use super::network::FrameId;

/// What precedes a frame: preamble and start delimiter. [B]
const PREAMBLE: u64 = 8;
/// Destination, source and type before the payload. [B]
const HEADER: u64 = 14;
/// The same, and the check sequence after it. [B]
const HEADER_AND_CHECK: u64 = HEADER + 4;
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
    /// What the token bucket holds that stands for it, if there is one.
    bucket: Option<Bytes>,
    latency: Duration,
}

/// When a frame is where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// Its last bit is at the far end.
    pub(super) arrives: Time,
    /// The wire is free for the next.
    pub(super) free: Time,
}

impl Wire {
    pub(super) fn new(ethernet: &Ethernet) -> Wire {
        Wire { rate: ethernet.rate, bucket: ethernet.bucket, latency: ethernet.wire_latency }
    }

    /// That between two switches.
    pub(super) fn of_trunk(trunk: &Trunk) -> Wire {
        Wire { rate: trunk.rate, bucket: trunk.bucket, latency: trunk.latency }
    }

    /// How long a frame occupies the wire, or keeps its tokens from others.
    fn occupied(self, payload: Bytes) -> Duration {
        match self.bucket {
            Some(_) => self.rate.time_of(Bytes(HEADER + payload.0)),
            None => self.rate.time_of(Bytes(PREAMBLE + frame_size(payload) + GAP)),
        }
    }

    /// A frame that begins now, on a wire whose bucket would be full at `full`, which changes.
    fn carry(self, payload: Bytes, now: Time, full: &mut Time) -> Passage {
        let Some(bucket) = self.bucket else {
            let arrives = now + self.rate.time_of(Bytes(PREAMBLE + frame_size(payload))) + self.latency;
            return Passage { arrives, free: now + self.occupied(payload) };
        };
        // It passes when the tokens that are missing for it have come: so long before the bucket is full again.
        let spare = self.rate.time_of(Bytes(bucket.0.saturating_sub(HEADER + payload.0)));
        let passes = now.max(Time::ZERO + full.since(Time::ZERO + spare));
        *full = passes.max(*full) + self.occupied(payload);
        Passage { arrives: passes + self.latency, free: passes }
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
    /// When the bucket will be full again, where one stands for the wire.
    full: Time,
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

    /// The frame whose turn it is, if the wire is free, and when it is where: the wire is occupied by it from now on. `payload` tells what
    /// a frame carries.
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
        self.queued -= frame_size(payload);
        self.busy += wire.occupied(payload);
        self.occupied = true;
        Some((frame, wire.carry(payload, now, &mut self.full)))
    }

    /// The wire is free again.
    pub(super) fn free(&mut self) {
        self.occupied = false;
    }
}
