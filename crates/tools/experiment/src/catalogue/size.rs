//! The size of a message that can be asked for, and numbers within bounds.

use quantities::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

use crate::site::LARGEST_MESSAGE;

/// The size of a message, at most [`LARGEST_MESSAGE`]. [B]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Size(pub Bytes);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Size, D::Error> {
        let size = Bytes::deserialize(from)?;
        let too_large = || serde::de::Error::custom(format!("allowed is at most {LARGEST_MESSAGE}"));
        if size > LARGEST_MESSAGE { Err(too_large()) } else { Ok(Size(size)) }
    }
}

impl JsonSchema for Size {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Bytes::json_schema(generator)
    }
}

/// Reads a number from `least` to `most`.
pub(super) fn share<'de, D: Deserializer<'de>>(from: D, least: f64, most: f64, allowed: &str) -> Result<f64, D::Error> {
    let text = quantities::TextOrNumber::deserialize(from)?.0;
    let share = text.parse().ok().filter(|share| (least..=most).contains(share));
    share.ok_or_else(|| serde::de::Error::custom(allowed))
}
