//! Names of files that come from somebody else.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The most bytes of a name, as most systems have it. [B]
pub const LONGEST: usize = 4_096;
/// The most bytes of a part of it. [B]
pub const LONGEST_PART: usize = 255;
/// The most folders within each other.
pub const DEEPEST: usize = 64;
/// What names of folders for files that are not whole begin with. [B]
pub const UNFINISHED: &str = ".maquette-cast-";

/// The name of a file or a folder below another folder: parts with `/` between them. It leads nowhere else.
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

    /// It, as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where it is below `folder`.
    pub fn below(&self, folder: &Path) -> PathBuf {
        self.0.split('/').fold(folder.to_path_buf(), |path, part| path.join(part))
    }

    /// The folders that it is in, the outermost first.
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
        _ if part.chars().any(hides) => Some("it has characters that are not to be seen"),
        _ if cfg!(windows) && not_on_windows(part) => Some("Windows has no such names"),
        _ => None,
    }
}

/// Characters that a terminal does not show, or that turn round what it shows.
fn hides(character: char) -> bool {
    let turns = matches!(character, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns || matches!(character, '\u{2028}' | '\u{2029}' | '\u{FEFF}')
}

fn not_on_windows(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL")
        || stem.len() == 4 && (stem.starts_with("COM") || stem.starts_with("LPT"));
    device || part.contains(['<', '>', ':', '"', '\\', '|', '?', '*']) || part.ends_with(['.', ' '])
}

/// The most characters that are printed of somebody else's text, as they are written out.
const SHOWN: usize = 120;
/// What stands for the rest.
const AND_SO_ON: &str = "...";

/// Somebody else's text as it can be printed: on one line, with what a terminal would take as a command or not show written out, such
/// as `\n` or `\u{1b}`, and not too long. What is shown already is shown as it is.
pub fn shown(text: &str) -> String {
    let (mut shown, mut fitting) = (String::new(), 0);
    for character in text.chars() {
        shown += &escaped(std::iter::once(character));
        let length = shown.chars().count();
        if length <= SHOWN - AND_SO_ON.len() {
            fitting = shown.len();
        } else if length > SHOWN {
            return shown[..fitting].to_owned() + AND_SO_ON;
        }
    }
    shown
}

/// A path as it can be printed: as [`shown`], but whole; bytes that are no text are written `\xff`.
pub fn shown_path(path: &Path) -> String {
    let chunks = path.as_os_str().as_encoded_bytes().utf8_chunks();
    let each = chunks.map(|chunk| {
        let strange: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
        escaped(chunk.valid().chars()) + &strange
    });
    each.collect()
}

fn escaped(text: impl Iterator<Item = char>) -> String {
    text.map(|character| if hides(character) { character.escape_default().to_string() } else { character.to_string() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_shown_in_so_many_characters_however_many_are_written_out() {
        assert_eq!(shown(&"x".repeat(120)), "x".repeat(120));
        assert_eq!(shown(&"x".repeat(121)), "x".repeat(117) + "...");
        for text in ["\0".repeat(60), "\u{1b}a".repeat(60), "x".repeat(116) + &"\0".repeat(9)] {
            let once = shown(&text);
            assert!(once.ends_with("...") && once.chars().count() <= 120, "{once}");
            assert_eq!(shown(&once), once);
        }
    }

    #[test]
    fn names_that_stay_below_their_folder_are_taken() {
        for name in ["a", "a/b.txt", "...", "-rf", "a b", ".hidden/x", "\u{fc}ber/\u{1F600}", "a\\b", "~"] {
            assert_eq!(Name::new(name).map(String::from).as_deref(), Ok(name));
        }
        let name = Name::new("a/b/c").unwrap();
        assert_eq!(name.below(Path::new("/into")), Path::new("/into/a/b/c"));
        assert_eq!(name.folders().collect::<Vec<_>>(), ["a", "a/b"]);
    }

    #[test]
    fn a_path_is_printed_on_one_line_whatever_it_holds() {
        use std::os::unix::ffi::OsStrExt;
        let path = std::ffi::OsStr::from_bytes(b"a\nb/\x1b[2J\xff\xc3\xbc\x7f");
        assert_eq!(shown_path(Path::new(path)), "a\\nb/\\u{1b}[2J\\xff\u{fc}\\u{7f}");
        assert_eq!(shown_path(Path::new("a b/\u{202e}c")), "a b/\\u{202e}c");
    }

    #[test]
    fn names_that_lead_elsewhere_or_hide_something_are_refused() {
        let long = "x".repeat(256);
        let deep = "d/".repeat(64) + "x";
        let names =
            ["", "/", "/etc/passwd", "..", "../x", "a/../b", "a//b", "a/", "./a", "a/.", "a\0", "a\n", "\u{1b}[2J"];
        for name in names.into_iter().chain(["a\u{202E}txt.exe", ".maquette-cast-0/x", &long, &deep]) {
            let told = Name::new(name).unwrap_err().to_string();
            assert!(told.starts_with("the name `") && !told.contains(hides), "{told}");
        }
        assert!(Name::new("x".repeat(5_000)).unwrap_err().to_string().len() < 250);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_is_taken_lies_below_the_folder(name in "([a-z./\\\\\u{0}-\u{20}]|\\.\\./){0,20}") {
            if let Ok(name) = Name::new(name) {
                let path = name.below(Path::new("/into"));
                let below = path.strip_prefix("/into").unwrap();
                prop_assert!(below.components().all(|part| matches!(part, std::path::Component::Normal(_))));
                prop_assert!(below.components().count() > 0);
            }
        }
    }
}
