//! Sums over all ranks.

use endpoint::{Endpoint, Error, Result};
use quantities::Rank;

use super::values::{packed, unpacked};
use crate::all_reduce::{AllReduceContext, Number, Operation, Operator, recursive_doubling};
use crate::schedule::SendReceiveOrder;
use crate::{Group, Sends};

/// The sum of what each rank has, the same to the last bit on every rank, by [`recursive_doubling`]. `order` is what a rank
/// does first of two that exchange.
pub(super) async fn sum<E: Endpoint>(endpoint: &E, order: SendReceiveOrder, own: f64) -> Result<f64> {
    let group = Group::from_source(Rank(0), endpoint.size())?;
    let sends = match order {
        SendReceiveOrder::Alternating => Sends::Synchronous,
        SendReceiveOrder::SendFirst => Sends::Early,
    };
    let operator = Operator::Of(Operation::Sum, Number::F64);
    let mut message = packed([own]);
    recursive_doubling(endpoint, &AllReduceContext { group: &group, operator: &operator, sends }, &mut message).await?;
    match unpacked(&message).as_deref() {
        Some(&[sum]) => Ok(sum),
        _ => Err(Error::Unfit(format!("a sum of {}, not of 8 B", message.size()))),
    }
}
