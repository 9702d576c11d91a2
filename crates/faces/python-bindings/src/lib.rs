//! Maquette as a Python module. Glue only: the functionality is in the other crates, and the Python interface in
//! `python/maquette`.
//!
//! A program in Python is a coroutine that the world itself resumes: `program` connects the two.

mod collectives;
mod command;
mod coroutines;
mod errors;
mod exchange;
mod launch;
mod machine;
mod members;
mod mpi;
mod open_loop;
mod pending;
mod place;
mod program;
mod received;
mod request;
mod run;
mod signals;
mod store;
mod studies;
mod sweep;
mod tuning;

use pyo3::prelude::*;

#[pymodule]
mod _maquette {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn begin(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        command_line::name_build();
        Ok(())
    }

    #[pymodule_export]
    use crate::command::run;
    #[pymodule_export]
    use crate::errors::{CommandRefused, NoAnswer, OutcomeUnknown, StoreError};
    #[pymodule_export]
    use crate::errors::{Deadline, Deadlock, Lost, MaquetteError, Mismatch, NoSuchRank, Unfit};
    #[pymodule_export]
    use crate::exchange::{Schedule, schedules};
    #[pymodule_export]
    use crate::launch::{launch_named, launch_own};
    #[pymodule_export]
    use crate::machine::{Machine, figure_page};
    #[pymodule_export]
    use crate::members::Members;
    #[pymodule_export]
    use crate::mpi::{end_mpi, launch_named_on_mpi, launch_own_on_mpi};
    #[pymodule_export]
    use crate::open_loop::{saturate, traffic};
    #[pymodule_export]
    use crate::pending::PendingOperation;
    #[pymodule_export]
    use crate::place::Place;
    #[pymodule_export]
    use crate::received::Received;
    #[pymodule_export]
    use crate::request::Verb;
    #[pymodule_export]
    use crate::run::{Ended, run_experiment, run_named, run_own, write_picture};
    #[pymodule_export]
    use crate::store::StoreClient;
    #[pymodule_export]
    use crate::studies::{points, reproduce};
    #[pymodule_export]
    use crate::sweep::{Sweep, sweep_to_run};
    #[pymodule_export]
    use crate::tuning::{calibrate, plan, postal};
}
