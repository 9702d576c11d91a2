//! Files that are read and written: within bounds, whole or not at all, and gone when a signal ends the process before they are.

pub mod cells;
pub mod input;
pub mod interrupt;
pub mod output;
pub mod traffic_matrix;
