//! Conjugate gradient on the five-point Laplacian.

mod program;
mod system;

pub use program::{ConjugateGradient, Solved};
pub use system::random_right_side;
