//! Combines the calls of single ranks into one consistent trace.

use std::collections::BTreeSet;

use quantities::{Duration, counted};
use trace_format::{Call, Collective, ITSELF, Message, WORLD};

use super::both_ends;
use super::communicators::{Communicators, OwnCommunicators};
use super::rounds::{OwnRounds, Rounds};
use super::{RankCalls, Trace, TraceError};

/// Tags from here on belong to collectives.
pub(super) const FIRST_OF_COLLECTIVES: u32 = 1 << 31;

/// Checks the calls of all ranks; numbers communicators consistently over all ranks, and tags such that each belongs to
/// one communicator.
pub(super) fn resolve(mut ranks: Vec<RankCalls>) -> Result<Trace, TraceError> {
    if ranks.is_empty() {
        return Err(TraceError::of_file("the trace", "empty: found no rank; allowed is 1 or more"));
    }
    let size = ranks.len() as u32;
    let mut shared =
        Shared { size, communicators: Communicators::new(), rounds: Rounds::default(), tags: BTreeSet::new() };
    for (rank, calls) in (0..).zip(&mut ranks) {
        OfRank::new(rank).resolve(&mut shared, calls)?;
    }
    check_not_idle(&ranks)?;
    let Shared { communicators, rounds, tags, .. } = shared;
    let at_rank = |(rank, problem): (u32, String)| TraceError::of_file(&ranks[rank as usize].file, problem);
    communicators.check_all_made().map_err(at_rank)?;
    rounds.check_all_called(|place| communicators.size_of(place)).map_err(at_rank)?;
    let communicators = communicators.into_groups();
    both_ends::check(&ranks, &communicators)?;
    let tags: Vec<u32> = tags.into_iter().collect();
    if communicators.len() as u64 * tags.len() as u64 >= u64::from(FIRST_OF_COLLECTIVES)
        || communicators.len() > 1 << 24
    {
        let (communicators, tags) = (communicators.len(), tags.len());
        let problem =
            format!("found {communicators} communicators and {tags} tags; allowed is a product of less than 2^31");
        return Err(TraceError::of_file(&ranks[0].file, problem));
    }
    for (_, call) in ranks.iter_mut().flat_map(|rank| &mut rank.calls) {
        messages_of(call).into_iter().flatten().for_each(|message| number_tag(message, &tags));
    }
    Ok(Trace { ranks, communicators, tags })
}

/// Checks that there is something to repeat: a call, or a time that a rank computed.
fn check_not_idle(ranks: &[RankCalls]) -> Result<(), TraceError> {
    let is_end = |(computed, call): &(Duration, Call)| computed.is_zero() && matches!(call, Call::Finalize(_));
    if !ranks.iter().flat_map(|rank| &rank.calls).all(is_end) {
        return Ok(());
    }
    let problem = format!(
        "empty: found {} that make no call and compute nothing; allowed is a trace with something to repeat",
        counted(ranks.len(), "rank")
    );
    Err(TraceError::of_file(&ranks[0].file, problem))
}

/// Gives a message a tag that no other communicator uses.
fn number_tag(message: &mut Message, tags: &[u32]) {
    if let Some(tag) = &mut message.tag {
        // All of them are in the list.
        let place = tags.binary_search(tag).unwrap_or_default();
        *tag = message.communicator * tags.len() as u32 + place as u32;
    }
}

/// The messages that a call names.
fn messages_of(call: &mut Call) -> [Option<&mut Message>; 2] {
    match call {
        Call::Send(message)
        | Call::Receive(message)
        | Call::Probe(message)
        | Call::BeginSend(_, message)
        | Call::BeginReceive(_, message) => [Some(message), None],
        Call::SendReceive(transfer) => [Some(&mut transfer.send), Some(&mut transfer.receive)],
        _ => [None, None],
    }
}

/// What is known of all ranks together.
struct Shared {
    size: u32,
    communicators: Communicators,
    rounds: Rounds,
    tags: BTreeSet<u32>,
}

/// What is known of the rank being checked.
struct OfRank {
    rank: u32,
    communicators: OwnCommunicators,
    rounds: OwnRounds,
    /// For each request, the call that began it, if it is under way.
    under_way: Vec<Option<usize>>,
}

impl OfRank {
    fn new(rank: u32) -> OfRank {
        let (communicators, rounds) = (OwnCommunicators::default(), OwnRounds::default());
        OfRank { rank, communicators, rounds, under_way: Vec::new() }
    }

    fn resolve(mut self, shared: &mut Shared, of_rank: &mut RankCalls) -> Result<(), TraceError> {
        let RankCalls { file, calls } = of_rank;
        let world: Vec<u32> = (0..shared.size).collect();
        for (number, members) in [(WORLD, &world[..]), (ITSELF, &[self.rank])] {
            let made = shared.communicators.make(&mut self.communicators, self.rank, shared.size, number, members);
            made.map_err(|problem| TraceError::of_file(file, problem))?;
        }
        for place in 0..calls.len() {
            let (before, rest) = calls.split_at_mut(place);
            let Some((_, call)) = rest.first_mut() else { break };
            let resolved = self.call(shared, call, before);
            resolved.map_err(|problem| TraceError::of_call(file, place + 1, call.name(), problem))?;
        }
        self.check_end(shared, file, calls)
    }

