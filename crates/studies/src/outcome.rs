//! The outcome of a claim: the conditions of the file, compared with the findings of the study.

use serde::Serialize;
use serde_json::Value;

use super::claims::{Claim, ClaimsError, Condition, Kind};
use super::condition::Data;
use super::findings::{Findings, Ours, Quantity};
use super::runs::MissingAnswer;

/// Whether a claim was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Our own run shows it.
    Met,
    /// Our own run shows it with parameters that were fitted to it, or chosen by it: it shows that such parameters exist.
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

    /// The words of a tally for claims with this verdict.
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

/// One number of a condition, and whether it is as it must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its quantity.
    pub quantity: String,
    /// Whether it is as it must be.
    pub holds: bool,
    /// The number, its meaning, and what it must be.
    pub says: String,
    /// Why we think that it is not as it must be, if it is not.
    pub reason: Option<String>,
}

/// The outcome of a claim: the line that `--json` prints, and the conditions behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The claim's name.
    pub id: String,
    /// The kind of statement it is.
    pub kind: Kind,
    /// The paper's result: numbers, or the statement.
    pub published: Value,
    /// Our result.
    pub ours: Value,
    /// The unit of the numbers.
    pub unit: Option<String>,
    /// The deviation of ours from the published one. [%]
    pub error_percent: Value,
    /// Whether the claim is met.
    pub verdict: Verdict,
    /// What was run for it.
    pub ran: String,
    /// A remark: what failed, and why we think it did.
    pub note: String,
    /// The parameters that were fitted to the claim, or chosen by it.
    pub fitted: Option<String>,
    /// How the claim's rule was changed after a run.
    pub rule_changed: Option<String>,
    /// The conditions, one by one.
    #[serde(skip)]
    pub checks: Vec<Check>,
}

impl Outcome {
    /// The outcome of `claim` of `file`, given what our runs say about it.
    ///
    /// # Errors
    /// If the file names a quantity that is not computed, or does not name one that is.
    pub fn of(
        file: &'static str,
        claim: &Claim,
        found: Result<Findings, MissingAnswer>,
        ran: String,
    ) -> Result<Outcome, ClaimsError> {
        let checks = found.as_ref().map_or(Ok(Vec::new()), |findings| checks(file, claim, findings))?;
        let holding = checks.iter().filter(|check| check.holds).count();
        let met = if claim.fitted.is_some() { Verdict::MetFitted } else { Verdict::Met };
        let (verdict, note) = match &found {
            Ok(_) if checks.is_empty() => (Verdict::Missed, NOTHING_CHECKED.to_string()),
            Ok(_) if holding == checks.len() => (met, String::new()),
            Ok(_) => (Verdict::Missed, missed_note(&checks)),
            Err(MissingAnswer::NotRun(what)) => (Verdict::NotRun, format!("stopped before this was run: {what}")),
            Err(MissingAnswer::Failed(what, why)) => (Verdict::Missed, format!("the run of {what} failed: {why}")),
        };
        let (ours, error_percent) = match found {
            Ok(Findings { ours: Ours::Value(ours), error_percent, .. }) => (ours, error_percent),
            Ok(Findings { ours: Ours::Counted(text), error_percent, .. }) => {
                (text(holding, checks.len()), error_percent)
            }
            Err(_) => (Value::Null, Value::Null),
        };
        let published = claim.published.as_ref().map(|value| serde_json::to_value(value).unwrap_or(Value::Null));
        Ok(Outcome {
            id: claim.id.clone(),
            kind: claim.kind,
            published: published.unwrap_or_else(|| Value::String(claim.says.clone())),
            ours,
            unit: claim.unit.clone(),
            error_percent,
            verdict,
            ran,
            note,
            fitted: claim.fitted.clone(),
            rule_changed: claim.rule_changed.clone(),
            checks,
        })
    }

    /// The remarks about it, line by line.
    pub fn remarks(&self) -> Vec<String> {
        let note = Some(self.note.clone()).filter(|note| !note.is_empty());
        let fitted = self.fitted.as_ref().map(|what| format!("fitted: {what}"));
        let changed = self.rule_changed.as_ref().map(|how| format!("rule changed after a run: {how}"));
        [note, fitted, changed].into_iter().flatten().collect()
    }

    /// Why we think that it was missed: the reasons of the conditions that do not hold, each once.
    pub fn reasons(&self) -> Vec<&str> {
        reasons(&self.checks)
    }
}

/// What is printed about a condition without any number.
const NOTHING_CHECKED: &str = "nothing was checked";

