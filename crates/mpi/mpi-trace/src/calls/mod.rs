//! Each replaced function: what it calls, and what is recorded of it. One line per function, unless something has to be
//! known before the call.

mod collectives;
mod communicators;
mod completion;
mod lifecycle;
mod persistent;
mod point_to_point;
mod probes;
mod unsupported;
