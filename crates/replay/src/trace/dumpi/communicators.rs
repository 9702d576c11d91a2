//! The members of the communicators that a program made, which follow from the calls of all its ranks: the text of a
//! rank says with which colour and key it took part in `MPI_Comm_split`, and which ranks a group has.

use std::collections::BTreeMap;
use std::rc::Rc;

use trace_format::{Call, CollectiveKind, ITSELF, WORLD};

use super::super::{RankCalls, TraceError};

/// The file of a rank, as far as it can be read without the others.
#[derive(Debug)]
pub struct OfRank {
    pub(super) calls: RankCalls,
    pub(super) makings: Vec<Making>,
}

/// A call that makes a group or a communicator.
#[derive(Debug)]
pub(super) struct Making {
    /// Its line and its name.
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) what: What,
}

/// What it makes of what. Groups have the numbers that the trace gives them, communicators those of the calls.
#[derive(Debug)]
pub(super) enum What {
    /// The group of a communicator.
    Group { of: u32, new: i64 },
    /// The members of a group at these places, in this order, or all others.
    Chosen { of: i64, places: Vec<i64>, others: bool, new: i64 },
    /// The members of both, of either, or of the first alone.
    Combined { one: i64, other: i64, how: How, new: i64 },
    /// A communicator, by all ranks of the one before; nothing for a rank that is not in it.
    Communicator { parent: u32, by: By, new: Option<NewCommunicator> },
}

#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Union,
    Intersection,
    Difference,
}

/// What tells the members of a new communicator.
#[derive(Debug)]
pub(super) enum By {
    Group(i64),
    /// Those with the same colour, in the order of their keys.
    Colour {
        colour: i64,
        key: i64,
    },
    /// As many as there are, in their order.
    First(u64),
}

/// A new communicator: its number in the calls, and the place of the call that makes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewCommunicator {
    pub(super) number: u32,
    pub(super) place: usize,
}

/// Completes the calls of all ranks, in their order, with the members of communicators.
///
/// # Errors
/// A group or communicator that no rank has made, or that not all of its ranks make.
pub fn complete(ranks: Vec<OfRank>) -> Result<Vec<RankCalls>, TraceError> {
    let (mut calls, makings): (Vec<RankCalls>, Vec<Vec<Making>>) =
        ranks.into_iter().map(|rank| (rank.calls, rank.makings)).unzip();
    Makings::new(&mut calls, &makings).resolve()?;
    for (me, rank) in (0..).zip(&mut calls) {
        leave_counts_to_roots(me, rank);
    }
    Ok(calls)
}

/// Counts that only the root of a collective gives are dropped elsewhere: their text may hold any.
fn leave_counts_to_roots(me: u32, rank: &mut RankCalls) {
    let mut members: BTreeMap<u32, Box<[u32]>> = BTreeMap::new();
    for (_, call) in &mut rank.calls {
        match call {
            Call::Communicator(number, of) => drop(members.insert(*number, of.clone())),
            Call::Collective(it) if matches!(it.kind, CollectiveKind::Gatherv | CollectiveKind::Scatterv) => {
                let root = match members.get(&it.communicator) {
                    Some(members) => members.get(it.root as usize).copied(),
                    None => Some(it.root),
                };
                if root != Some(me) {
                    it.counts = Box::default();
                }
            }
            _ => {}
        }
    }
}

type Members = Rc<[u32]>;

/// The makings of all ranks as they are carried out.
struct Makings<'ranks> {
    calls: &'ranks mut [RankCalls],
    makings: &'ranks [Vec<Making>],
    /// For each rank, how many are over, its communicators by number, each as a communicator of all ranks, and its
    /// groups.
    next: Vec<usize>,
    own: Vec<BTreeMap<u32, usize>>,
    groups: Vec<BTreeMap<i64, Members>>,
    /// The members of all communicators.
    communicators: Vec<Members>,
}