/// Every condition of `claim`, checked for each number of its quantity.
fn checks(file: &'static str, claim: &Claim, found: &Findings) -> Result<Vec<Check>, ClaimsError> {
    let error = |line, problem: String, suggestion: Option<&str>| ClaimsError {
        file,
        line,
        problem,
        suggestion: suggestion.map(str::to_string),
    };
    for Quantity { name, .. } in &found.quantities {
        let mut named = claim.conditions.iter().map(|condition| condition.quantity.as_str());
        if !named.any(|quantity| quantity == *name) {
            let problem = format!("`condition` of `{}`: none is about `{name}`, which is computed for it", claim.id);
            return Err(error(claim.line, problem, None));
        }
    }
    let mut checks = Vec::new();
    for condition in &claim.conditions {
        let mut computed = found.quantities.iter();
        let Some(quantity) = computed.find(|quantity| quantity.name == condition.quantity) else {
            let names = found.quantities.iter().map(|quantity| quantity.name);
            let suggestion = quantities::nearest(&condition.quantity, names.clone());
            let known = names.collect::<Vec<_>>().join(", ");
            let problem = format!("`quantity`: `{}` is not computed for `{}`", condition.quantity, claim.id);
            return Err(error(condition.line, format!("{problem}; computed are {known}"), suggestion));
        };
        checks.extend(checks_of(claim, condition, quantity));
    }
    Ok(checks)
}

/// A condition, checked for each number of its quantity. Without any number it does not hold.
fn checks_of(claim: &Claim, condition: &Condition, quantity: &Quantity) -> Vec<Check> {
    let Condition { what, bound, data, missed_because, .. } = condition;
    let check = |holds, says: String| {
        let data = data.map_or(String::new(), |data: Data| format!(" ({})", data.words()));
        let reason = missed_because.clone();
        Check { quantity: condition.quantity.clone(), holds, says: says + &data, reason }
    };
    if quantity.cases.is_empty() {
        return vec![check(false, format!("{what}: {NOTHING_CHECKED}"))];
    }
    let published = claim.printed_for(&condition.quantity, quantity.cases.len());
    let each = quantity.cases.iter().enumerate().map(|(index, case)| {
        let published = published.as_ref().map(|numbers| numbers[index]);
        let place = if case.place.is_empty() { String::new() } else { format!("{}: ", case.place) };
        let says = format!("{place}{what} {}, {}", number(case.value), bound.words(published));
        check(bound.holds(case.value, published), says)
    });
    each.collect()
}

/// A number as a condition shows it: an integer, or four significant digits.
fn number(value: f64) -> String {
    if !value.is_finite() || value.fract() == 0.0 {
        return report::fixed(value, 0);
    }
    let before_the_point = value.abs().log10().floor() as i32 + 1;
    report::fixed(value, (4 - before_the_point).clamp(0, 6) as usize)
}

/// What failed, then why we think it did.
fn missed_note(checks: &[Check]) -> String {
    let failed: Vec<&str> = checks.iter().filter(|check| !check.holds).map(|check| check.says.as_str()).collect();
    let failed = format!("does not hold: {}", failed.join("; "));
    match reasons(checks).join(" ") {
        reason if reason.is_empty() => failed,
        reason => format!("{failed}. {reason}"),
    }
}

