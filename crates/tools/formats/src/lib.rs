//! Reads and writes files: reading is bounded; a written file is whole or absent, even when a signal ends the process.

pub mod cells;
pub mod input;
pub mod interrupt;
pub mod output;
pub mod traffic_matrix;
