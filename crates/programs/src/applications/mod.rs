//! Applications that really compute, and the meshes and partitions that determine their communication.

pub mod conjugate_gradient;
pub mod cost;
pub mod euler;
pub mod fft;
pub mod grid;
pub mod halo;
pub mod mesh;
mod packed;
pub mod partition;
pub mod patterns;
pub mod values;
