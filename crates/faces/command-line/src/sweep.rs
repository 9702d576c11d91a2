//! `maquette sweep`: an experiment with all combinations of some values.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use serde_json::{Value, json};

use super::failure::{Failure, note, warn};
use super::progress::Bar;
use super::quantity::whole;
use super::sizes::{Sizes, sizes};
use super::{CommandOutput, cores};
use experiment::Experiment;
use experiment::journal::Journal;
use experiment::sweep::{Axis, Row, Sweep};
use formats::interrupt;
use formats::output::{WholeFile, files};

/// Run an experiment with all combinations of some values.
///
/// The table has a row for each point, in order, the last field changing fastest: the values, the makespan in
/// picoseconds, messages, packets, the mean time that headers were blocked, and the error of a point that failed; the
/// exit status is 1 if one has. Without `--out` it is printed in CSV. Ctrl-C ends it early; with `--out` finished
/// points are kept beside the file, and the same command resumes.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  maquette sweep experiment.toml --over bytes=8..1MiB --over machine=delta,moc-3-2 \\\n      \
                  --seeds 5 --out results.arrow"
)]
pub(super) struct Arguments {
    /// The experiment, in TOML or JSON.
    #[arg(value_name = "FILE")]
    experiment: PathBuf,
    /// A field and its values: a list such as `machine=delta,moc-3-2`, or the powers of two in a range such as
    /// `bytes=8..1MiB`. The field is machine, seed, ranks, placement, engine, a parameter of the program, or a field of
    /// the machine's description with a `.` in it. `job.NAME.FIELD` is the ranks, the placement, the start or a
    /// parameter of one job, which has its number where it has no name. May be given more than once.
    #[arg(long, value_name = "FIELD=VALUES", value_parser = axis)]
    over: Vec<Axis>,
    /// Run each point with the seeds 1 to N.
    #[arg(long, value_name = "N", value_parser = whole(1..=1_000_000_u64))]
    seeds: Option<u64>,
    /// Write the table to FILE.arrow or FILE.csv; where the command was installed by pip, also to FILE.parquet.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The name of the table in the report, where what called this command makes another file of it.
    #[arg(long, value_name = "FILE", hide = true, requires = "out")]
    reported_out: Option<PathBuf>,
    /// How many points are run at the same time; as many as there are cores, if left out. The table does not depend on
    /// it.
    #[arg(long, value_name = "N", value_parser = whole(1..=u16::MAX))]
    threads: Option<u16>,
    /// Run the points on the workers of a dask scheduler, `dask:tcp://HOST:PORT`, or on the ranks of `mpi`, as in
    /// `mpiexec -n 3 maquette sweep ... --executor mpi`; where the command was installed by pip. The table does not
    /// depend on it.
    #[arg(long, value_name = "WHERE", requires = "out", conflicts_with = "threads")]
    executor: Option<String>,
}

/// A sweep as data, so that its points can be run on other computers.
#[derive(Debug)]
pub struct SweepToRun {
    /// Its experiment, and the values over which it is swept, in JSON.
    pub json: String,
    /// The file for its table; finished points are kept next to it.
    pub out: Option<PathBuf>,
}

/// Reads a field and its values.
fn axis(text: &str) -> Result<Axis, String> {
    let Some((name, values)) = text.split_once('=').filter(|(name, values)| !name.is_empty() && !values.is_empty())
    else {
        return Err("allowed is FIELD=VALUES, such as `bytes=8..1MiB` or `machine=delta,moc-3-2`".to_owned());
    };
    if name.trim() == "seed"
        && let Some((least, most)) = values.split_once("..")
    {
        return Err(format!(
            "found the range {least}..{most}, of which only the powers of two would be seeds; allowed is a list such as `seed=1,2,3`, or \
             `--seeds {most}` for 1 to {most}"
        ));
    }
    let value = |text: &str| text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number));
    let values: Vec<Value> = if values.contains("..") {
        let Sizes(sizes) = sizes(values)?;
        sizes.iter().map(|size| json!(size.0)).collect()
    } else {
        values.split(',').map(|each| value(each.trim())).collect()
    };
    Ok(Axis { name: name.trim().to_owned(), values })
}

/// The format in which a table is written.
#[derive(Clone, Copy)]
enum Form {
    Arrow,
    Csv,
}

impl Form {
    fn of(path: &Path) -> Result<Form, Failure> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("arrow") => Ok(Form::Arrow),
            Some("csv") => Ok(Form::Csv),
            _ => Err(Failure::argument("--out", path.display(), "a name that ends in .arrow or .csv")),
        }
    }

    fn content(self, sweep: &Sweep, rows: &[Row]) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory cannot fail.
        let _ = match self {
            Form::Arrow => sweep.write_arrow(rows, false, &mut bytes),
            Form::Csv => sweep.write_csv(rows, &mut bytes),
        };
        bytes
    }
}

