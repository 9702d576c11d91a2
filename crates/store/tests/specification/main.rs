//! What the store promises its clients.

mod commands;
mod requests;
mod sessions;
