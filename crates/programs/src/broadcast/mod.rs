//! One rank has a message, and every rank shall have it.

mod binomial;
mod hardware;

pub use binomial::{Binomial, binomial};
pub use hardware::{Hardware, hardware};
