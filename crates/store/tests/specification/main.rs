//! What the store promises its clients, and its members each other.

mod client;
mod clients;
mod commands;
mod groups;
mod histories;
mod large_values;
mod limits;
mod link;
mod messages;
mod persistence;
mod pipelines;
mod pool;
mod requests;
mod seeds;
mod sessions;
mod stripes;
mod table;
mod views;
mod watching;
