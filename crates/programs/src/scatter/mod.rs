//! What one rank has goes to all of them, a part to each.

mod binomial;
mod linear;

pub use binomial::binomial;
pub use linear::linear;
