//! What takes the time of ranks.

use std::iter::zip;

use machines::model::Machine;
use quantities::{Bytes, Duration, Rank, Time};
use virtual_worlds::answer::{Activity, Timeline};
use virtual_worlds::critical_path::Trace;

/// What takes a rank's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RankActivity {
    Computing,
    Sending,
    Receiving,
    Blocked,
    Transit,
    Waiting,
}

impl RankActivity {
    pub(super) const COUNT: usize = 6;
    pub(super) const ALL: [RankActivity; RankActivity::COUNT] = [
        RankActivity::Computing,
        RankActivity::Sending,
        RankActivity::Receiving,
        RankActivity::Blocked,
        RankActivity::Transit,
        RankActivity::Waiting,
    ];

    /// Its name, which is also its class in the style sheet.
    pub(super) const fn name(self) -> &'static str {
        match self {
            RankActivity::Computing => "computing",
            RankActivity::Sending => "sending",
            RankActivity::Receiving => "receiving",
            RankActivity::Blocked => "blocked",
            RankActivity::Transit => "transit",
            RankActivity::Waiting => "waiting",
        }
    }

    /// What it is.
    pub(super) const fn meaning(self) -> &'static str {
        match self {
            RankActivity::Computing => "the rank computes",
            RankActivity::Sending => "its processor sends a message",
            RankActivity::Receiving => "it takes a message that has arrived or been announced",
            RankActivity::Blocked => "its send has done its work, and waits for the network or the receiver",
            RankActivity::Transit => "it has asked for a message that is on its way",
            RankActivity::Waiting => "it has asked for a message that has not been sent yet",
        }
    }
}

/// A stretch of a rank's time.
pub(super) struct ActivityStretch {
    pub(super) rank: Rank,
    pub(super) doing: RankActivity,
    pub(super) start: Time,
    pub(super) end: Time,
}

/// What the ranks of a run did.
#[derive(Clone, Copy)]
pub(super) struct Activities<'run> {
    pub(super) machine: &'run Machine,
    pub(super) timeline: &'run Timeline,
    pub(super) trace: &'run Trace<'run>,
    pub(super) makespan: Time,
    pub(super) ranks: usize,
}

impl<'run> Activities<'run> {
    /// Every stretch of time. A receive counts as waiting until its message is sent, then as transit until it arrives; a
    /// send as blocked once its processor has done its work for it.
    pub(super) fn stretches(self) -> impl Iterator<Item = ActivityStretch> + 'run {
        zip(0.., &self.timeline.spans).flat_map(move |(number, span)| {
            let stretch = |doing, start, end| Some(ActivityStretch { rank: span.rank, doing, start, end });
            let message = || self.trace.message_of(number).map(|message| self.trace.message(message));
            match span.activity {
                Activity::Compute => [stretch(RankActivity::Computing, span.start, span.end), None, None],
                Activity::Send => {
                    let size = message().map_or(Bytes(0), |message| message.size);
                    let [work, _] = self.machine.processor_work(size);
                    let done = (span.start + work).min(span.end);
                    let blocked = stretch(RankActivity::Blocked, done, span.end);
                    [stretch(RankActivity::Sending, span.start, done), blocked, None]
                }
                Activity::Receive => {
                    let message = message();
                    let within = |time: Time| time.clamp(span.start, span.end);
                    let sent = within(message.map_or(span.end, |message| message.sent));
                    let there = within(message.map_or(span.end, |message| message.arrived));
                    [
                        stretch(RankActivity::Waiting, span.start, sent),
                        stretch(RankActivity::Transit, sent, there),
                        stretch(RankActivity::Receiving, there, span.end),
                    ]
                }
            }
            .into_iter()
            .flatten()
            .filter(|stretch| stretch.start < stretch.end)
        })
    }

    /// How long each rank spent on each activity, in the order of [`RankActivity::ALL`].
    pub(super) fn sums(self) -> Vec<[Duration; RankActivity::COUNT]> {
        let mut sums = vec![[Duration::ZERO; RankActivity::COUNT]; self.ranks];
        for ActivityStretch { rank, doing, start, end } in self.stretches() {
            sums[rank.0 as usize][doing as usize] += end.since(start);
        }
        sums
    }
}
