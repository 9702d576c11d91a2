//! Broadcast and reply: how long a broadcast takes, on one rank's clock.

use endpoint::{Endpoint, Error, Message, Needs, Program, Result, check_partner};
use quantities::{Bytes, Duration, Rank};

use collectives::Group;
use collectives::broadcast::{Algorithm, BroadcastMessage, hardware};

/// Rank 0 broadcasts a message, and `replier` sends one of the same size back as soon as it has it, `rounds` times. The
/// others only take part in the broadcast.
///
/// ```text
///   rank 0      ~~ bytes ~~>   all others
///   rank 0     <-- bytes ---   replier          one round, on the clock of rank 0
/// ```
///
/// Nodes whose clocks differ can't tell how long a message takes one way, but each can tell how long it waits for an
/// answer. Under LogGP, with a tree in which the replier is the k-th rank that rank 0 sends to, with sends s apart: T =
/// (k - 1) s + 2 (o + (bytes - 1) G + L + o).
///
/// Source: our reading of Wong and Wang 2000, section 4.1, which does not say how its broadcasts were timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroadcastReply {
    /// How rank 0 broadcasts.
    pub by: By,
    /// Size of the message, both ways. [B]
    pub bytes: Bytes,
    /// The number of rounds.
    pub rounds: u32,
    /// The rank that replies.
    pub replier: Rank,
}

/// How a broadcast goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// The network does it.
    Hardware,
    /// Ranks forward it.
    Messages(Algorithm),
}

/// The rank that broadcasts.
const ROOT: Rank = Rank(0);

impl BroadcastReply {
    async fn broadcast<E: Endpoint>(&self, endpoint: &E) -> Result<Message> {
        let mut message = Message::of_size(self.bytes);
        match &self.by {
            By::Hardware => {
                hardware(endpoint, ROOT, &mut message).await?;
                Ok(message)
            }
            By::Messages(algorithm) => {
                let group = Group::from_source(ROOT, endpoint.size())?;
                let broadcast = BroadcastMessage { algorithm: algorithm.clone(), group, message };
                Program::run(&broadcast, endpoint).await
            }
        }
    }
}

impl Program for BroadcastReply {
    const NEEDS: Needs = Needs::MULTICAST;
    /// How long each round took, at rank 0; empty at all others.
    type Output = Vec<Duration>;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<Duration>> {
        if self.replier == ROOT {
            return Err(Error::Unfit("the source of a broadcast can't reply".to_owned()));
        }
        if endpoint.rank() == ROOT {
            check_partner(ROOT, self.replier, endpoint.size())?;
        }
        let mut times = Vec::new();
        for _ in 0..self.rounds {
            let start = endpoint.now();
            let message = self.broadcast(endpoint).await?;
            if endpoint.rank() == ROOT {
                endpoint.receive(self.replier).await?;
                times.push(endpoint.now().since(start));
            } else if endpoint.rank() == self.replier {
                endpoint.send(ROOT, message).await?;
            }
        }
        Ok(times)
    }
}
