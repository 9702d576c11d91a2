//! Types whose values are written by name, or as a text that can be read again, in files and in their schemas.

/// The value of `all` that is called `found`.
///
/// # Errors
/// The known names, and the nearest one.
pub fn by_name<T: Copy>(found: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    let names: Vec<&str> = all.iter().map(|&it| name(it)).collect();
    all.iter().copied().find(|&it| name(it) == found).ok_or_else(|| {
        let suggestion = crate::nearest(found, names.iter().copied());
        let suggestion = suggestion.map(|name| format!("; did you mean `{name}`?")).unwrap_or(".".to_owned());
        format!("there is no `{}`{suggestion} Allowed is one of {}", crate::shown(found), names.join(", "))
    })
}

/// Gives a type its serde form and its JSON Schema by the names of its values, from its functions `all`, `name` and
/// `about`.
#[macro_export]
macro_rules! written_by_name {
    ($($type:ty),+) => {$(
        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                let found = <String as $crate::serde::Deserialize>::deserialize(from)?;
                $crate::by_name(&found, &<$type>::all(), <$type>::name).map_err($crate::serde::de::Error::custom)
            }
        }

        impl $crate::schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                let value = |it: &$type| {
                    $crate::schemars::json_schema!({"const": it.name(), "description": it.about()})
                };
                let values: Vec<$crate::schemars::Schema> = <$type>::all().iter().map(value).collect();
                $crate::schemars::json_schema!({"oneOf": values})
            }
        }
    )+};
}

/// Gives a type its serde form and its JSON Schema as the text that it prints as and is parsed from.
#[macro_export]
macro_rules! written_as_text {
    ($type:ty, $value:literal, $example:literal) => {
        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                let found = <$crate::TextOrNumber as $crate::serde::Deserialize>::deserialize(from)?;
                found.0.parse().map_err($crate::serde::de::Error::custom)
            }
        }

        impl $crate::schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                $crate::schemars::json_schema!({
                    "type": ["string", "number"], "examples": [$example], "x-value": $value
                })
            }
        }
    };
}

/// A text, or a number as it is written.
#[derive(Clone, Debug)]
pub struct TextOrNumber(pub String);

impl<'de> serde::Deserialize<'de> for TextOrNumber {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<TextOrNumber, D::Error> {
        struct Either;
        impl serde::de::Visitor<'_> for Either {
            type Value = String;
            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("a text or a number")
            }
            fn visit_str<E>(self, text: &str) -> std::result::Result<String, E> {
                Ok(text.to_owned())
            }
            fn visit_u64<E>(self, number: u64) -> std::result::Result<String, E> {
                Ok(number.to_string())
            }
            fn visit_i64<E>(self, number: i64) -> std::result::Result<String, E> {
                Ok(number.to_string())
            }
            fn visit_f64<E>(self, number: f64) -> std::result::Result<String, E> {
                Ok(number.to_string())
            }
        }
        from.deserialize_any(Either).map(TextOrNumber)
    }
}
