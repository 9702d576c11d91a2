//! The state from the beginning of MPI to its end.

use std::ffi::c_int;
use std::io::Write;
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use mpi::{Library, started_by_another, started_processes};
use mpi_abi::*;
use mpi_preload::{path_of_library, refers_to_any, version_of_library};
use plan_format::Plan;
use real_worlds::Waiting;

use crate::calls::NONBLOCKING;
use crate::data::packs_plainly;
use crate::functions;
use crate::processors;
use crate::statistics::{Reason, Statistics};

/// The environment variable with the file of the plan.
const PLAN_VARIABLE: &str = "MAQUETTE_COLLECTIVES_PLAN";
/// The environment variable with the file for the report.
const REPORT_VARIABLE: &str = "MAQUETTE_COLLECTIVES_REPORT";
/// The exit status of bad input.
const BAD_INPUT: c_int = 2;
/// The variables in which process managers give a process its rank.
const RANK_VARIABLES: [&str; 4] = ["PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"];
/// How long a rank waits before it aborts all others: by then its message has reached mpiexec, which loses what is
/// still on its way.
const ABORT_DELAY: std::time::Duration = std::time::Duration::from_millis(200);

/// The session of this process, which is never freed.
static SESSION: AtomicPtr<Session> = AtomicPtr::new(null_mut());

/// The state from the beginning of MPI to its end.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) plan: Plan,
    pub(crate) library: Library,
    pub(crate) waiting: Waiting,
    /// Whether several threads may call MPI at once.
    pub(crate) has_threads: bool,
    pub(crate) statistics: Statistics,
    report: Option<PathBuf>,
}

/// What was determined before MPI has begun.
pub(crate) struct Prepared {
    plan: Plan,
    path: PathBuf,
    library: Library,
}

impl Prepared {
    /// Whether several threads are to call MPI: nonblocking collectives are done by threads of their own. A library
    /// that serves several threads is slower in every call, so it is asked for only where that can be needed.
    pub(crate) fn needs_threads(&self) -> bool {
        !self.plan.only_blocking && refers_to_any(&NONBLOCKING)
    }

    /// Reads the plan and examines the library. Ends the process if either is unsuitable; none if no plan was
    /// requested.
    pub(crate) fn new() -> Option<Prepared> {
        let path = PathBuf::from(std::env::var_os(PLAN_VARIABLE).filter(|path| !path.is_empty())?);
        let refused = |problem: String| -> ! {
            // If many ranks would print the same message, one is enough.
            let rank = RANK_VARIABLES.into_iter().find_map(std::env::var_os);
            if rank.is_none_or(|rank| rank == "0") {
                print_problem(&problem);
            }
            std::process::exit(BAD_INPUT)
        };
        let plan = Plan::read(&path).unwrap_or_else(|error| refused(error.to_string()));
        let name = path_of_library();
        let library = Library::open(Some(name.as_ref())).unwrap_or_else(|error| {
            let version = version_of_library();
            refused(format!("the program runs with {version}: {error}"))
        });
        if let Some((processes, starter)) = started_by_another(&library.version()) {
            let found = format!(
                "the program runs with {}, but {starter} has started {processes} processes of it",
                library.version()
            );
            refused(format!("{found}; start it with the mpiexec that comes with its library"));
        }
        if let Some(missing) = functions::missing() {
            refused(format!("{name} is not an MPI library with the standard ABI: it has no function {missing}"));
        }
        Some(Prepared { plan, path, library })
    }

