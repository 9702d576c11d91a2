//! An Euler solver on an unstructured mesh: the steady flow of an inviscid gas.

mod dual;
mod gas;
mod program;
mod region;
mod start;

pub use dual::Dual;
pub use gas::{Area, GasState, free_stream, pressure, state};
pub use program::{Euler, Flow};
pub use start::Bump;
