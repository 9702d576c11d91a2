//! `maquette collectives`: runs a program written for MPI with a library that carries out its collectives by a plan.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use clap::Args;
use plan_format::Plan;
use report::terminal::{Side, columns};
use serde::{Deserialize, Serialize};

use super::CommandOutput;
use super::failure::{Failure, warn};
use super::preloaded::{self, Library};
use super::settings::Settings;

/// The preloaded library.
pub(super) const LIBRARY: Library = Library {
    name: "libmaquette_mpi_collectives.so",
    variable: "MAQUETTE_COLLECTIVES_LIBRARY",
    package: "maquette-mpi-collectives",
};
/// Names the file with the plan to the ranks.
const PLAN_VARIABLE: &str = "MAQUETTE_COLLECTIVES_PLAN";
/// Names the file for the report of calls.
const REPORT_VARIABLE: &str = "MAQUETTE_COLLECTIVES_REPORT";

/// Run a program written for MPI with the collectives of a plan.
///
/// `maquette plan collectives --write` makes a plan. The program is run as it is: a library is preloaded into its
/// processes (LD_PRELOAD), which takes MPI_Bcast, MPI_Allreduce, MPI_Alltoall, MPI_Alltoallv and their nonblocking
/// variants. What the plan does not mention is left to the MPI library. At the end it reports what was done how often,
/// and the exit status is the program's.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  maquette plan collectives --machine cluster.toml --ranks 8 --write plan.toml\n  maquette collectives \
                  --plan plan.toml -- mpiexec -n 8 ./program\n\n\
                  That works with libraries of the standard ABI of MPI 5 (libmpi_abi.so), as MPICH 5 has one."
)]
pub(super) struct Arguments {
    /// The plan; all hosts must see it by this name.
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// What the program is run on: a preset or a description. A plan that was made for another machine is refused.
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<OsString>,
    #[command(flatten)]
    settings: Settings,
    /// The command that starts the program.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// A function and what carried it out: a line of the ranks' report.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    function: String,
    planned: bool,
    by: String,
    calls: u64,
}

/// The result.
#[derive(Debug, Serialize)]
struct Done {
    plan: String,
    machine: String,
    ranks: u32,
    status: i32,
    calls: Vec<Line>,
}

impl Arguments {
    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        let plan = Plan::read(&self.plan)?;
        self.check_machine(&plan)?;
        let library = LIBRARY.find()?;
        let unreadable = |cause| Failure::Unreadable { path: self.plan.clone(), cause };
        // By its full name, since ranks may run in other folders.
        let path = fs::canonicalize(&self.plan).map_err(unreadable)?;
        let folder = private_folder()?;
        let report = folder.join("calls.json");
        let variables = [(PLAN_VARIABLE, path.as_os_str()), (REPORT_VARIABLE, report.as_os_str())];
        let ended = preloaded::run(&self.command, &library, &variables);
        let calls = reported(&report);
        // Nothing else uses it.
        let _ = fs::remove_dir_all(folder);
        let ended = ended?;
        let status = status_of(ended);
        if calls.is_none() && ended.success() {
            warn(
                "no rank has reported its calls: the program did not reach MPI_Finalize, is linked statically, opens its MPI library \
                 itself, as `maquette launch --mpi` does, or its first rank is on another host",
            );
        }
        let done = Done {
            plan: self.plan.display().to_string(),
            machine: plan.machine,
            ranks: plan.ranks,
            status,
            calls: calls.unwrap_or_default(),
        };
        Ok(CommandOutput { text: if json { super::json(&done) } else { done.text() }, status })
    }

    /// Checks that the plan was made for the named machine.
    fn check_machine(&self, plan: &Plan) -> Result<(), Failure> {
        let Some(name) = &self.machine else {
            return match self.settings.first() {
                Some(field) => Err(Failure::argument("--set", field, "nothing without --machine, whose field it is")),
                None => Ok(()),
            };
        };
        let machine = self.settings.load(name)?;
        let (digest, made_for) = (&machine.source.blake3, plan.blake3.as_deref().unwrap_or_default());
        if digest == made_for && machine.name == plan.machine && machine.source.settings == plan.set {
            return Ok(());
        }
        let described = |name: &str, digest: &str, settings: &[String]| {
            let digest = digest.get(..16).map_or(String::new(), |digest| format!(" (blake3 {digest})"));
            let settings = if settings.is_empty() { String::new() } else { format!(" with {}", settings.join(", ")) };
            format!("{name}{digest}{settings}")
        };
        let found = format!("a plan for {}", described(&plan.machine, made_for, &plan.set));
        let wanted = described(&machine.name, digest, &machine.source.settings);
        let allowed = format!("one for {wanted}; `maquette plan collectives` makes it");
        Err(Failure::argument(format!("--plan {}", self.plan.display()), found, allowed))
    }
}

/// The report of the ranks, if there is one.
fn reported(path: &Path) -> Option<Vec<Line>> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

/// A new folder in which no other user can put anything.
fn private_folder() -> Result<PathBuf, Failure> {
    /// How many of the same name may have been left behind by others.
    const TRIES: u32 = 100;
    let name = |number| std::env::temp_dir().join(format!("maquette-collectives-{}-{number}", std::process::id()));
    let mut tries = 0;
    loop {
        let path = name(tries);
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => tries += 1,
            Err(cause) => return Err(formats::output::Unwritable { path, cause }.into()),
        }
    }
}

/// The exit status that tells how the program ended.
fn status_of(ended: ExitStatus) -> i32 {
    ended.code().or_else(|| ended.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

impl Done {
    fn text(&self) -> String {
        if self.calls.is_empty() {
            return String::new();
        }
        let mut rows = vec![["function", "by", "calls"].map(str::to_owned)];
        for Line { function, planned, by, calls } in &self.calls {
            let by = if *planned { format!("plan: {by}") } else { format!("library: {by}") };
            rows.push([function.clone(), by, calls.to_string()]);
        }
        columns([Side::Left, Side::Left, Side::Right], &rows)
    }
}
