//! Tables that come out to the printed digit.

use serde_json::{Value, json};

use crate::{Judgement, check};
use report::fixed;

/// Compares `ours` with what is `published`, three digits behind the point, one by one; `key` is what they are in JSON, and
/// `place` says in words what the number in a place is, counted from 0.
pub(super) fn judge(key: &str, published: &[&str], ours: &[f64], place: impl Fn(usize) -> String) -> Judgement {
    let checks = published.iter().zip(ours).enumerate().map(|(index, (published, ours))| {
        let ours = fixed(*ours, 3);
        check(ours == *published, format!("{} {ours}, printed {published}", place(index)))
    });
    let mut checks: Vec<_> = checks.collect();
    checks.push(check(ours.len() == published.len(), format!("{} of {} numbers", ours.len(), published.len())));
    Judgement { ours: json!({ key: ours }), error_percent: Value::Null, checks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_third_digit_or_a_number_too_few_is_missed() {
        let (published, ours) = (["2.000", "1.618", "1.466"], [2.0, 1.618_034, 1.465_571]);
        let holds =
            |ours: &[f64]| judge("gamma", &published, ours, |_| String::new()).checks.iter().all(|check| check.holds);
        assert!(holds(&ours));
        for place in 0..ours.len() {
            let mut other = ours;
            other[place] += 0.001;
            assert!(!holds(&other), "{place}");
        }
        assert!(!holds(&ours[1..]) && !holds(&ours[..2]) && !holds(&[]));
    }
}
