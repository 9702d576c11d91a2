//! The specification of the programs: one test program, so that its dependencies are linked only once.

mod application_patterns;
mod cast;
mod conjugate_gradient;
mod euler;
mod fft;
mod measure;
mod meshes;
mod partitions;
#[path = "../../../collectives/tests/specification/worlds/mod.rs"]
mod worlds;