    /// MPI has begun: makes sure that all ranks have the same plan, and that it is for this number of ranks.
    pub(crate) fn begin(self, provided: c_int) {
        let Prepared { plan, path, library } = self;
        let report = std::env::var_os(REPORT_VARIABLE).map(PathBuf::from);
        let (mut rank, mut size, mut parent) = (0, 0, MPI_COMM_NULL);
        // SAFETY: MPI has begun, and the handle is predefined.
        unsafe {
            functions::comm_rank(MPI_COMM_WORLD, &raw mut rank);
            functions::comm_size(MPI_COMM_WORLD, &raw mut size);
            functions::comm_get_parent(&raw mut parent);
        }
        if parent != MPI_COMM_NULL {
            // Processes that the program itself has started have a world of their own, for which there is no plan.
            return;
        }
        let refused = |problem: String| -> ! {
            if rank == 0 {
                print_problem(&problem);
            }
            std::thread::sleep(ABORT_DELAY);
            // SAFETY: as above; it aborts all ranks.
            unsafe { functions::abort(MPI_COMM_WORLD, BAD_INPUT) };
            std::process::exit(BAD_INPUT)
        };
        if let Some((processes, starter)) = started_processes()
            && processes > 1
            && size == 1
        {
            refused(format!(
                "the program runs with {}, for which each of the {processes} processes that {starter} has started is the only one; start it \
                 with the mpiexec that comes with its library",
                library.version()
            ));
        }
        if u32::try_from(size) != Ok(plan.ranks) {
            let (shown, ranks) = (quantities::shown_path(&path), plan.ranks);
            refused(format!(
                "{shown}: ranks: found a program of {size}; allowed is {ranks}, for which the plan was made"
            ));
        }
        let digest = digest(plan.to_toml().as_bytes());
        let reports = u64::from(report.is_some());
        let provided = u64::try_from(provided).unwrap_or_default();
        let own = [digest, !digest, reports, !reports, !provided];
        let [maxima @ .., provided] = element_wise_maximum(own);
        if maxima != own[..4] {
            let shown = quantities::shown_path(&path);
            refused(format!(
                "{shown}: found different plans, or settings, on different ranks; allowed is one file, the same on all hosts"
            ));
        }
        if !packs_plainly() {
            refused("the library packs data in a form of its own, which planned collectives can't read".to_owned());
        }
        let waiting = processors::waiting();
        // Programs that differ from rank to rank may have initialized it differently.
        let has_threads = i32::try_from(!provided) == Ok(MPI_THREAD_MULTIPLE);
        let session = Session::new(plan, library, waiting);
        Session::set(Some(Box::leak(Box::new(Session { has_threads, report, ..session }))));
    }
}

/// Prints a problem in one write: other ranks may print at the same time.
fn print_problem(problem: &str) {
    // If standard error is closed, the problem can't be reported.
    let _ = std::io::stderr().write_all(format!("error: {problem}\n").as_bytes());
}

/// The largest of the numbers of all ranks, element by element.
fn element_wise_maximum(own: [u64; 5]) -> [u64; 5] {
    let mut element_wise_maximum = [0_u64; 5];
    // SAFETY: MPI has begun, and both have this many numbers.
    unsafe {
        functions::allreduce(
            own.as_ptr().cast(),
            element_wise_maximum.as_mut_ptr().cast(),
            own.len() as c_int,
            MPI_UINT64_T,
            MPI_MAX,
            MPI_COMM_WORLD,
        );
    }
    element_wise_maximum
}

/// A number that distinguishes texts: the first eight bytes of their digest.
fn digest(text: &[u8]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(text).as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

impl Session {
    /// A session for one thread and without a report.
    pub(crate) fn new(plan: Plan, library: Library, waiting: Waiting) -> Session {
        let statistics = Statistics::new(&plan);
        Session { plan, library, waiting, has_threads: false, statistics, report: None }
    }

    /// The session of this process, if there is a plan.
    pub(crate) fn current() -> Option<&'static Session> {
        // SAFETY: only sessions that live for ever are set.
        unsafe { SESSION.load(Ordering::Acquire).as_ref() }
    }

    /// Sets the session of this process.
    pub(crate) fn set(session: Option<&'static Session>) {
        SESSION.store(session.map_or(null_mut(), |session| std::ptr::from_ref(session).cast_mut()), Ordering::Release);
    }

    /// Whether nonblocking collectives are done as planned, or why not.
    pub(crate) fn for_nonblocking(&self) -> Result<(), Reason> {
        if self.plan.only_blocking {
            return Err(Reason::NotPlanned);
        }
        if self.has_threads { Ok(()) } else { Err(Reason::Threads) }
    }

    /// Writes the calls of all ranks together, if a report was requested.
    pub(crate) fn report(&self) {
        let Some(path) = &self.report else { return };
        let own = self.statistics.counts();
        let (mut rank, mut sum) = (0, vec![0_u64; own.len()]);
        // SAFETY: MPI has not ended, and both have this many numbers.
        unsafe {
            functions::comm_rank(MPI_COMM_WORLD, &raw mut rank);
            functions::reduce(
                own.as_ptr().cast(),
                sum.as_mut_ptr().cast(),
                own.len() as c_int,
                MPI_UINT64_T,
                MPI_SUM,
                0,
                MPI_COMM_WORLD,
            );
        }
        if rank == 0 {
            let text = serde_json::to_string(&self.statistics.report(&sum)).unwrap_or_default();
            if let Err(cause) = std::fs::write(path, text) {
                eprintln!("maquette: cannot write `{}`: {cause}", quantities::shown_path(path));
            }
        }
    }
}
