//! `maquette machines`: the presets.

use clap::Args;
use serde::Serialize;

use super::failure::Failure;
use super::{CommandOutput, json};
use report::terminal::{Side, columns};

/// List the built-in machines.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette machines --json")]
pub(super) struct Arguments {}

/// What is listed about a machine.
#[derive(Serialize)]
struct Line {
    name: &'static str,
    nodes: u32,
    about: String,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let mut lines = Vec::new();
        for preset in ::machines::presets() {
            let machine = ::machines::load(preset.name)?;
            lines.push(Line { name: preset.name, nodes: machine.nodes, about: machine.about });
        }
        if as_json {
            return Ok(json(&lines).into());
        }
        let row = |line: Line| [line.name.to_string(), format!("{} nodes", line.nodes), line.about];
        let rows: Vec<[String; 3]> = lines.into_iter().map(row).collect();
        Ok(columns([Side::Left, Side::Right, Side::Left], &rows).into())
    }
}
