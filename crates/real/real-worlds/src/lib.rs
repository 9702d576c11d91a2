//! Worlds that are not models: programs run on this machine and on others.
//!
//! ```text
//!            program                 the same as on the models
//!               |     Endpoint
//!           Messenger                the same as on the simulated Ethernet
//!               |     Datagrams
//!          UdpNetwork --- UdpPort    sockets, multicast, batches            [udp]
//!
//!     UdpWorld                       all ranks in one thread of one process: what the tests of programs need
//!     a process for each rank        Messenger<UdpNetwork>, whose futures are ready at once: [block_on]
//! ```
//!
//! This crate reads clocks, and times differ from run to run.

mod block_on;
mod clock;
mod mpi_world;
mod parameters;
pub mod udp;
mod udp_world;

pub use block_on::block_on;
pub use clock::{Clock, machine_time};
pub use mpi::Companion;
pub use mpi_world::{MpiGuest, MpiMachine, MpiStartError, MpiWorld, Waiting};
pub use parameters::real_parameters;
pub use udp_world::UdpWorld;

/// How often a waiting rank asks whether to continue; it sleeps no longer than that, either.
const QUESTION_INTERVAL: quantities::Duration = quantities::Duration::from_microseconds(20_000);
