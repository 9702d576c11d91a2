//! What all ranks have goes to all of them.

mod bruck;
mod ring;

pub use bruck::bruck;
pub use ring::ring;
