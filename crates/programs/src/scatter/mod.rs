//! Scatter: one rank's data goes to all ranks, a part to each.

mod binomial;
mod linear;

pub use binomial::binomial;
pub use linear::linear;
