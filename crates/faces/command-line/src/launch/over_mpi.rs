//! `maquette launch --mpi`: this process is one of those that an `mpiexec`, or a batch system, has started.
//!
//! All of them do the same. Rank 0 prints everything, except for a failure of a single rank while the program runs:
//! that rank reports it and ends all others.

use std::cell::RefCell;
use std::net::Ipv4Addr;
use std::path::Path;
use std::rc::Rc;
use std::{io, process, thread};

use launch::rank::Running;
use launch::wire::Record;
use launch::{LaunchError, all_gather};
use quantities::Rank;
use real_worlds::MpiWorld;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::own_program::{self, OwnProgram, OwnPrograms};
use super::{Options, experiment, refuse_model_options, text};
use crate::CommandOutput;
use crate::failure::Failure;
use ::experiment::Provenance;
use formats::interrupt;

/// Whether a rank can begin; if not, why.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Readiness {
    /// Its computer.
    computer: String,
    /// What prevents it, and the exit status for that.
    problem: Option<(String, i32)>,
}

/// Runs the program of `arguments` on all MPI ranks.
pub(super) fn execute(
    options: &Options,
    arguments: &[String],
    as_json: bool,
    own: Option<&dyn OwnPrograms>,
) -> Result<CommandOutput, Failure> {
    let mut world = begin(options)?;
    let (rank, ranks) = (world.rank(), world.size());
    let prepared = Program::of(arguments, ranks, own);
    let computers = match all_begin(&mut world, prepared.as_ref().err()) {
        Ok(computers) => computers,
        Err(others) => return end_before(world, prepared.err().unwrap_or(others)),
    };
    let (program, provenance) = prepared?;
    let library = world.library();
    let world = Rc::new(RefCell::new(world));
    let mut running = Running::on_mpi(Rc::clone(&world), options.repeat);
    let record = program.run(&mut running, own).unwrap_or_else(|failure| end_all(&world.borrow(), &failure));
    drop(running);
    let records: Vec<Record> = all_gather(&mut world.borrow_mut(), &record)?;
    let provenance = launched(provenance, options, &library);
    if let Ok(world) = Rc::try_unwrap(world) {
        world.into_inner().end().map_err(|error| Failure::Mpi(Box::new(error.into())))?;
    }
    if rank > Rank(0) {
        return Ok(CommandOutput::default());
    }
    let by = text::Network::Mpi { library: &library, computers: &computers };
    Ok(text::summary(arguments, by, &records, &provenance, as_json).into())
}

/// Initializes MPI as the options say; the process ends when it receives a signal to stop.
pub(crate) fn begin(options: &Options) -> Result<MpiWorld, Failure> {
    refuse_others(options)?;
    let mut world = begin_with(options.mpi_library.as_deref())?;
    options.patience.into_iter().for_each(|patience| world.set_patience(patience));
    Ok(world)
}

/// Initializes MPI with the library at that path, or with the one that is found; the process ends when it receives a
/// signal to stop.
pub(crate) fn begin_with(library: Option<&Path>) -> Result<MpiWorld, Failure> {
    let world = MpiWorld::begin(library).map_err(|error| Failure::Mpi(Box::new(error)))?;
    end_on_signal().map_err(LaunchError::system("can't start a thread")).map_err(Failure::Launch)?;
    Ok(world)
}

/// The program to run.
enum Program {
    OfTheCatalogue(Box<::experiment::Experiment>, u32),
    Own(OwnProgram),
}

impl Program {
    /// The program given by the arguments, on `ranks` ranks, and its provenance.
    fn of(arguments: &[String], ranks: u32, own: Option<&dyn OwnPrograms>) -> Result<(Program, Provenance), Failure> {
        refuse_model_options(arguments)?;
        if let Some(program) = OwnProgram::of(arguments)? {
            own_program::language(own)?.check(&program).map_err(Failure::OwnProgram)?;
            let provenance = program.provenance(ranks)?;
            return Ok((Program::Own(program), provenance));
        }
        let experiment = experiment(arguments, ranks)?;
        let provenance = experiment.prepare_for_real(ranks)?.provenance;
        Ok((Program::OfTheCatalogue(Box::new(experiment), ranks), provenance))
    }

    fn run(&self, rank: &mut Running, own: Option<&dyn OwnPrograms>) -> Result<Record, Failure> {
        match self {
            Program::OfTheCatalogue(experiment, ranks) => Ok(experiment.prepare_for_real(*ranks)?.run(rank)?),
            Program::Own(program) => own_program::language(own)?.run(program, rank).map_err(Failure::OwnProgram),
        }
    }
}

