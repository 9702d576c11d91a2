//! Glob patterns of keys, for KEYS and SCAN.

/// Whether a pattern matches a whole byte string.
///
/// | pattern | |
/// |---|---|
/// | `*` | any bytes, or none |
/// | `?` | any byte |
/// | `[a-c_]`, `[^a]` | one of these, or none of these |
/// | `\*` | the byte itself |
///
/// On a mismatch only the last `*` is extended. So the number of steps is at most the product of both lengths, whatever
/// the pattern.
pub(crate) fn matches(pattern: &[u8], bytes: &[u8]) -> bool {
    let (mut pattern_rest, mut rest) = (pattern, bytes);
    // The pattern after the last star, and the bytes that the star has not matched.
    let mut star: Option<(&[u8], &[u8])> = None;
    loop {
        if let Some(after) = pattern_rest.strip_prefix(b"*") {
            star = Some((after, rest));
            pattern_rest = after;
            continue;
        }
        match rest.split_first() {
            None => return pattern_rest.is_empty(),
            Some((&byte, after)) => {
                if let Some(next) = one(pattern_rest, byte) {
                    (pattern_rest, rest) = (next, after);
                    continue;
                }
            }
        }
        let Some((after_star, unmatched)) = star else { return false };
        let Some((_, after)) = unmatched.split_first() else { return false };
        star = Some((after_star, after));
        (pattern_rest, rest) = (after_star, after);
    }
}

/// Matches one byte, and returns the rest of the pattern.
fn one(pattern: &[u8], byte: u8) -> Option<&[u8]> {
    match *pattern {
        [] => None,
        [b'?', ref rest @ ..] => Some(rest),
        [b'[', ref class @ ..] => {
            let (found, rest) = in_class(class, byte);
            found.then_some(rest)
        }
        [b'\\', escaped, ref rest @ ..] => (escaped == byte).then_some(rest),
        [literal, ref rest @ ..] => (literal == byte).then_some(rest),
    }
}

/// Whether a byte is in a class, whose opening bracket was read; and the pattern after the class. An unclosed class
/// ends with the pattern.
fn in_class(class: &[u8], byte: u8) -> (bool, &[u8]) {
    let (negated, mut class) = match class {
        [b'^', class @ ..] => (true, class),
        _ => (false, class),
    };
    let mut found = false;
    loop {
        class = match *class {
            [] => return (found != negated, class),
            [b']', ref rest @ ..] => return (found != negated, rest),
            [b'\\', escaped, ref rest @ ..] => {
                found |= escaped == byte;
                rest
            }
            [first, b'-', last, ref rest @ ..] => {
                found |= (first.min(last)..=first.max(last)).contains(&byte);
                rest
            }
            [literal, ref rest @ ..] => {
                found |= literal == byte;
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn matches_what_redis_matches() {
        let fits =
            ["*", "hello", "h?llo", "h*o", "h[ae]llo", "h[^x]llo", "h[a-z]llo", "*l*", "hell\\o", "h[z-a]llo", "**"];
        let does_not = ["", "h", "hello?", "h[^e]llo", "h\\?llo", "ello", "*x", "h[abc"];
        assert!(fits.iter().all(|pattern| matches(pattern.as_bytes(), b"hello")));
        assert!(does_not.iter().all(|pattern| !matches(pattern.as_bytes(), b"hello")));
        assert!(matches(b"a*[b]*c", b"aXbXbXc") && matches(b"", b"") && matches(b"[a", b"a") && matches(b"\\", b"\\"));
    }

    #[test]
    fn a_pattern_of_many_stars_ends() {
        let (pattern, bytes) = ("a*".repeat(1_000) + "b", "a".repeat(10_000));
        assert!(!matches(pattern.as_bytes(), bytes.as_bytes()));
    }
}
