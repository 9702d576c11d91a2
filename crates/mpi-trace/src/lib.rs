//! A library that is preloaded into MPI processes and writes down what they call: `libmaquette_trace.so`.
//!
//! It defines the functions of MPI that matter to a replay, each of which calls the same function of the profiling interface, `PMPI_...`, and
//! notes what was called and for how long the process had computed before. `maquette trace` sets its environment and reads what it wrote.
//!
//! | file | what it knows |
//! |---|---|
//! | `calls/` | each function that is taken: what it calls, and what is noted of it |
//! | `wrapped.rs` | what all of them have in common, beside what all preloaded libraries have (`mpi-preload`) |
//! | `library.rs` | which MPI library it is |
//! | `abi.rs` | how handles, statuses and constants look: the standard ABI, and the older one of MPICH |
//! | `recorder.rs` | what is known of the process: its requests, communicators, datatypes; the time |
//! | `output.rs` | the file, which is kept whatever becomes of the process |
//!
//! Where there is no MPI that it knows, or nobody asked for a trace, it only passes calls on.
//!
//! `unsafe` is what such a library is made of: functions that C calls, with pointers whose meaning only the MPI standard says.

mod abi;
mod calls;
mod library;
mod output;
mod recorder;
mod requests;
mod wrapped;
