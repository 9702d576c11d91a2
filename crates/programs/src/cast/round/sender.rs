//! The sender's side.

use std::collections::BTreeMap;

use bytes::Bytes;
use endpoint::{Endpoint, Error};
use quantities::Rank;

use super::{Digest, Supply, ToAll, ToSender, WAIT_FOR_DISK};
use crate::cast::manifest::Manifest;

/// A transfer, over all rounds.
#[derive(Debug)]
pub struct Transfer {
    manifest: Bytes,
    pieces: u32,
    /// The hashes of the pieces read so far.
    digests: Vec<Option<Digest>>,
}

impl Transfer {
    /// A transfer of `manifest` of which nothing has been read.
    pub fn new(manifest: &Manifest) -> Transfer {
        let pieces = manifest.pieces();
        Transfer { manifest: manifest.encode().into(), pieces, digests: vec![None; pieces as usize] }
    }

    /// How many pieces it has.
    pub const fn pieces(&self) -> u32 {
        self.pieces
    }

    /// Records the hash of a piece; an error if it was different before.
    fn note(&mut self, index: u32, digest: Digest) -> Result<(), String> {
        match self.digests.get_mut(index as usize) {
            Some(Some(before)) if *before != digest => Err("a file has changed while it was sent".to_string()),
            Some(place) => {
                *place = Some(digest);
                Ok(())
            }
            None => Err("a piece that does not exist".to_string()),
        }
    }

    /// The hash of the whole, once all has been read.
    pub fn whole(&self) -> Option<Digest> {
        let digests: Option<Vec<Digest>> = self.digests.iter().copied().collect();
        Some(Digest::of_all(&self.manifest, digests?))
    }
}

/// What a round in progress should do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Send everything that some receiver lacks.
    All,
    /// End at the next piece: other receivers wait to join.
    EndSoon,
    /// End at the next piece, as the last round, for this reason.
    Leave(String),
}

/// The result of a round for a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiverOutcome {
    /// It has everything.
    Done,
    /// This many pieces are missing.
    Lacks(u32),
    /// It does not want the files, or cannot continue.
    Refuses(String),
    /// It is gone, or was too slow.
    Lost,
}

/// Sends what the receivers, all other ranks, lack; returns the outcome for each, rank 1 first. `goal` is called before
/// every piece with the progress: how many pieces have been sent, and of how many.
///
/// # Errors
/// Errors of the network; [`Error::Unfit`] when a file cannot be read, or changes.
pub async fn send<E: Endpoint, S: Supply>(
    endpoint: &E,
    transfer: &mut Transfer,
    supply: &mut S,
    mut goal: impl FnMut(u32, u32) -> Goal,
) -> endpoint::Result<Vec<ReceiverOutcome>> {
    endpoint.multicast(ToAll::Manifest(transfer.manifest.clone()).encode()).await?;
    let (mut outcomes, claims) = inventories(endpoint, transfer.pieces).await?;
    let left = pieces(endpoint, transfer, supply, &claims, &mut goal).await;
    let end = match &left {
        Ok(Goal::All) => ToAll::End(transfer.whole()),
        Ok(Goal::EndSoon) => ToAll::End(None),
        Ok(Goal::Leave(reason)) => ToAll::Leaves(reason.clone()),
        Err(error) => ToAll::Leaves(error.to_string()),
    };
    endpoint.multicast(end.encode()).await?;
    for (rank, outcome) in
        (1..).map(Rank).zip(&mut outcomes).filter(|(_, outcome)| **outcome == ReceiverOutcome::Lacks(transfer.pieces))
    {
        *outcome = match receive_answer(endpoint, rank).await? {
            Some(ToSender::Done) => ReceiverOutcome::Done,
            Some(ToSender::Lacks(pieces)) => ReceiverOutcome::Lacks(pieces),
            Some(ToSender::Refuses(reason)) => ReceiverOutcome::Refuses(reason),
            Some(ToSender::Has(_)) => ReceiverOutcome::Refuses("it says what can't be".to_string()),
            None => ReceiverOutcome::Lost,
        };
    }
    endpoint.multicast(ToAll::Bye.encode()).await?;
    left.map(|_| outcomes)
}