fn reasons(checks: &[Check]) -> Vec<&str> {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in checks.iter().filter(|check| !check.holds).filter_map(|check| check.reason.as_deref()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::super::claims::Claims;
    use super::*;

    fn claim(rest: &str) -> Claim {
        let text = "[[claim]]\nid = 'p.q'\nkind = 'number'\nsource = 's'\nsays = 'x'\npublished = { time_us = 4 }\n\
                    unit = 'us'\n";
        let conditions = "[[claim.condition]]\nquantity = 'time_us'\nwhat = 'time [us]'\nwithin = 1\nbecause = 'z'\n\
                          missed_because = 'it is slow'\n\
                          [[claim.condition]]\nquantity = 'slope'\nwhat = 'slope'\nabove = 0\nmissed_because = 'it is flat'\n";
        Claims::parse("c.toml", &format!("{text}{rest}{conditions}")).unwrap().all.remove(0)
    }

    fn found(time: f64, slopes: &[f64]) -> Findings {
        let slopes = slopes.iter().enumerate().map(|(index, slope)| (format!("line {index}"), *slope));
        Findings::numbers(5.into(), 25.into()).with_number("time_us", time).with("slope", slopes)
    }

    fn judged(claim: &Claim, found: Findings) -> Result<Outcome, ClaimsError> {
        Outcome::of("c.toml", claim, Ok(found), String::new())
    }

    #[test]
    fn a_claim_is_met_when_every_condition_holds() {
        let of = |time, slopes: &[f64]| judged(&claim(""), found(time, slopes)).unwrap();
        assert_eq!((of(4.5, &[1.0, 2.0]).verdict, of(4.5, &[1.0, 2.0]).note), (Verdict::Met, String::new()));
        for (time, slopes) in [(5.5, [1.0, 2.0]), (4.5, [1.0, 0.0]), (f64::NAN, [1.0, 2.0])] {
            assert_eq!(of(time, &slopes).verdict, Verdict::Missed);
        }
    }

    /// The reason belongs to the condition that failed.
    #[test]
    fn what_failed_has_its_own_reason() {
        let note = |time, slopes: &[f64]| judged(&claim(""), found(time, slopes)).unwrap().note;
        assert_eq!(note(5.5, &[1.0]), "does not hold: time [us] 5.500, within 1 of 4. it is slow");
        assert_eq!(
            note(4.0, &[1.0, -1.0, -2.0]),
            "does not hold: line 1: slope -1, more than 0; line 2: slope -2, more than 0. it is flat"
        );
    }

    /// A claim met with parameters fitted to it has a verdict of its own; missed is missed.
    #[test]
    fn a_claim_that_was_fitted_is_marked() {
        let mut fitted = claim("");
        fitted.fitted = Some("a cost, to it".to_string());
        fitted.conditions[0].data = Some(Data::Training);
        let with = |time| judged(&fitted, found(time, &[1.0])).unwrap();
        assert_eq!((with(4.0).verdict, with(6.0).verdict), (Verdict::MetFitted, Verdict::Missed));
        assert!(with(4.0).verdict.is_met() && !with(6.0).verdict.is_met());
        assert_eq!(with(4.0).checks[0].says, "time [us] 4, within 1 of 4 (fitted to)");
        let line = serde_json::to_value(with(4.0)).unwrap();
        assert_eq!((line["verdict"].as_str(), line["fitted"].as_str()), (Some("met-fitted"), Some("a cost, to it")));
    }

    #[test]
    fn a_condition_without_a_number_is_not_met() {
        let outcome = judged(&claim(""), found(4.0, &[])).unwrap();
        assert_eq!(outcome.verdict, Verdict::Missed);
        assert_eq!(outcome.note, "does not hold: slope: nothing was checked. it is flat");
    }

    #[test]
    fn the_file_and_the_study_name_the_same_quantities() {
        let other = Findings::words("").with_number("time_us", 4.0).with_number("slpe", 1.0);
        let error = judged(&claim(""), other).unwrap_err().to_string();
        assert_eq!(error, "c.toml:2: `condition` of `p.q`: none is about `slpe`, which is computed for it");
        let mut mistyped = claim("");
        mistyped.conditions[0].quantity = "tim_us".to_string();
        mistyped.conditions.push(claim("").conditions[0].clone());
        let error = judged(&mistyped, found(4.0, &[1.0])).unwrap_err().to_string();
        let wanted = "c.toml:9: `quantity`: `tim_us` is not computed for `p.q`; computed are time_us, slope; did you mean `time_us`?";
        assert_eq!(error, wanted);
    }

    #[test]
    fn counts_are_in_the_text() {
        let counted = Findings::counted(|holding, of| format!("{holding} of {of}").into());
        let outcome = judged(&claim(""), counted.with_number("time_us", 4.0).with_number("slope", -1.0)).unwrap();
        assert_eq!(outcome.ours, "1 of 2");
    }

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(
            [3.0, 0.012_345, 12.345, 12_345.6, f64::INFINITY].map(number),
            ["3", "0.01235", "12.35", "12346", "inf"]
        );
    }

    #[test]
    fn what_was_not_run_is_not_missed() {
        let gap = Err(MissingAnswer::NotRun("it".to_string()));
        let outcome = Outcome::of("c.toml", &claim(""), gap, "nothing".to_string()).unwrap();
        assert_eq!(outcome.verdict, Verdict::NotRun);
        assert_eq!(
            serde_json::to_string(&outcome).unwrap(),
            "{\"id\":\"p.q\",\"kind\":\"number\",\"published\":{\"time_us\":4},\"ours\":null,\"unit\":\"us\",\"error_percent\":null,\
             \"verdict\":\"not-run\",\"ran\":\"nothing\",\"note\":\"stopped before this was run: it\",\
             \"fitted\":null,\"rule_changed\":null}"
        );
    }
}
