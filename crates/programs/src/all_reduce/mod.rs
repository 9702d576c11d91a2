//! All-reduce: every rank has a message, and every rank gets the combination of all.

mod algorithm;
mod all_reduce_context;
mod blocks;
mod census;
mod fold;
mod operator;
mod operators;
mod rabenseifner;
mod recursive_doubling;
mod reduce_broadcast;
mod ring;
mod rings;

pub use algorithm::*;
pub use all_reduce_context::{AllReduceContext, Sends};
pub(crate) use blocks::Blocks as Parts;
pub use census::{Carries, Exchange, census};
pub(crate) use fold::Fold;
pub use operator::Combine;
pub(crate) use operator::{check_elements, combined};
pub use operators::{Number, Operation, Operator, OperatorError};
pub use rabenseifner::rabenseifner;
pub use recursive_doubling::recursive_doubling;
pub use reduce_broadcast::reduce_broadcast;
pub use ring::ring;
pub use rings::{AllReduceByRings, WeightedRing, rings};
