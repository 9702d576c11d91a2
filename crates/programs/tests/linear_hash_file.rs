//! A file of servers between which messages arrive in the order they were sent: how it answers requests, grows and shrinks, and is
//! scanned.

#[path = "linear_hash/file.rs"]
mod file;
#[path = "linear_hash/forwarding.rs"]
mod forwarding;
#[path = "linear_hash/growth.rs"]
mod growth;
#[path = "linear_hash/requests.rs"]
mod requests;
#[path = "linear_hash/scan.rs"]
mod scan;
