//! Broadcast by recursive splitting: the lambda tree.

use endpoint::{Endpoint, Error, Message, Needs, Result};
use quantities::Bytes;

use super::Links;
use super::algorithm::{Algorithm, BroadcastAlgorithm};
use crate::Group;
use crate::catalogue::{Cost, Entry, Parameter, Stretch};
use crate::postal::{Lambda, Splitting};

/// Broadcast of `message` from the source of `group` along the tree that `splitting` makes. The others' own `message`
/// is overwritten; a rank that is not in the group does nothing.
///
/// ```text
///   bcast(S, n, s, m, alpha):
///     n = 1:   done
///     split S in S' of n' = min(round(alpha n), n - 1) ranks, s among them, and S'' of the others
///     s sends m to a leader s' of S''
///     bcast(S', n', s, m, alpha) and bcast(S'', n - n', s', m, alpha) at once
/// ```
///
/// Every rank follows the splitting down to itself, so nothing is built in advance. An alpha of 1/2 makes a binomial
/// tree of any size; the look-up table for lambda makes a lambda tree, the fastest in the postal model:
///
/// ```text
///   lambda = 2, n = 8, alpha = 0.618      sent                           received
///                                         at 0   0 -> 5                      at 2
///             0                           at 1   0 -> 3                      at 3
///      .----.-'-.----.                    at 2   0 -> 2   5 -> 7             at 4
///      5    3   2    1                    at 3   0 -> 1   5 -> 6   3 -> 4    at 5
///     / \   |
///    7   6  4
/// ```
///
/// n ranks: n - 1 messages. In the postal model T = T_lambda(n) t0 with the table for lambda.
///
/// Source: the postal paper, section 2.4.
///
/// # Errors
/// When the group has ranks outside the program, or more than the table goes to; and the errors of sending and
/// receiving.
pub async fn bcast<E: Endpoint>(
    endpoint: &E,
    group: &Group,
    splitting: &Splitting,
    message: &mut Message,
) -> Result<()> {
    group.check(endpoint.size())?;
    reaches(splitting, group.len())?;
    let Some(me) = group.place_of(endpoint.rank()) else { return Ok(()) };
    Links::by_splitting(splitting, group.len(), me).pass_on(endpoint, group, message).await
}

/// Checks that `splitting` covers `size` ranks.
pub(crate) fn reaches(splitting: &Splitting, size: u32) -> Result<()> {
    match splitting {
        Splitting::Table(table) if table.most() < u64::from(size) => Err(Error::Unfit(format!(
            "the look-up table of alphas for a latency of {} goes to {} ranks, the group has {size}",
            table.lambda(),
            table.most()
        ))),
        Splitting::Table(_) | Splitting::Fixed(_) => Ok(()),
    }
}

/// [`bcast`] in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LambdaTree(pub Splitting);

impl BroadcastAlgorithm for LambdaTree {
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "lambda-tree",
        about: "By splitting the nodes again and again, as --alpha or the look-up table for --lambda says",
        formula: "T_lambda(n) t0 with the look-up table for lambda",
        parameters: &[Parameter::Alpha, Parameter::Lambda],
        needs: Needs::NOTHING,
        make: |parameters| Ok(LambdaTree(parameters.splitting()?).into()),
    }];

    async fn run<E: Endpoint>(&self, endpoint: &E, group: &Group, _: Bytes, message: &mut Message) -> Result<()> {
        bcast(endpoint, group, &self.0, message).await
    }

    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let steps = self.0.time(lambda, u64::from(ranks)).as_f64();
        Cost::of(f64::from(ranks), bytes, vec![Stretch::of(steps, 0.0, bytes)])
    }

    fn messages(&self, ranks: u32) -> Option<u64> {
        Some(u64::from(ranks) - 1)
    }
}
