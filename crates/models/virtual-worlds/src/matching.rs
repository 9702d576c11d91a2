//! Matching of messages and receives at one rank.
//!
//! A message matches the earliest posted receive that it fits; a receive takes the earliest message that fits it. Most
//! matches are among the first few of a queue, which are searched in order: that is quick, takes little room, and reads
//! memory from one end to the other. When none of the first few of a longer queue matches, the queue is indexed by
//! source and tag until it is empty again, so that neither a long queue of unexpected messages nor many posted receives
//! make matching slow.

use std::collections::{BTreeMap, VecDeque};

use endpoint::{Source, Tag, Tags};
use quantities::Rank;

use crate::chains::Chains;

/// Stands for any source or any tag. No rank and no tag has this number.
pub const ANY: u32 = u32::MAX;

/// Stands for any tag of a collective, in place of a tag: no tag has this number.
const ANY_OF_COLLECTIVES: u32 = u32::MAX - 1;

/// What a receive asks for, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchPattern {
    /// The source's rank, or [`ANY`].
    pub from: u32,
    /// The message's tag, [`ANY`], or what stands for any of a collective.
    pub tag: u32,
}

/// Whether a receive with this tag or what stands for several may take a message with `tag`.
fn may_take(asked: u32, tag: u32) -> bool {
    match asked {
        ANY => Tags::Any.include(Tag(tag)),
        ANY_OF_COLLECTIVES => Tags::OfCollectives.include(Tag(tag)),
        _ => asked == tag,
    }
}

/// The number that stands for the tags of a receive.
pub fn number_of_tags(tags: Tags) -> u32 {
    match tags {
        Tags::Only(Tag(tag)) => tag,
        Tags::Any => ANY,
        Tags::OfCollectives => ANY_OF_COLLECTIVES,
    }
}

impl MatchPattern {
    /// What a receive of a program asks for.
    pub fn new(from: Source, tags: Tags) -> MatchPattern {
        let from = if let Source::Rank(Rank(from)) = from { from } else { ANY };
        MatchPattern { from, tag: number_of_tags(tags) }
    }

    #[inline]
    fn fits(self, from: u32, tag: u32) -> bool {
        (self.from == ANY || self.from == from) && (self.tag == tag || may_take(self.tag, tag))
    }

    fn is_open(self) -> bool {
        self.from == ANY || self.tag >= ANY_OF_COLLECTIVES
    }
}

/// How many items at the front of a queue are searched one by one.
const FEW: usize = 16;

/// The unmatched messages and receives of a rank.
#[derive(Clone, Debug)]
pub struct Matching<Receive> {
    /// In the order of posting; empty while they are indexed.
    receives: VecDeque<(MatchPattern, Receive)>,
    /// Source, tag and number, in the order of arrival; empty while they are indexed.
    messages: VecDeque<(u32, u32, u32)>,
    many_receives: Option<Box<ManyReceives<Receive>>>,
    many_messages: Option<Box<ManyMessages>>,
    probes: Option<Box<Probes<Receive>>>,
}

/// Those that wait for a message that no receive takes, in the order of posting. Most ranks have none at any time.
#[derive(Clone, Debug)]
struct Probes<Receive> {
    posted: Vec<(MatchPattern, Receive)>,
}

impl<Receive: Copy> Default for Matching<Receive> {
    fn default() -> Matching<Receive> {
        Matching {
            receives: VecDeque::new(),
            messages: VecDeque::new(),
            many_receives: None,
            many_messages: None,
            probes: None,
        }
    }
}

impl<Receive: Copy> Matching<Receive> {
    /// The posted receive that a message from `from` with `tag` matches, if there is one.
    #[inline]
    pub fn match_receive(&mut self, from: u32, tag: u32) -> Option<Receive> {
        if self.many_receives.is_none() {
            if let Some(place) = self.receives.iter().take(FEW).position(|(pattern, _)| pattern.fits(from, tag)) {
                return self.receives.remove(place).map(|(_, receive)| receive);
            }
            if self.receives.len() <= FEW {
                return None;
            }
        }
        self.match_one_of_many(from, tag)
    }

