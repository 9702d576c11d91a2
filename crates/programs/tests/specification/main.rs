//! What the programs promise: one program, so that what it stands on is compiled and linked once.

mod all_reduce;
mod application_patterns;
mod broadcast;
mod cm5_tables;
mod collectives;
mod complete_exchange;
mod conjugate_gradient;
mod euler;
mod fft;
mod goal;
mod goal_binary;
mod linear_hash_addressing;
mod linear_hash_faults;
mod linear_hash_file;
mod linear_hash_messages;
mod linear_hash_program;
mod linear_hash_table;
mod measure;
mod meshes;
mod mpi_collectives;
mod msccl;
mod partitions;
mod postal;
mod schedules;
mod traces;
mod worlds;
