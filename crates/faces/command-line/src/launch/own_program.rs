//! Users' programs in the language from which the command is called: `FILE.py:FUNCTION`.

use std::path::{Path, PathBuf};

use launch::rank::Running;
use launch::wire::Record;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::failure::Failure;
use experiment::{DEFAULT_SEED, Provenance};
use formats::input;
use formats::input::InputFile;
use quantities::Bytes;

/// The longest file of a program that is read.
const LONGEST: Bytes = Bytes(64 << 20);

/// A function in a file, and its arguments. The file has the same path on every host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnProgram {
    /// The file.
    pub file: PathBuf,
    /// The name of the function.
    pub function: String,
    /// Its arguments, as on the command line.
    pub arguments: Vec<String>,
    /// The seed of random choices.
    pub seed: u64,
}

/// Why a user's program was not run, or how it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnProgramFailure {
    /// The message to print.
    pub problem: String,
    /// The exit status for it.
    pub status: i32,
}

/// The language from which the command is called.
pub trait OwnPrograms {
    /// Checks that `program` exists and takes its arguments, so that no rank is started in vain.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self, program: &OwnProgram) -> Result<(), OwnProgramFailure>;

    /// Runs `program` as a rank, as often as required; the record has what it returned.
    ///
    /// # Errors
    /// How it, or the network, failed.
    fn run(&self, program: &OwnProgram, rank: &mut Running) -> Result<Record, OwnProgramFailure>;
}

/// The key under which ranks receive such a program.
const KEY: &str = "own_program";

impl OwnProgram {
    /// The program that the line names, if it does: `FILE.py:FUNCTION`, then its arguments and `--seed`.
    pub(super) fn of(line: &[String]) -> Result<Option<OwnProgram>, Failure> {
        let Some((file, function)) = line.first().and_then(|argument| argument.rsplit_once(':')) else {
            return Ok(None);
        };
        if Path::new(file).extension().is_none_or(|extension| extension != "py") {
            return Ok(None);
        }
        let unreadable = |cause| Failure::Unreadable { path: file.into(), cause };
        let file = std::fs::canonicalize(file).map_err(unreadable)?;
        let (mut arguments, mut seed) = (Vec::new(), DEFAULT_SEED);
        let mut rest = line[1..].iter();
        while let Some(argument) = rest.next() {
            let value = match argument.split_once('=') {
                Some(("--seed", value)) => Some(value),
                None if argument == "--seed" => Some(rest.next().map_or("nothing", String::as_str)),
                _ => None,
            };
            match value {
                Some(value) => {
                    seed = value.parse().map_err(|_| Failure::argument("--seed", value, "a whole number"))?
                }
                None => arguments.push(argument.clone()),
            }
        }
        Ok(Some(OwnProgram { file, function: function.to_owned(), arguments, seed }))
    }

    /// The program as ranks receive it.
    pub(super) fn as_experiment(&self) -> Value {
        json!({ KEY: self })
    }

    /// The program that a rank received, if it is a user's.
    pub(super) fn from_experiment(experiment: &Value) -> Option<OwnProgram> {
        serde_json::from_value(experiment.get(KEY)?.clone()).ok()
    }

    /// Its provenance, on `ranks` ranks.
    pub(super) fn provenance(&self, ranks: u32) -> Result<Provenance, Failure> {
        let unreadable = |cause| Failure::Unreadable { path: self.file.clone(), cause };
        let content = input::read(&self.file, LONGEST).map_err(unreadable)?;
        let mut provenance = Provenance::of("launch").running(&self.function).among(ranks).seeded(self.seed, false);
        provenance.read(InputFile::new(&self.file, &content));
        Ok(provenance.given(json!({ "arguments": self.arguments })))
    }
}

/// The language of users' programs, if there is one.
pub(super) fn language(own: Option<&dyn OwnPrograms>) -> Result<&dyn OwnPrograms, Failure> {
    let allowed = "a program of `maquette programs`; those in Python need the command that pip installs";
    own.ok_or_else(|| Failure::argument("PROGRAM", "a Python file", allowed))
}
