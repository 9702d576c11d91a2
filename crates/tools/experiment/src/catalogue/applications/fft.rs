//! The Fourier transform of a square array.

use collectives::all_to_all::Complete;
use collectives::schedule::Packing;
use programs::applications::cost::Speed;
use programs::applications::fft::{Array, Complex32, Fft2d, Transformed, row, transform};
use quantities::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{DEFAULT_OPERATION, communication};
use crate::catalogue::Entry;
use crate::{Error, Finding, Prepared, Ready, Site};

/// The largest array whose numbers are really transformed, in numbers a side.
const LARGEST: u32 = 4096;

/// Transform a square array of complex numbers (FFT): rows, an all-to-all, then columns.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fft {
    /// Numbers a side, of 8 bytes each.
    size: u32,
    /// How ranks exchange their blocks.
    algorithm: Complete,
    /// How long a node takes for a floating-point operation.
    operation: Duration,
    /// How long a node takes to copy a byte of a block into a message, or out of one.
    reshuffle: Duration,
    /// How long a node takes to pack a block into a message, or to unpack one, whatever its size.
    pack: Duration,
    /// Compute times only: nothing is transformed, and messages are only a size.
    only_sizes: bool,
}

impl Default for Fft {
    fn default() -> Fft {
        Fft {
            size: 256,
            algorithm: Complete::Pairwise,
            operation: DEFAULT_OPERATION,
            reshuffle: Duration::ZERO,
            pack: Duration::ZERO,
            only_sizes: false,
        }
    }
}

impl Entry for Fft {
    const NAME: &'static str = "fft";
    const EXAMPLES: &'static str =
        "Example:\n  maquette run fft --machine delta --nodes 64 --size 512 --algorithm pairwise";

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let Fft { size, algorithm, operation, reshuffle, pack, only_sizes } = *self;
        if !only_sizes && size > LARGEST {
            return Err(Error::parameter("size", size, format!("at most {LARGEST}, or more with only sizes")));
        }
        let array = if only_sizes { Array::OnlySizes } else { Array::Seeded(site.seed) };
        let mut program = Fft2d::new(size, array, algorithm)?;
        let ranks = site.ranks()?;
        let block = program.block(ranks);
        program.order = site.order(program.longest(ranks));
        program.speed = Speed { operation };
        program.packing = Packing { block: pack, byte: reshuffle };
        let mut parameters = json!({
            "size": size,
            "algorithm": algorithm.name(),
            "operation": operation.to_string(),
            "reshuffle": reshuffle.to_string(),
        });
        if pack > Duration::ZERO {
            parameters["pack"] = json!(pack.to_string());
        }
        if only_sizes {
            parameters["only_sizes"] = json!(true);
        }
        let mut prepared = Prepared::new(program, ranks, parameters);
        prepared.notes.draws = !only_sizes;
        Ok(Box::new(prepared.with_findings(move |parts, answer| {
            let spent = parts.iter().map(|part| part.communication);
            let mut findings = vec![exchanged(block), communication(answer, spent)];
            if let Array::Seeded(seed) = array {
                findings.push(compared(size, seed, parts));
            }
            findings
        })))
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
