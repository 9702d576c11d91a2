//! Whole numbers and names within the bounds that the JSON Schema says.

use machines::LONGEST_NAME;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A type of whole numbers.
pub(crate) trait Whole<'de>: Deserialize<'de> + Copy + Into<u64> {}

impl<'de, N: Deserialize<'de> + Copy + Into<u64>> Whole<'de> for N {}

/// Reads a whole number from `LEAST` to `MOST`.
pub(crate) fn number<'de, const LEAST: u64, const MOST: u64, N: Whole<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<N, D::Error> {
    let number = N::deserialize(from)?;
    if (LEAST..=MOST).contains(&number.into()) { Ok(number) } else { Err(outside(number.into(), LEAST, MOST)) }
}

/// The same, or nothing.
pub(crate) fn option<'de, const LEAST: u64, const MOST: u64, N: Whole<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<N>, D::Error> {
    match Option::<N>::deserialize(from)? {
        Some(number) if !(LEAST..=MOST).contains(&number.into()) => Err(outside(number.into(), LEAST, MOST)),
        number => Ok(number),
    }
}

/// Reads a name that is not too long for a table, or nothing.
pub(crate) fn name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let name = Option::<String>::deserialize(from)?;
    let length = name.as_ref().map_or(0, |name| name.chars().count());
    if length <= LONGEST_NAME {
        return Ok(name);
    }
    Err(Error::custom(format!("found a name of {length} characters; allowed are at most {LONGEST_NAME}")))
}

fn outside<E: Error>(found: u64, least: u64, most: u64) -> E {
    let bounds =
        if most >= u64::from(u32::MAX) { format!("from {least} on") } else { format!("from {least} to {most}") };
    E::custom(format!("found {found}; allowed is a whole number {bounds}"))
}
