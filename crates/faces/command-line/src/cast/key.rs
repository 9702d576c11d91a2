//! `maquette cast key`: a secret that the sender and the receivers of casts share.

use std::path::PathBuf;

use ::cast::secret::KeyFile;
use clap::Args;
use quantities::shown_path;
use serde_json::json;

use crate::failure::Failure;
use crate::{CommandOutput, json};
use formats::output::Unwritable;

/// Write a file with a new key, which only its owner can read
///
/// Copy it to the other machines over a secure channel, such as `scp -p`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette cast key our.key")]
pub(super) struct Arguments {
    /// The file to write. An existing file is left as it is.
    file: PathBuf,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { file: path } = self;
        KeyFile::make(&path).map_err(|cause| Unwritable { path: path.clone(), cause })?;
        let text = format!("a new key in {}\n", shown_path(&path));
        Ok(if as_json { json(&json!({"key_file": path})) } else { text }.into())
    }
}
