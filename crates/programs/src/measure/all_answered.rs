//! The second experiment: messages to k ranks, and from the last of them to all others.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Duration, Rank};

/// The source P0 sends to P1, P2, up to Pk; when Pk has its message, it sends one of the same size to Pk-1, Pk-2, down
/// to P0.
///
/// ```text
///   P0  ->P1 ->P2 ->P3                           k = 3
///   P3                 ->P2 ->P1 ->P0
/// ```
///
/// 2 k messages. In the postal model, T = 2 t0 (k - 1 + lambda), at P0.
///
/// Source: Bruck et al., section 2.2, the second experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllAnswered {
    /// P0.
    pub source: Rank,
    /// P1 to Pk, all different. Other ranks are idle.
    pub partners: Vec<Rank>,
    /// Size of a message. [B]
    pub bytes: Bytes,
}

impl Program for AllAnswered {
    /// T, at the source; nothing at all others.
    type Output = Option<Duration>;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Option<Duration>> {
        let Some((&last, between)) = self.partners.split_last() else {
            return Err(Error::Unfit("all-answered needs a partner at least, not 0".to_string()));
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
        if me == last {
            let message = endpoint.receive(self.source).await?;
            for &partner in between.iter().rev().chain([&self.source]) {
                endpoint.send(partner, message.clone()).await?;
            }
        } else if between.contains(&me) {
            endpoint.receive(self.source).await?;
            endpoint.receive(last).await?;
        }
        Ok(None)
    }
}
