//! A plan as data.

use collectives::all_reduce::WeightedRing;
use experiment::{DEFAULT_SEED, Error, Provenance};
use formats::input::InputFile;
use machines::model::{Interconnect, Machine, NodeId};
use serde_json::{Value, json};
use virtual_worlds::jobs::placement::{Allocation, Placement, PlacementError};

use super::{Plan, Prediction, Question, Reduction, Source};

/// How many ranks take part on `machine`: as many as were `requested` for, or as the matrix has, or as there are nodes.
///
/// # Errors
/// More than the machine has nodes, or not as many as the matrix has; none on a machine without a number of nodes of
/// its own.
pub fn ranks_on(machine: &Machine, requested: Option<u32>, of_matrix: Option<u32>) -> Result<u32, Error> {
    let nodes = match &machine.interconnect {
        Interconnect::Flits(_) | Interconnect::Ethernet(_) => Some(machine.nodes),
        // Its number of nodes is only an upper limit.
        Interconnect::LogGp(_) => None,
    };
    match (requested.or(of_matrix).or(nodes), of_matrix) {
        (Some(ranks), Some(has)) if ranks != has => {
            Err(Error::parameter("ranks", ranks, format!("{has}, as many as the traffic has")))
        }
        (Some(has), Some(_)) if has > machine.nodes => {
            let allowed = format!("at most {}, the nodes of {}", machine.nodes, machine.name);
            Err(Error::parameter("traffic", format!("{has} ranks"), allowed))
        }
        (Some(ranks), _) if (1..=machine.nodes).contains(&ranks) => Ok(ranks),
        (other, _) => {
            let found = other.map_or("nothing".to_owned(), |ranks| ranks.to_string());
            let allowed = format!("1 to {}, the nodes of {}", machine.nodes, machine.name);
            Err(Error::parameter("ranks", found, allowed))
        }
    }
}

/// The node of each of `ranks` ranks on `machine` by a `placement`, drawn from `seed` if it is random, and `provenance`
/// with it; no nodes and nothing else if rank n is on node n.
///
/// # Errors
/// A placement that is none, or that the machine has no nodes for.
pub fn placed(
    machine: &Machine,
    placement: Option<&str>,
    ranks: u32,
    seed: Option<u64>,
    provenance: Provenance,
) -> Result<(Vec<NodeId>, Provenance), Error> {
    let unfit = |PlacementError { placement, found, allowed }: PlacementError| {
        Error::parameter("placement", format!("{placement}: {found}"), allowed)
    };
    let placement: Placement = placement.map(str::parse).transpose().map_err(unfit)?.unwrap_or_default();
    let chosen = seed.unwrap_or(DEFAULT_SEED);
    let provenance = match seed {
        None if placement != Placement::Random => provenance,
        _ => provenance.seeded(chosen, true),
    };
    if placement.is_usual(ranks) {
        return Ok((Vec::new(), provenance));
    }
    let nodes = Allocation::new(machine).place(&placement, ranks, chosen).map_err(unfit)?;
    Ok((nodes, provenance.placed(&placement)))
}

impl Question {
    /// The provenance of planning with a `budget` on `machine`; a matrix may come `from` a file, and may only mark that
    /// something is sent.
    pub fn provenance(&self, machine: &Machine, budget: f64, from: Option<&InputFile>, has_sizes: bool) -> Provenance {
        let mut parameters = json!({"question": self.name(), "budget_millions": budget / 1e6});
        if !has_sizes {
            parameters["bytes"] = json!(self.most_bytes().0);
        }
        let mut provenance =
            Provenance::of("plan").running(self.command()).on(machine).among(self.ranks()).given(parameters);
        from.into_iter().for_each(|file| provenance.read(file.clone()));
        provenance
    }
}

impl Plan {
    /// The plan as a JSON object, with its question. All times in picoseconds.
    ///
    /// # Errors
    /// If lambda is unknown.
    pub fn json(&self, question: &Question, machine: &Machine, provenance: &Provenance) -> endpoint::Result<Value> {
        let prediction = |prediction: &Prediction| {
            let mut row = json!({
                "algorithm": prediction.candidate.name,
                "time_ps": prediction.time.picoseconds(),
                "source": prediction.source.name(),
            });
            if let Source::Extrapolated(Reduction { steps, divisor }) = prediction.source {
                row["steps"] = json!(steps.map(|(kept, all)| json!({"kept": kept, "of": all})));
                row["bytes_divided_by"] = json!(divisor);
            }
            if let Some(rings) = prediction.candidate.rings() {
                let order = |ring: &WeightedRing| -> Vec<u32> {
                    (0..ring.order.len()).map(|place| ring.order.rank_at(place).0).collect()
                };
                let ring = |ring: &WeightedRing| json!({"order": order(ring), "weight": ring.weight});
                row["rings"] = json!(rings.iter().map(ring).collect::<Vec<Value>>());
            }
            row
        };
        let (t0, lambda) = (self.model.send_time(question.bytes()), self.model.lambda(question.bytes())?);
        let left_out = self.left_out.iter().map(|(name, why)| json!({"algorithm": name, "why": why}));
        Ok(provenance.added_to(json!({
            "question": question.name(),
            "machine": machine.name,
            "ranks": question.ranks(),
            "bytes": question.bytes().0,
            "t0_ps": t0.picoseconds(),
            "lambda": lambda.as_f64(),
            "model_from_bytes": self.model.extended_from(question.bytes()).unwrap_or(question.bytes()).0,
            "lower_bound_ps": self.bound.time.picoseconds(),
            "verdict": self.verdict.name(),
            "contenders": self.contenders().iter().map(|it| it.candidate.name.as_str()).collect::<Vec<&str>>(),
            "algorithms": self.predictions.iter().map(prediction).collect::<Vec<Value>>(),
            "left_out": left_out.collect::<Vec<Value>>(),
            "interrupted": self.interrupted,
            "budget_wanted": self.sufficient_budget.map(|budget| (budget / 1e6).ceil()),
        })))
    }
}
