//! Times of collectives, by the library's own calls and by plans, for `maquette plan collectives --measure`. That
//! command loads this library into processes that have begun MPI, and asks it for one call after another, all ranks
//! together.
//!
//! Every call goes through the functions that a program would call, so what a plan costs beside its messages counts,
//! too. The library and a plan take turns, and their times are compared turn by turn: whatever else the computer does,
//! it does to both.

use std::ffi::c_int;
use std::sync::OnceLock;

use mpi::Library;
use mpi_abi::*;
use mpi_preload::path_of_library;
use plan_format::Plan;
use plan_format::measured::{Answer, Compared, Measured, MeasuredCall, Request, Times};
use quantities::Time;
use real_worlds::{Clock, Waiting};

use crate::measured_call::Buffers;
use crate::session::Session;
use crate::{communicators, functions, processors};

/// How long the calls of a batch take together, if there are as many as wanted. [ns]
const BATCH: f64 = 500_000.0;
/// The least and the most calls of a batch.
const CALLS: (f64, f64) = (3.0, 400.0);
/// How often each is tried before some are ruled out.
const TRIALS: u32 = 3;
/// A plan that takes so many times as long as the library in every trial is ruled out.
const HOPELESS: f64 = 1.25;
/// How many plans are compared with the library, at most.
const FINALISTS: usize = 3;
/// How often they take turns.
const TURNS: (u32, u32) = (7, 21);
/// After how long they take no more turns, if they have taken the least number. [ns]
const LONG_ENOUGH: f64 = 1_000_000_000.0;

/// Answers a request, which is JSON of so many bytes, in JSON. Returns the length of the answer, which is written if
/// there is room for it.
///
/// # Safety
/// The request and the room are there. MPI has begun, and all ranks make the same requests from the thread on which it
/// has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn maquette_measure_collectives(
    request: *const u8,
    length: usize,
    room: *mut u8,
    size: usize,
) -> usize {
    // SAFETY: guaranteed by the caller.
    let request = unsafe { std::slice::from_raw_parts(request, length) };
    let answer = answer(request).unwrap_or_else(Answer::Failed);
    let text = serde_json::to_vec(&answer).unwrap_or_default();
    if text.len() <= size {
        // SAFETY: guaranteed by the caller.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), room, text.len()) };
    }
    text.len()
}

fn answer(request: &[u8]) -> Result<Answer, String> {
    match serde_json::from_slice(request).map_err(|error| error.to_string())? {
        Request::End => {
            Session::set(None);
            communicators::end_all();
            Ok(Answer::Ended)
        }
        Request::Measure { call, plans } => Contest::new(&call, &plans)?.decide().map(Answer::Measured),
    }
}

/// What this process knows about MPI.
#[derive(Debug)]
struct Surroundings {
    library: Library,
    waiting: Waiting,
    rank: u32,
    ranks: u32,
}

impl Surroundings {
    /// Those of this process; when first called, by all ranks together.
    fn known() -> Result<&'static Surroundings, String> {
        static KNOWN: OnceLock<Surroundings> = OnceLock::new();
        if let Some(known) = KNOWN.get() {
            return Ok(known);
        }
        let name = path_of_library();
        let library = Library::open(Some(name.as_ref())).map_err(|error| error.to_string())?;
        if let Some(missing) = functions::missing() {
            return Err(format!("{name} is not an MPI library with the standard ABI: it has no function {missing}"));
        }
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI has begun, and the handle is predefined.
        unsafe {
            functions::comm_rank(MPI_COMM_WORLD, &raw mut rank);
            functions::comm_size(MPI_COMM_WORLD, &raw mut size);
        }
        let (rank, ranks) = (u32::try_from(rank).unwrap_or_default(), u32::try_from(size).unwrap_or_default());
        Ok(KNOWN.get_or_init(|| Surroundings { library, waiting: processors::waiting(), rank, ranks }))
    }
}

/// A call, and those that compete for it.
struct Contest {
    buffers: Buffers,
    /// One of each plan.
    sessions: Vec<&'static Session>,
    ranks: f64,
    clock: Clock,
    begun: Time,
}

impl Contest {
    fn new(call: &MeasuredCall, plans: &[String]) -> Result<Contest, String> {
        let Surroundings { library, waiting, rank, ranks } = Surroundings::known()?;
        let session = |text: &String| {
            let plan = Plan::parse(text, "a plan to measure").map_err(|error| error.to_string())?;
            let session: &'static Session = Box::leak(Box::new(Session::new(plan, library.clone(), *waiting)));
            Ok(session)
        };
        let sessions = plans.iter().map(session).collect::<Result<_, String>>()?;
        let buffers = Buffers::new(call, *rank as usize, *ranks as usize);
        let failures = combined(f64::from(u8::from(buffers.is_err())), MPI_SUM);
        let buffers = buffers?;
        if failures > 0.0 {
            return Err("another rank could not prepare its data".to_owned());
        }
        let clock = Clock::starting_now();
        Ok(Contest { buffers, sessions, ranks: f64::from(*ranks), clock, begun: clock.now() })
    }

