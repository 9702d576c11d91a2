//! Which parameters the presets carry: a scan over those that the paper does not print.
//!
//! First every combination of a grid is measured against the numbers that the paper does print; then the closest ones
//! are judged by all claims, with every order of partners that all-to-all may have.

use programs::benchmarks::PartnerOrder;
use serde_json::Value;

use super::{Job, STUDIES, Setup, paper, run_with};
use crate::{ClaimsError, Outcome, Watch, judge, plan, run_all};

/// Fields of a description with the values that they are set to.
type Fields = &'static [(&'static str, &'static str)];

/// What is the same for all: the study's all-to-all sends before it receives, and would wait for ever if a message were
/// acknowledged only when the receiver has asked for it.
const ALWAYS: Fields = &[("node.acknowledged", "on-arrival")];

/// The grid: each line is a parameter that takes one of its values.
const GRID: [&[Fields]; 6] = [
    &[
        &[("node.processor_send", "5 us"), ("node.processor_receive", "5 us")],
        &[("node.processor_send", "25 us"), ("node.processor_receive", "25 us")],
        &[("node.processor_send", "50 us"), ("node.processor_receive", "50 us")],
        &[("node.processor_send", "100 us"), ("node.processor_receive", "100 us")],
    ],
    &[
        &[("node.message_send", "1 us"), ("node.message_receive", "1 us"), ("node.system_message", "1 us")],
        &[("node.message_send", "10 us"), ("node.message_receive", "10 us"), ("node.system_message", "5 us")],
        &[("node.message_send", "30 us"), ("node.message_receive", "30 us"), ("node.system_message", "10 us")],
    ],
    &[
        &[("node.packet_send", "1 us")],
        &[("node.packet_send", "5 us")],
        &[("node.packet_send", "10 us")],
        &[("node.packet_send", "20 us")],
    ],
    &[
        &[("node.packet_receive", "1 us")],
        &[("node.packet_receive", "5 us")],
        &[("node.packet_receive", "10 us")],
        &[("node.packet_receive", "20 us")],
    ],
    &[&[("routers.routing_delay", "50 ns")], &[("routers.routing_delay", "100 ns")]],
    &[&[], &[("node.piggyback", "0 B")]],
];

/// The orders of partners that all-to-all may have.
const ORDERS: [(&str, PartnerOrder); 5] = [
    ("shift", PartnerOrder::Shift),
    ("exclusive-or", PartnerOrder::ExclusiveOr),
    ("linear", PartnerOrder::Linear),
    ("shuffled", PartnerOrder::Shuffled { seed: 1 }),
    ("in-turn", PartnerOrder::InTurn),
];

/// The claims with printed numbers.
const NUMBERS: [&str; 2] = ["moc.sec4.blocking", "moc.fig12.speedup"];
/// The claims that no parameter of the Mesh of Clos decides, or that take long without telling anything.
const LEFT_OUT: [&str; 3] = ["moc.sec2.topologies", "moc.sec3.fast_sim", "moc.fig5.gcel"];

/// A setup with what came of it.
#[derive(Clone, Debug)]
pub struct Scored {
    /// The setup.
    pub setup: Setup,
    /// The name of its order of partners.
    pub order: &'static str,
    /// How far its numbers are from the printed ones: the sum of the logarithms of the quotients, without sign.
    pub distance: f64,
    /// What became of the claims that were judged.
    pub outcomes: Vec<Outcome>,
}

impl Scored {
    /// How many of the judged claims are met.
    pub fn met(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.verdict.is_met()).count()
    }
    /// A line for a table: claims met, distance, numbers, order, settings.
    pub fn line(&self) -> String {
        let numbers = self.outcomes.iter().filter(|outcome| NUMBERS.contains(&outcome.id.as_str()));
        let numbers: Vec<String> = numbers.map(|outcome| crate::plain(&outcome.ours)).collect();
        let settings: Vec<String> = self.setup.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!(
            "{:3}  {:6.2}  {:12}  {}  {}",
            self.met(),
            self.distance,
            self.order,
            numbers.join(" | "),
            settings.join(" ")
        )
    }
}

/// Every combination of the grid, as settings.
pub fn grid() -> Vec<Vec<(String, String)>> {
    let owned = |fields: Fields| fields.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string()));
    let mut all = vec![owned(ALWAYS).collect::<Vec<_>>()];
    for values in GRID {
        let with = |before: &Vec<(String, String)>, fields| before.iter().cloned().chain(owned(fields)).collect();
        all = all.iter().flat_map(|before| values.iter().map(move |fields| with(before, fields))).collect();
    }
    all
}

