//! `--set FIELD=VALUE`, and the machine given by a name or a file and such settings.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Args;
use machines::Description;
use machines::model::Machine;

use super::failure::Failure;
use super::working;
use formats::output::files;

/// Fields of a description that are set to other values.
#[derive(Args, Debug)]
pub(super) struct Settings {
    /// Set a field of the description: `buffers=4`, `channels.rate="20 MB/s"`. May be given more than once.
    #[arg(long = "set", value_name = "FIELD=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
}

/// Splits `field=value`.
fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((field, value)) if !field.trim().is_empty() => Ok((field.trim().to_string(), value.trim().to_string())),
        _ => Err("allowed is FIELD=VALUE, such as `buffers=4`".to_string()),
    }
}

impl Settings {
    /// The field that is set first, if any is.
    pub(super) fn first(&self) -> Option<&str> {
        self.set.first().map(|(field, _)| field.as_str())
    }

    /// The description called `name`, or in the file of that name, with these settings.
    pub(super) fn describe(&self, name: &OsStr) -> Result<Description, Failure> {
        let (name, settings) = (noted(name)?, self.set.clone());
        working("building the machine", move || {
            let mut description = ::machines::describe(&name)?;
            for (field, value) in &settings {
                description.set(field, value)?;
            }
            Ok(description)
        })
    }

    /// The machine called `name`, or described in the file of that name, with these settings.
    pub(super) fn load(&self, name: &OsStr) -> Result<Machine, Failure> {
        let (name, settings) = (noted(name)?, self.set.clone());
        working("building the machine", move || Ok(::machines::load_with(&name, &settings)?))
    }
}

/// Records that the description called `name` is an input, if it is in a file.
pub(super) fn noted(name: &OsStr) -> Result<OsString, Failure> {
    if ::machines::is_file_name(name) {
        let path = Path::new(name);
        files::reads(path).map_err(|cause| Failure::Unreadable { path: path.to_path_buf(), cause })?;
    }
    Ok(name.to_os_string())
}
