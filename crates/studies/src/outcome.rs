//! What became of a claim.

use serde::Serialize;
use serde_json::Value;

use super::claims::{Claim, Kind};
use super::runs::Gap;

/// Whether a claim was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Our own run shows it.
    Met,
    /// Our own run shows it with parameters that were fitted to it, or chosen by it: it says that such parameters exist.
    MetFitted,
    /// Our own run shows something else.
    Missed,
    /// Not everything that it needs was run.
    NotRun,
}

impl Verdict {
    /// Its name, as `--json` prints it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::MetFitted => "met-fitted",
            Verdict::Missed => "missed",
            Verdict::NotRun => "not-run",
        }
    }

    /// All of them, in the order of a tally.
    pub const ALL: [Verdict; 4] = [Verdict::Met, Verdict::MetFitted, Verdict::Missed, Verdict::NotRun];

    /// What a tally calls claims with this verdict.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::MetFitted => "met with fitted parameters",
            Verdict::Missed => "missed",
            Verdict::NotRun => "not run",
        }
    }

    /// Whether the claim is met, with fitted parameters or without.
    pub fn is_met(self) -> bool {
        matches!(self, Verdict::Met | Verdict::MetFitted)
    }
}

/// One condition of a claim, and whether it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Whether it holds.
    pub holds: bool,
    /// The condition, with our own numbers in it.
    pub says: String,
}

/// A condition that `holds` or not, and what it `says`.
pub fn check(holds: bool, says: impl Into<String>) -> Check {
    Check { holds, says: says.into() }
}

/// What our runs say of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Our own number or numbers, or what we found in a few words.
    pub ours: Value,
    /// How far ours is from the published one, where both are numbers. [%]
    pub error_percent: Value,
    /// The conditions; the claim is met when there are any and all of them hold.
    pub checks: Vec<Check>,
}

impl Judgement {
    /// A judgement without numbers to compare, in a few words.
    pub fn in_words(ours: impl Into<String>, checks: Vec<Check>) -> Judgement {
        Judgement { ours: Value::String(ours.into()), error_percent: Value::Null, checks }
    }
}

/// What became of a claim: the line that `--json` prints, and the conditions behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The claim's name.
    pub id: String,
    /// What sort of statement it is.
    pub kind: Kind,
    /// What the paper has: numbers, or the statement.
    pub published: Value,
    /// What we have.
    pub ours: Value,
    /// The unit of the numbers.
    pub unit: Option<String>,
    /// How far ours is from the published. [%]
    pub error_percent: Value,
    /// Whether the claim is met.
    pub verdict: Verdict,
    /// What was run for it.
    pub ran: String,
    /// What is to be said of it: what failed, and why we think it did.
    pub note: String,
    /// Which parameters were fitted to the claim, or chosen by it.
    pub fitted: Option<String>,
    /// How the claim's rule was changed after a run.
    pub rule_changed: Option<String>,
    /// The conditions, one by one.
    #[serde(skip)]
    pub checks: Vec<Check>,
}

impl Outcome {
    /// What became of `claim`, given what our runs say of it.
    pub fn of(claim: &Claim, judged: Result<Judgement, Gap>, ran: String) -> Outcome {
        let met = if claim.fitted.is_some() { Verdict::MetFitted } else { Verdict::Met };
        let (verdict, note) = match &judged {
            Ok(judgement) if judgement.checks.is_empty() => (Verdict::Missed, NOTHING_LOOKED_AT.to_string()),
            Ok(judgement) if judgement.checks.iter().all(|check| check.holds) => (met, String::new()),
            Ok(judgement) => (Verdict::Missed, missed_note(claim, &judgement.checks)),
            Err(Gap::NotRun(what)) => (Verdict::NotRun, format!("stopped before this was run: {what}")),
            Err(Gap::Failed(what, why)) => (Verdict::Missed, format!("the run of {what} failed: {why}")),
        };
        let nothing = Judgement { ours: Value::Null, error_percent: Value::Null, checks: Vec::new() };
        let judgement = judged.unwrap_or(nothing);
        let published = claim.published.as_ref().map(|value| serde_json::to_value(value).unwrap_or(Value::Null));
        Outcome {
            id: claim.id.clone(),
            kind: claim.kind,
            published: published.unwrap_or_else(|| Value::String(claim.says.clone())),
            ours: judgement.ours,
            unit: claim.unit.clone(),
            error_percent: judgement.error_percent,
            verdict,
            ran,
            note,
            fitted: claim.fitted.clone(),
            rule_changed: claim.rule_changed.clone(),
            checks: judgement.checks,
        }
    }
}

