//! `--set FIELD=VALUE`, and the machine that is meant by a name or a file and such settings.

use clap::Args;
use machines::Description;
use machines::model::Machine;

use super::failure::Failure;
use super::progress::Spinner;

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
    pub(super) fn describe(&self, name: &str) -> Result<Description, Failure> {
        let mut description = ::machines::describe(name)?;
        for (field, value) in &self.set {
            description.set(field, value)?;
        }
        Ok(description)
    }

    /// The machine called `name`, or described in the file of that name, with these settings.
    pub(super) fn load(&self, name: &str) -> Result<Machine, Failure> {
        let _spinner = Spinner::saying("works out the machine");
        Ok(::machines::load_with(name, &self.set)?)
    }
}
