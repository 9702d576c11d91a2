//! The notation that all quantities share: a decimal number and a unit, `1.5 us`, exact to the last digit.

use std::fmt;

/// What is wrong with the text of a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {quantity}: {problem}")]
pub struct ParseError {
    found: String,
    quantity: &'static str,
    problem: String,
    hint: String,
}

impl ParseError {
    pub(crate) fn new(found: &str, kind: &Kind, problem: String) -> ParseError {
        ParseError { found: shortened(found), quantity: kind.quantity, problem, hint: kind.hint() }
    }
    /// What is allowed instead.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

/// Keeps an error message readable when the text it quotes is not.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_string();
    }
    text.chars().take(LONGEST).chain("...".chars()).collect()
}

/// A unit and how many base units it is.
pub(crate) type Unit = (&'static str, u64);

/// A kind of quantity: its name and the units in which it is written.
pub(crate) struct Kind {
    /// With its article: `a duration`.
    pub quantity: &'static str,
    /// An example of good notation.
    pub example: &'static str,
    /// Its placeholder in the usage of a command.
    pub value_name: &'static str,
    /// The units; where one unit has several names, the first is printed.
    pub units: &'static [Unit],
    /// Other spellings that are accepted but not listed.
    pub other_spellings: &'static [Unit],
    /// What to say about an unknown unit: which was meant, if that is clear.
    pub suggestion: fn(&str) -> String,
    /// The unit that applies when none is written, if it may be left out.
    pub unit_left_out: Option<Unit>,
    /// The smallest amount that can be represented.
    pub finest: &'static str,
    /// The largest amount, in the base unit.
    pub greatest: u64,
    /// What is wrong with a larger one.
    pub too_large: &'static str,
}

impl Kind {
    /// What to write instead.
    pub(crate) fn hint(&self) -> String {
        if self.units.is_empty() {
            return format!("write {} such as `{}`", self.quantity, self.example);
        }
        let names: Vec<&str> = self.units.iter().map(|unit| unit.0).collect();
        format!("write {} such as `{}`; the units are {}", self.quantity, self.example, names.join(", "))
    }

    /// What is allowed, as a JSON Schema.
    pub(crate) fn schema(&self) -> schemars::Schema {
        let units: Vec<&str> = self.units.iter().map(|unit| unit.0).collect();
        let units = if units.is_empty() { String::new() } else { format!("; the units are {}", units.join(", ")) };
        let text = format!("{} such as `{}`{units}", self.quantity, self.example);
        let kind = if self.unit_left_out.is_some() { &["string", "integer"][..] } else { &["string"] };
        schemars::json_schema!({
            "type": kind, "description": text, "examples": [self.example], "x-value": self.value_name
        })
    }

    /// Reads `text` as a number of base units.
    pub(crate) fn parse(&self, text: &str) -> std::result::Result<u64, ParseError> {
        let fail = |problem: String| ParseError::new(text, self, problem);
        let trimmed = text.trim();
        if trimmed.starts_with('-') {
            return Err(fail("it is negative".to_string()));
        }
        let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..end], trimmed[end..].trim_start());
        let (whole, fraction) = split_number(number).map_err(fail)?;
        let scale = self.scale(unit).map_err(fail)?;
        let too_large = || fail(self.too_large.to_string());
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
        let part = part_of(fraction, scale).ok_or_else(|| fail(format!("it is finer than {}", self.finest)))?;
        let value = whole.checked_mul(scale).and_then(|value| value.checked_add(part));
        value.filter(|value| *value <= self.greatest).ok_or_else(too_large)
    }

    fn scale(&self, unit: &str) -> std::result::Result<u64, String> {
        if unit.is_empty() {
            return self.unit_left_out.map(|unit| unit.1).ok_or_else(|| "it has no unit".to_string());
        }
        if let Some(known) = self.units.iter().chain(self.other_spellings).find(|known| known.0 == unit) {
            return Ok(known.1);
        }
        Err(format!("there is no unit `{}`{}", shortened(unit), (self.suggestion)(unit)))
    }
}

