//! What messages over datagrams promise. One program, so that its dependencies are compiled and linked once.

mod broadcast;
mod conformance;
mod ends;
mod ethernet;
mod every_program;
mod faults;
mod host_queue;
mod largest;
mod memory_by_hand;
mod messages_faults;
mod packets;
mod programs;
mod push_pull;
mod strangers;
mod streams;
mod tags;
