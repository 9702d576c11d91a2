//! Where an MPI library is searched for, and what is known about the launcher of this process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

/// The variable that names a library.
pub const LIBRARY_VARIABLE: &str = "MAQUETTE_MPI_LIBRARY";

/// Names of a library of the standard ABI: with the number of its ABI, and without. Next to the first there may be a
/// linker script with the second name, which no loader reads.
const NAMES: [&str; 2] = ["libmpi_abi.so.1", "libmpi_abi.so"];

/// A place where a library may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Candidate {
    /// This file, if it exists.
    File(PathBuf),
    /// Wherever the loader searches: LD_LIBRARY_PATH, and the system's own folders.
    OfTheLoader(&'static str),
}

impl fmt::Display for Candidate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Candidate::File(path) => write!(out, "{}", path.display()),
            Candidate::OfTheLoader(name) => write!(out, "{name} where the loader looks"),
        }
    }
}

/// The library that the variable names.
pub(crate) fn of_variable() -> Option<PathBuf> {
    env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The MPI libraries that this process has loaded, recognized by their usual names.
pub(crate) fn loaded() -> Vec<PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut all: Vec<PathBuf> =
        maps.lines().filter_map(|line| line.find('/').map(|start| line[start..].into())).collect();
    all.retain(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        name.starts_with("libmpi") && name.contains(".so")
    });
    all.dedup();
    all
}

/// Where to search, in this order. A library belongs to its mpiexec: with the library of another, every process is
/// alone. So the one next to the mpiexec that started this process comes first.
pub(crate) fn candidates() -> Vec<Candidate> {
    let in_folder = |bin: &Path| bin.parent().map(|prefix| prefix.join("lib"));
    let files = |bin: Option<PathBuf>| {
        let folder = bin.as_deref().and_then(in_folder);
        NAMES.map(|name| Some(Candidate::File(folder.as_ref()?.join(name)))).into_iter().flatten()
    };
    let mut all: Vec<Candidate> = files(folder_of_parent()).collect();
    all.extend(NAMES.map(Candidate::OfTheLoader));
    all.extend(files(folder_of_mpiexec()));
    all.extend(files(folder_of_command()));
    let mut seen = Vec::new();
    all.retain(|candidate| {
        let new = !seen.contains(candidate);
        seen.push(candidate.clone());
        new
    });
    all
}

/// The folder of the program that started this process: usually the proxy of an mpiexec.
fn folder_of_parent() -> Option<PathBuf> {
    let program = fs::read_link(format!("/proc/{}/exe", std::os::unix::process::parent_id())).ok()?;
    let name = program.file_name()?.to_string_lossy().into_owned();
    let starts_ranks = ["hydra", "mpiexec", "mpirun"].iter().any(|starter| name.starts_with(starter));
    program.parent().filter(|_| starts_ranks).map(Path::to_path_buf)
}

/// The folder of the `mpiexec` that a shell would start.
fn folder_of_mpiexec() -> Option<PathBuf> {
    let path: OsString = env::var_os("PATH")?;
    env::split_paths(&path).find(|folder| folder.join("mpiexec").is_file())
}

/// The folder of this command: in a Python environment it is a script, which is an argument of Python.
fn folder_of_command() -> Option<PathBuf> {
    let script = env::args_os().nth(1).map(PathBuf::from).filter(|script| script.is_absolute() && script.is_file());
    let command = script.or_else(|| env::current_exe().ok())?;
    command.parent().map(Path::to_path_buf)
}

/// Environment variables in which launchers state how many processes they have started, and the names of the launchers.
const STARTERS: [(&str, &str); 3] =
    [("OMPI_COMM_WORLD_SIZE", "Open MPI's mpiexec"), ("PMI_SIZE", "an mpiexec"), ("SLURM_STEP_NUM_TASKS", "srun")];

/// The number of processes that were started together with this one, and their launcher, if it has stated them.
pub fn started_processes() -> Option<(u32, &'static str)> {
    STARTERS.iter().find_map(|(variable, starter)| Some((env::var_os(variable)?.to_str()?.parse().ok()?, *starter)))
}

/// What a library needs that another library's launcher does not have: where a process was started by Open MPI's, every
/// other library fails or takes it for the only one. That is known before MPI has begun, by the library's `version`.
/// Where an mpiexec runs within a job of Open MPI, its own variables are there, too.
///
/// Returns how many processes were started, and the launcher, if it is one of another library.
pub fn started_by_another(version: &str) -> Option<(u32, &'static str)> {
    let [(of_open_mpi, _), (of_others, _), _] = STARTERS;
    let of_open_mpi = env::var_os(of_open_mpi).is_some() && env::var_os(of_others).is_none();
    started_processes().filter(|_| of_open_mpi && !version.starts_with("Open MPI"))
}

/// What is known about the launcher of this process, as the end of a sentence.
pub(crate) fn started_by() -> String {
    started_processes().map_or_else(String::new, |(processes, starter)| {
        let of = if processes == 1 { "the only process".to_owned() } else { format!("one of {processes} processes") };
        format!(". This is {of} of {starter}")
    })
}
