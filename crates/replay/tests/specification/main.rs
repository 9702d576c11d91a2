//! The specification of what is replayed: one test program, so that its dependencies are linked only once.

mod foreign_traces;
mod goal;
mod goal_binary;
mod traces;