    fn match_one_of_many(&mut self, from: u32, tag: u32) -> Option<Receive> {
        let many = self.many_receives.get_or_insert_default();
        for (pattern, receive) in std::mem::take(&mut self.receives) {
            many.post(pattern, receive);
        }
        let met = many.match_receive(from, tag);
        if many.by_pattern.is_empty() {
            self.many_receives = None;
        }
        met
    }

    /// Keeps a message that matched no receive.
    pub fn keep(&mut self, from: u32, tag: u32, message: u32) {
        match &mut self.many_messages {
            Some(many) => many.keep(from, tag, message),
            None => push(&mut self.messages, (from, tag, message)),
        }
    }

    /// The earliest message that fits.
    #[inline]
    pub fn find(&mut self, pattern: MatchPattern) -> Option<u32> {
        if self.many_messages.is_none() {
            let fits = |&(from, tag, _): &(u32, u32, u32)| pattern.fits(from, tag);
            if let Some(place) = self.messages.iter().take(FEW).position(fits) {
                return self.messages.remove(place).map(|(.., message)| message);
            }
            if self.messages.len() <= FEW {
                return None;
            }
        }
        self.find_one_of_many(pattern)
    }

    fn find_one_of_many(&mut self, pattern: MatchPattern) -> Option<u32> {
        let many = self.index_messages();
        let found = many.find(pattern);
        if many.by_both.is_empty() {
            self.many_messages = None;
        }
        found
    }

    /// The messages, indexed.
    fn index_messages(&mut self) -> &mut ManyMessages {
        let many = self.many_messages.get_or_insert_default();
        for (from, tag, message) in std::mem::take(&mut self.messages) {
            many.keep(from, tag, message);
        }
        many
    }

    /// The earliest message that fits, which stays here.
    pub fn probe(&mut self, pattern: MatchPattern) -> Option<u32> {
        if self.many_messages.is_none() {
            let fits = |&&(from, tag, _): &&(u32, u32, u32)| pattern.fits(from, tag);
            if let Some(&(.., message)) = self.messages.iter().take(FEW).find(fits) {
                return Some(message);
            }
            if self.messages.len() <= FEW {
                return None;
            }
        }
        self.index_messages().probe(pattern)
    }

    /// Posts a receive that found no message.
    pub fn post(&mut self, pattern: MatchPattern, receive: Receive) {
        match &mut self.many_receives {
            Some(many) => many.post(pattern, receive),
            None => push(&mut self.receives, (pattern, receive)),
        }
    }

    /// Posts a probe that found no message.
    pub fn post_probe(&mut self, pattern: MatchPattern, probe: Receive) {
        let probes = self.probes.get_or_insert_with(|| Box::new(Probes { posted: Vec::new() }));
        probes.posted.push((pattern, probe));
    }

    /// The probes that find a message that was just kept.
    #[inline]
    pub fn probes_of(&mut self, from: u32, tag: u32) -> Vec<Receive> {
        let Some(probes) = &mut self.probes else { return Vec::new() };
        let found = probes.posted.extract_if(.., |(pattern, _)| pattern.fits(from, tag));
        let found = found.map(|(_, probe)| probe).collect();
        if probes.posted.is_empty() {
            self.probes = None;
        }
        found
    }

    /// Withdraws the first receive or probe for which `over` holds.
    pub fn withdraw(&mut self, over: impl Fn(&Receive) -> bool) -> Option<Receive> {
        self.withdraw_receive(&over).or_else(|| {
            let probes = &mut self.probes.as_mut()?.posted;
            let place = probes.iter().position(|(_, probe)| over(probe))?;
            Some(probes.remove(place).1)
        })
    }

