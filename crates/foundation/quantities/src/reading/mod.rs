//! Reads values by serde so that an error says as data, not only in a sentence of a parser, which field is wrong, and
//! how.

mod observed;

use std::cell::Cell;
use std::fmt::{self, Display};

use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, Expected, Unexpected};
use serde_path_to_error::Segment;

use observed::Observed;

/// Why a value can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread<E> {
    /// The path of the field, `job[1].ranks`; empty for the value as a whole.
    pub field: String,
    /// What is wrong with it; none where the parser or the type of the field has a sentence of its own for it.
    pub mistake: Option<Mistake>,
    /// The parser's error, which knows where in the text it is.
    pub cause: E,
}

/// What can be wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A table has a field that does not exist.
    UnknownField {
        /// Its name.
        found: String,
        /// The fields that exist.
        known: &'static [&'static str],
    },
    /// A value is none of the names that it can be.
    UnknownValue {
        /// What it is.
        found: String,
        /// The names.
        known: &'static [&'static str],
    },
    /// A field is required and missing.
    Missing(&'static str),
    /// A field is given twice.
    Twice(&'static str),
    /// A value is of another type, or out of range.
    Unexpected {
        /// What is wrong: `invalid type: list`.
        found: String,
        /// What its type expects, as the type says it.
        expected: String,
    },
}

/// What the names begin with by which a parser and its own types understand each other, as on where a value is.
const PRIVATE: &str = "$__";

/// Reads a value from a format that says of what type each is. The keys of its maps are texts.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, Misread<D::Error>> {
    let last = Cell::new(None);
    serde_path_to_error::deserialize(Observed::new(from, &last)).map_err(|error| {
        let mut field = path(error.path());
        let Noted { cause, mistake } = error.into_inner();
        if let Some(Mistake::UnknownField { found, .. }) = &mistake {
            // The mistyped name itself is no field; the table around it is.
            field = field.strip_suffix(found.as_str()).unwrap_or(&field).trim_end_matches('.').to_owned();
        }
        Misread { field, mistake, cause }
    })
}

/// The names of the fields of `T`, in the order of its declaration: a field without a name is met by all that there
/// are.
pub fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let unnamed = MapDeserializer::<_, Noted<de::value::Error>>::new([("", "")].into_iter());
    match T::deserialize(unnamed).err().and_then(|error| error.mistake) {
        Some(Mistake::UnknownField { known, .. }) => known,
        _ => &[],
    }
}

/// The sentence of a parser without the line and column with which it ends, so that they can be put first.
pub fn without_place(sentence: &str, (line, column): (usize, usize)) -> &str {
    sentence.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(sentence)
}

fn path(path: &serde_path_to_error::Path) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => text += &format!("[{index}]"),
            Segment::Map { key } if key.starts_with(PRIVATE) => {}
            Segment::Map { key: name } | Segment::Enum { variant: name } => {
                text += if text.is_empty() { "" } else { "." };
                text += name;
            }
            Segment::Unknown => {}
        }
    }
    text
}

impl<E> Misread<E> {
    /// That a text can't be parsed.
    pub const fn unparsed(cause: E) -> Self {
        Misread { field: String::new(), mistake: None, cause }
    }
}

impl Mistake {
    fn unexpected(what: &str, found: &dyn Display, expected: &dyn Expected) -> Option<Mistake> {
        Some(Mistake::Unexpected { found: format!("invalid {what}{found}"), expected: expected.to_string() })
    }

    /// The name that was probably meant, if there are names.
    pub fn nearest(&self) -> Option<&'static str> {
        match self {
            Mistake::UnknownField { found, known } | Mistake::UnknownValue { found, known } => {
                crate::nearest(found, known.iter().copied())
            }
            Mistake::Missing(_) | Mistake::Twice(_) | Mistake::Unexpected { .. } => None,
        }
    }

    /// The name of the table, as a type, that was expected.
    pub fn table(&self) -> Option<&str> {
        match self {
            Mistake::Unexpected { expected, .. } => expected.strip_prefix(TABLE)?.split(' ').next(),
            _ => None,
        }
    }
}

/// What serde calls a table, before its name.
const TABLE: &str = "struct ";

impl Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mistake::UnknownField { found, known: [] } => write!(out, "there is no field `{found}`, nor any other"),
            Mistake::UnknownField { found, known } => {
                write!(out, "there is no field `{found}`; the fields are {}", known.join(", "))
            }
            Mistake::UnknownValue { found, known } => {
                write!(out, "there is no value `{found}`; the values are {}", known.join(", "))
            }
            Mistake::Missing(field) => write!(out, "the field `{field}` is missing"),
            Mistake::Twice(field) => write!(out, "`{field}` is given twice"),
            Mistake::Unexpected { found, expected } => write!(out, "{found}, expected {}", in_words(expected)),
        }
    }
}

/// What the types of the standard library and the tables expect, in plainer words.
fn in_words(expected: &str) -> &str {
    match expected {
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number from 0 on",
        "f64" => "a number, such as 0.5",
        "f32" => "a number, such as 1.5",
        "a sequence" => "a list, in brackets",
        "a boolean" => "true or false",
        table if table.starts_with(TABLE) => "a table of fields",
        other => other,
    }
}

/// An error of a parser, and beside it what was wrong.
#[derive(Debug)]
struct Noted<E> {
    cause: E,
    mistake: Option<Mistake>,
}

impl<E: Display> Display for Noted<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(out)
    }
}

impl<E: de::Error> std::error::Error for Noted<E> {}

