//! `maquette plan collectives --measure`: this process is one of those that an `mpiexec`, or a batch system, has
//! started. All of them measure together; rank 0 writes the plan and prints what was measured.

use std::path::PathBuf;

use collectives::Collective;
use collectives::schedule::Pattern;
use experiment::Provenance;
use formats::output::WholeFile;
use formats::traffic_matrix;
use launch::all_gather;
use plan_format::measured::{Answer, FUNCTION, Measured, Request, Times};
use quantities::{Bytes, Duration, Rank};
use real_worlds::{Companion, MpiStartError, MpiWorld};
use report::terminal::{Side, columns, counted, rounded};
use serde_json::{Value, json};
use tuning::planner::measured::{Trial, is_faster, plan_of, trials};

use super::collectives::DEFAULT_ENTRY;
use crate::CommandOutput;
use crate::collectives::LIBRARY;
use crate::failure::Failure;
use crate::launch::over_mpi::{all_begin, begin_with, end_all, end_before};
use crate::progress::Bar;

/// What is measured, and where the plan goes.
pub(super) struct Measurement {
    pub(super) collectives: Vec<Collective>,
    pub(super) sizes: Vec<Bytes>,
    pub(super) traffic: Option<PathBuf>,
    pub(super) write: Option<PathBuf>,
    /// The MPI library, if it is named.
    pub(super) library: Option<PathBuf>,
}

/// A rank that can begin.
struct Ready {
    trials: Vec<Trial>,
    companion: Companion,
    provenance: Provenance,
    /// The file for the plan, of rank 0.
    file: Option<WholeFile>,
}

/// What rank 0 prints.
struct Report {
    ranks: u32,
    computer: String,
    library: String,
    provenance: Provenance,
    measured: Vec<(Trial, Measured)>,
}

impl Measurement {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let mut world = begin_with(self.library.as_deref())?;
        let (rank, ranks) = (world.rank(), world.size());
        let ready = self.ready(&world);
        if let Err(others) = all_begin(&mut world, ready.as_ref().err()) {
            return end_before(world, ready.err().unwrap_or(others));
        }
        let Ready { trials, companion, provenance, file } = ready?;
        let measured = measured(&mut world, &companion, trials).unwrap_or_else(|failure| end_all(&world, &failure));
        let (computer, library) = (world.computer(), world.library());
        world.end().map_err(|error| Failure::Mpi(Box::new(error.into())))?;
        if rank > Rank(0) {
            return Ok(CommandOutput::default());
        }
        let plan = plan_of(&measured, computer.clone(), ranks)?;
        if let Some(file) = file {
            file.fill(plan.to_toml().as_bytes())?;
        }
        let written = self.write.map(|path| format!("\nThe plan is in {}.\n", path.display())).unwrap_or_default();
        let report = Report { ranks, computer, library, provenance, measured };
        let text = if as_json { crate::json(&report.json()) } else { report.text() + &written };
        Ok(text.into())
    }

    /// Prepares this rank.
    fn ready(&self, world: &MpiWorld) -> Result<Ready, Failure> {
        let (rank, ranks) = (world.rank(), world.size());
        if ranks < 2 {
            return Err(Failure::argument("--measure", "one rank", "at least 2, which mpiexec starts"));
        }
        let sizes: Vec<Bytes> = self.sizes.iter().copied().filter(|size| *size > Bytes(0)).collect();
        let traffic = self.traffic.as_ref().map(|path| traffic_matrix::read(path, DEFAULT_ENTRY)).transpose()?;
        let (matrix, input) = traffic.unzip();
        let matrix: Option<Pattern> = matrix.map(|matrix| matrix.pattern);
        if let Some(matrix) = matrix.as_ref().filter(|matrix| matrix.ranks() != ranks) {
            let allowed = format!("one of {ranks}, as many as mpiexec has started");
            return Err(Failure::argument("--traffic", format!("a matrix of {} ranks", matrix.ranks()), allowed));
        }
        let collectives: Vec<&str> = self.collectives.iter().map(|collective| collective.name()).collect();
        let library = world.library();
        let parameters = json!({"measured": true, "collectives": collectives, "sizes": sizes, "mpi_library": library});
        let mut provenance = Provenance::of("plan").running("collectives").among(ranks).given(parameters);
        input.into_iter().for_each(|file| provenance.read(file));
        let unusable = |error| Failure::Mpi(Box::new(MpiStartError::Library(error)));
        let companion = Companion::open(&LIBRARY.find()?, FUNCTION).map_err(unusable)?;
        let path = self.write.as_deref().filter(|_| rank == Rank(0));
        let file = path.map(WholeFile::create).transpose()?;
        Ok(Ready { trials: trials(&self.collectives, ranks, &sizes, matrix.as_ref()), companion, provenance, file })
    }
}

