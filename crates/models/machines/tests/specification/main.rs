//! What descriptions of machines promise. One program, so that its dependencies are compiled and linked once.

mod ethernet;
mod export;
mod facts;
mod mistakes;
mod next_hops;
mod presets;
mod proof;
mod properties;
mod rewriting;
mod topologies;
