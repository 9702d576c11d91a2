//! `maquette run combine`.

use clap::{Args, ValueEnum};
use programs::all_reduce::{Algorithm, AllReduce, Census, Combine, Inputs, Operator};
use programs::postal::Delay;
use quantities::Bytes;
use serde_json::{Value, json};

use super::collective::{Collective, CollectiveSetup};
use super::summary::Summary;
use crate::CommandOutput;
use crate::choice::value_name;
use crate::failure::Failure;

/// Combine what all nodes have, such that all have the result.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  maquette run combine --machine parsytec-cc-16 --bytes 4KiB --algorithm ring\n  \
                        maquette run combine --lambda 2.5 --nodes 100 --operator max-i64")]
pub(super) struct Arguments {
    #[command(flatten)]
    collective: Collective,
    /// How; if left out, census where --lambda is given, otherwise recursive-doubling.
    #[arg(long, value_enum)]
    algorithm: Option<Name>,
    /// What is done to two of them: sum, product, min or max of f64, f32, i64 or u64, such as sum-f64; and, or, xor.
    #[arg(long, value_name = "OPERATOR", default_value = "sum-f64")]
    operator: Operator,
}

/// By which algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// That of the postal model for --lambda: delay-send or delay-receive, by the break-even point.
    Census,
    /// The census, a message counting as under way for lambda rounds, rounded up.
    DelayReceive,
    /// The census, a message counting as under way for lambda rounds, rounded down, which are stretched.
    DelaySend,
    /// To the root along the tree by splitting, and back.
    ReduceBroadcast,
    /// Pairs exchange all that they have.
    RecursiveDoubling,
    /// Blocks go twice round the ring of all nodes.
    Ring,
    /// Pairs exchange halves, quarters and so on, and then the other way.
    Rabenseifner,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { collective, algorithm, operator } = self;
        let mut setup = collective.prepare()?;
        let usual = if setup.lambda.is_some() { Name::Census } else { Name::RecursiveDoubling };
        let algorithm = algorithm.unwrap_or(usual).algorithm(&mut setup)?;
        setup.check_used(algorithm.name())?;
        setup.parameters.insert("algorithm".to_owned(), json!(algorithm.name()));
        setup.parameters.insert("operator".to_owned(), json!(operator.to_string()));
        let element = Bytes(operator.element());
        let sends = setup.sends(algorithm.ring_message(setup.bytes, element, setup.group.len()));
        let findings = setup.lower_bound().into_iter().collect();
        let CollectiveSetup { mut prepared, group, bytes, parameters, .. } = setup;
        prepared.runs("combine", Value::Object(parameters));
        let ran = prepared.run(AllReduce { algorithm, group, operator, inputs: Inputs::OfSize(bytes), sends })?;
        Ok(Summary { findings }.said(&ran, as_json))
    }
}

impl Name {
    /// The algorithm, told what it has to be told.
    fn algorithm(self, setup: &mut CollectiveSetup) -> Result<Algorithm, Failure> {
        let n = setup.group.len();
        Ok(match self {
            Name::Census => {
                let lambda = setup.lambda(&value_name(self))?;
                match Delay::for_latency(lambda) {
                    Delay::Receive => Name::DelayReceive.algorithm(setup)?,
                    Delay::Send => Name::DelaySend.algorithm(setup)?,
                }
            }
            Name::DelayReceive => Algorithm::Census(Census::delay_receive(setup.lambda(&value_name(self))?, n)),
            Name::DelaySend => {
                let (lambda, t0) = (setup.lambda(&value_name(self))?, setup.t0(&value_name(self))?);
                Algorithm::Census(Census::delay_send(lambda, t0, n))
            }
            Name::ReduceBroadcast => Algorithm::ReduceBroadcast(setup.splitting()?),
            Name::RecursiveDoubling => Algorithm::RecursiveDoubling,
            Name::Ring => Algorithm::Ring,
            Name::Rabenseifner => Algorithm::Rabenseifner,
        })
    }
}