/// Measures all trials, as all ranks do together.
fn measured(
    world: &mut MpiWorld,
    companion: &Companion,
    trials: Vec<Trial>,
) -> Result<Vec<(Trial, Measured)>, Failure> {
    let bar = Bar::new();
    let (count, ranks) = (trials.len(), world.size());
    let mut measured = Vec::with_capacity(count);
    for (done, trial) in trials.into_iter().enumerate() {
        bar.show(done as f64 / count as f64, format!("{} of {} ({} of {count})", trial.name, trial.bytes(), done + 1));
        let request = Request::Measure { call: trial.call.clone(), plans: trial.plans(ranks)? };
        let outcome = answer(companion, &request);
        // So no rank goes on to the next one alone.
        let problems = all_gather(world, &outcome.as_ref().err().cloned())?;
        match (outcome, problems.into_iter().flatten().next()) {
            (Ok(Answer::Measured(times)), None) => measured.push((trial, times)),
            (outcome, problem) => {
                let problem = problem.or(outcome.err()).unwrap_or_else(|| "it has measured nothing".to_owned());
                let found = format!("{} of {}: {problem}", trial.name, trial.bytes());
                return Err(Failure::argument("--measure", found, "a call that these ranks can measure"));
            }
        }
    }
    answer(companion, &Request::End).map_err(|problem| Failure::argument("--measure", problem, "an end"))?;
    Ok(measured)
}

/// What the preloaded library answers.
fn answer(companion: &Companion, request: &Request) -> Result<Answer, String> {
    let request = serde_json::to_string(request).map_err(|error| error.to_string())?;
    let text = companion.answer(&request).ok_or("the answer is too long")?;
    match serde_json::from_str(&text) {
        Ok(Answer::Failed(problem)) => Err(problem),
        Ok(answer) => Ok(answer),
        Err(error) => Err(format!("{} gave no answer: {error}", companion.path().display())),
    }
}

fn time(nanoseconds: f64) -> Duration {
    Duration::from_picoseconds((nanoseconds * 1e3).round() as u64)
}

impl Report {
    fn text(&self) -> String {
        let head = ["collective", "size", "library", "quickest of ours", "time", "done by"].map(str::to_owned);
        let mut rows = vec![head];
        for (trial, times) in &self.measured {
            let best = trial.best(times);
            let (name, own) = match best {
                Some((spec, compared)) => (spec.describe(), rounded(time(compared.times.after_barrier_ns))),
                None => ("none near it".to_owned(), String::new()),
            };
            let by = if best.is_some_and(|(_, compared)| is_faster(compared)) { "plan" } else { "library" };
            let library = rounded(time(times.library.after_barrier_ns));
            rows.push([trial.name.to_owned(), trial.bytes().to_string(), library, name, own, by.to_owned()]);
        }
        let sides = [Side::Left, Side::Right, Side::Right, Side::Left, Side::Right, Side::Left];
        let (ranks, computer, library) = (counted(self.ranks, "rank"), &self.computer, &self.library);
        let head = format!("collectives among {ranks} from {computer} on, measured with {library}\n");
        format!("{head}{}\n{}", self.provenance.line(), columns(sides, &rows))
    }

    fn json(&self) -> Value {
        let times = |times: &Times| {
            json!({
                "after_barrier_ps": time(times.after_barrier_ns).picoseconds(),
                "in_a_row_ps": time(times.in_a_row_ns).picoseconds(),
            })
        };
        let row = |(trial, measured): &(Trial, Measured)| {
            let tried = trial.specs.iter().zip(&measured.plans).filter_map(|(spec, compared)| {
                let compared = compared.as_ref()?;
                let (used, algorithm) = (is_faster(compared), spec.describe());
                Some(json!({
                    "algorithm": algorithm,
                    "times": times(&compared.times),
                    "ratio": compared.ratio,
                    "faster": used,
                }))
            });
            json!({
                "collective": trial.name,
                "bytes": trial.bytes(),
                "library": times(&measured.library),
                "algorithms": tried.collect::<Vec<Value>>(),
            })
        };
        self.provenance.added_to(json!({
            "computer": self.computer,
            "ranks": self.ranks,
            "measured": self.measured.iter().map(row).collect::<Vec<Value>>(),
        }))
    }
}
