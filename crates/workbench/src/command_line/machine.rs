//! `maquette machine`: a machine as it is resolved.

use clap::Args;

use super::failure::Failure;
use super::settings::Settings;
use super::Said;

/// Show a machine as it is simulated: its parts, distances, latencies.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette machine moc-3-2 --set buffers=4")]
pub(super) struct Arguments {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(value_name = "NAME|FILE")]
    machine: String,
    #[command(flatten)]
    settings: Settings,
}

impl Arguments {
    pub(super) fn execute(self, _as_json: bool) -> Result<Said, Failure> {
        let machine = self.settings.load(&self.machine)?;
        Ok(format!("{}: {}\n", machine.name, machine.about).into())
    }
}
