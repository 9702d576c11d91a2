//! Ping-pong: measures the round-trip time of a message.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Duration, Rank};

/// A message goes from `first` to `second` and back, `rounds` times; all other ranks are idle.
///
/// ```text
///   first   --bytes-->   second
///   first   <--bytes--   second      one round
/// ```
///
/// Under LogGP a round takes 2 (o + (s-1) G + L + o) for a message of s bytes.
///
/// Source: the *ping-pong* benchmark of the Mesh of Clos study, which plots it over the distance between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingPong {
    /// The rank that begins.
    pub first: Rank,
    /// The rank that answers.
    pub second: Rank,
    /// Size of the message, both ways. [B]
    pub bytes: Bytes,
    /// The number of round trips.
    pub rounds: u32,
}

impl Program for PingPong {
    /// How long each round took, at the rank that began it; empty at all others.
    type Output = Vec<Duration>;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<Duration>> {
        if self.first == self.second {
            return Err(Error::Unfit(format!("ping-pong needs two different ranks, not rank {} twice", self.first)));
        }
        for rank in [self.first, self.second] {
            if rank.0 >= endpoint.size() {
                return Err(Error::NoSuchRank { rank, size: endpoint.size() });
            }
        }
        if endpoint.rank() == self.first {
            ping(endpoint, self.second, self.bytes, self.rounds).await
        } else if endpoint.rank() == self.second {
            pong(endpoint, self.first, self.rounds).await
        } else {
            Ok(Vec::new())
        }
    }
}

/// Sends to `partner` and waits for the answer.
async fn ping<E: Endpoint>(endpoint: &E, partner: Rank, bytes: Bytes, rounds: u32) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    // A round begins when the previous one ends: reading a real clock twice would add a good part of a short message's
    // time.
    let mut start = endpoint.now();
    for _ in 0..rounds {
        endpoint.send(partner, Message::of_size(bytes)).await?;
        endpoint.receive(partner).await?;
        let end = endpoint.now();
        times.push(end.since(start));
        start = end;
    }
    Ok(times)
}

/// Sends every message from `partner` back.
async fn pong<E: Endpoint>(endpoint: &E, partner: Rank, rounds: u32) -> Result<Vec<Duration>> {
    for _ in 0..rounds {
        let message = endpoint.receive(partner).await?;
        endpoint.send(partner, message).await?;
    }
    Ok(Vec::new())
}
