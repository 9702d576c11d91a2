//! A look at requests that have arrived whole and whose turn is still to come.

/// Requests with more arguments are not looked at.
const MOST_ARGUMENTS: usize = 8;
/// The longest line with a number. [B]
const LONGEST_LINE: usize = 20;

/// The first arguments after the names of requests that follow each other in a buffer: the keys, for most commands that
/// have one. It ends at the first request that has not arrived whole, has many arguments, or is not an array of
/// arguments. Nothing is decided by it.
pub struct Upcoming<'a> {
    rest: &'a [u8],
}

impl<'a> Upcoming<'a> {
    /// Those in these bytes, which begin with a request.
    pub(super) const fn of(bytes: &'a [u8]) -> Upcoming<'a> {
        Upcoming { rest: bytes }
    }

    /// The number on the next line, which begins with `kind`.
    fn number(&mut self, kind: u8) -> Option<usize> {
        let (&first, rest) = self.rest.split_first()?;
        let line = rest.get(..LONGEST_LINE).unwrap_or(rest);
        let length = line.iter().position(|&byte| byte == b'\r').filter(|_| first == kind)?;
        let number = usize::try_from(super::number::integer(&rest[..length])?).ok()?;
        self.rest = rest.get(length + 2..)?;
        Some(number)
    }

    fn argument(&mut self) -> Option<&'a [u8]> {
        let length = self.number(b'$')?;
        let argument = self.rest.get(..length)?;
        self.rest = self.rest.get(length.checked_add(2)?..)?;
        Some(argument)
    }
}

impl<'a> Iterator for Upcoming<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let arguments = self.number(b'*').filter(|arguments| *arguments <= MOST_ARGUMENTS)?;
            let mut key = None;
            for index in 0..arguments {
                let argument = self.argument()?;
                if index == 1 {
                    key = Some(argument);
                }
            }
            if key.is_some() {
                return key;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_arguments_of_whole_requests_are_seen() {
        let bytes = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$2\r\nbc\r\n$1\r\nx\r\n*2\r\n$3\r\nGET\r\n$9\r\nd";
        assert_eq!(Upcoming::of(bytes).collect::<Vec<_>>(), [&b"a"[..], b"bc"]);
        assert_eq!(Upcoming::of(b"GET a\r\n").count(), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_looked_at(bytes in prop::collection::vec(prop::sample::select(b"*$\r\n0129ax".to_vec()), 0..60)) {
            let length: usize = Upcoming::of(&bytes).map(<[u8]>::len).sum();
            prop_assert!(length <= bytes.len());
        }
    }
}
