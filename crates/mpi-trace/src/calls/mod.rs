//! Each function that is taken: what it calls, and what is noted of it. One line a function, where nothing has to be known before it is called.

mod collectives;
mod communicators;
mod completion;
mod lifecycle;
mod persistent;
mod point_to_point;
mod probes;
mod unsupported;
