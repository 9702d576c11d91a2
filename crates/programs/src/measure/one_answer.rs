//! The first experiment: messages to k ranks, and an answer from the last.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Duration, Rank};

/// The source P0 sends to P1, P2, up to Pk; when Pk has its message, it sends one of the same size back.
///
/// ```text
///   P0  ->P1 ->P2 ->P3 . . . . . . P0           k = 3, lambda = 2
///       |t0  |t0  |t0  |
///                 P3 . . . . ->P0
///                 |lambda t0|lambda t0|
/// ```
///
/// k + 1 messages. In the postal model, T = t0 (k - 1 + 2 lambda), at P0.
///
/// Source: Bruck et al., section 2.2, the first experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneAnswer {
    /// P0.
    pub source: Rank,
    /// P1 to Pk, all different. Other ranks are idle.
    pub partners: Vec<Rank>,
    /// Size of a message. [B]
    pub bytes: Bytes,
}

impl Program for OneAnswer {
    /// T, at the source; nothing at all others.
    type Output = Option<Duration>;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Option<Duration>> {
        let Some(&last) = self.partners.last() else {
            return Err(Error::Unfit("one-answer needs a partner at least, not 0".to_string()));
        };
        let me = endpoint.rank();
        if me == self.source {
            let start = endpoint.now();
            for &partner in &self.partners {
                endpoint.send(partner, Message::of_size(self.bytes)).await?;
            }
            endpoint.receive(last).await?;
            return Ok(Some(endpoint.now().since(start)));
        }
        if self.partners.contains(&me) {
            let message = endpoint.receive(self.source).await?;
            if me == last {
                endpoint.send(self.source, message).await?;
            }
        }
        Ok(None)
    }
}
