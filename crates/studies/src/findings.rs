//! What a study computes for a claim: quantities by name. What they must be, it does not know.

use serde_json::Value;

/// What our runs say of a claim.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Our own number or numbers, or what we found in a few words.
    pub ours: Ours,
    /// How far ours is from the published one, where both are numbers. [%]
    pub error_percent: Value,
    /// What the conditions of the claim are about.
    pub quantities: Vec<Quantity>,
}

/// What stands beside what is published.
#[derive(Clone, Debug)]
pub enum Ours {
    /// Numbers, or a few words.
    Value(Value),
    /// What is told of how many numbers are as they must be, and of how many there are.
    Counted(fn(usize, usize) -> Value),
}

/// A quantity of which a condition says what it must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name in claims.toml.
    pub name: &'static str,
    /// Its number in each case that was looked at.
    pub cases: Vec<Case>,
}

/// A number of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Which case it is, in words; nothing where there is but one.
    pub place: String,
    /// The number.
    pub value: f64,
}

impl Findings {
    /// Numbers that stand beside the published ones, and how far they are from them. [%]
    pub fn numbers(ours: Value, error_percent: Value) -> Findings {
        Findings { ours: Ours::Value(ours), error_percent, quantities: Vec::new() }
    }

    /// What was found, in a few words.
    pub fn words(ours: impl Into<String>) -> Findings {
        Findings::numbers(Value::String(ours.into()), Value::Null)
    }

    /// What `say` makes of how many numbers are as they must be, and of how many there are.
    pub fn counted(say: fn(usize, usize) -> Value) -> Findings {
        Findings { ours: Ours::Counted(say), ..Findings::words("") }
    }

    /// The same with a quantity that has a number for each of some cases.
    #[must_use]
    pub fn with(mut self, name: &'static str, cases: impl IntoIterator<Item = (String, f64)>) -> Findings {
        let cases = cases.into_iter().map(|(place, value)| Case { place, value }).collect();
        self.quantities.push(Quantity { name, cases });
        self
    }

    /// The same with a quantity that is one number.
    #[must_use]
    pub fn with_number(self, name: &'static str, value: f64) -> Findings {
        self.with(name, [(String::new(), value)])
    }
}
