//! Where in a JSON text a field is.

/// An object or a list around a place, and what of it is being read.
enum Around {
    /// The key whose value is read, once it is known.
    Object(Option<String>),
    /// The index of the item.
    List(usize),
}

/// The path of the innermost field at this line and column, both from 1: `job[1].ranks`.
pub(super) fn path_at(text: &str, (line, column): (usize, usize)) -> String {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let (read, stopped_at) = text.as_bytes().split_at_checked(before + column.saturating_sub(1)).unwrap_or_default();
    let mut around: Vec<Around> = Vec::new();
    let mut string: Option<Vec<u8>> = None;
    let (mut last_string, mut is_escaped) = (Vec::new(), false);
    for &byte in read {
        if let Some(so_far) = &mut string {
            if byte == b'"' && !is_escaped {
                last_string = string.take().unwrap_or_default();
                continue;
            }
            is_escaped = byte == b'\\' && !is_escaped;
            so_far.push(byte);
            continue;
        }
        match (byte, around.last_mut()) {
            (b'"', _) => string = Some(Vec::new()),
            (b'{', _) => around.push(Around::Object(None)),
            (b'[', _) => around.push(Around::List(0)),
            (b'}' | b']', _) => drop(around.pop()),
            (b':', Some(Around::Object(key))) => *key = Some(String::from_utf8_lossy(&last_string).into_owned()),
            (b',', Some(Around::Object(key))) => *key = None,
            (b',', Some(Around::List(index))) => *index += 1,
            _ => {}
        }
    }
    // What is missing in an object is found at its end, and what a key must not have is found where its value begins.
    match (stopped_at.first(), around.last_mut()) {
        (Some(b'}'), Some(Around::Object(key))) => *key = None,
        (Some(b':'), Some(Around::Object(key))) => *key = Some(String::from_utf8_lossy(&last_string).into_owned()),
        _ => {}
    }
    written(&around)
}

fn written(around: &[Around]) -> String {
    let mut path = String::new();
    for part in around {
        match part {
            Around::Object(Some(key)) if path.is_empty() => path += key,
            Around::Object(Some(key)) => path += &format!(".{key}"),
            Around::Object(None) => {}
            Around::List(index) => path += &format!("[{index}]"),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::path_at;

    #[test]
    fn the_field_at_a_place_is_named_with_all_around_it() {
        let text = "{\"machine\": {\"name\": \"a, {b}\"},\n \"job\": [{\"ranks\": 1}, {\"na\\\"me\": [2, 3]}]}";
        let path_of = |found: &str| {
            let before = &text[..text.find(found).unwrap() + 1];
            let line = before.matches('\n').count() + 1;
            path_at(text, (line, before.rsplit('\n').next().unwrap().len()))
        };
        assert_eq!(path_of("{\"machine"), "");
        assert_eq!(path_of("{b}"), "machine.name");
        assert_eq!(path_of("1}"), "job[0].ranks");
        assert_eq!(path_of("}, {\"na"), "job[0]");
        assert_eq!(path_of("3]"), "job[1].na\\\"me[1]");
        assert_eq!(path_at(text, (99, 99)), "");
    }
}
