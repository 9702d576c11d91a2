//! `maquette run broadcast`.

use clap::Args;
use programs::broadcast::{Algorithm, Broadcast, HardwareBroadcast};
use programs::catalogue::{Entry, Parameter};
use quantities::Bytes;
use serde_json::Value;

use super::collective::{Collective, CollectiveSetup};
use super::summary::Summary;
use crate::CommandOutput;
use crate::choice::choice;
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
    #[arg(long, value_name = "ALGORITHM", value_parser = choice::<&'static Entry<Algorithm>>())]
    algorithm: Option<&'static Entry<Algorithm>>,
    /// Size of a segment, for pipeline and segmented-tree; 4 KiB, if left out.
    #[arg(long, value_name = "B", value_parser = size)]
    segment: Option<Bytes>,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { collective, algorithm, segment } = self;
        let mut setup = collective.prepare()?;
        setup.prepared.first = Some(setup.group.source());
        let by_share = setup.told.lambda.is_some() || setup.told.alpha.is_some();
        let usual = if by_share { "lambda-tree" } else { "binomial" };
        let entry = setup.chosen(algorithm, usual)?;
        if segment.is_some() && !entry.told.contains(&Parameter::Segment) {
            let allowed = format!("none, as {} does not cut messages", entry.name);
            return Err(Failure::argument("--segment", "a size", allowed));
        }
        if segment == Some(Bytes(0)) {
            return Err(Failure::argument("--segment", Bytes(0), "1 B or more"));
        }
        setup.told.segment = segment;
        let algorithm: Algorithm = setup.algorithm(entry)?;
        let in_hardware = entry.needs.multicast();
        if in_hardware {
            setup.check_unordered(entry.name)?;
        }
        let sends = setup.sends(algorithm.ring_message(setup.bytes, setup.group.len()));
        let findings = setup.lower_bound().filter(|_| !in_hardware).into_iter().collect();
        let CollectiveSetup { mut prepared, group, bytes, parameters, .. } = setup;
        prepared.runs("broadcast", Value::Object(parameters));
        prepared.expected_messages = algorithm.messages(prepared.ranks);
        let message = prepared.message(bytes);
        let ran = if in_hardware {
            prepared.run_to(HardwareBroadcast { root: group.source(), message: message.clone() }, message)?
        } else {
            prepared.run_to(Broadcast { algorithm, group, message: message.clone(), sends }, message)?
        };
        Ok(Summary { findings }.said(&ran, as_json))
    }
}
