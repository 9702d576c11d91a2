//! Why a run took as long as it did, in words: what bounds it, by how much, and what would help. Each sentence has the
//! numbers that it rests on, which the page also shows.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use machines::model::{ChannelEnd, ChannelId, FlitNetwork};
use quantities::{Bytes, Duration, Rank, Time};
use virtual_worlds::answer::{Activity, EthernetStatistics, MessagingStatistics};
use virtual_worlds::critical_path::{Cause, CriticalPath, Part, Step};

use super::{RunPage, percent};
use crate::terminal::{amount, rounded};

/// A channel that is busy for this share of a run has hardly room for more.
const BUSY: f64 = 0.6;
/// A part of the critical path is worth a sentence from this share of the makespan on.
const WORTH_A_SENTENCE: f64 = 0.15;
/// A rank that computes this many times as long as the mean of all is slow.
const SLOW: f64 = 1.25;

/// The sentences.
pub(super) struct Why {
    /// What bounds the run, and by how much.
    pub(super) bound: String,
    /// What else takes a share of it, and what would help.
    pub(super) more: String,
}

/// What bounds a run, and what would help.
struct Reason {
    bound: String,
    help: String,
}

impl RunPage<'_> {
    /// Why the run took as long as its critical path.
    pub(super) fn why(&self, path: &CriticalPath) -> Option<Why> {
        let mut parts = path.parts().each();
        parts.sort_by_key(|(_, length)| Reverse(*length));
        let [(largest, most), (second, next), ..] = parts;
        if most.is_zero() {
            return None;
        }
        let reason = self.reason(path, largest, most);
        let share = next.seconds() / self.makespan_seconds();
        let next = (share >= WORTH_A_SENTENCE).then(|| {
            let again = (second == Part::Contention).then(|| self.in_repeated(path)).flatten();
            let again = again
                .map(|again| format!(", {} of it between ranks whose packets were sent again", rounded(again)))
                .unwrap_or_default();
            let name = second.name();
            format!("Next on the critical path is {name}: {} ({}){again}. ", rounded(next), percent(share))
        });
        let most = percent(most.seconds() / self.makespan_seconds());
        let help = format!("What would help: {}; the most to be won by it is {most} of the makespan.", reason.help);
        Some(Why { bound: reason.bound, more: next.unwrap_or_default() + &help })
    }

    fn makespan_seconds(&self) -> f64 {
        self.answer.makespan().seconds().max(1e-12)
    }

    /// A length, and its share of the makespan.
    fn length_and_share(&self, length: Duration) -> String {
        format!("{} of {} ({})", rounded(length), self.makespan(), percent(length.seconds() / self.makespan_seconds()))
    }

    fn makespan(&self) -> String {
        rounded(self.answer.makespan().since(Time::ZERO))
    }

    /// The reason of the largest part, whose length is `most`.
    fn reason(&self, path: &CriticalPath, largest: Part, most: Duration) -> Reason {
        let messages = MessagesOfPath::of(path);
        let (count, each) = (messages.count, messages.each(most));
        let whole = self.length_and_share(most);
        match largest {
            Part::Contention => self.contention(path, most),
            Part::Bandwidth => self.bytes(path, &messages, most),
            Part::Latency => Reason {
                bound: format!(
                    "The number of steps bounds this run: {count} messages follow one another, and their latency takes \
                     {whole}, {each} each.",
                ),
                help: "an algorithm with fewer steps, or ranks placed nearer to each other".to_owned(),
            },
            Part::Overhead => Reason {
                bound: format!(
                    "What processors do for messages bounds this run: {count} messages follow one another, and to send \
                     and receive them takes {whole}, {each} each, however short they are.",
                ),
                help: "fewer messages, each with more in it".to_owned(),
            },
            Part::Computing => self.computing(most),
            Part::Waiting => Reason {
                bound: format!("Ranks that wait on purpose, or begin late, bound this run: {whole}."),
                help: "to let them begin or go on earlier".to_owned(),
            },
        }
    }

    fn bytes(&self, path: &CriticalPath, messages: &MessagesOfPath, length: Duration) -> Reason {
        let hosts = self.work_for_bytes(path);
        if hosts.picoseconds() > length.picoseconds() / 2 {
            return Reason {
                bound: format!(
                    "Hosts bound this run: the {} messages of its critical path carry {} one after another, and of the \
                     time that their bytes take, {}, processors at their ends need up to {}.",
                    messages.count,
                    amount(messages.bytes),
                    self.length_and_share(length),
                    rounded(hosts),
                ),
                help:
                    "processors that do less for each byte or frame, or an algorithm that sends less one after another"
                        .to_owned(),
            };
        }
        let most = self
            .busiest_channel()
            .map(|(name, busy)| format!(" The busiest channel, {name}, was busy {} of the run.", percent(busy)));
        Reason {
            bound: format!(
                "Bytes bound this run: the {} messages of its critical path carry {} one after another, and their bytes \
                 take {}.{}",
                messages.count,
                amount(messages.bytes),
                self.length_and_share(length),
                most.unwrap_or_default(),
            ),
            help: "an algorithm that sends less one after another, smaller data, or links of a higher rate".to_owned(),
        }
    }

    /// What processors do for the bytes of the path's messages; no more than the bytes took.
    fn work_for_bytes(&self, path: &CriticalPath) -> Duration {
        let of_empty = self.machine.processor_work(Bytes(0));
        let of_step = |step: &Step| {
            let Cause::Message { size, .. } = step.cause else { return Duration::ZERO };
            let works = self.machine.processor_work(size).into_iter().zip(of_empty);
            let added: Duration = works.map(|(work, of_empty)| work - of_empty.min(work)).sum();
            added.min(step.parts.bandwidth)
        };
        path.steps.iter().map(of_step).sum()
    }

    fn computing(&self, length: Duration) -> Reason {
        let computed = self.computed();
        let mean = computed.iter().map(|length| length.seconds()).sum::<f64>() / computed.len().max(1) as f64;
        let slowest = (0_u32..).zip(&computed).max_by_key(|(rank, length)| (**length, Reverse(*rank)));
        match slowest {
            Some((rank, most)) if most.seconds() > SLOW * mean => Reason {
                bound: format!(
                    "A slow rank bounds this run: {} {} computes for {}, where the mean of all is {}; computing takes {} \
                     on the critical path.",
                    self.numbers_of(),
                    self.name(Rank(rank)),
                    rounded(*most),
                    rounded(Duration::from_picoseconds((mean * 1e12) as u64)),
                    self.length_and_share(length),
                ),
                help: "to give that rank less to do".to_owned(),
            },
            _ => Reason {
                bound: format!("Computing bounds this run: {} on the critical path.", self.length_and_share(length)),
                help: "faster ranks, or more of them".to_owned(),
            },
        }
    }

    /// For each rank how long it computed.
    fn computed(&self) -> Vec<Duration> {
        let mut computed = vec![Duration::ZERO; self.answer.finish.len()];
        let spans = self.answer.timeline.iter().flat_map(|timeline| &timeline.spans);
        spans
            .filter(|span| span.activity == Activity::Compute)
            .for_each(|span| computed[span.rank.0 as usize] += span.end.since(span.start));
        computed
    }

    fn contention(&self, path: &CriticalPath, length: Duration) -> Reason {
        let answer = self.answer;
        if let (Some(ethernet), Some(messaging)) = (&answer.ethernet, &answer.messaging)
            && let Some(reason) = self.sent_again(path, ethernet, messaging)
        {
            return reason;
        }
        let contention = self.length_and_share(length);
        match self.busiest_channel() {
            Some((name, busy)) if busy >= BUSY => Reason {
                bound: format!(
                    "A link bounds this run: the channel {name} was busy {} of it, and messages that waited for others \
                     took {contention} of the critical path.",
                    percent(busy),
                ),
                help: "a placement or a routing that spreads messages over other links, or more links there".to_owned(),
            },
            Some((name, busy)) => Reason {
                bound: format!(
                    "Messages that met bound this run: waiting for others took {contention} of the critical path, \
                     though no channel was busy for more than {} of the run ({name}): several came at once, and had to \
                     wait for each other.",
                    percent(busy),
                ),
                help: "an order in which fewer messages meet at one link or one rank, or another placement".to_owned(),
            },
            None => Reason {
                bound: format!(
                    "Messages that met bound this run: waiting for others took {contention} of the critical path, at \
                     the processors and network interfaces of their ends."
                ),
                help: "an order in which fewer messages meet at one rank".to_owned(),
            },
        }
    }

    /// The reason, if most of the contention is in messages whose packets were sent again.
    fn sent_again(
        &self,
        path: &CriticalPath,
        ethernet: &EthernetStatistics,
        messaging: &MessagingStatistics,
    ) -> Option<Reason> {
        let again = self.in_repeated(path)?;
        if again.picoseconds() < path.parts().contention.picoseconds() / 2 {
            return None;
        }
        let packets: u64 = messaging.repeated.iter().map(|&(_, _, packets)| packets).sum();
        let dropped = ethernet.dropped;
        let lost = dropped.lost + dropped.at_switch + dropped.at_ring;
        Some(Reason {
            bound: format!(
                "Packets that were sent again bound this run: {lost} of {} frames were lost, {} timeouts ran out, \
                 {packets} packets were sent again, and between these ranks messages were late by {} of the critical \
                 path.",
                ethernet.sent,
                messaging.timeouts,
                self.length_and_share(again),
            ),
            help: "fewer losses, a shorter timeout, or sending again only what was lost ([ethernet.messaging])"
                .to_owned(),
        })
    }

    /// The contention in messages between ranks whose packets were sent again, if there is any.
    fn in_repeated(&self, path: &CriticalPath) -> Option<Duration> {
        let repeated = &self.answer.messaging.as_ref()?.repeated;
        let pairs: BTreeSet<(Rank, Rank)> = repeated.iter().map(|&(from, to, _)| (from, to)).collect();
        let is_one = |step: &&Step| match step.cause {
            Cause::Message { from, to, .. } => pairs.contains(&(from, to)) || pairs.contains(&(to, from)),
            Cause::Computing | Cause::Waiting => false,
        };
        let again: Duration = path.steps.iter().filter(is_one).map(|step| step.parts.contention).sum();
        (!again.is_zero()).then_some(again)
    }

    /// The name of the channel that was busiest, and the share of the run during which it was.
    fn busiest_channel(&self) -> Option<(String, f64)> {
        let answer = self.answer;
        let share = |busy: Duration| busy.seconds() / self.makespan_seconds();
        if let Some(network) = self.machine.network() {
            let busiest = (0_u32..).zip(&answer.channels).max_by_key(|(id, done)| (done.busy, Reverse(*id)));
            return busiest.map(|(id, done)| (channel_name(network, ChannelId(id)), share(done.busy)));
        }
        let ethernet = answer.ethernet.as_ref()?;
        let wires = (0..).zip(&ethernet.busy).flat_map(|(node, &[up, down])| {
            [(format!("from node {node} to the switch"), up), (format!("from the switch to node {node}"), down)]
        });
        let trunk = ethernet.trunk_busy.into_iter().flatten().map(|busy| ("between the switches".to_owned(), busy));
        wires.chain(trunk).max_by_key(|(_, busy)| *busy).map(|(name, busy)| (name, share(busy)))
    }
}

/// The name of a channel, as that of a host's link if it is one.
fn channel_name(network: &FlitNetwork, channel: ChannelId) -> String {
    let name = network.channel_name(channel);
    let ends = &network.channels[channel.0 as usize];
    match (ends.from, ends.to) {
        (ChannelEnd::Node(_), _) | (_, ChannelEnd::Node(_)) => format!("{name}, a host's link"),
        _ => name,
    }
}

/// The messages of a critical path.
struct MessagesOfPath {
    count: u64,
    bytes: Bytes,
}

impl MessagesOfPath {
    fn of(path: &CriticalPath) -> MessagesOfPath {
        let sizes = path.steps.iter().filter_map(|step| match step.cause {
            Cause::Message { size, .. } => Some(size.0),
            Cause::Computing | Cause::Waiting => None,
        });
        let (count, bytes) = sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
        MessagesOfPath { count, bytes: Bytes(bytes) }
    }

    /// Each one's share of a time, in words.
    fn each(&self, whole: Duration) -> String {
        rounded(Duration::from_picoseconds(whole.picoseconds() / self.count.max(1)))
    }
}
