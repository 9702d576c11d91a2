//! All-gather: the data of all ranks goes to all of them.

mod bruck;
mod ring;

pub use bruck::bruck;
pub use ring::ring;
