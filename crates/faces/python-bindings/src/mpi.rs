//! Programs for real, over MPI: this process is one of the ranks that an mpiexec has started.
//!
//! MPI is initialized with the first launch and finalized with the process, on the same thread: it cannot be
//! initialized twice.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use experiment::catalogue::Choice;
use experiment::{DEFAULT_SEED, Experiment, MachineChoice};
use launch::all_gather;
use launch::rank::Running;
use launch::wire::Record;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use real_worlds::MpiWorld;

use crate::errors::{MaquetteError, of_experiment, of_program};
use crate::launch::run_as_rank;
use crate::request::{if_given, large};
use crate::signals;

/// This thread's world of MPI.
enum World {
    NotStarted,
    Running(Rc<RefCell<MpiWorld>>),
    /// A rank could not continue, and others may wait for it.
    Failed(Rc<RefCell<MpiWorld>>),
    Ended,
}

thread_local! {
    static WORLD: RefCell<World> = const { RefCell::new(World::NotStarted) };
}

/// The world of this thread, which is created with the first launch.
fn world(library: Option<PathBuf>) -> PyResult<Rc<RefCell<MpiWorld>>> {
    WORLD.with_borrow_mut(|world| match world {
        World::Running(world) => Ok(Rc::clone(world)),
        World::Failed(_) => {
            Err(MaquetteError::new_err("a rank has failed in an earlier launch over MPI: others may wait for it"))
        }
        World::Ended => Err(MaquetteError::new_err("MPI has ended: it cannot begin again in the same process")),
        World::NotStarted => {
            let begun = MpiWorld::begin(library.as_deref()).map_err(|error| match error.is_bad_input() {
                true => PyValueError::new_err(error.to_string()),
                false => MaquetteError::new_err(error.to_string()),
            })?;
            let begun = Rc::new(RefCell::new(begun));
            *world = World::Running(Rc::clone(&begun));
            Ok(begun)
        }
    })
}

/// Has this rank run something, and returns what all ranks did, as JSON.
fn launched(library: Option<PathBuf>, run: impl FnOnce(&mut Running) -> PyResult<Record>) -> PyResult<String> {
    let world = world(library)?;
    let done = run(&mut Running::on_mpi(Rc::clone(&world), 1)).and_then(|record| {
        let all = all_gather(&mut world.borrow_mut(), &record).map_err(|error| of_program(&error))?;
        serde_json::to_string(&all).map_err(|error| MaquetteError::new_err(error.to_string()))
    });
    if done.is_err() {
        WORLD.set(World::Failed(world));
    }
    signals::raised().map_or(done, Err)
}

/// Runs a program in Python as this process's rank; `begin` begins it. Returns the records of all ranks, as JSON.
#[pyfunction]
pub fn launch_own_on_mpi(
    begin: Bound<'_, PyAny>,
    seed: Bound<'_, PyAny>,
    library: Option<PathBuf>,
) -> PyResult<String> {
    let seed = if_given("seed", &seed, large)?.unwrap_or(DEFAULT_SEED);
    launched(library, |rank| run_as_rank(begin, seed, rank))
}

/// Runs the program of the catalogue called `name`, with `parameters` in JSON. Returns the records of all ranks, as
/// JSON.
#[pyfunction]
pub fn launch_named_on_mpi(
    name: &str,
    parameters: &str,
    seed: Bound<'_, PyAny>,
    library: Option<PathBuf>,
) -> PyResult<String> {
    let seed = if_given("seed", &seed, large)?;
    let parameters = serde_json::from_str(parameters).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let choice = Choice::named(name, parameters).map_err(|error| of_experiment(&error))?;
    let mut experiment = Experiment { seed, ..Experiment::of(choice, MachineChoice::default()) };
    let ranks = world(library)?.borrow().size();
    experiment.jobs.iter_mut().for_each(|job| job.ranks = Some(ranks));
    // All ranks find the same errors in it, before any of them runs.
    let prepared = experiment.prepare_for_real(ranks).map_err(|error| of_experiment(&error))?;
    launched(None, |rank| {
        rank.set_should_continue(signals::should_continue);
        prepared.run(rank).map_err(|error| of_program(&error))
    })
}

/// Finalizes MPI as this process ends, if it was initialized; if a rank has failed, ends all others, too.
#[pyfunction]
pub fn end_mpi() -> PyResult<()> {
    match WORLD.replace(World::Ended) {
        World::Running(world) => {
            let world = Rc::try_unwrap(world).map_err(|_| MaquetteError::new_err("a launch over MPI has not ended"))?;
            world.into_inner().end().map_err(|error| MaquetteError::new_err(error.to_string()))
        }
        World::Failed(world) => world.borrow().abort(1),
        World::NotStarted | World::Ended => Ok(()),
    }
}
