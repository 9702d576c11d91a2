//! `maquette run broadcast`.

use clap::{Args, ValueEnum};
use programs::broadcast::{Algorithm, Broadcast, Hardware, Pipe, Tree};
use programs::postal::Splitting;
use quantities::Bytes;
use serde_json::{Value, json};

use super::collective::{Collective, CollectiveSetup};
use super::summary::Summary;
use crate::CommandOutput;
use crate::choice::value_name;
use crate::failure::Failure;
use crate::sizes::size;

/// Broadcast a message from one node to all others.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  maquette run broadcast --machine delta --nodes 64 --bytes 512 --algorithm lambda-tree \
                        --alpha 0.58\n  maquette run broadcast --lambda 1.8 --nodes 64"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    collective: Collective,
    /// Along which tree; if left out, lambda-tree where --lambda or --alpha is given, otherwise binomial.
    #[arg(long, value_enum)]
    algorithm: Option<Name>,
    /// Size of a segment, for pipeline and segmented-tree; 4 KiB, if left out.
    #[arg(long, value_name = "B", value_parser = size)]
    segment: Option<Bytes>,
}

/// Along which tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// The source sends to all others, one by one.
    Linear,
    /// Whoever has the message sends it on, twice as far in every round.
    Binomial,
    /// Whoever has the message sends it on, half as far in every step.
    Recursive,
    /// By splitting the nodes again and again, as --alpha or the look-up table for --lambda says.
    LambdaTree,
    /// The lambda tree for --lambda, built node by node.
    TwoQueue,
    /// In segments along a chain of all nodes.
    Pipeline,
    /// In segments along the tree by splitting.
    SegmentedTree,
    /// A block to each node; then the blocks go round.
    ScatterGather,
    /// By the machine's control network.
    Hardware,
}

/// The size of segments, if none is asked for.
const USUAL_SEGMENT: Bytes = Bytes(4 << 10);

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { collective, algorithm, segment } = self;
        let mut setup = collective.prepare()?;
        setup.prepared.first = Some(setup.group.source());
        let by_share = setup.lambda.is_some() || setup.alpha.is_some();
        let name = algorithm.unwrap_or(if by_share { Name::LambdaTree } else { Name::Binomial });
        let text = value_name(name);
        if segment.is_some() && !matches!(name, Name::Pipeline | Name::SegmentedTree) {
            return Err(Failure::argument("--segment", "a size", format!("none, as {text} does not cut messages")));
        }
        if segment == Some(Bytes(0)) {
            return Err(Failure::argument("--segment", Bytes(0), "1 B or more"));
        }
        setup.parameters.insert("algorithm".to_owned(), json!(text));
        if name == Name::Hardware {
            setup.check_used(&text)?;
            setup.check_unordered(&text)?;
            return hardware(setup, as_json);
        }
        let algorithm = name.algorithm(&mut setup, segment.unwrap_or(USUAL_SEGMENT))?;
        setup.check_used(&text)?;
        let sends = setup.sends(algorithm.ring_message(setup.bytes, setup.group.len()));
        let findings = setup.lower_bound().into_iter().collect();
        let CollectiveSetup { mut prepared, group, bytes, parameters, .. } = setup;
        prepared.runs("broadcast", Value::Object(parameters));
        if !matches!(algorithm, Algorithm::Segmented(..) | Algorithm::ScatterGather) {
            prepared.expected_messages = Some(u64::from(prepared.ranks) - 1);
        }
        let message = prepared.message(bytes);
        let ran = prepared.run_to(Broadcast { algorithm, group, message: message.clone(), sends }, message)?;
        Ok(Summary { findings }.said(&ran, as_json))
    }
}

/// Runs it where the machine has a network for broadcasts.
fn hardware(setup: CollectiveSetup, as_json: bool) -> Result<CommandOutput, Failure> {
    let CollectiveSetup { mut prepared, group, bytes, parameters, .. } = setup;
    prepared.runs("broadcast", Value::Object(parameters));
    let message = prepared.message(bytes);
    let program = Hardware { root: group.source(), message: message.clone() };
    let ran = prepared.run_to(program, message)?;
    Ok(Summary { findings: Vec::new() }.said(&ran, as_json))
}

impl Name {
    /// The algorithm, told what it has to be told; [`Name::Hardware`] is none of them, and counts as linear.
    fn algorithm(self, setup: &mut CollectiveSetup, segment: Bytes) -> Result<Algorithm, Failure> {
        let segmented = |setup: &mut CollectiveSetup, pipe: Pipe| {
            setup.parameters.insert("segment".to_owned(), json!(segment.0));
            Algorithm::Segmented(pipe, segment)
        };
        Ok(match self {
            Name::Linear | Name::Hardware => Algorithm::Linear,
            Name::Binomial => Algorithm::Binomial,
            Name::Recursive => Algorithm::Recursive,
            Name::LambdaTree => Algorithm::LambdaTree(setup.splitting()?),
            Name::TwoQueue => {
                let lambda = setup.lambda(&value_name(self))?;
                Algorithm::TwoQueue(Tree::two_queue(lambda, setup.group.len()))
            }
            Name::Pipeline => segmented(setup, Pipe::Chain),
            Name::SegmentedTree => {
                let splitting: Splitting = setup.splitting()?;
                segmented(setup, Pipe::Tree(splitting))
            }
            Name::ScatterGather => Algorithm::ScatterGather,
        })
    }
}
