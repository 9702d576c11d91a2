//! Broadcast without a tree.

use endpoint::{Endpoint, Message, Needs, Result};
use quantities::Bytes;

use super::algorithm::{Algorithm, BroadcastAlgorithm};
use crate::Group;
use crate::catalogue::{Cost, Entry, Stretch};
use crate::postal::Lambda;

/// Broadcast of `message` from the source of `group`, which sends it to all others one by one. Their own `message` is
/// overwritten; a rank that is not in the group does nothing.
///
/// ```text
///   0 -> 1   0 -> 2   0 -> 3   ...
/// ```
///
/// n ranks: n - 1 messages, all from one sender. In the postal model T = (n - 2 + lambda) t0.
///
/// Source: the linear broadcast of "Scheduling Regular and Irregular Communication Patterns on the CM-5", section 3.6.
///
/// # Errors
/// When the group has ranks outside the program, and the errors of sending and receiving.
pub async fn linear<E: Endpoint>(endpoint: &E, group: &Group, message: &mut Message) -> Result<()> {
    group.check(endpoint.size())?;
    match group.place_of(endpoint.rank()) {
        None => {}
        Some(0) => {
            for place in 1..group.len() {
                endpoint.send(group.rank_at(place), message.clone()).await?;
            }
        }
        Some(_) => *message = endpoint.receive(group.source()).await?,
    }
    Ok(())
}

/// [`linear`] in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear;

impl BroadcastAlgorithm for Linear {
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "linear",
        about: "The source sends to all others, one by one",
        formula: "(n - 2 + lambda) t0",
        parameters: &[],
        needs: Needs::NOTHING,
        make: |_| Ok(Linear.into()),
    }];

    async fn run<E: Endpoint>(&self, endpoint: &E, group: &Group, _: Bytes, message: &mut Message) -> Result<()> {
        linear(endpoint, group, message).await
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let n = f64::from(ranks);
        Cost::of(n, bytes, vec![Stretch::of((n - 2.0).max(0.0), 1.0, bytes)])
    }

    fn messages(&self, ranks: u32) -> Option<u64> {
        Some(u64::from(ranks) - 1)
    }
}
