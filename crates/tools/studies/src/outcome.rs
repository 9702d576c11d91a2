//! The outcome of a claim: the conditions of the file, compared with the findings of the study.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::claims::{Claim, ClaimsError, Condition, Kind};
use super::condition::Data;
use super::findings::{Findings, Ours, Quantity};
use super::runs::MissingAnswer;

/// Whether a condition, or a claim, was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Our own run shows it, and nothing was fitted to it.
    Met,
    /// Our own run shows it with parameters that were fitted to it, or chosen by it: it shows that such parameters
    /// exist.
    MetFitted,
    /// Our own run shows something else, and so does something else that the paper prints.
    ContradictsPaper,
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
            Verdict::ContradictsPaper => "contradicts-paper",
            Verdict::Missed => "missed",
            Verdict::NotRun => "not-run",
        }
    }

    /// All of them, in the order of a tally. The verdict of a claim is the last of those of its conditions.
    pub const ALL: [Verdict; 5] =
        [Verdict::Met, Verdict::MetFitted, Verdict::ContradictsPaper, Verdict::Missed, Verdict::NotRun];

    /// Its words in a tally and on a page.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::MetFitted => "met, fitted",
            Verdict::ContradictsPaper => "contradicts the paper itself",
            Verdict::Missed => "missed",
            Verdict::NotRun => "not run",
        }
    }

    /// Whether it is met, with fitted parameters or without.
    pub fn is_met(self) -> bool {
        matches!(self, Verdict::Met | Verdict::MetFitted)
    }
}

/// One number of a condition, and whether it is as it must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Whether it is as it must be.
    pub holds: bool,
    /// The number, its meaning, and what it must be.
    pub says: String,
}

/// A condition with its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedCondition {
    /// Its quantity.
    pub quantity: String,
    /// What the quantity is, and what it must be.
    pub says: String,
    /// Whether it holds for every number.
    pub verdict: Verdict,
    /// Its numbers.
    pub checks: Vec<Check>,
    /// Why we think that it does not hold, or what else in the paper contradicts it, if it does not hold.
    pub reason: Option<String>,
    /// The name of another configuration of the study, and the verdict in it.
    pub other: Option<(&'static str, Verdict)>,
}

impl JudgedCondition {
    fn json(&self) -> Value {
        let holding = self.checks.iter().filter(|check| check.holds).count();
        serde_json::json!({
            "quantity": self.quantity,
            "says": self.says,
            "verdict": self.verdict,
            "numbers": self.checks.len(),
            "holding": holding,
            "other": self.other.map(|(name, verdict)| serde_json::json!({"configuration": name, "verdict": verdict})),
        })
    }
}

/// The outcome of a claim: the line that `--json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimOutcome {
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
    /// Whether the claim is met: the last of the verdicts of its conditions.
    pub verdict: Verdict,
    /// The conditions, one by one.
    #[serde(serialize_with = "as_json")]
    pub conditions: Vec<JudgedCondition>,
    /// What was run for it.
    pub ran: String,
    /// A remark: what failed, and why we think it did.
    pub note: String,
    /// The parameters that were fitted to the claim, or chosen by it.
    pub fitted: Option<String>,
    /// How the claim's rule was changed after a run.
    pub rule_changed: Option<String>,
}

fn as_json<S: serde::Serializer>(conditions: &[JudgedCondition], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(conditions.iter().map(JudgedCondition::json))
}

impl ClaimOutcome {
    /// The outcome of `claim` of `file`, given what our runs say about it.
    ///
    /// # Errors
    /// If the file names a quantity that is not computed, or does not name one that is.
    pub fn of(
        file: &'static str,
        claim: &Claim,
        found: Result<Findings, MissingAnswer>,
        ran: String,
    ) -> Result<ClaimOutcome, ClaimsError> {
        let (conditions, note) = match &found {
            Ok(findings) => {
                let conditions = judged(file, claim, findings)?;
                let note = note(&conditions);
                (conditions, note)
            }
            Err(MissingAnswer::NotRun(what)) => {
                (all_with(claim, Verdict::NotRun), format!("stopped before this was run: {what}"))
            }
            Err(MissingAnswer::Failed(what, why)) => {
                (all_with(claim, Verdict::Missed), format!("the run of {what} failed: {why}"))
            }
        };
        let checks = || conditions.iter().flat_map(|condition| &condition.checks);
        let holding = checks().filter(|check| check.holds).count();
        let (ours, error_percent) = match found {
            Ok(Findings { ours: Ours::Value(ours), error_percent, .. }) => (ours, error_percent),
            Ok(Findings { ours: Ours::Counted(text), error_percent, .. }) => {
                (text(holding, checks().count()), error_percent)
            }
            Err(_) => (Value::Null, Value::Null),
        };
        let published = claim.published.as_ref().map(|value| serde_json::to_value(value).unwrap_or(Value::Null));
        Ok(ClaimOutcome {
            id: claim.id.clone(),
            kind: claim.kind,
            published: published.unwrap_or_else(|| Value::String(claim.says.clone())),
            ours,
            unit: claim.unit.clone(),
            error_percent,
            verdict: conditions.iter().map(|condition| condition.verdict).max().unwrap_or(Verdict::Missed),
            conditions,
            ran,
            note,
            fitted: claim.fitted.clone(),
            rule_changed: claim.rule_changed.clone(),
        })
    }

