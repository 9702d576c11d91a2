//! `maquette trace`: runs a program written for MPI with a library that records its calls.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use clap::{Args, ValueEnum};
use quantities::{Bytes, Duration};
use report::terminal::{counted, rounded};
use serde::Serialize;
use trace_format::{CLOCK_VARIABLE, Call, Calls, Damage, FOLDER_VARIABLE, NOT_TRACED, file_name, rank_of};

use super::CommandOutput;
use super::failure::{self, Failure};
use super::preloaded::{self, Library};

/// The preloaded library.
const LIBRARY: Library =
    Library { name: "libmaquette_trace.so", variable: "MAQUETTE_TRACE_LIBRARY", package: "maquette-mpi-trace" };

/// Run a program written for MPI and record its calls, for `maquette run trace`.
///
/// Where the program fails, what it did until then is kept, and the exit status is 1.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  maquette trace --out cg.trace -- mpiexec -n 8 ./cg\n  maquette trace --clock cpu -- srun python halo.py\n  \
                  maquette run trace cg.trace --machine fat-tree-1024\n\n\
                  The program is run as it is: a library is preloaded into its processes (LD_PRELOAD), which intercepts their MPI calls. That works \
                  with libraries of the standard ABI of MPI 5 (libmpi_abi.so), and with MPICH and libraries derived from it (libmpi.so.12)."
)]
pub(super) struct Arguments {
    /// The folder for the trace, which must not be there, or be empty.
    #[arg(long, value_name = "DIR", default_value = "mpi.trace")]
    out: PathBuf,
    /// What counts as computing between two calls.
    #[arg(long, value_enum, default_value = "monotonic")]
    clock: ClockName,
    /// The command that starts the program.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Which time of a process counts.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ClockName {
    /// The time that passes: right where each rank has a processor of its own.
    Monotonic,
    /// The time that the rank has a processor: right where ranks share processors; each call costs about a microsecond
    /// more.
    Cpu,
}

/// What was written.
#[derive(Debug, Default, Serialize)]
struct TraceSummary {
    folder: String,
    ranks: u32,
    calls: u64,
    bytes: u64,
    /// For how long the slowest rank ran. [ps]
    recorded_ps: u64,
    /// Ranks that did not reach MPI_Finalize, without which there is nothing to replay.
    #[serde(skip_serializing_if = "is_zero")]
    cut_short: u32,
    /// How the program ended, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Arguments {
    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        let library = LIBRARY.find()?;
        let folder = self.empty_folder()?;
        let ended = self.run(&library, &folder);
        let traced = ended.and_then(|status| self.written(&folder, status));
        if matches!(traced, Err(Failure::Interrupted)) {
            remove_unfinished(&folder);
        }
        if traced.is_err() {
            // Only a folder that this command made, and only if it is empty.
            let _ = fs::remove_dir(&folder);
        }
        let traced = traced?;
        // What was recorded until then is kept: it may say why.
        let status = i32::from(traced.failed.is_some());
        Ok(CommandOutput { text: if json { super::json(&traced) } else { traced.text() }, status })
    }

    /// The folder for the trace, by its full name, since ranks may run in other folders.
    fn empty_folder(&self) -> Result<PathBuf, Failure> {
        let unwritable = |cause| formats::output::Unwritable { path: self.out.clone(), cause };
        fs::create_dir_all(&self.out).map_err(unwritable)?;
        if fs::read_dir(&self.out).map_err(unwritable)?.next().is_some() {
            let allowed = "one that is not there, or is empty";
            return Err(Failure::argument("--out", format!("{}, which has files", self.out.display()), allowed));
        }
        Ok(fs::canonicalize(&self.out).map_err(unwritable)?)
    }

    /// Runs the program to its end.
    fn run(&self, library: &Path, folder: &Path) -> Result<ExitStatus, Failure> {
        let clock = match self.clock {
            ClockName::Monotonic => "monotonic",
            ClockName::Cpu => "cpu",
        };
        preloaded::run(
            &self.command,
            library,
            &[(FOLDER_VARIABLE, folder.as_os_str()), (CLOCK_VARIABLE, clock.as_ref())],
        )
    }

    /// What the ranks have written.
    fn written(&self, folder: &Path, status: ExitStatus) -> Result<TraceSummary, Failure> {
        let not_traced = folder.join(NOT_TRACED);
        if let Ok(text) = fs::read_to_string(&not_traced) {
            let _ = fs::remove_file(not_traced);
            let (library, hint) = text.split_once('\n').unwrap_or((text.as_str(), ""));
            let problem = format!("no trace: the program runs with {library}");
            return Err(Failure::Preloaded { problem, hint: hint.trim_end().to_owned() });
        }
        let mut traced = TraceSummary { folder: self.out.display().to_string(), ..TraceSummary::default() };
        let mut size = 1;
        while traced.ranks < size {
            let path = folder.join(file_name(traced.ranks));
            if !path.exists() {
                return Err(missing(traced.ranks, size, status));
            }
            size = traced.add(&path)?;
        }
        if !status.success() {
            failure::warn(&format!("the program ended with {status}; what it did until then is kept"));
            traced.failed = Some(status.to_string());
        }
        Ok(traced)
    }
}

