//! Sums over all ranks.

use endpoint::{Endpoint, Error, Result};
use quantities::Rank;

use super::values::{packed, unpacked};
use collectives::Group;
use collectives::all_reduce::{AllReduceContext, Number, Operation, Operator, Sends, recursive_doubling};

/// The sum of all ranks' values, the same to the last bit on every rank, by [`recursive_doubling`].
pub(super) async fn sum<E: Endpoint>(endpoint: &E, own: f64) -> Result<f64> {
    let group = Group::from_source(Rank(0), endpoint.size())?;
    let operator = Operator::Of(Operation::Sum, Number::F64);
    let mut message = packed([own]);
    let context = AllReduceContext { group: &group, operator: &operator, sends: Sends::default() };
    recursive_doubling(endpoint, &context, &mut message).await?;
    match unpacked(&message).as_deref() {
        Some(&[sum]) => Ok(sum),
        _ => Err(Error::Unfit(format!("a sum of {}, not of 8 B", message.size()))),
    }
}
