//! The path of a file, as it is written in an experiment: as text, although file names need not be text.

use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The first of 256 private-use characters, one for each byte that is not part of any text.
const BYTES: u32 = 0xF700;

/// The path of a file. Bytes that are not UTF-8 are written as private-use characters, U+F700 plus the byte; so are the
/// bytes of such characters themselves, so that different names stay different.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePath(PathBuf);

impl FilePath {
    /// The path `name`.
    pub fn new(name: &OsStr) -> FilePath {
        FilePath(PathBuf::from(name))
    }

    /// The path as it is written.
    pub fn to_text(&self) -> String {
        let escaped = |byte: &u8| char::from_u32(BYTES + u32::from(*byte)).unwrap_or_default();
        let mut text = String::new();
        for chunk in self.0.as_os_str().as_bytes().utf8_chunks() {
            for character in chunk.valid().chars() {
                let mut bytes = [0; 4];
                match byte_of(character) {
                    None => text.push(character),
                    Some(_) => text.extend(character.encode_utf8(&mut bytes).as_bytes().iter().map(escaped)),
                }
            }
            text.extend(chunk.invalid().iter().map(escaped));
        }
        text
    }

    /// The path that is written as `text`.
    fn of_text(text: &str) -> FilePath {
        let mut name = Vec::new();
        for character in text.chars() {
            match byte_of(character) {
                Some(byte) => name.push(byte),
                None => name.extend(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        FilePath(PathBuf::from(OsString::from_vec(name)))
    }
}

/// The byte for which a character stands, if it is one of those private-use characters.
fn byte_of(character: char) -> Option<u8> {
    u32::from(character).checked_sub(BYTES).and_then(|byte| u8::try_from(byte).ok())
}

impl Deref for FilePath {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Serialize for FilePath {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<FilePath, D::Error> {
        String::deserialize(from).map(|text| FilePath::of_text(&text))
    }
}

impl JsonSchema for FilePath {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FilePath".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = String::json_schema(generator);
        schema.insert("x-path".to_owned(), true.into());
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_as_it_was_written() {
        for name in [&b"plain.goal"[..], b"odd-\xff\xfe", "\u{F7ff}\u{fc}".as_bytes(), b"\xf7", b""] {
            let path = FilePath::new(OsStr::from_bytes(name));
            assert_eq!(FilePath::of_text(&path.to_text()), path);
        }
        assert_eq!(FilePath::new(OsStr::new("plain.goal")).to_text(), "plain.goal");
    }
}
