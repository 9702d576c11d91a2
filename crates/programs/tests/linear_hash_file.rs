//! A file of servers between which messages arrive in the order they were sent: how it grows and shrinks, and how it is scanned.

#[path = "linear_hash/file.rs"]
mod file;
#[path = "linear_hash/growth.rs"]
mod growth;
#[path = "linear_hash/scan.rs"]
mod scan;
