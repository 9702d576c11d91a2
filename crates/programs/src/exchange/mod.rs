//! Every rank has a message for every other.

pub mod irregular;
mod pairwise;

pub use pairwise::{Pairwise, pairwise};
