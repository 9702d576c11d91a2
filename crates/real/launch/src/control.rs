//! What MPI ranks tell each other outside a program: whether all can begin, how each has ended, and what to run next.

use std::io;

use endpoint::{Endpoint, Error, Message, Needs, Program, Result, Source, Tags};
use quantities::{Duration, Rank};
use real_worlds::MpiWorld;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How long an idle rank yields its processor between two checks for messages.
const IDLE_PAUSE: Duration = Duration::from_microseconds(10_000);

/// Collects a value from every rank, in order of rank, at all of them; all ranks call it together.
///
/// # Errors
/// Those of [`MpiWorld::run`].
pub fn all_gather<T: Serialize + DeserializeOwned>(world: &mut MpiWorld, value: &T) -> Result<Vec<T>> {
    let own = serde_json::to_vec(value).map_err(unreadable)?;
    world.run_isolated(&AllGather(own))?.iter().map(|line| serde_json::from_slice(line).map_err(unreadable)).collect()
}

/// Rank 0 tells all others, which wait in [`receive_from_first`].
///
/// # Errors
/// Those of [`MpiWorld::run`].
pub fn broadcast_from_first<T: Serialize>(world: &mut MpiWorld, value: &T) -> Result<()> {
    world.run_isolated(&BroadcastFromFirst(serde_json::to_vec(value).map_err(unreadable)?))
}

/// The next message from rank 0, for which the others wait as long as it takes, with little use of their processors.
///
/// # Errors
/// Those of [`MpiWorld::run`].
pub fn receive_from_first<T: DeserializeOwned>(world: &mut MpiWorld) -> Result<T> {
    serde_json::from_slice(&world.run_isolated(&ReceiveFromFirst)?).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::Network(io::Error::from(error).to_string())
}

/// The contents of a message.
fn bytes(message: &Message) -> Vec<u8> {
    message.content().map(|content| content.to_vec()).unwrap_or_default()
}

/// Rank 0 tells each other rank the same.
struct BroadcastFromFirst(Vec<u8>);

impl Program for BroadcastFromFirst {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        for rank in (1..endpoint.size()).map(Rank) {
            endpoint.send(rank, Message::from(self.0.clone())).await?;
        }
        Ok(())
    }
}

/// A rank checks from time to time for a message from rank 0.
struct ReceiveFromFirst;

impl Program for ReceiveFromFirst {
    type Output = Vec<u8>;
    /// For the deadlines.
    const NEEDS: Needs = Needs::ANY_SOURCE;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<u8>> {
        loop {
            match endpoint.receive_matching(Source::Rank(Rank(0)), Tags::Any, Some(endpoint.now())).await {
                Err(Error::Deadline(_)) => endpoint.compute(IDLE_PAUSE).await,
                value => return value.map(|value| bytes(&value.message)),
            }
        }
    }
}

/// All ranks tell rank 0, which sends all of them what all have told.
struct AllGather(Vec<u8>);

impl Program for AllGather {
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
            for value in &all {
                endpoint.send(rank, Message::from(value.clone())).await?;
            }
        }
        Ok(all)
    }
}