impl TraceSummary {
    /// Adds the file of a rank; returns the number of ranks.
    fn add(&mut self, path: &Path) -> Result<u32, Failure> {
        let unreadable = |cause| Failure::Unreadable { path: path.to_path_buf(), cause };
        let damaged = |damage| match damage {
            Damage::Unreadable(cause) => unreadable(cause),
            other => unreadable(io::Error::new(io::ErrorKind::InvalidData, other.to_string())),
        };
        let file = File::open(path).map_err(unreadable)?;
        let mut calls = Calls::new(BufReader::new(file)).map_err(damaged)?;
        let (mut last, mut end) = (None, calls.position());
        while let Some((_, call)) = calls.next_call().map_err(damaged)? {
            self.calls += 1;
            (last, end) = (Some(call), calls.position());
        }
        match last {
            Some(Call::Finalize(nanoseconds)) => {
                self.recorded_ps = self.recorded_ps.max(nanoseconds.saturating_mul(1000));
            }
            _ => {
                failure::warn(&format!("rank {} did not reach MPI_Finalize; its calls so far are kept", self.ranks));
                self.cut_short += 1;
                // The room that the rank had reserved for more.
                OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(end)).map_err(unreadable)?;
            }
        }
        self.bytes += end;
        self.ranks += 1;
        Ok(calls.header().size)
    }

    fn text(&self) -> String {
        let TraceSummary { folder, ranks, calls, bytes, recorded_ps, cut_short, .. } = self;
        let each = if *calls == 0 { String::new() } else { format!(": {:.1} B a call", *bytes as f64 / *calls as f64) };
        let took = rounded(Duration::from_picoseconds(*recorded_ps));
        let (size, calls, ranks) = (Bytes(*bytes), counted(*calls, "call"), counted(*ranks, "rank"));
        let replay = match cut_short {
            0 => format!("replay   maquette run trace {folder} --machine MACHINE\n"),
            _ => String::new(),
        };
        format!("traced   {calls} of {ranks}, {took}\nwritten  {folder}, {size}{each}\n{replay}")
    }
}

/// Removes what ranks wrote into the folder, which was empty before: without an end nothing of it can be replayed.
fn remove_unfinished(folder: &Path) {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter(|file| is_of_a_rank(&file.file_name())).for_each(|file| drop(fs::remove_file(file.path())));
}

/// Whether a rank writes a file of this name.
fn is_of_a_rank(name: &OsStr) -> bool {
    name == NOT_TRACED || name.to_str().and_then(rank_of).is_some()
}

/// The error that ranks wrote nothing.
fn missing(rank: u32, size: u32, status: ExitStatus) -> Failure {
    let ended = if status.success() { String::new() } else { format!("; it ended with {status}") };
    if rank == 0 {
        return Failure::Preloaded {
            problem: format!("no trace: no rank of the program called MPI_Init{ended}"),
            hint: "a program that was linked statically, sets LD_PRELOAD itself, or opens its MPI library itself, as `maquette launch --mpi` \
                   does, can't be traced"
                .to_owned(),
        };
    }
    Failure::Preloaded {
        problem: format!("no trace of rank {rank}, of {}{ended}", counted(size, "rank")),
        hint: "all ranks must see the folder, as on a shared file system, and inherit the environment".to_owned(),
    }
}
