//! A library that is preloaded into MPI processes and does their collectives as a plan says: `libmaquette_collectives.so`.
//!
//! ```text
//!     calls          MPI_Bcast and its kin, as the program calls them
//!       |            not in the plan, or not to be done here: the library's own, by PMPI_...     [choice]
//!     job            the collective as a program, the same code as in every world                [job]
//!       |            what the rank has and where what comes is to lie                            [data, reduction]
//!     MpiGuest       messages on communicators of our own, one pair for each of the program's    [communicators]
//! ```
//!
//! A collective that is only begun goes on in a thread, and the program's request is a generalized one, which that thread completes
//! (`background.rs`). So it makes progress whatever the program does, as MPI asks.
//!
//! All ranks must choose the same, so a choice depends only on what all of them know: the plan, how many ranks there are, how long a
//! message is of which all have the length, the operator. Datatypes may differ from rank to rank, so all of them are done here.
//!
//! `unsafe` is what such a library is made of: functions that C calls, with pointers whose meaning only the MPI standard says.

mod background;
mod calls;
mod choice;
mod communicators;
mod data;
mod functions;
mod job;
mod lifecycle;
mod processors;
mod reduction;
mod session;
mod statistics;
