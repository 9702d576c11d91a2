//! Worlds that simulate: the executor, the contention-free clock, the flit-level network.

pub mod answer;
mod any_kind;
pub mod clock;
pub mod ethernet;
pub mod ethernet_world;
pub mod events;
mod horizon;
pub mod network;
pub mod network_world;
pub mod nodes;
pub mod stop;
pub mod traffic;