impl<E: de::Error> de::Error for Noted<E> {
    fn custom<T: Display>(message: T) -> Self {
        Noted { cause: E::custom(message), mistake: None }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let mistake = match found {
            Unexpected::Seq => Mistake::unexpected("type: ", &"list", expected),
            Unexpected::Map => Mistake::unexpected("type: ", &"table", expected),
            Unexpected::Unit => Mistake::unexpected("type: ", &"null", expected),
            // That of serde writes large ones without an exponent.
            Unexpected::Float(number) => {
                Mistake::unexpected("type: ", &format_args!("floating point `{number:?}`"), expected)
            }
            // The default of serde for numbers of more than 64 bits.
            Unexpected::Other(text) => {
                Mistake::unexpected("type: ", &text.trim_end_matches(" as i128").trim_end_matches(" as u128"), expected)
            }
            _ => Mistake::unexpected("type: ", &found, expected),
        };
        Noted { cause: E::invalid_type(found, expected), mistake }
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let mistake = Mistake::unexpected("value: ", &found, expected);
        Noted { cause: E::invalid_value(found, expected), mistake }
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        let mistake = Mistake::unexpected("length ", &length, expected);
        Noted { cause: E::invalid_length(length, expected), mistake }
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        let mistake = Some(Mistake::UnknownValue { found: found.to_owned(), known });
        Noted { cause: E::unknown_variant(found, known), mistake }
    }

    fn unknown_field(found: &str, known: &'static [&'static str]) -> Self {
        let mistake = Some(Mistake::UnknownField { found: found.to_owned(), known });
        Noted { cause: E::unknown_field(found, known), mistake }
    }

    fn missing_field(field: &'static str) -> Self {
        Noted { cause: E::missing_field(field), mistake: Some(Mistake::Missing(field)) }
    }

    fn duplicate_field(field: &'static str) -> Self {
        Noted { cause: E::duplicate_field(field), mistake: Some(Mistake::Twice(field)) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::{Misread, Mistake, fields_of, read, without_place};

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Job {
        ranks: u32,
        #[serde(default)]
        shares: Vec<f64>,
        order: Option<Order>,
        #[serde(default)]
        inner: BTreeMap<String, Job>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[allow(dead_code)]
    enum Order {
        Cyclic,
        Permuted { seed: u64 },
    }

    fn misread(text: &str) -> Misread<serde_json::Error> {
        read::<Vec<Job>, _>(&mut serde_json::Deserializer::from_str(text)).unwrap_err()
    }

    /// The field, what is wrong with it, and where.
    fn complaint(text: &str) -> String {
        let Misread { field, mistake, cause } = misread(text);
        let place = (cause.line(), cause.column());
        let problem = mistake.map_or_else(|| without_place(&cause.to_string(), place).to_owned(), |it| it.to_string());
        format!("{field} {}:{} {problem}", place.0, place.1)
    }

    #[test]
    fn a_mistake_is_data_and_has_its_field_and_its_place() {
        for (text, expected) in [
            ("[{\"rank\": 1}]", "[0] 1:8 there is no field `rank`; the fields are ranks, shares, order, inner"),
            ("[{\"ranks\": 1},\n {}]", "[1] 2:3 the field `ranks` is missing"),
            ("[{\"ranks\": 1, \"ranks\": 2}]", "[0] 1:21 `ranks` is given twice"),
            (
                "[{\"ranks\": -1}]",
                "[0].ranks 1:13 invalid value: integer `-1`, expected a whole number from 0 to 4294967295",
            ),
            (
                "[{\"ranks\": 5e23}]",
                "[0].ranks 1:15 invalid type: floating point `5e23`, expected a whole number from 0 to 4294967295",
            ),
            ("[{\"ranks\": 1, \"shares\": {}}]", "[0].shares 1:26 invalid type: table, expected a list, in brackets"),
            (
                "[{\"ranks\": 1, \"shares\": [0.5, null]}]",
                "[0].shares[1] 1:34 invalid type: null, expected a number, such as 0.5",
            ),
            (
                "[{\"ranks\": 1, \"order\": \"cyclical\"}]",
                "[0].order 1:33 there is no value `cyclical`; the values are cyclic, permuted",
            ),
            ("[{\"ranks\": 1, \"order\": {\"permuted\": {}}}]", "[0].order.permuted 1:38 the field `seed` is missing"),
            (
                "[{\"ranks\": 1, \"inner\": {\"a b\": 1}}]",
                "[0].inner.a b 1:32 invalid type: integer `1`, expected a table of fields",
            ),
            ("[{\"ranks\" 1}]", "[0] 1:11 expected `:`"),
        ] {
            assert_eq!(complaint(text), expected);
        }
    }

    #[test]
    fn the_nearest_name_is_known() {
        assert_eq!(misread("[{\"rank\": 1}]").mistake.unwrap().nearest(), Some("ranks"));
        assert_eq!(misread("[{}]").mistake.unwrap().nearest(), None);
    }

    #[test]
    fn what_a_type_says_itself_is_left_to_it() {
        let misread = read::<crate::Bytes, _>(&mut serde_json::Deserializer::from_str("\"4 KB\"")).unwrap_err();
        assert_eq!(misread.mistake, None);
        assert!(misread.cause.to_string().starts_with("`4 KB` is not an amount of data: there is no unit `KB`"));
        let table = read::<Job, _>(&mut serde_json::Deserializer::from_str("1")).unwrap_err().mistake.unwrap();
        assert_eq!(table.table(), Some("Job"));
        assert!(matches!(table, Mistake::Unexpected { .. }));
    }

    #[test]
    fn the_fields_of_a_table_are_known_without_a_text() {
        assert_eq!(fields_of::<Job>(), ["ranks", "shares", "order", "inner"]);
        assert!(fields_of::<u32>().is_empty());
    }
}
