//! What a quantity must be: at least, at most or equal to something, or near the published number.

use serde::Deserialize;

/// Whether parameters were fitted to the numbers that a condition tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Data {
    /// They were fitted to it, or chosen by it.
    Training,
    /// They were fitted to other numbers of the same kind, and this one was held back for the test.
    HeldBack,
}

impl Data {
    /// Its name in a report.
    pub fn words(self) -> &'static str {
        match self {
            Data::Training => "fitted to",
            Data::HeldBack => "held back",
        }
    }
}

/// What a quantity must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Within these limits.
    Between {
        /// The least that it may be.
        least: Option<Limit>,
        /// The most.
        most: Option<Limit>,
    },
    /// More or less than a number by what counts as a difference in the paper.
    Apart {
        /// The number.
        than: f64,
        /// The nearest that it may be to the number. It is more than the number if this is, and else less.
        end: f64,
    },
    /// Exactly that.
    Equals(f64),
    /// Near its published number.
    Near(Tolerance),
}

/// An end of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Where it lies.
    pub value: f64,
    /// Whether it belongs to the range.
    pub included: bool,
}

/// How far a number may lie from the published one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// By this much.
    Absolute(f64),
    /// By this share. [%]
    Percent(f64),
    /// By this factor, up or down.
    Factor(f64),
}

/// The bounds of a condition as written, each if it is there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The least.
    pub at_least: Option<f64>,
    /// The most.
    pub at_most: Option<f64>,
    /// More than that.
    pub above: Option<f64>,
    /// Less than that.
    pub below: Option<f64>,
    /// More than that by what counts as a difference.
    pub clearly_above: Option<f64>,
    /// Less than that by what counts as a difference.
    pub clearly_below: Option<f64>,
    /// Exactly that.
    pub equals: Option<f64>,
    /// At most this far from the published number.
    pub within: Option<f64>,
    /// The same in percent of it.
    pub within_percent: Option<f64>,
    /// The same as a factor.
    pub within_factor: Option<f64>,
}

impl Limits {
    /// The bound that they make, where two numbers differ if they are `difference_percent` apart: that part of the
    /// number, or so many percentage points where it is zero.
    ///
    /// # Errors
    /// Why they make none.
    pub fn bound(self, difference_percent: f64) -> Result<Bound, String> {
        let limit = |included: Option<f64>, excluded: Option<f64>| match (included, excluded) {
            (None, None) => Ok(None),
            (Some(value), None) => Ok(Some(Limit { value, included: true })),
            (None, Some(value)) => Ok(Some(Limit { value, included: false })),
            (Some(_), Some(_)) => Err("two bounds on the same side".to_string()),
        };
        let (least, most) = (limit(self.at_least, self.above)?, limit(self.at_most, self.below)?);
        let apart = |than: f64, sign: f64| {
            let by = if than == 0.0 { difference_percent } else { than.abs() * difference_percent / 100.0 };
            Bound::Apart { than, end: than + sign * by }
        };
        let between = (least.is_some() || most.is_some()).then_some(("at_least", Bound::Between { least, most }));
        let alone = [
            between,
            self.clearly_above.map(|than| ("clearly_above", apart(than, 1.0))),
            self.clearly_below.map(|than| ("clearly_below", apart(than, -1.0))),
            self.equals.map(|value| ("equals", Bound::Equals(value))),
            self.within.map(|most| ("within", Bound::Near(Tolerance::Absolute(most)))),
            self.within_percent.map(|most| ("within_percent", Bound::Near(Tolerance::Percent(most)))),
            self.within_factor.map(|most| ("within_factor", Bound::Near(Tolerance::Factor(most)))),
        ];
        let mut given: Vec<(&str, Bound)> = alone.into_iter().flatten().collect();
        match (given.pop(), given.is_empty()) {
            (None, _) => Err("it has no bound: at_least, at_most, above, below, clearly_above, clearly_below, equals, within, within_percent or \
                              within_factor"
                .to_string()),
            (Some((name, bound)), true) => bound.sound(name),
            (Some((name, _)), false) => Err(format!("`{name}` goes with no other bound")),
        }
    }
}

impl Bound {
    /// The bound itself, if some number can satisfy it.
    fn sound(self, name: &str) -> Result<Bound, String> {
        let found = |value: f64, allowed: &str| Err(format!("`{name}` is {value}; allowed is {allowed}"));
        match self {
            Bound::Between { least: Some(least), most: Some(most) } if least.value >= most.value => {
                Err(format!("nothing is {} and {}", least.words(true), most.words(false)))
            }
            Bound::Near(Tolerance::Absolute(most) | Tolerance::Percent(most)) if most < 0.0 => {
                found(most, "zero and more")
            }
            Bound::Near(Tolerance::Factor(most)) if most < 1.0 => found(most, "one and more"),
            Bound::Apart { than, end } if than == end => {
                Err(format!("`{name}` needs a `difference` of the paper, with a `percent` of more than 0"))
            }
            sound => Ok(sound),
        }
    }

    /// Whether it is a matter of judgement, which needs a reason.
    pub fn is_tolerance(self) -> bool {
        match self {
            Bound::Between { least, most } => [least, most].into_iter().flatten().any(|limit| limit.included),
            Bound::Near(Tolerance::Absolute(0.0)) | Bound::Equals(_) | Bound::Apart { .. } => false,
            Bound::Near(_) => true,
        }
    }

