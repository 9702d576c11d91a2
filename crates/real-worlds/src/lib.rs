//! Worlds that are no model: programs run on this machine and on others.
//!
//! Clocks are read here, and what takes how long differs from run to run.

mod clock;
pub mod udp;

pub use clock::{Clock, machine_time};
