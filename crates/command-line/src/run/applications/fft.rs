//! `maquette run fft`.

use clap::Args;
use programs::all_to_all::Complete;
use programs::applications::fft::{Array, Complex32, Fft2d, Transformed, row, transform};
use quantities::{Bytes, Duration};
use serde_json::json;

use super::{Nodes, communication};
use crate::CommandOutput;
use crate::algorithms::order;
use crate::choice::choice;
use crate::failure::Failure;
use crate::run::simulation::Simulation;
use crate::run::summary::{Finding, Summary};

/// The largest array whose numbers are really transformed, in numbers a side.
const LARGEST: u32 = 4096;

/// Transform a square array of complex numbers (Fourier): rows, then columns, and a complete exchange between.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette run fft --machine delta --nodes 64 --size 512 --algorithm pairwise")]
pub(in crate::run) struct Fft {
    #[command(flatten)]
    simulation: Simulation,
    /// Numbers a side, of 8 bytes each.
    #[arg(long, value_name = "N", default_value_t = 256)]
    size: u32,
    /// How ranks exchange their blocks.
    #[arg(long, value_name = "NAME", default_value = "pairwise", value_parser = choice::<Complete>())]
    algorithm: Complete,
    #[command(flatten)]
    nodes: Nodes,
    /// How long a node takes to copy a byte of a block into a message, or out of one.
    #[arg(long, value_name = "TIME", default_value = "0ns")]
    reshuffle: Duration,
    /// Work out times only: nothing is transformed, and messages are only a size.
    #[arg(long)]
    only_sizes: bool,
}

impl Fft {
    pub(in crate::run) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Fft { simulation, size, algorithm, nodes, reshuffle, only_sizes } = self;
        if !only_sizes && size > LARGEST {
            return Err(Failure::argument("--size", size, format!("at most {LARGEST}, or more with --only-sizes")));
        }
        let array = if only_sizes { Array::OnlySizes } else { Array::Seeded(simulation.options.seed()) };
        let mut program = Fft2d::new(size, array, algorithm)?;
        let mut prepared = simulation.prepare()?;
        let block = program.block(prepared.ranks);
        program.order = order(prepared.waits_for_receivers(program.longest(prepared.ranks)));
        program.speed = nodes.speed();
        program.packing.byte = reshuffle;
        let mut parameters = json!({
            "size": size,
            "algorithm": algorithm.name(),
            "operation": nodes.operation.to_string(),
            "reshuffle": reshuffle.to_string(),
        });
        if only_sizes {
            parameters["only_sizes"] = json!(true);
        } else {
            prepared.experiment.draws();
        }
        prepared.runs("fft", parameters);
        let ran = prepared.run(program)?;
        let mut findings =
            vec![exchanged(block), communication(&ran, ran.output.iter().map(|part| part.communication))];
        if let Array::Seeded(seed) = array {
            findings.push(compared(size, seed, &ran.output));
        }
        Ok(Summary { findings }.said(&ran, as_json))
    }
}

fn exchanged(block: Bytes) -> Finding {
    Finding { name: "blocks", text: format!("{block} between two ranks"), key: "block_bytes", value: json!(block.0) }
}

/// How far the result is from the transform on one node.
fn compared(size: u32, seed: u64, parts: &[Transformed]) -> Finding {
    let mut serial: Vec<Complex32> = (0..size).flat_map(|number| row(size, seed, number)).collect();
    transform(size, &mut serial);
    let size = size as usize;
    let off = |part: &Transformed| {
        let places = part.columns.iter().enumerate();
        let apart = places.map(|(place, number)| {
            let there = serial[place % size * size + part.first as usize + place / size];
            (number - there).norm()
        });
        apart.fold(0.0f32, f32::max)
    };
    let farthest = parts.iter().map(off).fold(0.0f32, f32::max);
    let text =
        if farthest == 0.0 { "as on one node, to the last bit".to_string() } else { format!("{farthest:e} off") };
    Finding { name: "result", text, key: "farthest_from_serial", value: json!(farthest) }
}
