//! `maquette plan collectives`: writes the plan that the collectives of an MPI program follow.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ::machines::model::Machine;
use clap::Args;
use collectives::Collective;
use quantities::Bytes;
use serde_json::{Value, json};

use super::measured::Measurement;
use super::place::Place;
use crate::CommandOutput;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::sizes::{Sizes, sizes};
use experiment::Provenance;
use formats::input::InputFile;
use formats::interrupt;
use formats::output::WholeFile;
use formats::traffic_matrix;
use report::terminal::{Side, columns, counted, rounded};
use tuning::planner::collectives::{Pick, PlanRequest, picks, plan_of};
use tuning::planner::{Effort, Question};

/// The default sizes. [B]
const SIZES: [Bytes; 6] = [Bytes(64), Bytes(512), Bytes(4 << 10), Bytes(32 << 10), Bytes(256 << 10), Bytes(1 << 20)];
/// Those that are measured by default. [B]
const MEASURED: [Bytes; 8] = [
    Bytes(64),
    Bytes(256),
    Bytes(1 << 10),
    Bytes(4 << 10),
    Bytes(16 << 10),
    Bytes(64 << 10),
    Bytes(256 << 10),
    Bytes(1 << 20),
];
/// The size of a message that a matrix marks without a size.
pub(super) const DEFAULT_ENTRY: Bytes = Bytes(1);

/// Plan the collectives of a program: broadcast, all-reduce and all-to-all at several sizes, or those named, and
/// exchanges by a matrix.
///
/// The file that is written is what `maquette collectives` follows. A size that was looked at stands for those near it,
/// up to half way to the next one, in powers; what is larger than the last is left to the MPI library.
///
/// With --measure, under mpiexec, the algorithms are timed on the ranks that it has started, beside the library's own
/// calls. The plan then has entries only where an algorithm was faster than the library; between two sizes, where it
/// was faster at both.
#[derive(Args, Debug)]
#[command(
    mut_arg("machine", |machine| machine.required_unless_present("measure")),
    after_help = "Examples:\n  maquette plan collectives --machine cluster.toml --ranks 8 --write plan.toml\n  \
                  mpiexec -n 8 maquette plan collectives --measure --write plan.toml\n  \
                  maquette collectives --plan plan.toml -- mpiexec -n 8 ./program"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: Place,
    /// The collectives besides all-to-all, separated by commas: broadcast, all-reduce, gather, scatter, all-gather,
    /// reduce, reduce-scatter, scan, exscan.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "broadcast,all-reduce", value_parser = planned)]
    collectives: Vec<Collective>,
    /// Sizes of messages: powers of two in a range such as `64..1MiB`, or a list such as `64,4KiB`. Of a broadcast and
    /// an all-reduce it is what a rank has, of an all-to-all what it has for each other. [default:
    /// 64,512,4KiB,32KiB,256KiB,1MiB; with --measure 64,256,1KiB,4KiB,16KiB,64KiB,256KiB,1MiB]
    #[arg(long, value_name = "B..B", value_parser = sizes)]
    sizes: Option<Sizes>,
    /// What each rank has for each other in exchanges by a matrix (MPI_Alltoallv): FILE.csv, FILE.mtx (Matrix Market)
    /// or FILE.npy (NumPy). If it is left out, they are begun all at once, each rank by its own row and column.
    #[arg(long, value_name = "FILE")]
    traffic: Option<PathBuf>,
    /// Write the plan to FILE.toml.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// This process is an MPI rank, started by mpiexec or srun: measure the algorithms on these ranks, beside the
    /// library's own calls.
    #[arg(long, conflicts_with_all = ["machine", "lambda", "set", "ranks", "budget", "threads"])]
    measure: bool,
    /// With --measure, the MPI library, with the standard ABI; if left out, the one next to that mpiexec, or one that
    /// the loader finds.
    #[arg(long, value_name = "PATH", requires = "measure")]
    mpi_library: Option<PathBuf>,
}

/// A collective that a plan can have, by its name.
fn planned(name: &str) -> Result<Collective, String> {
    let all: Vec<Collective> = plan_format::planned().collect();
    quantities::by_name(name, &all, |collective| collective.name())
}

/// The question whose plan is being made.
#[derive(Default)]
struct Current {
    question: String,
    /// How many plans are made, of how many.
    done: usize,
    of: usize,
}

impl Current {
    /// Shows how much of everything is done when so much of the question is, from 0 to 1.
    fn show(&self, bar: &Bar, share: f64) {
        let share = (self.done as f64 + share) / self.of.max(1) as f64;
        bar.show(share, format!("{} ({} of {})", self.question, self.done + 1, self.of));
    }
}

