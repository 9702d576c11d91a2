//! What the store promises its clients, and its members each other.

mod commands;
mod link;
mod pool;
mod requests;
mod sessions;
