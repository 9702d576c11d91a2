//! The network to the flit: its two engines, the nodes at its ends, the world that runs programs on them, and open-loop
//! traffic.

pub mod network;
pub mod nodes;
pub mod traffic;
pub mod world;
