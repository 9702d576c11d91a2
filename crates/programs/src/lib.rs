//! Parallel programs, one file per algorithm, each written once for every world.
//!
//! A program is a plain `async fn` over [`endpoint::Endpoint`] that reads like the pseudo-code of its source, and a
//! struct with its parameters that implements [`endpoint::Program`], so that a world can run it.

pub mod agreement;
pub mod all_to_all;
pub mod applications;
pub mod benchmarks;
pub mod cast;
pub mod catalogue;
pub mod collectives;
pub mod goal;
mod group;
pub mod linear_hash;
pub mod measure;
mod pieces;
pub mod postal;
pub mod schedule;
mod shift;
mod shuffle;
pub mod trace;

pub use group::Group;
pub use pieces::joined;
