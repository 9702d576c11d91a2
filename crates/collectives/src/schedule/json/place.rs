//! Finds where in a JSON text a value is.

/// Line and column, from 1, of the value of `key` in the object `text`; or of the element that `path` leads to in that
/// value: the index of an element, from 0, the index of an element in that one, and so on.
pub(super) fn of(text: &[u8], key: &str, path: &[usize]) -> Option<(usize, usize)> {
    let mut tokens = Tokens { text, at: 0 };
    let mut depth = 0_usize;
    loop {
        let token = tokens.next()?;
        match token.bytes {
            b"{" | b"[" => depth += 1,
            b"}" | b"]" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        let is_named_so = depth == 1 && unquoted(token.bytes) == Some(key.as_bytes());
        if is_named_so && tokens.next()?.bytes == b":" {
            break;
        }
    }
    let mut value = tokens.next()?;
    for &index in path {
        value = if value.bytes == b"[" { element(&mut tokens, index)? } else { return None };
    }
    let before = &text[..value.start];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    Some((before.iter().filter(|&&byte| byte == b'\n').count() + 1, before.len() - line_start + 1))
}

/// The first token of element `index` of the list that `tokens` has just entered.
fn element<'text>(tokens: &mut Tokens<'text>, index: usize) -> Option<Token<'text>> {
    let (mut depth, mut count, mut begins) = (0_usize, 0, true);
    loop {
        let token = tokens.next()?;
        match token.bytes {
            b"," if depth == 0 => begins = true,
            b"]" | b"}" => depth = depth.checked_sub(1)?,
            _ => {
                if depth == 0 && begins {
                    if count == index {
                        return Some(token);
                    }
                    (count, begins) = (count + 1, false);
                }
                depth += usize::from(matches!(token.bytes, b"[" | b"{"));
            }
        }
    }
}

fn unquoted(token: &[u8]) -> Option<&[u8]> {
    token.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// A bracket, a comma, a colon, or a value that has no parts.
#[derive(Clone, Copy)]
struct Token<'text> {
    start: usize,
    bytes: &'text [u8],
}

/// The tokens of a text, one after the other.
struct Tokens<'text> {
    text: &'text [u8],
    at: usize,
}

impl<'text> Iterator for Tokens<'text> {
    type Item = Token<'text>;

    fn next(&mut self) -> Option<Token<'text>> {
        let rest = self.text.get(self.at..)?;
        let start = self.at + rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let token = &self.text[start..];
        let length = match token[0] {
            b'"' => string_length(token),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b"{}[],:\"".contains(byte);
                token.iter().position(ends).unwrap_or(token.len())
            }
        };
        self.at = start + length;
        Some(Token { start, bytes: &token[..length] })
    }
}

/// The length of the string at the beginning of `text`, including its quotation marks.
fn string_length(text: &[u8]) -> usize {
    let mut escaped = false;
    let end = text[1..].iter().position(|&byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn values_and_their_elements_are_found() {
        let text = b"{\"a\": \"b\", \"c\\\"\": [1, {\"b\": 2}],\n  \"b\": [[0, {\"x\": [3, 4]}, 5],\n    [], [6]]}";
        assert_eq!(of(text, "a", &[]), Some((1, 7)));
        assert_eq!(of(text, "b", &[]), Some((2, 8)));
        assert_eq!(of(text, "b", &[0]), Some((2, 9)));
        assert_eq!(of(text, "b", &[0, 1]), Some((2, 13)));
        assert_eq!(of(text, "b", &[0, 2]), Some((2, 28)));
        assert_eq!(of(text, "b", &[2]), Some((3, 9)));
        assert_eq!(of(text, "b", &[2, 0]), Some((3, 10)));
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        for (key, path) in [("d", &[][..]), ("a", &[0]), ("b", &[3]), ("b", &[1, 0])] {
            assert_eq!(of(b"{\"a\": 1, \"b\": [0, [], 2]}", key, path), None, "{key} {path:?}");
        }
        for text in ["", "]", "{\"a\"", "{\"a\":", "\"a\": 1", "{\"a", "{\"\\"] {
            assert_eq!(of(text.as_bytes(), "a", &[]), None, "{text}");
        }
    }
}
