//! The joined record of a run: what each rank did in which order, and which operations sent and received each message.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::iter::zip;

use quantities::{Duration, Rank, Time};

use crate::answer::{Activity, MessageRecord, Span, Timeline};

/// The operations of a run and the messages between them, by their numbers on the timeline.
#[derive(Debug)]
pub struct Trace<'run> {
    timeline: &'run Timeline,
    /// The operations of each rank, in the order in which they ended.
    of_rank: Vec<Vec<u32>>,
    /// For each operation, its place among those of its rank.
    place_of: Vec<u32>,
    /// For each operation, the message that it sent or received; of a broadcast one of them.
    message_of: Vec<Option<u32>>,
    /// For each message, the operation that sent it, and the one that received it.
    sender_of: Vec<Option<u32>>,
    receiver_of: Vec<Option<u32>>,
}

/// One end of a message, or the operation there: its rank, the other rank, a time, and the number of the message or
/// operation.
type End = (Rank, Rank, Time, u32);

impl<'run> Trace<'run> {
    /// The joined record of a run of `ranks` ranks.
    pub fn new(timeline: &'run Timeline, ranks: usize) -> Trace<'run> {
        let Timeline { spans, messages, by_processor } = timeline;
        let mut of_rank = vec![Vec::new(); ranks];
        zip(0.., spans).for_each(|(number, span)| of_rank[span.rank.0 as usize].push(number));
        // The end of a request may be recorded ahead of time.
        of_rank.iter_mut().for_each(|numbers| numbers.sort_by_key(|&number| spans[number as usize].end));
        let mut place_of = vec![0; spans.len()];
        of_rank
            .iter()
            .for_each(|numbers| zip(0.., numbers).for_each(|(place, &number)| place_of[number as usize] = place));
        // A send may start later than it was begun, when its processor turns to it.
        let not_before = |time: Time, operation: Time| if operation < time { Ordering::Less } else { Ordering::Equal };
        let starts = operations(spans, Activity::Send, |span| span.start);
        let sender_of = join(ends_of(messages, |it| (it.from, it.to, it.sent)), starts, not_before);
        let receiver_of = if *by_processor {
            let starts = operations(spans, Activity::Receive, |span| span.start);
            join(ends_of(messages, |it| (it.to, it.from, it.arrived)), starts, not_before)
        } else {
            let ends = operations(spans, Activity::Receive, |span| span.end);
            join(ends_of(messages, |it| (it.to, it.from, it.received)), ends, |time, operation| operation.cmp(&time))
        };
        let sender_of = with_broadcasts(timeline, sender_of);
        let mut message_of = vec![None; spans.len()];
        for operations in [&sender_of, &receiver_of] {
            let known = zip(0.., operations).filter_map(|(message, operation)| Some((message, (*operation)?)));
            known.for_each(|(message, operation)| message_of[operation as usize] = Some(message));
        }
        Trace { timeline, of_rank, place_of, message_of, sender_of, receiver_of }
    }

    /// An operation.
    pub fn operation(&self, number: u32) -> &'run Span {
        &self.timeline.spans[number as usize]
    }

    /// A message.
    pub fn message(&self, number: u32) -> &'run MessageRecord {
        &self.timeline.messages[number as usize]
    }

    /// The operations of a rank, in the order in which they ended.
    pub fn of_rank(&self, rank: Rank) -> &[u32] {
        &self.of_rank[rank.0 as usize]
    }

    /// The place of an operation among those of its rank.
    pub fn place_of(&self, operation: u32) -> usize {
        self.place_of[operation as usize] as usize
    }

    /// The message that an operation sent or received, if it is known.
    pub fn message_of(&self, operation: u32) -> Option<u32> {
        self.message_of[operation as usize]
    }

    /// The operation that sent a message, if it is known.
    pub fn sender_of(&self, message: u32) -> Option<u32> {
        self.sender_of[message as usize]
    }

    /// The operation that received a message, if it is known.
    pub fn receiver_of(&self, message: u32) -> Option<u32> {
        self.receiver_of[message as usize]
    }

    /// How long each rank waited for which other, receive by receive: from when it asked for a message until the
    /// message arrived; where messages are taken in on arrival, from when it had nothing else to do.
    pub fn waits(&self) -> impl Iterator<Item = (Rank, Rank, Duration)> + '_ {
        zip(0.., &self.timeline.messages).filter_map(|(number, message)| {
            let receive = self.receiver_of(number)?;
            let before = self.place_of(receive).checked_sub(1).map(|place| self.of_rank(message.to)[place]);
            let posted = match before {
                _ if !self.timeline.by_processor => self.operation(receive).start,
                Some(before) => self.operation(before).end,
                None => Time::ZERO,
            };
            Some((message.to, message.from, message.arrived.since(posted)))
        })
    }
}

/// The operations that sent messages, including those that sent to all ranks at once.
fn with_broadcasts(timeline: &Timeline, mut sender_of: Vec<Option<u32>>) -> Vec<Option<u32>> {
    let is_broadcast = |span: &Span| span.activity == Activity::Send && span.partner.is_none();
    let broadcasts = zip(0.., &timeline.spans).filter(|(_, span)| is_broadcast(span));
    let broadcasts: BTreeMap<(Rank, Time), u32> =
        broadcasts.map(|(number, span)| ((span.rank, span.start), number)).collect();
    if !broadcasts.is_empty() {
        for (sender, message) in zip(&mut sender_of, &timeline.messages) {
            *sender = sender.or_else(|| broadcasts.get(&(message.from, message.sent)).copied());
        }
    }
    sender_of
}

/// One end of every message, sorted.
fn ends_of(messages: &[MessageRecord], end: impl Fn(&MessageRecord) -> (Rank, Rank, Time)) -> Vec<End> {
    let with_number = |(number, message)| {
        let (rank, other, time) = end(message);
        (rank, other, time, number)
    };
    let mut ends: Vec<End> = zip(0.., messages).map(with_number).collect();
    ends.sort_unstable();
    ends
}

/// The operations of this activity that have a known partner, keyed by one of their times, sorted.
fn operations(spans: &[Span], activity: Activity, time: impl Fn(&Span) -> Time) -> Vec<End> {
    let does = zip(0.., spans).filter(|(_, span)| span.activity == activity);
    let mut ends: Vec<End> =
        does.filter_map(|(number, span)| Some((span.rank, span.partner?, time(span), number))).collect();
    ends.sort_unstable();
    ends
}

/// For each message, the first operation of the same ranks that fits and that no earlier message has: `fit` compares
/// the time of an operation with that of a message.
fn join(messages: Vec<End>, operations: Vec<End>, fit: impl Fn(Time, Time) -> Ordering) -> Vec<Option<u32>> {
    let mut joined = vec![None; messages.len()];
    let mut operations = operations.into_iter().peekable();
    for (rank, other, time, message) in messages {
        let compare =
            |operation: &End| (operation.0, operation.1).cmp(&(rank, other)).then_with(|| fit(time, operation.2));
        while operations.next_if(|operation| compare(operation).is_lt()).is_some() {}
        joined[message as usize] =
            operations.next_if(|operation| compare(operation).is_eq()).map(|operation| operation.3);
    }
    joined
}
