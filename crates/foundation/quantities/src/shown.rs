//! Untrusted text, made safe to print on a terminal.

use std::path::Path;

/// Whether a terminal does not show this character, or reverses the text around it.
pub fn is_hidden_character(character: char) -> bool {
    let turns = matches!(character, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns || matches!(character, '\u{2028}' | '\u{2029}' | '\u{FEFF}')
}

/// The most characters that are printed of an untrusted text, after escaping.
const SHOWN: usize = 120;
/// What stands for the rest.
const ELLIPSIS: &str = "...";

/// Untrusted text as it can be printed: on one line, not too long, and with characters that a terminal would obey or
/// not show escaped, such as `\n` or `\u{1b}`. The output of this function passes through unchanged.
pub fn shown(text: &str) -> String {
    let (mut shown, mut fitting) = (String::new(), 0);
    for character in text.chars() {
        shown += &escaped(std::iter::once(character));
        let length = shown.chars().count();
        if length <= SHOWN - ELLIPSIS.len() {
            fitting = shown.len();
        } else if length > SHOWN {
            return shown[..fitting].to_owned() + ELLIPSIS;
        }
    }
    shown
}

/// A path as it can be printed: as [`shown`], but in full; bytes that are not text are written as `\xff`.
pub fn shown_path(path: &Path) -> String {
    let chunks = path.as_os_str().as_encoded_bytes().utf8_chunks();
    let each = chunks.map(|chunk| {
        let invalid: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
        escaped(chunk.valid().chars()) + &invalid
    });
    each.collect()
}

fn escaped(text: impl Iterator<Item = char>) -> String {
    text.map(|character| {
        if is_hidden_character(character) { character.escape_default().to_string() } else { character.to_string() }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_path_is_printed_on_one_line_whatever_it_holds() {
        use std::os::unix::ffi::OsStrExt;
        let path = std::ffi::OsStr::from_bytes(b"a\nb/\x1b[2J\xff\xc3\xbc\x7f");
        assert_eq!(shown_path(Path::new(path)), "a\\nb/\\u{1b}[2J\\xff\u{fc}\\u{7f}");
        assert_eq!(shown_path(Path::new("a b/\u{202e}c")), "a b/\\u{202e}c");
    }
}