impl Arguments {
    /// The format in which the table is written, if it is.
    fn form(&self) -> Result<Option<Form>, Failure> {
        self.out.as_deref().map(Form::of).transpose()
    }

    /// The sweep that the arguments describe.
    fn sweep(&self) -> Result<Sweep, Failure> {
        let path = &self.experiment;
        files::reads(path).map_err(|cause| Failure::Unreadable { path: path.clone(), cause })?;
        let mut axes = self.over.clone();
        axes.extend(
            self.seeds
                .map(|seeds| Axis { name: "seed".to_owned(), values: (1..=seeds).map(|seed| json!(seed)).collect() }),
        );
        if axes.is_empty() {
            return Err(Failure::argument("--over", "nothing", "a field and its values, or --seeds"));
        }
        Ok(Sweep::new(Experiment::read(path)?, axes)?)
    }

    /// The sweep as data.
    pub(super) fn to_run(&self) -> Result<SweepToRun, Failure> {
        self.form()?;
        Ok(SweepToRun { json: self.sweep()?.json().to_string(), out: self.out.clone() })
    }

    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        if let Some(executor) = &self.executor {
            let allowed = "none in a command that cargo has built; `pip install` brings one with executors";
            return Err(Failure::argument("--executor", executor, allowed));
        }
        let form = self.form()?;
        let sweep = self.sweep()?;
        let opened = self.out.as_deref().map(|out| Journal::open(out, &sweep)).transpose()?;
        let (journal, done) = opened.unzip();
        let mut work = Work { sweep: &sweep, journal: Mutex::new(journal), done: done.unwrap_or_default() };
        work.run(self.threads.map_or_else(cores, usize::from))?;
        let Work { journal, done: rows, .. } = work;
        if rows.len() < sweep.points() {
            let kept = if self.out.is_some() { ", and kept: the same command resumes" } else { "" };
            note(&format!("{} of {} points are done{kept}", rows.len(), sweep.points()));
            return Ok(CommandOutput { text: String::new(), status: interrupt::status() });
        }
        if let (Some(form), Some(out)) = (form, &self.out) {
            WholeFile::create(out)?.fill(&form.content(&sweep, &rows))?;
        }
        if let Some(journal) = journal.into_inner().unwrap_or_else(PoisonError::into_inner) {
            journal.remove()?;
        }
        let failed = rows.iter().filter(|row| row.error.is_some()).count();
        if failed > 0 && (as_json || self.out.is_none()) {
            warn(&format!("{failed} of {} points failed: the column `error` says why", rows.len()));
        }
        let named = self.reported_out.as_deref().or(self.out.as_deref());
        let text = summary(&sweep, &rows, (named, failed), as_json);
        Ok(CommandOutput { text, status: i32::from(failed > 0) })
    }
}

/// A sweep in progress.
struct Work<'a> {
    sweep: &'a Sweep,
    journal: Mutex<Option<Journal>>,
    done: Vec<Row>,
}

impl Work<'_> {
    /// Runs the remaining points, until interrupted.
    fn run(&mut self, threads: usize) -> Result<(), Failure> {
        let Work { sweep, journal, done } = self;
        let journal: &Mutex<Option<Journal>> = journal;
        let points = sweep.points();
        let mut is_done = vec![false; points];
        done.iter().for_each(|row| is_done[row.point] = true);
        let left: Vec<usize> = (0..points).filter(|&point| !is_done[point]).collect();
        let (bar, count, failed) = (Bar::new(), AtomicUsize::new(done.len()), Mutex::new(None));
        let report_row = |row: &Row| {
            let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(Err(error)) = journal.as_mut().map(|journal| journal.add(row)) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
            let count = count.fetch_add(1, Ordering::Relaxed) + 1;
            bar.show(count as f64 / points as f64, format!("{count} of {points} points"));
        };
        let rows = sweep.run_all(&left, threads, interrupt::flag(), &report_row);
        drop(bar);
        done.extend(rows);
        done.sort_by_key(|row| row.point);
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}

fn summary(sweep: &Sweep, rows: &[Row], (out, failed): (Option<&Path>, usize), as_json: bool) -> String {
    if as_json {
        let row = |row: &Row| {
            let mut object = json!(row);
            object["values"] = json!(sweep.values(row.point));
            object
        };
        let rows: Vec<Value> = rows.iter().map(row).collect();
        let object = json!({"points": rows.len(), "failed": failed, "rows": rows});
        return super::json(&sweep.provenance().added_to(object));
    }
    match out {
        None => String::from_utf8_lossy(&Form::Csv.content(sweep, rows)).into_owned(),
        Some(out) => format!("{} points are in {}; {failed} of them have failed.\n", rows.len(), out.display()),
    }
}
