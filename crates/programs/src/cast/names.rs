//! File names that come from another machine.

use std::path::{Path, PathBuf};

use quantities::{is_hidden_character, shown};
use serde::{Deserialize, Serialize};

/// The most bytes of a name, as on most systems. [B]
pub const LONGEST: usize = 4_096;
/// The most bytes of one part of it. [B]
pub const LONGEST_PART: usize = 255;
/// The deepest nesting of folders.
pub const DEEPEST: usize = 64;
/// The prefix of folders for incomplete files.
pub const UNFINISHED: &str = ".maquette-cast-";

/// The name of a file or a folder below another folder: parts separated by `/`. It leads nowhere else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// Why a name is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name `{}` is refused: {why}", shown(.name))]
pub struct NameError {
    name: String,
    why: &'static str,
}

impl Name {
    /// The name `text`, if it is safe.
    ///
    /// # Errors
    /// [`NameError`], which says what is wrong with it.
    pub fn new(text: impl Into<String>) -> Result<Name, NameError> {
        let name = text.into();
        match wrong(&name) {
            None => Ok(Name(name)),
            Some(why) => Err(NameError { name, why }),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its path below `folder`.
    pub fn below(&self, folder: &Path) -> PathBuf {
        self.0.split('/').fold(folder.to_path_buf(), |path, part| path.join(part))
    }

    /// The folders that contain it, the outermost first.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').filter_map(|(place, _)| self.0.get(..place))
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;
    fn try_from(text: String) -> Result<Name, NameError> {
        Name::new(text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&shown(&self.0))
    }
}

fn wrong(name: &str) -> Option<&'static str> {
    if name.len() > LONGEST {
        return Some("it has more than 4096 bytes");
    }
    if name.split('/').count() > DEEPEST {
        return Some("more than 64 folders within each other");
    }
    if name.starts_with(UNFINISHED) {
        return Some("files that are not whole are named so");
    }
    name.split('/').find_map(wrong_part)
}

fn wrong_part(part: &str) -> Option<&'static str> {
    match part {
        "" => Some("a part of it is empty, or it begins with `/`"),
        "." | ".." => Some("`.` and `..` lead elsewhere"),
        _ if part.len() > LONGEST_PART => Some("a part of it has more than 255 bytes"),
        _ if part.chars().any(is_hidden_character) => Some("it contains invisible characters"),
        _ if cfg!(windows) && not_on_windows(part) => Some("Windows has no such names"),
        _ => None,
    }
}

fn not_on_windows(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL")
        || stem.len() == 4 && (stem.starts_with("COM") || stem.starts_with("LPT"));
    device || part.contains(['<', '>', ':', '"', '\\', '|', '?', '*']) || part.ends_with(['.', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_stay_below_their_folder_are_accepted() {
        for name in ["a", "a/b.txt", "...", "-rf", "a b", ".hidden/x", "\u{fc}ber/\u{1F600}", "a\\b", "~"] {
            assert_eq!(Name::new(name).map(String::from).as_deref(), Ok(name));
        }
        let name = Name::new("a/b/c").unwrap();
        assert_eq!(name.below(Path::new("/into")), Path::new("/into/a/b/c"));
        assert_eq!(name.folders().collect::<Vec<_>>(), ["a", "a/b"]);
    }

    #[test]
    fn names_that_lead_elsewhere_or_hide_something_are_refused() {
        let long = "x".repeat(256);
        let deep = "d/".repeat(64) + "x";
        let names =
            ["", "/", "/etc/passwd", "..", "../x", "a/../b", "a//b", "a/", "./a", "a/.", "a\0", "a\n", "\u{1b}[2J"];
        for name in names.into_iter().chain(["a\u{202E}txt.exe", ".maquette-cast-0/x", &long, &deep]) {
            let complaint = Name::new(name).unwrap_err().to_string();
            assert!(complaint.starts_with("the name `") && !complaint.contains(is_hidden_character), "{complaint}");
        }
        assert!(Name::new("x".repeat(5_000)).unwrap_err().to_string().len() < 250);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn accepted_names_are_below_the_folder(name in "([a-z./\\\\\u{0}-\u{20}]|\\.\\./){0,20}") {
            if let Ok(name) = Name::new(name) {
                let path = name.below(Path::new("/into"));
                let below = path.strip_prefix("/into").unwrap();
                prop_assert!(below.components().all(|part| matches!(part, std::path::Component::Normal(_))));
                prop_assert!(below.components().count() > 0);
            }
        }
    }
}