/// The unit among `units` that a mistyped one was meant to be. It must begin with the same letter: another prefix would
/// be off by a factor of a thousand. A single letter can mean anything.
pub(crate) fn nearest_unit(unit: &str, units: &[Unit]) -> Option<Unit> {
    let first = |name: &str| name.chars().next().map(|letter| letter.to_ascii_lowercase());
    let alike = units.iter().filter(|known| first(known.0) == first(unit));
    let name = crate::nearest(unit, alike.map(|known| known.0))?;
    let is_suggested = unit.chars().count() > 1 || unit.eq_ignore_ascii_case(name);
    units.iter().find(|known| is_suggested && known.0 == name).copied()
}

/// The question whether `unit` was meant.
pub(crate) fn did_you_mean(unit: Option<Unit>) -> String {
    unit.map(|(name, _)| format!(", did you mean `{name}`?")).unwrap_or_default()
}

/// Splits `12.50` at the point. Both parts are digits only; at least one has some.
fn split_number(number: &str) -> std::result::Result<(&str, &str), String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err("it does not begin with a number".to_string());
    }
    if fraction.contains('.') {
        return Err(format!("`{number}` has more than one point"));
    }
    Ok((whole, fraction.trim_end_matches('0')))
}

/// The base units in `0.fraction` of `scale` base units; none if that is not a whole number of them.
fn part_of(fraction: &str, scale: u64) -> Option<u64> {
    if fraction.is_empty() {
        return Some(0);
    }
    // No scale has more than 60 factors of two and five together, so more digits cannot be exact.
    if fraction.len() > 20 {
        return None;
    }
    let digits: u128 = fraction.parse().ok()?;
    let power = 10u128.checked_pow(fraction.len() as u32)?;
    let value = digits.checked_mul(u128::from(scale))?;
    (value % power == 0).then_some((value / power) as u64)
}

/// Writes `value` base units in the unit of `scale` base units, a power of ten times one that divides exactly.
pub(crate) fn print(out: &mut fmt::Formatter<'_>, value: u64, unit: Unit) -> fmt::Result {
    let (name, scale) = unit;
    let (whole, mut rest) = (value / scale, value % scale);
    if rest == 0 {
        return out.pad(&format!("{whole} {name}"));
    }
    let mut digits = String::new();
    while rest > 0 {
        // `rest` is below `scale`, which is far from the largest number: ten times it fits.
        rest *= 10;
        digits.push(char::from(b'0' + (rest / scale) as u8));
        rest %= scale;
    }
    out.pad(&format!("{whole}.{digits} {name}"))
}

/// What is said of a value in a file that has to be a string, with a unit.
pub const IN_QUOTES: &str = "in quotes";

/// Reads a quantity from a description: a string in its notation.
pub(crate) struct Text<T>(pub &'static Kind, pub std::marker::PhantomData<T>);

impl<T: std::str::FromStr<Err = ParseError>> serde::de::Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {IN_QUOTES}, such as \"{}\"", self.0.quantity, self.0.example)
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<T, E> {
        text.parse().map_err(|error: ParseError| E::custom(format!("{error}; {}", error.hint())))
    }
    fn visit_u64<E: serde::de::Error>(self, number: u64) -> std::result::Result<T, E> {
        match self.0.unit_left_out {
            Some(_) => self.visit_str(&number.to_string()),
            None => Err(E::invalid_type(serde::de::Unexpected::Unsigned(number), &self)),
        }
    }
    fn visit_i64<E: serde::de::Error>(self, number: i64) -> std::result::Result<T, E> {
        match self.0.unit_left_out {
            Some(_) => self.visit_str(&number.to_string()),
            None => Err(E::invalid_type(serde::de::Unexpected::Signed(number), &self)),
        }
    }
}

/// Gives a quantity its serde form: the string that it prints as.
macro_rules! as_text {
    ($quantity:ty, $kind:expr) => {
        impl serde::Serialize for $quantity {
            fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $quantity {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                from.deserialize_any($crate::notation::Text(&$kind, std::marker::PhantomData))
            }
        }
        impl schemars::JsonSchema for $quantity {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($quantity).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $kind.schema()
            }
        }
    };
}
pub(crate) use as_text;
