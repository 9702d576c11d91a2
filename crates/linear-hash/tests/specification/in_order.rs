//! A file of servers between which messages arrive in the order they were sent: how it answers requests, grows and
//! shrinks, and answers scans.

mod file;
mod forwarding;
mod growth;
mod requests;
mod scan;
