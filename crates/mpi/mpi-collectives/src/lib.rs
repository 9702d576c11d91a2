//! A library that is preloaded into MPI processes and does their collectives according to a plan:
//! `libmaquette_mpi_collectives.so`.
//!
//! ```text
//!     calls          MPI_Bcast and its kin, as the program calls them
//!       |            not in the plan, or unsuitable: the library's own, by PMPI_...              [choice]
//!     job            the collective as a program, the same code as in every world                [job]
//!       |            the rank's data and where received data go                                  [data, reduction]
//!     MpiGuest       messages on communicators of our own, one pair for each of the program's    [communicators]
//! ```
//!
//! A nonblocking collective is done by a thread, and the program gets a generalized request, which that thread
//! completes (`background.rs`). So it makes progress whatever the program does, as MPI requires.
//!
//! All ranks must make the same choice, so it depends only on what all of them know: the plan, the number of ranks, the
//! length of a message if all have the same, the operator. Datatypes may differ from rank to rank, so all of them are
//! supported.
//!
//! `unsafe` is unavoidable in such a library: functions called by C, with pointers whose meaning only the MPI standard
//! defines.

mod background;
mod calls;
mod choice;
mod communicators;
mod data;
mod functions;
mod job;
mod lifecycle;
mod measure;
mod measured_call;
mod processors;
mod reduction;
mod session;
mod statistics;