/// How far each of `settings` is from the printed numbers, the nearest first. `each` hears of every one as it is done.
///
/// # Errors
/// What is wrong with the file of claims.
pub fn scan(
    settings: &[Vec<(String, String)>],
    watch: &Watch<'_>,
    each: &dyn Fn(&Scored),
) -> Result<Vec<Scored>, ClaimsError> {
    let mut scored = Vec::new();
    for settings in settings {
        let setup = Setup { settings: settings.clone(), rounds: Some(1), ..Setup::default() };
        let one = score(setup, ORDERS[0].0, &|id| NUMBERS.contains(&id), watch)?;
        each(&one);
        scored.push(one);
    }
    scored.sort_by(|one, other| one.distance.total_cmp(&other.distance));
    Ok(scored)
}

/// The claims of `chosen`, judged with every order of partners (or `only` one) and `rounds` rounds, those with the most
/// claims met first.
///
/// # Errors
/// What is wrong with the file of claims.
pub fn compare(
    chosen: &[Scored],
    only: Option<&str>,
    rounds: u32,
    watch: &Watch<'_>,
    each: &dyn Fn(&Scored),
) -> Result<Vec<Scored>, ClaimsError> {
    let mut scored = Vec::new();
    let orders = || ORDERS.into_iter().filter(|(name, _)| only.is_none_or(|only| only == *name));
    for (one, (name, order)) in chosen.iter().flat_map(|one| orders().map(move |order| (one, order))) {
        let setup = Setup { order, rounds: Some(rounds), ..one.setup.clone() };
        let judged = score(setup, name, &|id| !LEFT_OUT.contains(&id), watch)?;
        each(&judged);
        scored.push(judged);
    }
    scored.sort_by(|one, other| other.met().cmp(&one.met()).then(one.distance.total_cmp(&other.distance)));
    Ok(scored)
}

fn score(
    setup: Setup,
    order: &'static str,
    wanted: &dyn Fn(&str) -> bool,
    watch: &Watch<'_>,
) -> Result<Scored, ClaimsError> {
    let outcomes = outcomes(&setup, wanted, watch)?;
    let distance = outcomes.iter().filter(|outcome| NUMBERS.contains(&outcome.id.as_str())).map(distance).sum();
    Ok(Scored { setup, order, distance, outcomes })
}

/// What becomes of the claims that are `wanted` with `setup`.
fn outcomes(setup: &Setup, wanted: &dyn Fn(&str) -> bool, watch: &Watch<'_>) -> Result<Vec<Outcome>, ClaimsError> {
    let treated = STUDIES.iter().filter(|study| study.claims.iter().any(|id| wanted(id)));
    let jobs: Vec<Job> = plan(treated.flat_map(|study| (study.jobs)()));
    let runs = run_all(&jobs, &|job| run_with(setup, job), watch);
    let claims = paper()?.claims;
    let wanted = claims.all.iter().filter(|claim| wanted(&claim.id));
    wanted.filter_map(|claim| judge(&STUDIES, claims.file, claim, &runs)).collect()
}

/// How far `outcome` is from the printed numbers; a number that is not positive is as far as a factor of a thousand.
fn distance(outcome: &Outcome) -> f64 {
    let Value::Object(published) = &outcome.published else { return 0.0 };
    let far = |(name, wanted): (&String, &Value)| {
        // The least number of all-to-all says only that it is small: being smaller is no fault.
        let (ours, wanted) = (outcome.ours.get(name).and_then(Value::as_f64), wanted.as_f64().unwrap_or(1.0));
        let quotient = ours.filter(|ours| *ours > 0.0).map_or(1e-3, |ours| ours / wanted);
        let logarithm = quotient.ln();
        if name == "all_to_all" { logarithm.clamp(0.0, 3.0) / 3.0 } else { logarithm.abs() }
    };
    published.iter().map(far).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_grid_has_every_combination_once() {
        let all = grid();
        let wanted: usize = GRID.iter().map(|values| values.len()).product();
        let distinct: BTreeSet<_> = all.iter().collect();
        assert_eq!((all.len(), distinct.len()), (wanted, wanted));
    }
}
