//! What a paper claims, as `experiments/<paper>/claims.toml` says it.

use serde::{Deserialize, Serialize};

/// A statement of a paper that a run can confirm or not.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name: paper, place, subject.
    pub id: String,
    /// What sort of statement it is.
    pub kind: Kind,
    /// Where the paper makes it.
    pub source: String,
    /// What the paper states, in our words.
    pub says: String,
    /// What must come out for the claim to count as met.
    pub met_when: String,
    /// The published number or numbers, where there are any.
    pub published: Option<toml::Value>,
    /// Their unit.
    pub unit: Option<String>,
    /// Why we think that it does not come out, where it does not.
    pub reason: Option<String>,
    /// Which parameters were fitted to what it states, or chosen by it, where any were.
    pub fitted: Option<String>,
    /// How its rule was changed after a run, where it was.
    pub rule_changed: Option<String>,
}

/// What sort of statement a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It comes out to the last digit.
    Exact,
    /// A printed measurement.
    Number,
    /// Who is faster, where a curve bends, where curves cross.
    Order,
}

impl Kind {
    /// Its name in claims.toml.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Exact => "exact",
            Kind::Number => "number",
            Kind::Order => "order",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    claim: Vec<Claim>,
}

/// The claims that `text` lists, in its order.
///
/// # Errors
/// What is wrong with `text`, with line and column.
pub fn parse(text: &str) -> Result<Vec<Claim>, toml::de::Error> {
    toml::from_str::<File>(text).map(|file| file.claim)
}
