//! The record of a run, gathered while it goes on.

use quantities::{Rank, Time};

use super::mailbox::Letter;
use super::rank_clock::RankClock;
use crate::answer::{Activity, Answer, MessageRecord, Span, Timeline};

/// The events recorded so far.
#[derive(Debug)]
pub(super) struct Record {
    messages: u64,
    timeline: Option<Timeline>,
}

impl Record {
    pub(super) fn new(with_timeline: bool) -> Record {
        Record { messages: 0, timeline: with_timeline.then(Timeline::default) }
    }

    /// Counts a message.
    pub(super) fn message_sent(&mut self) {
        self.messages += 1;
    }

    /// How many messages were counted.
    pub(super) fn messages(&self) -> u64 {
        self.messages
    }

    /// Records an activity of a rank, and its partner.
    pub(super) fn span(&mut self, rank: Rank, activity: Activity, partner: Option<Rank>, [start, end]: [Time; 2]) {
        if let Some(timeline) = &mut self.timeline {
            timeline.spans.push(Span { rank, activity, partner, start, end });
        }
    }

    /// Records that `to` had a message at `received`.
    pub(super) fn message_received(&mut self, letter: &Letter, to: Rank, received: Time) {
        if let Some(timeline) = &mut self.timeline {
            let (from, sent, arrived, size) = (letter.from, letter.called, letter.arrival, letter.size());
            timeline.messages.push(MessageRecord { from, to, size, sent, arrived, received });
        }
    }

    /// The answer of a run that is over; `clocks` are those of its ranks.
    pub(super) fn into_answer<'run>(self, clocks: impl Iterator<Item = &'run RankClock> + Clone) -> Answer {
        let mut timeline = self.timeline;
        if let Some(timeline) = &mut timeline {
            // Ranks ran in an order of their own; the sorts are stable, so that the order of equal times is fixed, too.
            timeline.spans.sort_by_key(|span| (span.end, span.rank));
            timeline.messages.sort_by_key(|message| (message.received, message.to));
        }
        Answer {
            finish: clocks.clone().map(|clock| clock.now).collect(),
            messages: self.messages,
            packets: self.messages,
            ranks: clocks.map(|clock| clock.statistics).collect(),
            timeline,
            ..Answer::default()
        }
    }
}
