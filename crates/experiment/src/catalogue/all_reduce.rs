//! What all ranks have, combined, such that all have the result.

use programs::all_reduce::{self, Inputs, Number, Operation, Operator};
use programs::catalogue::Catalogue;
use programs::postal::{Alpha, Lambda};
use quantities::{Bytes, Duration, Rank};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::collective::{Collective, Named, RankOrder, Setup, sends};
use super::{Entry, Size};
use crate::{Error, Prepared, Ready, Site};

/// Combine the data of all nodes so that all have the result (global combine).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AllReduce {
    /// Size of each node's data.
    bytes: Size,
    /// The algorithm; if left out, census where a lambda is given, otherwise recursive-doubling.
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<Named<all_reduce::Algorithm>>,
    /// The operator: sum, product, min or max of f64, f32, i64 or u64, such as sum-f64; and, or, xor.
    operator: Operator,
    /// The latency of a message in steps of t0, a number such as 1.8 or 9/5: that of the postal model, or the one for which an algorithm on
    /// a machine is built. None on a machine, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda: Option<Lambda>,
    /// The duration of a step, after which a sender is done with a message. In the postal model a microsecond, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    t0: Option<Duration>,
    /// In a tree by splitting, the share of its nodes that a root keeps for itself, from 0.5 to under 1; if left out, from the
    /// look-up table for lambda.
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<Alpha>,
    /// The root.
    root: Rank,
    /// The order of the other ranks.
    #[schemars(extend("x-value" = "ORDER"))]
    order: RankOrder,
}

impl Default for AllReduce {
    fn default() -> AllReduce {
        AllReduce {
            bytes: Size(Bytes(1024)),
            algorithm: None,
            operator: Operator::Of(Operation::Sum, Number::F64),
            lambda: None,
            t0: None,
            alpha: None,
            root: Rank(0),
            order: RankOrder::Cyclic,
        }
    }
}

impl Entry for AllReduce {
    const NAME: &'static str = "all-reduce";
    const EXAMPLES: &'static str = "Examples:\n  maquette run all-reduce --machine parsytec-cc-16 --bytes 4KiB --algorithm ring\n  \
         maquette run all-reduce --lambda 2.5 --nodes 100 --operator max-i64";
    const IN_POSTAL_MODEL: bool = true;

    fn prepare(&self, site: &mut Site) -> Result<Box<dyn Ready>, Error> {
        let &AllReduce { bytes: Size(bytes), operator, .. } = self;
        let (algorithm, mut setup) = self.algorithm(site)?;
        setup.parameters.insert("operator".to_owned(), json!(operator.to_string()));
        let sends = sends(site, bytes);
        let (bound, draws) = (setup.lower_bound(), setup.draws());
        let inputs = Inputs::OfSize(bytes);
        let program = all_reduce::AllReduce { algorithm, group: setup.group, operator, inputs, sends };
        let mut prepared = Prepared::new(program, setup.ranks, Value::Object(setup.parameters));
        prepared.notes.draws = draws;
        Ok(Box::new(prepared.with_findings(move |_, _| bound.into_iter().collect())))
    }
}

impl AllReduce {
    /// The algorithm, made from its parameters, and who takes part.
    pub(super) fn algorithm(&self, site: &Site) -> Result<(all_reduce::Algorithm, Setup), Error> {
        let &AllReduce { bytes: Size(bytes), algorithm, lambda, t0, alpha, root, order, .. } = self;
        let mut setup = Collective { bytes, root, order, lambda, t0, alpha, segment: None }.setup(site)?;
        let usual = if setup.inputs.lambda.is_some() { "census" } else { "recursive-doubling" };
        let entry = algorithm.map(|Named(entry)| entry).or_else(|| all_reduce::Algorithm::by_name(usual));
        let entry = entry.ok_or_else(|| Error::parameter("algorithm", usual, "an algorithm"))?;
        let algorithm = setup.algorithm(entry)?;
        Ok((algorithm, setup))
    }

    /// What is done to two messages.
    pub(super) fn operator(&self) -> Operator {
        self.operator
    }
}
