//! One rank has a message, and every rank shall have it.

mod binomial;

pub use binomial::{Binomial, binomial};