    /// Whether `value` satisfies it, given the `published` number. A NaN never does.
    pub fn holds(self, value: f64, published: Option<f64>) -> bool {
        match (self, published) {
            (Bound::Between { least, most }, _) => {
                let above = |limit: Limit| value > limit.value || limit.included && value == limit.value;
                let below = |limit: Limit| value < limit.value || limit.included && value == limit.value;
                !value.is_nan() && least.is_none_or(above) && most.is_none_or(below)
            }
            (Bound::Apart { than, end }, _) => {
                if end > than {
                    value >= end
                } else {
                    value <= end
                }
            }
            (Bound::Equals(wanted), _) => value == wanted,
            (Bound::Near(tolerance), Some(published)) => tolerance.holds(value, published),
            (Bound::Near(_), None) => false,
        }
    }

    /// The bound in words: `at least 3 and less than 5`.
    pub fn words(self, published: Option<f64>) -> String {
        match self {
            Bound::Between { least, most } => {
                let ends = [least.map(|least| least.words(true)), most.map(|most| most.words(false))];
                ends.into_iter().flatten().collect::<Vec<_>>().join(" and ")
            }
            Bound::Apart { than, end } => {
                let (more, at_end) = if end > than { ("more", "at least") } else { ("less", "at most") };
                format!("clearly {more} than {than}: {at_end} {}", (end * 1e9).round() / 1e9)
            }
            Bound::Equals(wanted) => format!("exactly {wanted}"),
            Bound::Near(Tolerance::Absolute(0.0)) => {
                published.map_or("as published".to_string(), |published| format!("published {published}"))
            }
            Bound::Near(tolerance) => {
                let published = published.map_or("what is published".to_string(), |published| published.to_string());
                match tolerance {
                    Tolerance::Absolute(most) => format!("within {most} of {published}"),
                    Tolerance::Percent(most) => format!("within {most} % of {published}"),
                    Tolerance::Factor(most) => format!("within a factor of {most} of {published}"),
                }
            }
        }
    }
}

impl Limit {
    fn words(self, is_least: bool) -> String {
        let words = match (is_least, self.included) {
            (true, true) => "at least",
            (true, false) => "more than",
            (false, true) => "at most",
            (false, false) => "less than",
        };
        format!("{words} {}", self.value)
    }
}

impl Tolerance {
    fn holds(self, value: f64, published: f64) -> bool {
        match self {
            Tolerance::Absolute(most) => (value - published).abs() <= most,
            Tolerance::Percent(most) => ((value / published - 1.0) * 100.0).abs() <= most,
            Tolerance::Factor(most) => value * most >= published && value <= published * most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(limits: Limits) -> Bound {
        limits.bound(1.0).unwrap()
    }

    #[test]
    fn a_bound_holds_up_to_its_ends() {
        let range = bound(Limits { at_least: Some(2.0), below: Some(3.0), ..Limits::default() });
        assert_eq!(
            [1.9, 2.0, 2.9, 3.0, f64::NAN].map(|value| range.holds(value, None)),
            [false, true, true, false, false]
        );
        assert_eq!(range.words(None), "at least 2 and less than 3");
        let range = bound(Limits { above: Some(2.0), at_most: Some(3.0), ..Limits::default() });
        assert_eq!([2.0, 2.1, 3.0, 3.1].map(|value| range.holds(value, None)), [false, true, true, false]);
        let same = bound(Limits { equals: Some(5.0), ..Limits::default() });
        assert_eq!([5.0, 5.1, f64::NAN].map(|value| same.holds(value, None)), [true, false, false]);
    }

    #[test]
    fn what_differs_is_apart_by_the_difference_of_the_paper() {
        let less = bound(Limits { clearly_below: Some(2.0), ..Limits::default() });
        assert_eq!(
            [1.9, 1.98, 1.99, 2.1, f64::NAN].map(|value| less.holds(value, None)),
            [true, true, false, false, false]
        );
        assert_eq!(less.words(None), "clearly less than 2: at most 1.98");
        let gain = bound(Limits { clearly_above: Some(0.0), ..Limits::default() });
        assert_eq!([0.5, 1.0, -2.0].map(|value| gain.holds(value, None)), [false, true, false]);
        assert_eq!(gain.words(None), "clearly more than 0: at least 1");
        assert!(Limits { clearly_above: Some(0.0), ..Limits::default() }.bound(0.0).is_err());
    }

    #[test]
    fn a_tolerance_is_about_what_is_published() {
        let within = bound(Limits { within: Some(0.5), ..Limits::default() });
        assert_eq!([3.4, 3.5, 4.5, 4.6].map(|value| within.holds(value, Some(4.0))), [false, true, true, false]);
        let percent = bound(Limits { within_percent: Some(25.0), ..Limits::default() });
        assert_eq!(
            [0.0, 2.9, 3.0, 5.0, 5.1].map(|value| percent.holds(value, Some(4.0))),
            [false, false, true, true, false]
        );
        let factor = bound(Limits { within_factor: Some(2.0), ..Limits::default() });
        assert_eq!(
            [0.0, 1.9, 2.0, 8.0, 8.1].map(|value| factor.holds(value, Some(4.0))),
            [false, false, true, true, false]
        );
        for near in [within, percent, factor] {
            assert!(!near.holds(4.0, None) && !near.holds(f64::NAN, Some(4.0)));
        }
        assert_eq!(percent.words(Some(4.0)), "within 25 % of 4");
    }
}
