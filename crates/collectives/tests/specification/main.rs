//! The specification of the collectives: one test program, so that its dependencies are linked only once.

mod all_reduce;
mod broadcast;
mod cm5_by_hand;
mod cm5_tables;
mod collectives;
mod collectives_by_shape;
mod complete_exchange;
mod msccl;
mod postal;
mod postal_by_hand;
mod schedules;
mod worlds;
