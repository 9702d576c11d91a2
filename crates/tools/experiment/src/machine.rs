//! The machine on which programs run: a preset, a file, a description within the experiment, or the postal model; and
//! changes to it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use collectives::postal::Lambda;
use formats::output::files;
use machines::Description;
use machines::model::Machine;
use quantities::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Error;
use crate::postal_clock::{exact_step, postal_machine};

/// Which machine, and what of it is changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MachineChoice {
    /// A preset, or the file of a description: a name with a `/` in it or with the ending `.toml`. If left out,
    /// `description` or `postal` says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<PathBuf>,
    /// A description, instead of a file; if left out, `name` or `postal` says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Map<String, Value>>,
    /// The postal model: nothing contends, and a message takes a latency whatever its size. If left out, `name` or
    /// `description` says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postal: Option<PostalModel>,
    /// Fields of the description that are set to other values, in this order: `"channels.buffers=4"`. None, if left
    /// out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<Setting>,
}

/// A field of a description, and its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The field's path, or its last part: `channels.buffers`, `buffers`.
    pub field: String,
    /// Its value, as a description has it, without quotes.
    pub value: String,
}

impl FromStr for Setting {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Setting, Self::Err> {
        match text.split_once('=') {
            Some((field, value)) if !field.trim().is_empty() => {
                Ok(Setting { field: field.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err("allowed is FIELD=VALUE, such as `buffers=4`"),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}={}", self.field, self.value)
    }
}

quantities::written_as_text!(Setting, "FIELD=VALUE", "buffers=4");

/// The postal model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostalModel {
    /// The latency of a message in steps.
    pub lambda: Lambda,
    /// The duration of a step, after which a sender is done with a message. A microsecond or a little more, if left
    /// out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t0: Option<Duration>,
}

impl PostalModel {
    /// The length of a step.
    pub fn step(&self) -> Duration {
        self.t0.unwrap_or_else(|| exact_step(self.lambda))
    }
}

impl MachineChoice {
    /// The machine called `name`.
    pub fn named(name: impl Into<PathBuf>) -> MachineChoice {
        MachineChoice { name: Some(name.into()), ..MachineChoice::default() }
    }

    /// Loads and resolves the machine.
    ///
    /// # Errors
    /// If none or several are given; if a description is wrong; if the postal model has settings, or no step.
    pub fn load(&self) -> Result<Machine, Error> {
        match (&self.name, &self.description, self.postal) {
            (None, None, Some(model)) => {
                if let Some(Setting { field, .. }) = self.set.first() {
                    return Err(Error::parameter("set", field, "only together with a machine"));
                }
                let step = model.step();
                if step.is_zero() {
                    return Err(Error::parameter("t0", "0", "a time above 0"));
                }
                Ok(postal_machine(model.lambda, step)?)
            }
            _ => Ok(self.describe()?.resolve()?),
        }
    }

    /// Its description, with the settings applied.
    ///
    /// # Errors
    /// Those of [`MachineChoice::load`]; and the postal model, which has no description.
    pub fn describe(&self) -> Result<Description, Error> {
        let mut description = match (&self.name, &self.description, self.postal) {
            (Some(name), None, None) => {
                if machines::is_file_name(name) {
                    files::reads(name).map_err(|cause| Error::Unreadable { path: name.clone(), cause })?;
                }
                machines::describe(name)?
            }
            (None, Some(description), None) => {
                let description = toml::to_string(description)
                    .map_err(|error| Error::parameter("description", error, "a description of a machine"))?;
                Description::parse(&description, "description")?
            }
            (None, None, None) => {
                return Err(Error::parameter("machine", "nothing", "a machine, or a lambda for the postal model"));
            }
            (None, None, Some(_)) => {
                return Err(Error::parameter("machine", "the postal model", "a machine that has a description"));
            }
            _ => return Err(Error::parameter("machine", "several", "one of name, description and postal")),
        };
        for Setting { field, value } in &self.set {
            description.set(field, value)?;
        }
        Ok(description)
    }
}
