//! The differences between two answers, leaf by leaf.

use experiment::Provenance;
use serde_json::Value;

/// What is not compared: the provenance, which is reported separately, and the fields that repeat it; and the steps of
/// the critical path, whose sums are compared.
const EXCLUDED: [&str; 6] = [Provenance::KEY, "machine", "program", "parameters", "seed", "critical_path.steps"];

/// A value that differs between the two.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    /// Its place: `channels[3].busy_ps`.
    pub(super) place: String,
    /// Its value before, if it was there.
    pub(super) before: Option<Value>,
    /// Its value after, if it is there.
    pub(super) after: Option<Value>,
}

impl Difference {
    /// The relative change, if both are numbers and the first is not zero.
    pub(super) fn change(&self) -> Option<f64> {
        let number = |value: &Option<Value>| value.as_ref().and_then(Value::as_f64);
        let (before, after) = (number(&self.before)?, number(&self.after)?);
        (before != 0.0).then(|| (after - before) / before)
    }

    /// The name of the only side that has it, and how many elements it has there, if it is a list or an object.
    pub(super) fn one_sided(&self) -> Option<(&'static str, usize)> {
        let (side, value) = match (&self.before, &self.after) {
            (Some(value), None) => ("first", value),
            (None, Some(value)) => ("second", value),
            _ => return None,
        };
        let elements = value.as_array().map(Vec::len).or(value.as_object().map(serde_json::Map::len))?;
        Some((side, elements))
    }

    /// Its weight: values that are not numbers in both come first.
    pub(super) fn weight(&self) -> f64 {
        self.change().map_or(f64::INFINITY, f64::abs)
    }

    /// The group it belongs to: the first part of its place.
    pub(super) fn group(&self) -> &str {
        self.place.split(['.', '[']).next().unwrap_or_default()
    }
}

/// The values that differ between two answers by more than `tolerance`, a share of the larger number.
pub(super) fn between(before: &Value, after: &Value, tolerance: f64) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", (Some(before), Some(after)), &Comparison { tolerance, is_excluded }, &mut found);
    found
}

/// The same for any two values, with nothing excluded.
pub(super) fn between_all(before: &Value, after: &Value, tolerance: f64) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", (Some(before), Some(after)), &Comparison { tolerance, is_excluded: |_| false }, &mut found);
    found
}

/// How two values are compared.
struct Comparison {
    /// What share of the larger number is no difference. [1]
    tolerance: f64,
    /// Whether what is at a place is not compared.
    is_excluded: fn(&str) -> bool,
}

fn compare(place: &str, values: (Option<&Value>, Option<&Value>), how: &Comparison, found: &mut Vec<Difference>) {
    if (how.is_excluded)(place) {
        return;
    }
    match values {
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let added = after.keys().filter(|key| !before.contains_key(*key));
            for key in before.keys().chain(added) {
                let inner = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                compare(&inner, (before.get(key), after.get(key)), how, found);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            for number in 0..before.len().max(after.len()) {
                compare(&format!("{place}[{number}]"), (before.get(number), after.get(number)), how, found);
            }
        }
        (before, after) if are_same(before, after, how.tolerance) => {}
        (before, after) => {
            let (before, after) = (before.cloned(), after.cloned());
            found.push(Difference { place: place.to_owned(), before, after });
        }
    }
}

/// Whether what is at a place is not compared, in the answer or in one of its jobs.
fn is_excluded(place: &str) -> bool {
    let of_job = place.strip_prefix("jobs[").and_then(|rest| rest.split_once("].")).map(|(_, field)| field);
    EXCLUDED.contains(&place) || matches!(of_job, Some("program" | "parameters"))
}

fn are_same(before: Option<&Value>, after: Option<&Value>, tolerance: f64) -> bool {
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    before == after
        || tolerance > 0.0
            && number(before)
                .zip(number(after))
                .is_some_and(|(before, after)| (after - before).abs() <= tolerance * before.abs().max(after.abs()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn places(before: &Value, after: &Value, tolerance: f64) -> Vec<String> {
        between(before, after, tolerance).into_iter().map(|difference| difference.place).collect()
    }

    #[test]
    fn every_leaf_is_compared_and_named_by_its_path() {
        let before = json!({"makespan_ps": 100, "ranks": [{"packets": 1}, {"packets": 2}], "seed": null});
        let after =
            json!({"makespan_ps": 101, "ranks": [{"packets": 1}, {"packets": 3}, {"packets": 0}], "seed": null});
        assert_eq!(places(&before, &after, 0.0), ["makespan_ps", "ranks[1].packets", "ranks[2]"]);
        assert_eq!(places(&before, &after, 0.01), ["ranks[1].packets", "ranks[2]"]);
        assert!(places(&before, &before, 0.0).is_empty());
    }

    #[test]
    fn what_was_run_and_the_steps_of_a_path_are_not_compared() {
        let before = json!({"experiment": {"seed": 1}, "critical_path": {"latency_ps": 5, "steps": [1]}});
        let after = json!({"experiment": {"seed": 2}, "critical_path": {"latency_ps": 6, "steps": []}});
        assert_eq!(places(&before, &after, 0.0), ["critical_path.latency_ps"]);
        let run = |seed, machine, program, bytes| {
            let job = json!({"program": program, "parameters": {"bytes": bytes}, "makespan_ps": 5});
            json!({"seed": seed, "machine": machine, "program": program, "parameters": {"bytes": bytes}, "jobs": [job]})
        };
        assert!(places(&run(1, "delta", "goal", 8), &run(2, "m.toml", "trace", 16), 0.0).is_empty());
    }

    #[test]
    fn whole_numbers_are_compared_as_such_and_not_as_floats() {
        let (before, after) = (json!(9_007_199_254_740_992_u64), json!(9_007_199_254_740_993_u64));
        assert_eq!(between(&before, &after, 0.0).len(), 1);
        assert_eq!(between(&before, &after, 0.001).len(), 0);
    }
}
