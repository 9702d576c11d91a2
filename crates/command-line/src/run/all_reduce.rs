//! `maquette run all-reduce`.

use clap::Args;
use programs::all_reduce::{Algorithm, AllReduce, Combine, Inputs, Operator};
use programs::catalogue::Entry;
use quantities::Bytes;
use serde_json::{Value, json};

use super::collective::{Collective, CollectiveSetup};
use super::summary::Summary;
use crate::CommandOutput;
use crate::choice::choice;
use crate::failure::Failure;

/// Combine what all nodes have, such that all have the result.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  maquette run all-reduce --machine parsytec-cc-16 --bytes 4KiB --algorithm ring\n  \
                        maquette run all-reduce --lambda 2.5 --nodes 100 --operator max-i64"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    collective: Collective,
    /// How; if left out, census where --lambda is given, otherwise recursive-doubling.
    #[arg(long, value_name = "ALGORITHM", value_parser = choice::<&'static Entry<Algorithm>>())]
    algorithm: Option<&'static Entry<Algorithm>>,
    /// What is done to two of them: sum, product, min or max of f64, f32, i64 or u64, such as sum-f64; and, or, xor.
    #[arg(long, value_name = "OPERATOR", default_value = "sum-f64")]
    operator: Operator,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { collective, algorithm, operator } = self;
        let mut setup = collective.prepare()?;
        let usual = if setup.told.lambda.is_some() { "census" } else { "recursive-doubling" };
        let entry = setup.chosen(algorithm, usual)?;
        let algorithm: Algorithm = setup.algorithm(entry)?;
        setup.parameters.insert("operator".to_owned(), json!(operator.to_string()));
        let element = Bytes(operator.element());
        let sends = setup.sends(algorithm.ring_message(setup.bytes, element, setup.group.len()));
        let findings = setup.lower_bound().into_iter().collect();
        let CollectiveSetup { mut prepared, group, bytes, parameters, .. } = setup;
        prepared.runs("all-reduce", Value::Object(parameters));
        let ran = prepared.run(AllReduce { algorithm, group, operator, inputs: Inputs::OfSize(bytes), sends })?;
        Ok(Summary { findings }.said(&ran, as_json))
    }
}