    fn withdraw_receive(&mut self, over: impl Fn(&Receive) -> bool) -> Option<Receive> {
        if let Some(many) = &mut self.many_receives {
            return many.withdraw(over);
        }
        let place = self.receives.iter().position(|(_, receive)| over(receive))?;
        self.receives.remove(place).map(|(_, receive)| receive)
    }

    /// The receives that have matched no message, and the probes that have found none.
    pub fn posted(&self) -> impl Iterator<Item = &Receive> {
        let many = self.many_receives.iter().flat_map(|many| many.by_pattern.items());
        let probes = self.probes.iter().flat_map(|probes| &probes.posted).map(|(_, probe)| probe);
        self.receives.iter().map(|(_, receive)| receive).chain(many).chain(probes)
    }

    /// The messages that have matched no receive, by source and tag: their source, tag and number.
    pub fn kept(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let many = self.many_messages.iter().flat_map(|many| many.by_both.in_order());
        let few = self.messages.iter().copied();
        let mut all: Vec<(u32, u32, u32)> =
            few.chain(many.map(|((from, tag), &message)| (from, tag, message))).collect();
        all.sort_by_key(|&(from, tag, _)| (from, tag));
        all.into_iter()
    }
}

/// Appends to a queue. Most queues stay very short, so one that was empty gets room for one.
fn push<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.capacity() == 0 {
        queue.reserve_exact(1);
    }
    queue.push_back(item);
}

/// Receives, indexed by what they ask for.
#[derive(Clone, Debug)]
struct ManyReceives<Receive> {
    /// By source and tag.
    by_pattern: Chains<Receive>,
    /// How many leave source or tag open.
    open: usize,
}

impl<Receive: Copy> Default for ManyReceives<Receive> {
    fn default() -> ManyReceives<Receive> {
        ManyReceives { by_pattern: Chains::default(), open: 0 }
    }
}

impl<Receive: Copy> ManyReceives<Receive> {
    fn post(&mut self, pattern: MatchPattern, receive: Receive) {
        self.open += usize::from(pattern.is_open());
        self.by_pattern.push((pattern.from, pattern.tag), receive);
    }

    fn match_receive(&mut self, from: u32, tag: u32) -> Option<Receive> {
        if self.open == 0 {
            return self.by_pattern.pop((from, tag));
        }
        let any = ANY_OF_COLLECTIVES;
        let fitting = [(from, tag), (from, ANY), (from, any), (ANY, tag), (ANY, ANY), (ANY, any)];
        let first = |&key: &(u32, u32)| self.by_pattern.first(key).map(|order| (order, key));
        let fits = |&&(_, asked): &&(u32, u32)| may_take(asked, tag);
        let (_, (from, tag)) = fitting.iter().filter(fits).filter_map(first).min()?;
        self.open -= usize::from(MatchPattern { from, tag }.is_open());
        self.by_pattern.pop((from, tag))
    }

    fn withdraw(&mut self, over: impl Fn(&Receive) -> bool) -> Option<Receive> {
        let ((from, tag), receive) = self.by_pattern.take_first(over)?;
        self.open -= usize::from(MatchPattern { from, tag }.is_open());
        Some(receive)
    }
}

/// Messages indexed by source and tag and, once a receive has left source or tag open, also by the other one and by
/// order alone. The first message that fits is always the first of its source and tag.
#[derive(Clone, Debug, Default)]
struct ManyMessages {
    by_both: Chains<u32>,
    /// By source and order; by tag and order; by order. The values complete source and tag.
    by_source: Option<BTreeMap<(u32, u64), u32>>,
    by_tag: Option<BTreeMap<(u32, u64), u32>>,
    by_order: Option<BTreeMap<u64, (u32, u32)>>,
}

impl ManyMessages {
    fn keep(&mut self, from: u32, tag: u32, message: u32) {
        let order = self.by_both.push((from, tag), message);
        if let Some(index) = &mut self.by_source {
            index.insert((from, order), tag);
        }
        if let Some(index) = &mut self.by_tag {
            index.insert((tag, order), from);
        }
        if let Some(index) = &mut self.by_order {
            index.insert(order, (from, tag));
        }
    }

