//! Checks that both ends of every part of a collective with individual sizes state the same size, as MPI requires.

use std::collections::BTreeMap;

use quantities::Rank;
use trace_format::{Call, Collective, CollectiveKind};

use super::{RankCalls, TraceError};
use collectives::Group;

/// Checks the collectives with individual sizes, on whose kinds and roots the ranks of each communicator agree.
///
/// # Errors
/// The first part whose sender and receiver differ.
pub(super) fn check(ranks: &[RankCalls], communicators: &[Group]) -> Result<(), TraceError> {
    // For each communicator and member, where its calls of them are.
    let mut calls: BTreeMap<u32, Vec<Vec<usize>>> = BTreeMap::new();
    for (rank, of_rank) in (0..).map(Rank).zip(ranks) {
        for (place, (_, call)) in of_rank.calls.iter().enumerate() {
            let Some(collective) = with_parts(call) else { continue };
            let group = &communicators[collective.communicator as usize];
            let members = calls.entry(collective.communicator);
            let members = members.or_insert_with(|| vec![Vec::new(); group.len() as usize]);
            if let Some(member) = group.place_of(rank) {
                members[member as usize].push(place);
            }
        }
    }
    for (communicator, members) in &calls {
        let group = &communicators[*communicator as usize];
        for turn in 0..members.first().map_or(0, Vec::len) {
            let of_member = |(member, calls): (u32, &Vec<usize>)| {
                let (rank, place) = (group.rank_at(member), *calls.get(turn)?);
                let of_rank = &ranks[rank.0 as usize];
                Some(MemberCall { rank, of_rank, place, collective: with_parts(&of_rank.calls[place].1)? })
            };
            let parts: Option<Vec<MemberCall<'_>>> = (0..).zip(members).map(of_member).collect();
            parts.map_or(Ok(()), |parts| check_parts(&parts))?;
        }
    }
    Ok(())
}

/// The collective that a call begins, if it has individual sizes.
fn with_parts(call: &Call) -> Option<&Collective> {
    use CollectiveKind::{AllGatherv, AllToAllv, Gatherv, ReduceScatter, Scatterv};
    match call {
        Call::Collective(it) | Call::BeginCollective(_, it) => {
            matches!(it.kind, AllGatherv | AllToAllv | Gatherv | ReduceScatter | Scatterv).then_some(it)
        }
        _ => None,
    }
}

/// The call of one member.
struct MemberCall<'a> {
    rank: Rank,
    of_rank: &'a RankCalls,
    /// Its place among the calls of the rank.
    place: usize,
    collective: &'a Collective,
}

impl MemberCall<'_> {
    fn wrong(&self, problem: String) -> TraceError {
        TraceError::of_call(&self.of_rank.file, self.place + 1, self.collective.kind.name(), problem)
    }

    /// The error of this rank, if it has room for another size than `other` sends.
    fn receives(&self, room: u64, other: &MemberCall<'_>, sent: u64) -> Result<(), TraceError> {
        if room == sent {
            return Ok(());
        }
        let (to, from, call) = (self.rank, other.rank, other.place + 1);
        Err(self.wrong(format!(
            "found room for {room} B at rank {to} for what rank {from} sends, which are {sent} B (its call {call}); allowed is the same \
             size at both ends"
        )))
    }
}

/// Checks one collective, given the calls of all members in order.
fn check_parts(parts: &[MemberCall<'_>]) -> Result<(), TraceError> {
    let Some(first) = parts.first() else { return Ok(()) };
    let root = &parts[first.collective.root as usize % parts.len()];
    match first.collective.kind {
        // The root has its own part already.
        CollectiveKind::Gatherv => parts.iter().zip(&root.collective.counts).try_for_each(|(part, &room)| {
            if part.rank == root.rank { Ok(()) } else { root.receives(room, part, part.collective.bytes) }
        }),
        CollectiveKind::Scatterv => parts.iter().zip(&root.collective.counts).try_for_each(|(part, &sent)| {
            if part.rank == root.rank { Ok(()) } else { part.receives(part.collective.bytes, root, sent) }
        }),
        CollectiveKind::AllToAllv => (0..parts.len()).try_for_each(|receiver| {
            let rooms = &parts[receiver].collective.counts[parts.len()..];
            let sizes = parts.iter().map(|sender| sender.collective.counts[receiver]);
            let mut ends = rooms.iter().zip(parts.iter().zip(sizes));
            ends.try_for_each(|(&room, (sender, sent))| parts[receiver].receives(room, sender, sent))
        }),
        CollectiveKind::AllGatherv => {
            agree_on_counts(parts, first)?;
            // A rank whose part is in place already states no size for it.
            let mut stated = parts.iter().enumerate().filter(|(_, part)| part.collective.bytes != 0);
            stated.try_for_each(|(place, part)| {
                let receiver = parts.iter().find(|other| other.rank != part.rank).unwrap_or(part);
                receiver.receives(receiver.collective.counts[place], part, part.collective.bytes)
            })
        }
        _ => agree_on_counts(parts, first),
    }
}

/// Checks that all members list the same sizes.
fn agree_on_counts(parts: &[MemberCall<'_>], first: &MemberCall<'_>) -> Result<(), TraceError> {
    let Some(other) = parts.iter().find(|part| part.collective.counts != first.collective.counts) else {
        return Ok(());
    };
    let pairs = other.collective.counts.iter().zip(&first.collective.counts);
    let Some((place, (found, expected))) = pairs.enumerate().find(|(_, (found, expected))| found != expected) else {
        return Ok(());
    };
    let (rank, of, at) = (other.rank, parts[place].rank, first.rank);
    Err(other.wrong(format!(
        "found {found} B for the part of rank {of} at rank {rank}; allowed are {expected} B, as at rank {at}"
    )))
}
