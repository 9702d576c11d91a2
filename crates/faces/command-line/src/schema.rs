//! `maquette schema`: the schemas of the files that users write.

use clap::{Args, ValueEnum};
use experiment::schema;
use serde_json::Value;

use super::failure::Failure;
use super::{CommandOutput, refuse_json, store};

/// Print the JSON Schema of experiments, machine descriptions or stores' options, with which editors complete and check files.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  maquette schema experiment > experiment.schema.json\n  maquette schema machine --markdown > fields.md\n\n\
                  An editor that knows TOML schemas takes it from the first line of a file: `#:schema experiment.schema.json`."
)]
pub(super) struct Arguments {
    /// Which schema.
    #[arg(value_enum)]
    of: Subject,
    /// Print it as a page to read, with a table of the fields.
    #[arg(long)]
    markdown: bool,
}

/// What people write.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Subject {
    /// What `maquette run FILE` runs.
    Experiment,
    /// What `--machine FILE` describes.
    Machine,
    /// What `maquette store serve --config FILE` reads.
    Store,
}

impl Arguments {
    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        let (title, schema) = match self.of {
            Subject::Experiment => ("The fields of an experiment", schema::experiment()),
            Subject::Machine => ("The fields of a description of a machine", schema::machine()),
            Subject::Store => ("The options of a store", store::schema()),
        };
        if self.markdown {
            refuse_json(json, "a page in Markdown")?;
            return Ok(schema::reference(title, &schema).into());
        }
        let text = serde_json::to_string_pretty(&Value::from(schema)).unwrap_or_default();
        Ok((text + "\n").into())
    }
}
