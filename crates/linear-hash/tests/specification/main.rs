//! The specification of LH*LH: one test program, so that its dependencies are linked only once.

mod addressing;
mod faults;
mod growing;
mod in_order;
mod messages;
mod program;
mod table;