impl<'ranks> Makings<'ranks> {
    fn new(calls: &'ranks mut [RankCalls], makings: &'ranks [Vec<Making>]) -> Makings<'ranks> {
        let size = makings.len();
        let all: Members = (0..size as u32).collect();
        let alone = (0..size as u32).map(|rank| Members::from([rank]));
        let own = (0..size).map(|rank| BTreeMap::from([(WORLD, 0), (ITSELF, 1 + rank)])).collect();
        let communicators = std::iter::once(all).chain(alone).collect();
        Makings { calls, makings, next: vec![0; size], own, groups: vec![BTreeMap::new(); size], communicators }
    }

    /// Carries out those of each rank in their order; one of a communicator when all its ranks have reached it.
    fn resolve(mut self) -> Result<(), TraceError> {
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for rank in 0..self.makings.len() {
                while self.advance(rank)? {
                    goes_on = true;
                }
            }
        }
        match (0..self.makings.len()).find(|&rank| self.next[rank] < self.makings[rank].len()) {
            Some(rank) => Err(self
                .wrong(rank, "found a call that not all ranks of its communicator make; allowed is one that all make")),
            None => Ok(()),
        }
    }

    fn wrong(&self, rank: usize, problem: impl std::fmt::Display) -> TraceError {
        let Making { line, name, .. } = &self.makings[rank][self.next[rank]];
        TraceError::of_file(&format!("{}:{line}", self.calls[rank].file), format!("{name}: {problem}"))
    }

    fn group(&self, rank: usize, number: i64) -> Result<Members, TraceError> {
        // The empty group of the library.
        const EMPTY: i64 = 2;
        match self.groups[rank].get(&number) {
            Some(group) => Ok(Rc::clone(group)),
            None if number == EMPTY => Ok(Members::from([])),
            None => {
                Err(self.wrong(rank, format!("found group {number}; allowed is one whose members the trace tells")))
            }
        }
    }

    fn communicator(&self, rank: usize, number: u32) -> Result<usize, TraceError> {
        let known = self.own[rank].get(&number).copied();
        known.ok_or_else(|| self.wrong(rank, "found a communicator that the rank has not made"))
    }

    /// Carries out the next one of a rank, if that can be done; returns whether it was.
    fn advance(&mut self, rank: usize) -> Result<bool, TraceError> {
        let makings = self.makings;
        let Some(Making { what, .. }) = makings[rank].get(self.next[rank]) else { return Ok(false) };
        let (new, members) = match what {
            What::Group { of, new } => (new, Rc::clone(&self.communicators[self.communicator(rank, *of)?])),
            What::Chosen { of, places, others, new } => (new, self.chosen(rank, *of, places, *others)?),
            What::Combined { one, other, how, new } => {
                let (one, other) = (self.group(rank, *one)?, self.group(rank, *other)?);
                let members = match how {
                    How::Union => {
                        one.iter().chain(other.iter().filter(|member| !one.contains(member))).copied().collect()
                    }
                    How::Intersection => one.iter().filter(|member| other.contains(member)).copied().collect(),
                    How::Difference => one.iter().filter(|member| !other.contains(member)).copied().collect(),
                };
                (new, members)
            }
            What::Communicator { parent, .. } => return self.make(rank, *parent),
        };
        self.groups[rank].insert(*new, members);
        self.next[rank] += 1;
        Ok(true)
    }

    fn chosen(&self, rank: usize, of: i64, places: &[i64], others: bool) -> Result<Members, TraceError> {
        let group = self.group(rank, of)?;
        let at = |place: &i64| usize::try_from(*place).ok().and_then(|place| group.get(place)).copied();
        let stranger =
            || self.wrong(rank, format!("found ranks {places:?}; allowed are those of a group of {}", group.len()));
        let chosen: Vec<u32> = places.iter().map(|place| at(place).ok_or_else(stranger)).collect::<Result<_, _>>()?;
        if others {
            return Ok(group.iter().filter(|member| !chosen.contains(member)).copied().collect());
        }
        Ok(chosen.into())
    }

    /// Makes the communicators of a call, if all ranks of the communicator before have reached it.
    fn make(&mut self, rank: usize, parent: u32) -> Result<bool, TraceError> {
        let parent = self.communicator(rank, parent)?;
        let ranks = Rc::clone(&self.communicators[parent]);
        // The first of them looks after the others.
        if ranks.first() != Some(&(rank as u32)) {
            return Ok(false);
        }
        let makings = self.makings;
        let mut parts: BTreeMap<CommunicatorKey, Vec<(i64, usize, NewCommunicator)>> = BTreeMap::new();
        for &member in ranks.iter() {
            let member = member as usize;
            let making = makings[member].get(self.next[member]).map(|making| &making.what);
            let Some(What::Communicator { parent: of, by, new }) = making else { return Ok(false) };
            if self.communicator(member, *of)? != parent {
                return Ok(false);
            }
            let Some(new) = *new else { continue };
            let (part, key) = match by {
                By::Group(group) => (CommunicatorKey::Members(self.group(member, *group)?), 0),
                By::Colour { colour, key } => (CommunicatorKey::Colour(*colour), *key),
                By::First(count) => (
                    CommunicatorKey::Members(
                        ranks.iter().copied().take(usize::try_from(*count).unwrap_or(usize::MAX)).collect(),
                    ),
                    0,
                ),
            };
            parts.entry(part).or_default().push((key, member, new));
        }
        for (part, mut of_part) in parts {
            // Those with the same key stay in the order of their ranks.
            of_part.sort_by_key(|&(key, ..)| key);
            let members = match part {
                CommunicatorKey::Members(members) => members,
                CommunicatorKey::Colour(_) => of_part.iter().map(|&(_, member, _)| member as u32).collect(),
            };
            for (_, member, new) in of_part {
                self.own[member].insert(new.number, self.communicators.len());
                if let Some((_, call)) = self.calls[member].calls.get_mut(new.place) {
                    *call = Call::Communicator(new.number, members.iter().copied().collect());
                }
            }
            self.communicators.push(members);
        }
        for &member in ranks.iter() {
            self.next[member as usize] += 1;
        }
        Ok(true)
    }
}

/// What the ranks of one new communicator have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum CommunicatorKey {
    Members(Members),
    Colour(i64),
}