    fn call(&mut self, shared: &mut Shared, call: &mut Call, before: &mut [(Duration, Call)]) -> Result<(), String> {
        if let Some((_, Call::Finalize(_))) = before.last() {
            return Err("found a call after MPI_Finalize; allowed is none".to_owned());
        }
        for message in messages_of(call).into_iter().flatten() {
            self.message(shared, message)?;
        }
        match call {
            Call::Send(message) | Call::BeginSend(_, message) => named(message)?,
            Call::SendReceive(transfer) => named(&transfer.send)?,
            _ => {}
        }
        match call {
            Call::BeginSend(request, _) | Call::BeginReceive(request, _) => self.begin(*request, before.len()),
            Call::Collective(collective) => self.collective(shared, collective),
            Call::BeginCollective(request, collective) => {
                self.begin(*request, before.len())?;
                self.collective(shared, collective)
            }
            Call::Wait(requests) => requests.iter().try_for_each(|&request| self.end(request).map(drop)),
            Call::Free(request) => self.end(*request).map(drop),
            Call::Cancelled(request) => self.cancelled(before, *request),
            Call::Matched(request, source, tag) => self.matched(shared, before, *request, *source, *tag),
            Call::Communicator(number, members) => {
                shared.communicators.make(&mut self.communicators, self.rank, shared.size, *number, members)
            }
            Call::Unsupported(_) => Err("found a call that a replay cannot follow".to_owned()),
            _ => Ok(()),
        }
    }

    /// Replaces the communicator of a message by its common number, and notes its tag.
    fn message(&self, shared: &mut Shared, message: &mut Message) -> Result<(), String> {
        let (place, group) = shared.communicators.of(&self.communicators, message.communicator)?;
        check_member(message.partner, group.len(), "partner")?;
        message.communicator = place;
        shared.tags.extend(message.tag);
        Ok(())
    }

    fn collective(&mut self, shared: &mut Shared, collective: &mut Collective) -> Result<(), String> {
        let (place, group) = shared.communicators.of(&self.communicators, collective.communicator)?;
        let size = group.len();
        check_member(Some(collective.root), size, "root")?;
        let is_root = group.rank_at(collective.root).0 == self.rank;
        let (found, allowed) = (collective.counts.len(), collective.kind.counts(size, is_root));
        if found != allowed {
            return Err(format!("found {found} counts; allowed are {allowed} among {size} ranks"));
        }
        collective.communicator = place;
        shared.rounds.call(&mut self.rounds, self.rank, place, collective)
    }

    /// A receive that was begun for any source or any tag has received this message.
    fn matched(
        &mut self,
        shared: &mut Shared,
        before: &mut [(Duration, Call)],
        request: u32,
        source: u32,
        tag: u32,
    ) -> Result<(), String> {
        let begun = self.under_way.get(request as usize).copied().flatten();
        match begun.and_then(|place| before.get_mut(place)) {
            Some((_, Call::BeginReceive(_, message))) => {
                check_member(Some(source), shared.communicators.size_of(message.communicator), "source")?;
                message.partner.get_or_insert(source);
                message.tag.get_or_insert(tag);
                shared.tags.extend(message.tag);
                Ok(())
            }
            _ => Err(format!("found request {request}, which is no receive under way")),
        }
    }

    /// A receive that was begun received nothing and takes nothing from others: the call that began it becomes a wait
    /// for no request.
    fn cancelled(&mut self, before: &mut [(Duration, Call)], request: u32) -> Result<(), String> {
        let begun = self.end(request)?;
        match before.get_mut(begun) {
            Some((_, call @ Call::BeginReceive(..))) => {
                *call = Call::Wait(Box::default());
                Ok(())
            }
            _ => Err(format!("found request {request}, which is no receive")),
        }
    }

    fn begin(&mut self, request: u32, place: usize) -> Result<(), String> {
        let number = request as usize;
        // A rank has no more requests than calls, so a higher number is invalid.
        if number > place {
            return Err(format!("found request {request}; allowed is at most {place}, as many calls as were before"));
        }
        if self.under_way.len() <= number {
            self.under_way.resize(number + 1, None);
        }
        match self.under_way[number].replace(place) {
            Some(since) => Err(format!("found request {request}, which is under way since call {}", since + 1)),
            None => Ok(()),
        }
    }

    fn end(&mut self, request: u32) -> Result<usize, String> {
        let begun = self.under_way.get_mut(request as usize).and_then(Option::take);
        begun.ok_or_else(|| format!("found request {request}, which is not under way; allowed is one that was begun"))
    }

    /// Checks that the rank reached its end, with everything completed.
    fn check_end(&self, shared: &mut Shared, file: &str, calls: &[(Duration, Call)]) -> Result<(), TraceError> {
        let number = calls.len();
        let Some((_, Call::Finalize(_))) = calls.last() else {
            let last = calls.last().map_or(String::new(), |(_, call)| format!(", the last an {}", call.name()));
            let problem =
                format!("cut short: rank {} made {}{last}, and no MPI_Finalize", self.rank, counted(number, "call"));
            return Err(TraceError::of_file(file, problem)
                .with_hint("a program that died leaves such a trace: it can't be replayed"));
        };
        if let Some((request, place)) =
            (0..).zip(&self.under_way).find_map(|(request, it): (u32, _)| Some((request, (*it)?)))
        {
            let problem = format!("found request {request}, which is never waited for; allowed is one that ends");
            return Err(TraceError::of_call(file, place + 1, calls[place].1.name(), problem));
        }
        shared
            .rounds
            .check_end(&self.rounds)
            .map_err(|problem| TraceError::of_call(file, number, "MPI_Finalize", problem))
    }
}

/// Checks that a send names its destination and its tag.
fn named(message: &Message) -> Result<(), String> {
    match message {
        Message { partner: Some(_), tag: Some(_), .. } => Ok(()),
        _ => Err("found a send to any rank or with any tag; allowed is a certain one".to_owned()),
    }
}

fn check_member(member: Option<u32>, size: u32, what: &str) -> Result<(), String> {
    match member.filter(|&member| member >= size) {
        Some(member) => Err(format!("found {what} {member}; allowed is 0 to {}", size - 1)),
        None => Ok(()),
    }
}
