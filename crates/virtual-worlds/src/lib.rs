//! Worlds that simulate: the executor, the contention-free clock, the flit-level network.

pub mod answer;
pub mod clock;
pub mod ethernet;
pub mod ethernet_world;
pub mod events;
mod horizon;
mod matching;
pub mod network;
pub mod network_world;
pub mod nodes;
mod simulated;
pub mod stop;
pub mod traffic;

pub use simulated::Simulated;
