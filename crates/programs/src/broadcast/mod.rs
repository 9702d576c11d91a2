//! Broadcast: a message that one rank has goes to every rank.

mod algorithm;
mod binomial;
mod hardware;
mod lambda_tree;
mod linear;
mod links;
mod recursive;
mod scatter_gather;
mod segmented;
mod two_queue;

pub use algorithm::*;
pub use binomial::{BinomialBroadcast, binomial, binomial_among};
pub use hardware::{HardwareBroadcast, hardware};
pub use lambda_tree::bcast;
pub(crate) use lambda_tree::reaches;
pub use linear::linear;
pub use links::Links;
pub use recursive::recursive;
pub use scatter_gather::scatter_gather;
pub use segmented::{Pipe, segmented};
pub use two_queue::{Tree, along_tree};