/// What each receiver has, and its outcome so far: those that lack something count as lacking everything.
async fn inventories<E: Endpoint>(endpoint: &E, pieces: u32) -> endpoint::Result<(Vec<ReceiverOutcome>, Claims)> {
    let mut outcomes = Vec::new();
    let mut claims = Claims::default();
    for rank in (1..endpoint.size()).map(Rank) {
        outcomes.push(match receive_answer(endpoint, rank).await? {
            Some(ToSender::Has(has)) => {
                claims.add(has);
                ReceiverOutcome::Lacks(pieces)
            }
            Some(ToSender::Refuses(reason)) => ReceiverOutcome::Refuses(reason),
            Some(_) => ReceiverOutcome::Refuses("it says what can't be".to_string()),
            None => ReceiverOutcome::Lost,
        });
    }
    Ok((outcomes, claims))
}

/// What receivers claim to have.
#[derive(Debug, Default)]
struct Claims {
    receivers: u32,
    /// For each piece that some receiver has: how many have it, its hash, and whether all agree on that.
    pieces: BTreeMap<u32, (u32, Digest, bool)>,
}

impl Claims {
    fn add(&mut self, has: Vec<(u32, Digest)>) {
        self.receivers += 1;
        for (index, digest) in has.into_iter().collect::<BTreeMap<u32, Digest>>() {
            let (count, first, agree) = self.pieces.entry(index).or_insert((0, digest, true));
            *count += 1;
            *agree &= *first == digest;
        }
    }

    /// How many have this piece.
    fn count(&self, index: u32) -> u32 {
        self.pieces.get(&index).map_or(0, |(count, ..)| *count)
    }

    /// The hash of the piece if all have it and agree.
    fn of_all(&self, index: u32) -> Option<Digest> {
        let (count, digest, agree) = self.pieces.get(&index)?;
        (*count == self.receivers && *agree).then_some(*digest)
    }
}

/// A receiver's message; none if it is gone.
async fn receive_answer<E: Endpoint>(endpoint: &E, rank: Rank) -> endpoint::Result<Option<ToSender>> {
    match endpoint.receive(rank).await {
        Ok(message) => Ok(ToSender::decode(&message)),
        Err(Error::Lost(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sends the pieces, except those that all have according to `claims`; but a claim only counts if it matches the files.
async fn pieces<E: Endpoint, S: Supply>(
    endpoint: &E,
    transfer: &mut Transfer,
    supply: &mut S,
    claims: &Claims,
    goal: &mut impl FnMut(u32, u32) -> Goal,
) -> endpoint::Result<Goal> {
    let known = |index: u32| transfer.digests.get(index as usize).copied().flatten();
    let lacks = |index: &u32| claims.of_all(*index).is_none_or(|digest| known(*index) != Some(digest));
    let mut wanted: Vec<u32> = (0..transfer.pieces).filter(lacks).collect();
    // First the pieces that nobody has: early receivers are done before late ones get what they missed.
    wanted.sort_by_key(|&index| claims.count(index));
    let of = u32::try_from(wanted.len()).unwrap_or(u32::MAX);
    supply.announce(wanted);
    for done in 0..of {
        let piece = loop {
            match goal(done, of) {
                Goal::All => {}
                other => return Ok(other),
            }
            match supply.next().map_err(Error::Unfit)? {
                Some(piece) => break piece,
                None => endpoint.compute(WAIT_FOR_DISK).await,
            }
        };
        transfer.note(piece.index, piece.digest).map_err(Error::Unfit)?;
        if claims.of_all(piece.index) != Some(piece.digest) {
            endpoint.multicast(piece.message).await?;
        }
    }
    supply.end().map_err(Error::Unfit)?;
    goal(of, of);
    Ok(Goal::All)
}