    /// The remarks about it, line by line.
    pub fn remarks(&self) -> Vec<String> {
        let note = Some(self.note.clone()).filter(|note| !note.is_empty());
        let fitted = self.fitted.as_ref().map(|what| format!("fitted: {what}"));
        let changed = self.rule_changed.as_ref().map(|how| format!("rule changed after a run: {how}"));
        [note, fitted, changed].into_iter().flatten().collect()
    }

    /// Keeps the verdicts of the same claim in another configuration.
    pub(crate) fn add_other(&mut self, name: &'static str, verdicts: &[Verdict]) {
        for (condition, verdict) in self.conditions.iter_mut().zip(verdicts) {
            condition.other = Some((name, *verdict));
        }
    }

    /// Which conditions have another verdict in another configuration, in a line; none if there are none.
    pub fn differs_elsewhere(&self) -> Option<String> {
        let each = self.conditions.iter().filter_map(|condition| Some((condition, condition.other?)));
        let differing: Vec<_> = each.filter(|(it, (_, verdict))| it.verdict.is_met() != verdict.is_met()).collect();
        let (_, (name, _)) = differing.first()?;
        let words = differing.iter().map(|(it, (_, verdict))| format!("{} {}", it.quantity, verdict.words()));
        Some(format!("with the {name}: {}", words.collect::<Vec<_>>().join(", ")))
    }

    /// Why we think that it was missed: the reasons of the conditions that do not hold, each once.
    pub fn reasons(&self) -> Vec<&str> {
        reasons(&self.conditions)
    }
}

/// How many of some conditions, or claims, have each verdict, in the order of [`Verdict::ALL`].
pub fn tally(verdicts: impl IntoIterator<Item = Verdict>) -> [usize; 5] {
    let mut tally = [0; 5];
    for verdict in verdicts {
        tally[verdict as usize] += 1;
    }
    tally
}

/// What is printed about a condition without any number.
const NOTHING_CHECKED: &str = "nothing was checked";

/// The conditions of a claim, none of which has any number.
fn all_with(claim: &Claim, verdict: Verdict) -> Vec<JudgedCondition> {
    let without_numbers = |condition: &Condition| JudgedCondition {
        quantity: condition.quantity.clone(),
        says: format!("{} {}", condition.what, condition.bound.words(None)),
        verdict,
        checks: Vec::new(),
        reason: None,
        other: None,
    };
    claim.conditions.iter().map(without_numbers).collect()
}

/// Every condition of `claim`, checked for each number of its quantity.
fn judged(file: &'static str, claim: &Claim, found: &Findings) -> Result<Vec<JudgedCondition>, ClaimsError> {
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
    let mut conditions = Vec::new();
    for condition in &claim.conditions {
        let mut computed = found.quantities.iter();
        let Some(quantity) = computed.find(|quantity| quantity.name == condition.quantity) else {
            let names = found.quantities.iter().map(|quantity| quantity.name);
            let suggestion = quantities::nearest(&condition.quantity, names.clone());
            let known = names.collect::<Vec<_>>().join(", ");
            let problem = format!("`quantity`: `{}` is not computed for `{}`", condition.quantity, claim.id);
            return Err(error(condition.line, format!("{problem}; computed are {known}"), suggestion));
        };
        conditions.push(judged_condition(claim, condition, quantity));
    }
    Ok(conditions)
}

fn judged_condition(claim: &Claim, condition: &Condition, quantity: &Quantity) -> JudgedCondition {
    let checks = checks_of(claim, condition, quantity);
    let verdict = match (checks.iter().all(|check| check.holds), condition.data, &condition.contradicts) {
        (true, Some(Data::Training), _) => Verdict::MetFitted,
        (true, Some(Data::HeldBack) | None, _) => Verdict::Met,
        (false, _, Some(_)) => Verdict::ContradictsPaper,
        (false, _, None) => Verdict::Missed,
    };
    let reason = condition.contradicts.as_ref().or(condition.missed_because.as_ref());
    JudgedCondition {
        quantity: condition.quantity.clone(),
        says: format!("{} {}", condition.what, condition.bound.words(None)),
        verdict,
        checks,
        reason: reason.filter(|_| !verdict.is_met()).cloned(),
        other: None,
    }
}

