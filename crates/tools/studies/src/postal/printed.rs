//! Tables that are reproduced to the printed digit.

use serde_json::{Value, json};

use crate::Findings;

/// The numbers of a table; `key` is their name, and `place` says in words what the number at an index is, counted from
/// 0.
pub(super) fn judge(key: &'static str, ours: &[f64], place: impl Fn(usize) -> String) -> Findings {
    let cases = ours.iter().enumerate().map(|(index, ours)| (place(index), *ours));
    Findings::numbers(json!({ key: ours }), Value::Null).with(key, cases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::failing;

    #[test]
    fn another_third_digit_or_a_number_too_few_is_missed() {
        let paper = super::super::paper();
        let ours = paper.as_ref().unwrap().claims.get("postal.table1.gamma").unwrap().printed_row("gamma").unwrap();
        let holds = |ours: &[f64]| {
            failing(&paper, "postal.table1.gamma", judge("gamma", ours, |place| place.to_string())).is_empty()
        };
        assert!(holds(&ours));
        for place in 0..ours.len() {
            let mut other = ours.clone();
            other[place] += 0.001;
            assert!(!holds(&other), "{place}");
        }
        assert!(!holds(&ours[1..]) && !holds(&ours[..2]) && !holds(&[]));
    }
}
