//! All-reduce through one rank.

use endpoint::{Endpoint, Message, Needs, Result};
use quantities::Bytes;

use super::algorithm::{Algorithm, AllReduceAlgorithm};
use super::operator::combined;
use super::{AllReduceContext, Combine};
use crate::broadcast::{Links, reaches};
use crate::catalogue::{Cost, Entry, Parameter, Stretch, halvings};
use crate::postal::{Lambda, Splitting};

/// Combines the `message`s of all ranks of a group at its source, along the broadcast tree that `splitting` makes, run
/// backwards; then broadcasts the result along the same tree. Every rank ends with it.
///
/// ```text
///   a rank with children c1, c2, ... ck in the order in which a broadcast would reach them:
///     receives from ck, ..., c2, c1 and combines;  sends to its parent;
///     receives the result from its parent;         sends it to c1, c2, ..., ck
/// ```
///
/// n ranks: 2 (n - 1) messages. In the postal model, with the look-up table for lambda, T = 2 T_lambda(n) t0: twice the
/// time of the census, with far fewer messages.
///
/// All ranks end with the same bytes.
///
/// Source: the postal paper, section 2.4, and Karp, Sahay, Santos and Schauser, "Optimal broadcast and summation in the
/// LogP model", Symposium on Parallel Algorithms and Architectures, 1993, for its reversal.
///
/// # Errors
/// When the operator does not fit the data, when the group has more ranks than the table goes to, and the errors of
/// sending and receiving.
pub async fn reduce_broadcast<E: Endpoint, C: Combine>(
    endpoint: &E,
    context: &AllReduceContext<'_, C>,
    splitting: &Splitting,
    message: &mut Message,
) -> Result<()> {
    let Some(me) = context.place(endpoint, message)? else { return Ok(()) };
    let group = context.group;
    reaches(splitting, group.len())?;
    let links = Links::by_splitting(splitting, group.len(), me);
    for &child in links.children.iter().rev() {
        let received = endpoint.receive(group.rank_at(child)).await?;
        *message = combined(context.operator, message, &received)?;
    }
    if let Some(parent) = links.parent {
        endpoint.send(group.rank_at(parent), message.clone()).await?;
    }
    links.pass_on(endpoint, group, message).await
}

/// [`reduce_broadcast`] in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReduceBroadcast(pub Splitting);

impl AllReduceAlgorithm for ReduceBroadcast {
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "reduce-broadcast",
        about: "To the root along the tree by splitting, and back",
        formula: "2 T_lambda(n) t0 with the look-up table for lambda",
        parameters: &[Parameter::Alpha, Parameter::Lambda],
        needs: Needs::NOTHING,
        make: |parameters| Ok(ReduceBroadcast(parameters.splitting()?).into()),
    }];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        context: &AllReduceContext<'_, C>,
        message: &mut Message,
    ) -> Result<()> {
        reduce_broadcast(endpoint, context, &self.0, message).await
    }

    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let stretch = if self.0 == Splitting::BINOMIAL {
            Stretch::of(0.0, 2.0 * f64::from(halvings(ranks)), bytes)
        } else {
            Stretch::of(2.0 * self.0.time(lambda, u64::from(ranks)).as_f64(), 0.0, bytes)
        };
        Cost::of(2.0 * f64::from(ranks), bytes, vec![stretch])
    }
}
