//! What ranks of MPI tell each other that is no part of a program: whether all can begin, how each has ended, and what is to be run next.

use std::io;

use endpoint::{Endpoint, Error, Message, Needs, Program, Result, Source, Tags};
use quantities::{Duration, Rank};
use real_worlds::MpiWorld;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How long a rank that has nothing to do leaves its processor to others between two looks for what it is told.
const NAP: Duration = Duration::from_microseconds(10_000);

/// What every rank has to tell, in order of rank, known to all of them; all ranks ask for it together.
///
/// # Errors
/// As [`MpiWorld::run`].
pub fn told_by_all<T: Serialize + DeserializeOwned>(world: &mut MpiWorld, told: &T) -> Result<Vec<T>> {
    let own = serde_json::to_vec(told).map_err(unreadable)?;
    world.run_between(&TellAll(own))?.iter().map(|line| serde_json::from_slice(line).map_err(unreadable)).collect()
}

/// Rank 0 tells all others, who are waiting in [`hear_from_first`].
///
/// # Errors
/// As [`MpiWorld::run`].
pub fn tell_others<T: Serialize>(world: &mut MpiWorld, told: &T) -> Result<()> {
    world.run_between(&TellOthers(serde_json::to_vec(told).map_err(unreadable)?))
}

/// What rank 0 tells next, which the others wait for as long as it takes, with little use of their processors.
///
/// # Errors
/// As [`MpiWorld::run`].
pub fn hear_from_first<T: DeserializeOwned>(world: &mut MpiWorld) -> Result<T> {
    serde_json::from_slice(&world.run_between(&HearFromFirst)?).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::Network(io::Error::from(error).to_string())
}

/// What a message holds.
fn bytes(message: &Message) -> Vec<u8> {
    message.content().map(|content| content.to_vec()).unwrap_or_default()
}

/// Rank 0 tells each other rank the same.
struct TellOthers(Vec<u8>);

impl Program for TellOthers {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        for rank in (1..endpoint.size()).map(Rank) {
            endpoint.send(rank, Message::from(self.0.clone())).await?;
        }
        Ok(())
    }
}

/// A rank looks now and then for what rank 0 tells it.
struct HearFromFirst;

impl Program for HearFromFirst {
    type Output = Vec<u8>;
    /// For the deadlines.
    const NEEDS: Needs = Needs::ANY_SOURCE;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<u8>> {
        loop {
            match endpoint.receive_matching(Source::Rank(Rank(0)), Tags::Any, Some(endpoint.now())).await {
                Err(Error::Deadline(_)) => endpoint.compute(NAP).await,
                told => return told.map(|told| bytes(&told.message)),
            }
        }
    }
}

/// All ranks tell rank 0, which tells all of them what all have told.
struct TellAll(Vec<u8>);

impl Program for TellAll {
    type Output = Vec<Vec<u8>>;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<Vec<u8>>> {
        let others = || (1..endpoint.size()).map(Rank);
        if endpoint.rank() > Rank(0) {
            endpoint.send(Rank(0), Message::from(self.0.clone())).await?;
            let mut all = Vec::new();
            for _ in 0..endpoint.size() {
                all.push(bytes(&endpoint.receive(Rank(0)).await?));
            }
            return Ok(all);
        }
        let mut all = vec![self.0.clone()];
        for rank in others() {
            all.push(bytes(&endpoint.receive(rank).await?));
        }
        for rank in others() {
            for told in &all {
                endpoint.send(rank, Message::from(told.clone())).await?;
            }
        }
        Ok(all)
    }
}