    /// Rules out the hopeless, and compares the others with the library.
    fn decide(&mut self) -> Result<Measured, String> {
        let (library, calls) = self.tried(None)?;
        let mut promising = Vec::new();
        for place in 0..self.sessions.len() {
            let (times, calls) = self.tried(Some(self.sessions[place]))?;
            promising.push((ratio(times, library), place, calls));
        }
        promising.retain(|(ratio, ..)| *ratio < HOPELESS);
        promising.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
        promising.truncate(FINALISTS);
        let mut own = vec![library];
        let mut turns: Vec<Vec<(Times, Times)>> = vec![Vec::new(); promising.len()];
        for turn in 0..TURNS.1 {
            for (taken, &(_, place, its_calls)) in turns.iter_mut().zip(&promising) {
                let session = Some(self.sessions[place]);
                let (library, times) = if turn % 2 == 0 {
                    let library = self.batch(None, calls)?;
                    (library, self.batch(session, its_calls)?)
                } else {
                    let times = self.batch(session, its_calls)?;
                    (self.batch(None, calls)?, times)
                };
                own.push(library);
                taken.push((times, library));
            }
            if turn + 1 >= TURNS.0 && self.nanoseconds() > LONG_ENOUGH {
                break;
            }
        }
        let mut plans = vec![None; self.sessions.len()];
        for (taken, (_, place, _)) in turns.iter().zip(promising) {
            plans[place] = Some(compared(taken));
        }
        Ok(Measured { library: medians(&own), plans })
    }

    /// The least times of a few batches of calls, and of how many calls a batch should be.
    fn tried(&mut self, session: Option<&'static Session>) -> Result<(Times, u32), String> {
        // The first calls create what later ones use.
        self.batch(session, 2)?;
        let first = self.batch(session, 2)?;
        let calls = (BATCH / first.after_barrier_ns.max(first.in_a_row_ns).max(1.0)).clamp(CALLS.0, CALLS.1) as u32;
        let mut least = first;
        for _ in 0..TRIALS {
            let times = self.batch(session, calls)?;
            least.after_barrier_ns = least.after_barrier_ns.min(times.after_barrier_ns);
            least.in_a_row_ns = least.in_a_row_ns.min(times.in_a_row_ns);
        }
        Ok((least, calls))
    }

    /// The times of so many calls, each after a barrier, and of so many in a row.
    fn batch(&mut self, session: Option<&'static Session>, calls: u32) -> Result<Times, String> {
        Session::set(session);
        let mut after_barriers = 0.0;
        for _ in 0..calls {
            barrier();
            let begun = self.clock.now();
            self.buffers.call()?;
            after_barriers += nanoseconds(begun, self.clock.now());
        }
        barrier();
        let begun = self.clock.now();
        for _ in 0..calls {
            self.buffers.call()?;
        }
        let in_a_row = nanoseconds(begun, self.clock.now());
        Session::set(None);
        let calls = f64::from(calls);
        let after_barrier_ns = combined(after_barriers, MPI_SUM) / self.ranks / calls;
        Ok(Times { after_barrier_ns, in_a_row_ns: combined(in_a_row, MPI_MAX) / calls })
    }

    /// How long it has gone on, the same on all ranks. [ns]
    fn nanoseconds(&self) -> f64 {
        combined(nanoseconds(self.begun, self.clock.now()), MPI_MAX)
    }
}

fn nanoseconds(begun: Time, ended: Time) -> f64 {
    ended.since(begun.min(ended)).picoseconds() as f64 / 1e3
}

/// The larger of the two ratios of times.
fn ratio(times: Times, library: Times) -> f64 {
    (times.after_barrier_ns / library.after_barrier_ns.max(1.0)).max(times.in_a_row_ns / library.in_a_row_ns.max(1.0))
}

/// The times of a plan, beside those of the library in the same turns.
fn compared(turns: &[(Times, Times)]) -> Compared {
    let times: Vec<Times> = turns.iter().map(|(times, _)| *times).collect();
    let ratio_of = |part: fn(&Times) -> f64| {
        median(turns.iter().map(|(times, library)| part(times) / part(library).max(1.0)).collect())
    };
    let ratio = ratio_of(|times| times.after_barrier_ns).max(ratio_of(|times| times.in_a_row_ns));
    Compared { times: medians(&times), ratio }
}

fn medians(all: &[Times]) -> Times {
    let of = |part: fn(&Times) -> f64| median(all.iter().map(part).collect());
    Times { after_barrier_ns: of(|times| times.after_barrier_ns), in_a_row_ns: of(|times| times.in_a_row_ns) }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// All ranks wait for each other.
fn barrier() {
    // SAFETY: MPI has begun, and the handle is predefined.
    unsafe { functions::barrier(MPI_COMM_WORLD) };
}

/// The sum or the maximum of the values of all ranks, with the same bits on all of them.
fn combined(own: f64, operator: MPI_Op) -> f64 {
    let mut all = 0.0;
    // SAFETY: MPI has begun, and each address is that of one number.
    unsafe {
        let (from, to) = ((&raw const own).cast(), (&raw mut all).cast());
        functions::allreduce(from, to, 1, MPI_DOUBLE, operator, MPI_COMM_WORLD);
        functions::bcast(to, 1, MPI_DOUBLE, 0 as c_int, MPI_COMM_WORLD);
    }
    all
}
