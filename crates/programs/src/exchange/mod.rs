//! Every rank has a message for every other.

mod pairwise;

pub use pairwise::{Pairwise, pairwise};
