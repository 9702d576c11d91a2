//! What ranks of MPI tell each other that is no part of a program: whether all can begin, and how each has ended.

use std::io;

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::Rank;
use real_worlds::MpiWorld;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What every rank has to tell, in order of rank, known to all of them; all ranks ask for it together.
///
/// # Errors
/// As [`MpiWorld::run`].
pub fn told_by_all<T: Serialize + DeserializeOwned>(world: &mut MpiWorld, told: &T) -> Result<Vec<T>> {
    let unreadable = |error: serde_json::Error| Error::Network(io::Error::from(error).to_string());
    let own = serde_json::to_vec(told).map_err(unreadable)?;
    world.run_between(&TellAll(own))?.iter().map(|line| serde_json::from_slice(line).map_err(unreadable)).collect()
}

/// All ranks tell rank 0, which tells all of them what all have told.
struct TellAll(Vec<u8>);

impl Program for TellAll {
    type Output = Vec<Vec<u8>>;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<Vec<u8>>> {
        let others = || (1..endpoint.size()).map(Rank);
        let bytes = |message: Message| message.content().map(|content| content.to_vec()).unwrap_or_default();
        if endpoint.rank() > Rank(0) {
            endpoint.send(Rank(0), Message::from(self.0.clone())).await?;
            let mut all = Vec::new();
            for _ in 0..endpoint.size() {
                all.push(bytes(endpoint.receive(Rank(0)).await?));
            }
            return Ok(all);
        }
        let mut all = vec![self.0.clone()];
        for rank in others() {
            all.push(bytes(endpoint.receive(rank).await?));
        }
        for rank in others() {
            for told in &all {
                endpoint.send(rank, Message::from(told.clone())).await?;
            }
        }
        Ok(all)
    }
}
