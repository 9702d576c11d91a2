//! What a study computes for a claim: quantities by name. It does not know what they must be.

use serde_json::Value;

/// What our runs say about a claim.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Our own number or numbers, or what we found in a few words.
    pub ours: Ours,
    /// How far ours is from the published one, where both are numbers. [%]
    pub error_percent: Value,
    /// The quantities that the conditions of the claim test.
    pub quantities: Vec<Quantity>,
}

/// Our counterpart of the published numbers.
#[derive(Clone, Debug)]
pub enum Ours {
    /// Numbers, or a few words.
    Value(Value),
    /// A report made from how many numbers are as they must be, and how many there are.
    Counted(fn(usize, usize) -> Value),
}

/// A quantity that a condition tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name in claims.toml.
    pub name: &'static str,
    /// Its number in each case.
    pub cases: Vec<CaseValue>,
    /// If it is a mean over cells of a table: the cell that is farthest off, and by how much.
    pub worst: Option<String>,
}

/// A number of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseValue {
    /// The case, in words; empty if there is only one.
    pub place: String,
    /// The number.
    pub value: f64,
}

/// A cell of a printed table, and ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Which cell, in words.
    pub place: String,
    /// Our number.
    pub ours: f64,
    /// What is printed there.
    pub printed: f64,
}

impl Findings {
    /// Numbers to compare with the published ones, and their deviations. [%]
    pub fn numbers(ours: Value, error_percent: Value) -> Findings {
        Findings { ours: Ours::Value(ours), error_percent, quantities: Vec::new() }
    }

    /// What was found, in a few words.
    pub fn words(ours: impl Into<String>) -> Findings {
        Findings::numbers(Value::String(ours.into()), Value::Null)
    }

    /// A report that `text` makes from how many numbers are as they must be, and how many there are.
    pub fn counted(text: fn(usize, usize) -> Value) -> Findings {
        Findings { ours: Ours::Counted(text), ..Findings::words("") }
    }

    /// The same with a quantity that has a number for each of some cases.
    #[must_use]
    pub fn with(mut self, name: &'static str, cases: impl IntoIterator<Item = (String, f64)>) -> Findings {
        let cases = cases.into_iter().map(|(place, value)| CaseValue { place, value }).collect();
        self.quantities.push(Quantity { name, cases, worst: None });
        self
    }

    /// The same with a quantity that is the mean of absolute deviations of cells of a table from what is printed, with
    /// the worst of them.
    #[must_use]
    pub fn with_mean_deviation(mut self, name: &'static str, cells: &[Cell]) -> Findings {
        let deviation = |cell: &Cell| (cell.ours / cell.printed - 1.0) * 100.0;
        let mean = cells.iter().map(|cell| deviation(cell).abs()).sum::<f64>() / cells.len() as f64;
        let worst = cells.iter().max_by(|one, other| deviation(one).abs().total_cmp(&deviation(other).abs()));
        let worst = worst.map(|cell| format!("{} {:+.0} %", cell.place, deviation(cell)));
        let cases = if cells.is_empty() { Vec::new() } else { vec![CaseValue { place: String::new(), value: mean }] };
        self.quantities.push(Quantity { name, cases, worst });
        self
    }

    /// The same with a quantity that is one number.
    #[must_use]
    pub fn with_number(self, name: &'static str, value: f64) -> Findings {
        self.with(name, [(String::new(), value)])
    }
}
