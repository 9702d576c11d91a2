//! Worlds that simulate: the network to the flit, switched Ethernets, and the contention-free clock.

pub mod answer;
mod chains;
pub mod critical_path;
pub mod ethernet;
pub mod events;
pub mod flit;
mod horizon;
pub mod jobs;
pub mod loggp;
mod matching;
mod simulated;
pub mod sparse;
pub mod stop;

pub use simulated::{Simulated, waits_for_receivers};
