//! All-to-all: every rank has a message for every other, or for some. Who sends when?
//!
//! The algorithms for complete exchange are programs, one file each; [`Complete`] lists them by name. [`irregular`]
//! makes schedules for any pattern of messages.

mod all_at_once;
mod balanced;
mod blocks;
mod bruck;
mod complete;
pub mod irregular;
mod linear;
mod pairwise;
mod posted;
mod recursive;

pub use all_at_once::{ALL_AT_ONCE, all_at_once};
pub use balanced::{Balanced, balanced};
pub use bruck::{Bruck, bruck};
pub use complete::{Complete, CompleteExchange};
pub use irregular::Irregular;
pub use linear::{Linear, linear};
pub use pairwise::{Pairwise, pairwise};
pub use posted::posted;
pub use recursive::{Recursive, recursive};
