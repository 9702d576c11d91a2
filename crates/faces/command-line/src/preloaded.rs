//! Programs that run with one of our libraries preloaded into their processes.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::Duration;

use crate::failure::Failure;
use formats::interrupt;

/// The time between two checks whether the program has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A program that has failed may have received the same signal as this command, which learns of it later: in the Python
/// package after up to 50 ms, the time between two checks there. Six times that.
const UNTIL_SIGNAL_IS_KNOWN: Duration = Duration::from_millis(300);

/// A library that is preloaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Library {
    /// Its file.
    pub(crate) name: &'static str,
    /// The environment variable that names it, if it is not next to the command.
    pub(crate) variable: &'static str,
    /// The package that builds it.
    pub(crate) package: &'static str,
}

impl Library {
    /// Where it is: at the named path, or next to this command.
    pub(crate) fn find(self) -> Result<PathBuf, Failure> {
        let Library { name, variable, package } = self;
        #[allow(clippy::disallowed_methods)] // where a part of the installation is, which is no part of a simulation
        let named = std::env::var_os(variable).map(PathBuf::from);
        let beside = std::env::current_exe().ok().and_then(|command| Some(command.parent()?.join(name)));
        let found = [named.clone(), beside].into_iter().flatten().find(|path| path.is_file());
        found.ok_or_else(|| Failure::Preloaded {
            problem: match named {
                Some(path) => format!("{variable}: found no file `{}`; allowed is {name}", path.display()),
                None => format!("found no {name} beside this command"),
            },
            hint: format!("`cargo build --release -p {package}` builds it; name it by {variable}"),
        })
    }
}

/// Runs `command` to its end with the library at `library` preloaded, which is configured through its environment.
pub(crate) fn run(command: &[OsString], library: &Path, variables: &[(&str, &OsStr)]) -> Result<ExitStatus, Failure> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| Failure::argument("COMMAND", "nothing", "the command that starts the program"))?;
    let mut child = Command::new(program)
        .args(arguments)
        .env("LD_PRELOAD", with_others(library))
        .envs(variables.iter().copied())
        .spawn()
        .map_err(|cause| {
            Failure::argument("COMMAND", format!("{}: {cause}", program.display()), "one that can be run")
        })?;
    let unknown = |cause: io::Error| Failure::argument("COMMAND", cause, "one that comes to an end");
    loop {
        if let Some(status) = child.try_wait().map_err(unknown)? {
            let was_interrupted =
                interrupt::requested() || (!status.success() && interrupted_within(UNTIL_SIGNAL_IS_KNOWN));
            return if was_interrupted { Err(Failure::Interrupted) } else { Ok(status) };
        }
        if interrupt::requested() {
            // On a terminal it received the signal, too; elsewhere only this command can end it.
            let _ = child.kill();
        }
        thread::sleep(PAUSE);
    }
}

/// Whether this command is asked to end before so much time has passed.
fn interrupted_within(limit: Duration) -> bool {
    let pauses = limit.as_millis() / PAUSE.as_millis();
    (0..pauses).any(|_| {
        thread::sleep(PAUSE);
        interrupt::requested()
    })
}

/// What to preload: the library, and whatever was to be preloaded anyway.
fn with_others(library: &Path) -> OsString {
    let mut preloaded = OsString::from(library);
    #[allow(clippy::disallowed_methods)] // the program inherits the environment, with one library more
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preloaded.push(":");
        preloaded.push(others);
    }
    preloaded
}
