//! Every rank has messages for some others, which the pattern says: who sends when?
//!
//! The algorithms make a [`Schedule`](crate::schedule::Schedule) of a [`Pattern`](crate::schedule::Pattern). What can be
//! said of any of them: it has at least as many steps as the busiest rank has messages to send, or to receive.

mod greedy;
mod pairwise;

pub use greedy::greedy;
pub use pairwise::pairwise;