impl Outcome {
    /// What is to be said of it, line by line.
    pub fn remarks(&self) -> Vec<String> {
        let note = Some(self.note.clone()).filter(|note| !note.is_empty());
        let fitted = self.fitted.as_ref().map(|what| format!("fitted: {what}"));
        let changed = self.rule_changed.as_ref().map(|how| format!("rule changed after a run: {how}"));
        [note, fitted, changed].into_iter().flatten().collect()
    }
}

/// What is said of a claim whose judgement has no conditions.
const NOTHING_LOOKED_AT: &str = "nothing was looked at";

/// What failed, then why we think it did.
fn missed_note(claim: &Claim, checks: &[Check]) -> String {
    let failed: Vec<&str> = checks.iter().filter(|check| !check.holds).map(|check| check.says.as_str()).collect();
    let failed = format!("does not hold: {}", failed.join("; "));
    match &claim.reason {
        Some(reason) => format!("{failed}. {reason}"),
        None => failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim() -> Claim {
        let text = "[[claim]]\nid = 'p.q'\nkind = 'number'\nsource = 's'\nsays = 'x'\nmet_when = 'y'\npublished = 4\n\
                    unit = 'us'\nreason = 'because'";
        super::super::claims::parse(text).unwrap().remove(0)
    }

    fn judged(claim: &Claim, checks: Vec<Check>) -> Outcome {
        Outcome::of(claim, Ok(Judgement { ours: 5.into(), error_percent: 25.into(), checks }), String::new())
    }

    #[test]
    fn a_claim_is_met_when_every_condition_holds() {
        let two = |holds| judged(&claim(), vec![check(true, "a < b"), check(holds, "c < d")]);
        assert_eq!(two(true).verdict, Verdict::Met);
        assert_eq!(two(false).verdict, Verdict::Missed);
        assert_eq!(two(false).note, "does not hold: c < d. because");
    }

    /// What was fitted to a claim is met in another way than what came out by itself; missed is missed.
    #[test]
    fn a_claim_that_was_fitted_says_so() {
        let fitted = Claim { fitted: Some("a cost, to it".to_string()), ..claim() };
        let with = |holds| judged(&fitted, vec![check(holds, "a < b")]);
        assert_eq!((with(true).verdict, with(false).verdict), (Verdict::MetFitted, Verdict::Missed));
        assert!(with(true).verdict.is_met() && !with(false).verdict.is_met());
        let line = serde_json::to_value(with(true)).unwrap();
        assert_eq!((line["verdict"].as_str(), line["fitted"].as_str()), (Some("met-fitted"), Some("a cost, to it")));
    }

    #[test]
    fn a_judgement_without_conditions_is_not_met() {
        for claim in [claim(), Claim { fitted: Some("it".to_string()), ..claim() }] {
            let outcome = judged(&claim, Vec::new());
            assert_eq!((outcome.verdict, outcome.note.as_str()), (Verdict::Missed, "nothing was looked at"));
        }
    }

    #[test]
    fn what_was_not_run_is_not_missed() {
        let outcome = Outcome::of(&claim(), Err(Gap::NotRun("it".to_string())), "nothing".to_string());
        assert_eq!(outcome.verdict, Verdict::NotRun);
        assert_eq!(
            serde_json::to_string(&outcome).unwrap(),
            "{\"id\":\"p.q\",\"kind\":\"number\",\"published\":4,\"ours\":null,\"unit\":\"us\",\"error_percent\":null,\
             \"verdict\":\"not-run\",\"ran\":\"nothing\",\"note\":\"stopped before this was run: it\",\
             \"fitted\":null,\"rule_changed\":null}"
        );
    }
}
