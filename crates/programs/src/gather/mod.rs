//! Gather: the data of all ranks goes to one of them.

mod binomial;
mod linear;

pub use binomial::binomial;
pub use linear::linear;
