//! What descriptions of machines promise: one program, so that what it stands on is compiled and linked once.

mod ethernet;
mod export;
mod facts;
mod mistakes;
mod next_hops;
mod presets;
mod properties;
mod rewriting;
mod topologies;
