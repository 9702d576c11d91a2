//! The workbench: the command line, what runs leave behind, experiments, comparison with the published figures, reports.

pub mod benchmark;
pub mod calibrate;
pub mod cells;
pub mod command_line;
pub mod experiment;
pub mod input;
pub mod interrupt;
pub mod latency;
pub mod launch;
pub mod linear_hash;
pub mod output;
pub mod parallel;
pub mod planner;
pub mod postal_clock;
pub mod report;
pub mod reproduce;
pub mod simulate;
pub mod traffic_matrix;
pub mod words;
