//! A library that is preloaded into MPI processes and records their calls: `libmaquette_trace.so`.
//!
//! It defines the MPI functions that matter to a replay, each of which calls the same function of the profiling
//! interface, `PMPI_...`, and records the call and how long the process had computed before it. `maquette trace` sets
//! its environment and reads what it wrote.
//!
//! | file | contents |
//! |---|---|
//! | `calls/` | each replaced function: what it calls, and what is recorded of it |
//! | `wrapped.rs` | their common part, in addition to that of all preloaded libraries (`mpi-preload`) |
//! | `abi.rs` | which MPI library it is; its handles, statuses and constants: the standard ABI, or MPICH's older one |
//! | `recorder.rs` | the state of the process: its requests, communicators, datatypes; the time |
//! | `computed.rs` | how long the process computed between two recorded calls, and how long it may have waited |
//! | `output.rs` | the file, which survives whatever happens to the process |
//!
//! If there is no MPI library that it knows, or no trace was requested, it only passes calls on.
//!
//! `unsafe` is unavoidable in such a library: functions called by C, with pointers whose meaning only the MPI standard
//! defines.

mod abi;
mod calls;
mod computed;
mod output;
mod recorder;
mod requests;
mod wrapped;