/// What is printed.
struct Report<'a> {
    machine: &'a Machine,
    experiment: &'a Provenance,
    ranks: u32,
    picks: &'a [Pick],
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        if self.measure {
            let sizes = self.sizes.map_or_else(|| MEASURED.to_vec(), |Sizes(sizes)| sizes);
            let (collectives, traffic, write, library) = (self.collectives, self.traffic, self.write, self.mpi_library);
            return Measurement { collectives, sizes, traffic, write, library }.execute(as_json);
        }
        let traffic = self.traffic.as_ref().map(|path| traffic_matrix::read(path, DEFAULT_ENTRY));
        let (matrix, file) = traffic.transpose()?.unzip();
        let (machine, ranks) = self.place.machine(matrix.as_ref().map(|matrix| matrix.pattern.ranks()))?;
        if ranks < 2 {
            return Err(Failure::argument("--ranks", ranks, "at least 2"));
        }
        let sizes = self.sizes.as_ref().map_or_else(|| SIZES.to_vec(), |Sizes(sizes)| sizes.clone());
        let experiment = self.experiment(&machine, ranks, &sizes, file);
        let (nodes, experiment) = self.place.placed(&machine, ranks, experiment)?;
        let write = self.write.as_deref().map(WholeFile::create).transpose()?;
        let bar = Bar::new();
        let current = Mutex::new(Current::default());
        let progress = |share: f64, _: &str| current.lock().unwrap_or_else(PoisonError::into_inner).show(&bar, share);
        let begins = |question: &Question, (done, of): (usize, usize)| {
            let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
            *current = Current { question: format!("{} of {}", question.name(), question.bytes()), done, of };
            current.show(&bar, 0.0);
        };
        let effort = Effort {
            budget: self.place.budget(),
            exhaustive: self.place.exhaustive(),
            lambda: self.place.lambda(),
            progress: &progress,
            interrupted: interrupt::flag(),
            threads: self.place.threads(),
        };
        let matrix = matrix.map(|matrix| matrix.pattern);
        let request = PlanRequest { collectives: self.collectives.clone(), ranks, sizes, matrix, nodes };
        if let Some(pattern) = &request.matrix {
            Question::Irregular(pattern.clone()).check_on(&machine)?;
        }
        let picks = picks(&request, &machine, &effort, &begins)?;
        drop(bar);
        if interrupt::requested() {
            return Err(Failure::Interrupted);
        }
        let plan = plan_of(&picks, &machine, ranks)?;
        if let Some(file) = write {
            file.fill(plan.to_toml().as_bytes())?;
        }
        let report = Report { machine: &machine, experiment: &experiment, ranks, picks: &picks };
        let written = self.write.map(|path| format!("\nThe plan is in {}.\n", path.display())).unwrap_or_default();
        let text = if as_json { crate::json(&report.json()) } else { report.text() + &written };
        Ok(text.into())
    }

    fn experiment(&self, machine: &Machine, ranks: u32, sizes: &[Bytes], file: Option<InputFile>) -> Provenance {
        let collectives: Vec<&str> = self.collectives.iter().map(|collective| collective.name()).collect();
        let budget = self.place.budget() / 1e6;
        let parameters = json!({"collectives": collectives, "sizes": sizes, "budget_millions": budget});
        let provenance = Provenance::of("plan").running("collectives").on(machine).among(ranks).given(parameters);
        file.into_iter().fold(provenance, |mut provenance, file| {
            provenance.read(file);
            provenance
        })
    }
}

impl Report<'_> {
    fn text(&self) -> String {
        let mut rows = vec![["collective", "size", "quickest", "time"].map(str::to_owned)];
        for Pick { question, best, .. } in self.picks {
            let size = match question.pattern() {
                None => question.bytes().to_string(),
                Some(pattern) => counted(pattern.messages().len(), "message"),
            };
            let name = best.as_ref().map_or("none that can be run".to_owned(), |best| best.candidate.name.clone());
            let time = best.as_ref().map(|best| rounded(best.time)).unwrap_or_default();
            rows.push([question.name().to_owned(), size, name, time]);
        }
        let table = columns([Side::Left, Side::Right, Side::Left, Side::Right], &rows);
        let head = format!("collectives among {} of {}\n", counted(self.ranks, "rank"), self.machine.name);
        format!("{head}{}\n{table}", self.experiment.line())
    }

    fn json(&self) -> Value {
        let pick = |pick: &Pick| {
            json!({
                "question": pick.question.name(),
                "bytes": pick.bytes(),
                "algorithm": pick.best.as_ref().map(|best| best.candidate.name.clone()),
                "time_ps": pick.best.as_ref().map(|best| best.time.picoseconds()),
            })
        };
        self.experiment.added_to(json!({
            "machine": self.machine.name,
            "ranks": self.ranks,
            "picks": self.picks.iter().map(pick).collect::<Vec<Value>>(),
        }))
    }
}
