//! Everything that the author of a program for Maquette needs, in one crate.
//!
//! A program implements [`Program`] over any [`Endpoint`], may use the algorithms of [`collectives`], and runs on a model
//! of a machine, [`Simulated`], or over UDP on this computer, [`UdpWorld`]. The folder `examples/own-program` holds a
//! complete one.
//!
//! ```
//! use maquette::{Bytes, Endpoint, Message, Options, Program, Rank, Result, Simulated, Time, World};
//!
//! /// Rank 0 sends a message to rank 1.
//! struct OneWay;
//!
//! impl Program for OneWay {
//!     type Output = Time;
//!     async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Time> {
//!         match endpoint.rank() {
//!             Rank(0) => endpoint.send(Rank(1), Message::of_size(Bytes(4096))).await?,
//!             _ => drop(endpoint.receive(Rank(0)).await?),
//!         }
//!         Ok(endpoint.now())
//!     }
//! }
//!
//! let machine = maquette::load("infiniband-128").unwrap();
//! let (times, answer) = Simulated::new(&machine, Options::default()).run(2, &OneWay).unwrap();
//! assert_eq!(times[1], Ok(answer.makespan()));
//! ```

pub use collectives;
pub use endpoint::{
    Endpoint, Error, First, Message, Needs, Program, Received, Result, Source, Tag, Tags, World, first_of, join,
    join_all, wait_all,
};
pub use linear_hash;
pub use machines::{Description, load, model::Machine};
pub use programs;
pub use quantities::{Bytes, Duration, Rank, Rate, Time};
pub use real_worlds::UdpWorld;
pub use virtual_worlds::Simulated;
pub use virtual_worlds::answer::Answer;
pub use virtual_worlds::flit::world::{EngineKind, Options};
