//! What is best on a machine, and what a machine is like: plans, calibrations and measurements.

pub mod benchmark;
pub mod calibrate;
pub mod latency;
pub mod planner;
