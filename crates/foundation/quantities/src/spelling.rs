//! Words in sentences: counts with their nouns, and the known name that a mistyped one was meant to be.

use std::fmt::Display;

/// A count with its noun: `1 rank`, `2 ranks`.
pub fn counted(count: impl Display + PartialEq + From<u8>, one: &str) -> String {
    let plural = if count == 1.into() { "" } else { "s" };
    format!("{count} {one}{plural}")
}

/// The name among `known` nearest to `found`, if it is near enough to have been meant.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 100;
    let shortened: String = found.chars().take(LONGEST).collect();
    let far = |name: &str| edit_distance(&shortened, name);
    let (steps, name) = known.into_iter().map(|name| (far(name), name)).min_by_key(|pair| pair.0)?;
    let longest = shortened.chars().count().max(name.chars().count());
    (steps <= 1 + longest / 4 && steps < longest).then_some(name)
}

/// How many letters must be inserted, deleted, changed or swapped with their neighbour to turn `found` into `name`,
/// ignoring case.
pub fn edit_distance(found: &str, name: &str) -> usize {
    strsim::osa_distance(&found.to_ascii_lowercase(), &name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{counted, nearest};

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0_u32, 1, 2].map(|ranks| counted(ranks, "rank")), ["0 ranks", "1 rank", "2 ranks"]);
    }

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        let names = ["moc-3-1", "moc-3-2", "parsytec-gcel-64", "us"];
        assert_eq!(nearest("moc-32", names), Some("moc-3-2"));
        assert_eq!(nearest("parsytec-gecl-64", names), Some("parsytec-gcel-64"));
        assert_eq!(nearest("US", names), Some("us"));
    }

    #[test]
    fn something_else_is_not() {
        assert_eq!(nearest("hypercube", ["moc-3-1", "mesh"]), None);
        assert_eq!(nearest("", ["a"]), None);
        assert_eq!(nearest("x", []), None);
    }
}
