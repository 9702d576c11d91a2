//! Programs of several ranks, each written once for every world: applications, benchmarks, measurements, and the rounds
//! in which content is cast to all receivers.
//!
//! A program is a plain `async fn` over [`endpoint::Endpoint`] that reads like the pseudo-code of its source, and a
//! struct with its parameters that implements [`endpoint::Program`], so that a world can run it.

pub mod applications;
pub mod benchmarks;
pub mod cast;
pub mod measure;