/// A condition, checked for each number of its quantity. Without any number it does not hold.
fn checks_of(claim: &Claim, condition: &Condition, quantity: &Quantity) -> Vec<Check> {
    let Condition { what, bound, data, .. } = condition;
    let check = |holds, says: String| {
        let data = data.map_or(String::new(), |data: Data| format!(" ({})", data.words()));
        Check { holds, says: says + &data }
    };
    if quantity.cases.is_empty() {
        return vec![check(false, format!("{what}: {NOTHING_CHECKED}"))];
    }
    let published = claim.printed_for(&condition.quantity, quantity.cases.len());
    let worst = quantity.worst.as_ref().map_or(String::new(), |worst| format!("; worst cell: {worst}"));
    let each = quantity.cases.iter().enumerate().map(|(index, case)| {
        let published = published.as_ref().map(|numbers| numbers[index]);
        let place = if case.place.is_empty() { String::new() } else { format!("{}: ", case.place) };
        let says = format!("{place}{what} {}, {}{worst}", number(case.value), bound.words(published));
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

/// What failed, then why we think it did; nothing if all hold.
fn note(conditions: &[JudgedCondition]) -> String {
    let checks = conditions.iter().flat_map(|condition| &condition.checks);
    let failed: Vec<&str> = checks.filter(|check| !check.holds).map(|check| check.says.as_str()).collect();
    if failed.is_empty() {
        return String::new();
    }
    let failed = format!("does not hold: {}", failed.join("; "));
    match reasons(conditions).join(" ") {
        reason if reason.is_empty() => failed,
        reason => format!("{failed}. {reason}"),
    }
}

fn reasons(conditions: &[JudgedCondition]) -> Vec<&str> {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in conditions.iter().filter_map(|condition| condition.reason.as_deref()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::super::claims::Claims;
    use super::super::condition::{Bound, Limit};
    use super::super::findings::Cell;
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

    fn judged(claim: &Claim, found: Findings) -> Result<ClaimOutcome, ClaimsError> {
        ClaimOutcome::of("c.toml", claim, Ok(found), String::new())
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
        assert_eq!(
            with(4.0).conditions.iter().map(|it| it.verdict).collect::<Vec<_>>(),
            [Verdict::MetFitted, Verdict::Met]
        );
        assert_eq!(with(4.0).conditions[0].checks[0].says, "time [us] 4, within 1 of 4 (fitted to)");
        let line = serde_json::to_value(with(4.0)).unwrap();
        assert_eq!((line["verdict"].as_str(), line["fitted"].as_str()), (Some("met-fitted"), Some("a cost, to it")));
    }

    /// A condition that something else in the paper contradicts is told from one that is missed, until it holds.
    #[test]
    fn a_contradiction_of_the_paper_has_its_own_verdict() {
        let mut contradicted = claim("");
        contradicted.conditions[1].missed_because = None;
        contradicted.conditions[1].contradicts = Some("table 5 has it flat".to_string());
        let with = |time, slope| judged(&contradicted, found(time, &[slope])).unwrap();
        assert_eq!(
            [with(4.0, 1.0), with(4.0, -1.0), with(6.0, -1.0)].map(|it| it.verdict),
            [Verdict::Met, Verdict::ContradictsPaper, Verdict::Missed]
        );
        assert_eq!(with(4.0, -1.0).reasons(), ["table 5 has it flat"]);
        assert_eq!(tally(with(6.0, -1.0).conditions.iter().map(|it| it.verdict)), [0, 0, 1, 1, 0]);
    }

    /// Beside a mean stands the cell that is farthest off.
    #[test]
    fn a_mean_over_cells_tells_the_worst() {
        let mut table = claim("");
        table.conditions.truncate(1);
        table.conditions[0].quantity = "off_percent".to_string();
        table.conditions[0].bound = Bound::Between { least: None, most: Some(Limit { value: 20.0, included: true }) };
        let cell = |place: &str, ours, printed| Cell { place: place.to_string(), ours, printed };
        let cells = [cell("a", 11.0, 10.0), cell("b", 7.0, 10.0), cell("c", 10.0, 10.0)];
        let says = |cells: &[Cell]| {
            let judged = judged(&table, Findings::words("").with_mean_deviation("off_percent", cells)).unwrap();
            (judged.verdict, judged.conditions[0].checks[0].says.clone())
        };
        assert_eq!(says(&cells), (Verdict::Met, "time [us] 13.33, at most 20; worst cell: b -30 %".to_string()));
        assert_eq!(says(&[]).0, Verdict::Missed);
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
        let outcome = ClaimOutcome::of("c.toml", &claim(""), gap, "nothing".to_string()).unwrap();
        assert_eq!(outcome.verdict, Verdict::NotRun);
        assert_eq!(
            serde_json::to_string(&outcome).unwrap(),
            "{\"id\":\"p.q\",\"kind\":\"number\",\"published\":{\"time_us\":4},\"ours\":null,\"unit\":\"us\",\"error_percent\":null,\
             \"verdict\":\"not-run\",\"conditions\":[\
             {\"holding\":0,\"numbers\":0,\"other\":null,\"quantity\":\"time_us\",\"says\":\"time [us] within 1 of what is published\",\"verdict\":\"not-run\"},\
             {\"holding\":0,\"numbers\":0,\"other\":null,\"quantity\":\"slope\",\"says\":\"slope more than 0\",\"verdict\":\"not-run\"}],\
             \"ran\":\"nothing\",\"note\":\"stopped before this was run: it\",\
             \"fitted\":null,\"rule_changed\":null}"
        );
    }
}