/// Checks that all ranks can begin; returns their computers.
///
/// # Errors
/// The reason of the first rank that cannot.
pub(crate) fn all_begin(world: &mut MpiWorld, problem: Option<&Failure>) -> Result<Vec<String>, Failure> {
    let problem = problem.map(|failure| (failure.to_string(), failure.status()));
    let all = all_gather(world, &Readiness { computer: world.computer(), problem })?;
    let first = (0u32..).zip(&all).find_map(|(rank, begins)| Some((rank, &begins.computer, begins.problem.as_ref()?)));
    if let Some((rank, computer, (problem, status))) = first {
        let problem = format!("rank {rank} on {computer}: {problem}");
        return Err(Failure::OwnProgram(own_program::OwnProgramFailure { problem, status: *status }));
    }
    Ok(all.into_iter().map(|begins| begins.computer).collect())
}

/// Finalizes MPI before anything is run, since a rank cannot begin. Rank 0 reports why, as all would report the same,
/// and all end with that status.
pub(crate) fn end_before(world: MpiWorld, failure: Failure) -> Result<CommandOutput, Failure> {
    let (rank, status) = (world.rank(), failure.status());
    world.end().map_err(|error| Failure::Mpi(Box::new(error.into())))?;
    if rank == Rank(0) { Err(failure) } else { Ok(CommandOutput { text: String::new(), status }) }
}

/// Reports why this rank cannot continue, and ends all ranks, since others may wait for it.
pub(crate) fn end_all(world: &MpiWorld, failure: &Failure) -> ! {
    let problem = format!("rank {} on {}: {failure}", world.rank(), world.computer());
    let failure = own_program::OwnProgramFailure { problem, status: failure.status() };
    Failure::OwnProgram(failure.clone()).print();
    world.abort(failure.status)
}

/// Ends this process on a signal to stop: nothing is left half done, and mpiexec ends the others.
fn end_on_signal() -> io::Result<()> {
    let ends = || {
        while !interrupt::requested() {
            thread::sleep(interrupt::CHECK_INTERVAL);
        }
        interrupt::remove_unfinished();
        process::exit(interrupt::status());
    };
    thread::Builder::new().spawn(ends).map(drop)
}

/// The provenance of a launch of the program that `provenance` describes.
fn launched(provenance: Provenance, options: &Options, library: &str) -> Provenance {
    provenance.given(json!({
        "repeat": options.repeat,
        "patience_ps": options.patience.map(quantities::Duration::picoseconds),
        "mpi_library": library,
    }))
}

/// Refuses options that have no effect with MPI.
fn refuse_others(options: &Options) -> Result<(), Failure> {
    let started = "none with --mpi: mpiexec, or the batch system, says where ranks run";
    let carried = "none with --mpi: the library carries messages as it does";
    let others = [
        ("--local", options.local.is_some(), "none with --mpi: mpiexec says how many ranks there are"),
        ("--hosts", options.hosts.is_some(), started),
        ("--shell", options.shell.is_some(), started),
        ("--maquette", options.maquette.is_some(), started),
        ("--control", options.control.is_some(), started),
        ("--interface", options.interface != Ipv4Addr::LOCALHOST, carried),
        ("--group", options.group.is_some(), carried),
        ("--no-multicast", options.no_multicast, "none with --mpi: a broadcast in hardware is one of the library"),
        ("--trusted-network", options.trusted_network, carried),
        ("--window", options.window.is_some(), carried),
        ("--datagram", options.datagram.is_some(), carried),
        ("--repair", options.repair.is_some(), carried),
        ("--rate", options.rate.is_some(), carried),
        (
            "--timeout",
            options.timeout.is_some(),
            "none with --mpi: mpiexec, or the batch system, has a limit of its own",
        ),
    ];
    match others.into_iter().find(|(_, is_given, _)| *is_given) {
        Some((option, _, allowed)) => Err(Failure::argument(option, "--mpi, too", allowed)),
        None => Ok(()),
    }
}

/// Refuses `--mpi-library` without `--mpi`.
pub(crate) fn refuse_a_library(library: Option<&Path>) -> Result<(), Failure> {
    match library {
        Some(path) => Err(Failure::argument("--mpi-library", path.display(), "none without --mpi")),
        None => Ok(()),
    }
}