    fn find(&mut self, pattern: MatchPattern) -> Option<u32> {
        let key = self.first_of(pattern)?;
        self.take(key)
    }

    fn probe(&mut self, pattern: MatchPattern) -> Option<u32> {
        let key = self.first_of(pattern)?;
        self.by_both.first_item(key).copied()
    }

    /// Source and tag of the first message that may fit.
    fn first_of(&mut self, pattern: MatchPattern) -> Option<(u32, u32)> {
        let all = || self.by_both.orders();
        Some(match pattern {
            MatchPattern { from: ANY, tag: asked @ ANY_OF_COLLECTIVES.. } => {
                let index = self.by_order.get_or_insert_with(|| all().collect());
                index.values().copied().find(|&(_, tag)| may_take(asked, tag))?
            }
            MatchPattern { from: ANY, tag } => {
                let index =
                    self.by_tag.get_or_insert_with(|| all().map(|(order, (from, tag))| ((tag, order), from)).collect());
                index.range((tag, 0)..=(tag, u64::MAX)).next().map(|(_, &from)| (from, tag))?
            }
            MatchPattern { from, tag: asked @ ANY_OF_COLLECTIVES.. } => {
                let index = self
                    .by_source
                    .get_or_insert_with(|| all().map(|(order, (from, tag))| ((from, order), tag)).collect());
                let of_source = index.range((from, 0)..=(from, u64::MAX));
                of_source.map(|(_, &tag)| (from, tag)).find(|&(_, tag)| may_take(asked, tag))?
            }
            MatchPattern { from, tag } => (from, tag),
        })
    }

    fn take(&mut self, (from, tag): (u32, u32)) -> Option<u32> {
        let order = self.by_both.first((from, tag))?;
        if let Some(index) = &mut self.by_source {
            index.remove(&(from, order));
        }
        if let Some(index) = &mut self.by_tag {
            index.remove(&(tag, order));
        }
        if let Some(index) = &mut self.by_order {
            index.remove(&order);
        }
        self.by_both.pop((from, tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Matches what a search through two plain queues matches. Tag 2 stands for the tag of collectives, which no
        /// receive of any tag takes; 4 and 5 for those of two collectives.
        #[test]
        fn matches_what_two_queues_match(steps in prop::collection::vec((any::<bool>(), 0u32..4, 0u32..6), 0..200)) {
            let mut matching = Matching::default();
            let mut receives: Vec<(MatchPattern, u32)> = Vec::new();
            let mut messages = Vec::new();
            for (number, (sends, from, tag)) in (0u32..).zip(steps) {
                let tag = match tag {
                    2 => Tag::OF_COLLECTIVES.0,
                    4 | 5 => Tag::of_collective(tag as u16).0,
                    _ => tag,
                };
                if sends {
                    let expected = receives.iter().position(|&(pattern, _)| pattern.fits(from, tag));
                    let expected = expected.map(|index| receives.remove(index).1);
                    let met = matching.match_receive(from, tag);
                    prop_assert_eq!(met, expected);
                    if met.is_none() {
                        matching.keep(from, tag, number);
                        messages.push((from, tag, number));
                    }
                } else {
                    let tags = match tag {
                        3 => Tags::Any,
                        0 => Tags::OfCollectives,
                        _ => Tags::Only(Tag(tag)),
                    };
                    let pattern = MatchPattern::new(if from == 3 { Source::Any } else { Source::Rank(Rank(from)) }, tags);
                    let expected = messages.iter().position(|&(from, tag, _)| pattern.fits(from, tag));
                    let expected = expected.map(|index| messages.remove(index).2);
                    let probed = matching.probe(pattern);
                    let found = matching.find(pattern);
                    prop_assert_eq!(probed, expected);
                    prop_assert_eq!(found, expected);
                    if found.is_none() {
                        matching.post(pattern, number);
                        receives.push((pattern, number));
                    }
                }
            }
        }
    }
}
