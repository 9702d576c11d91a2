//! What messages over datagrams promise: one program, so that what it stands on is compiled and linked once.

mod broadcast;
mod conformance;
mod ends;
mod ethernet;
mod every_program;
mod faults;
mod host_queue;
mod largest;
mod messages_faults;
mod packets;
mod programs;
mod push_pull;
mod strangers;
mod streams;
mod tags;
