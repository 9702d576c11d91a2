//! The file that lists the hosts on which ranks run.
//!
//! ```text
//!     # name     address     ranks (1, if left out)
//!     node-a     10.0.0.1
//!     node-b     10.0.0.2    4
//! ```

use std::net::Ipv4Addr;
use std::path::Path;

/// The most ranks on all hosts together.
pub const MOST_RANKS: u32 = 1_024;

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name for a shell.
    pub name: String,
    /// The address of the interface that its ranks use.
    pub address: Ipv4Addr,
    /// How many ranks run there.
    pub ranks: u32,
}

/// An error in a file of hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {field}: found {found}; allowed is {allowed}")]
pub struct HostsError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The field in that line.
    pub field: &'static str,
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
}

/// The hosts of the first `ranks` ranks.
pub fn first(hosts: &[Host], ranks: u32) -> Vec<Host> {
    let mut left = ranks;
    let take = |host: &Host| {
        let ranks = host.ranks.min(left);
        left -= ranks;
        (ranks > 0).then(|| Host { ranks, ..host.clone() })
    };
    hosts.iter().filter_map(take).collect()
}

/// Reads the hosts from the text of `file`.
///
/// # Errors
/// [`HostsError`], for the first line that is wrong.
pub fn parse(file: &Path, text: &str) -> Result<Vec<Host>, HostsError> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut last = 0;
    for (number, line) in (1..).zip(text.lines()) {
        last = number;
        let wrong = |field, found: &str, allowed: String| HostsError {
            file: file.display().to_string(),
            line: number,
            field,
            found: if found.is_empty() { "nothing".to_owned() } else { format!("`{found}`") },
            allowed,
        };
        let line = line.split_once('#').map_or(line, |(before, _)| before);
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields.is_empty() {
            continue;
        }
        let host = host(&fields).map_err(|(field, found, allowed)| wrong(field, found, allowed))?;
        let all: u32 = hosts.iter().map(|host| host.ranks).sum();
        if host.ranks > MOST_RANKS - all {
            return Err(wrong("ranks", fields.get(2).unwrap_or(&"1"), format!("{MOST_RANKS} on all hosts together")));
        }
        hosts.push(host);
    }
    if hosts.is_empty() {
        let (file, allowed) = (file.display().to_string(), "a name and an address, such as `node-a 10.0.0.1`");
        let allowed = allowed.to_owned();
        return Err(HostsError { file, line: last.max(1), field: "name", found: "no host".to_owned(), allowed });
    }
    Ok(hosts)
}

/// The host of a line; or the field that is wrong, what was found and what is allowed.
fn host<'a>(fields: &[&'a str]) -> Result<Host, (&'static str, &'a str, String)> {
    let field = |place: usize| fields.get(place).copied().unwrap_or("");
    let (name, address, ranks) = (field(0), field(1), field(2));
    let usual = |letter: char| letter.is_ascii_alphanumeric() || "._-@:".contains(letter);
    if name.starts_with('-') || !name.chars().all(usual) {
        // A shell might take it for an option.
        return Err(("name", name, "letters, digits and . _ - @ :, not a - at the beginning".to_owned()));
    }
    let is_usable =
        |address: &Ipv4Addr| !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast();
    let Some(address) = address.parse().ok().filter(is_usable) else {
        return Err(("address", address, "the IPv4 address of an interface of the host, such as 10.0.0.1".to_owned()));
    };
    let count = if ranks.is_empty() { Some(1) } else { ranks.parse().ok() };
    let Some(count) = count.filter(|count| (1..=MOST_RANKS).contains(count)) else {
        return Err(("ranks", ranks, format!("1 to {MOST_RANKS}")));
    };
    match fields.get(3) {
        Some(more) => Err(("line", more, "nothing after name, address and ranks".to_owned())),
        None => Ok(Host { name: name.to_owned(), address, ranks: count }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Host>, String> {
        parse(Path::new("hosts.txt"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_is_a_host() {
        let host =
            |name: &str, last, ranks| Host { name: name.to_owned(), address: Ipv4Addr::new(10, 0, 0, last), ranks };
        let text = "# all of them\nnode-a 10.0.0.1\n\n  root@b\t10.0.0.2  4 # the large one\n";
        assert_eq!(read(text), Ok(vec![host("node-a", 1, 1), host("root@b", 2, 4)]));
    }

    #[test]
    fn bad_lines_are_reported_with_what_is_allowed() {
        let wrong = [
            ("a\n", "hosts.txt:1: address: found nothing; allowed is the IPv4 address of an interface of the host"),
            ("a 10.0.0.1\nb 10.0.0\n", "hosts.txt:2: address: found `10.0.0`"),
            ("a 0.0.0.0", "hosts.txt:1: address: found `0.0.0.0`"),
            ("a 10.0.0.1 0", "hosts.txt:1: ranks: found `0`; allowed is 1 to 1024"),
            ("a 10.0.0.1 1 2", "hosts.txt:1: line: found `2`"),
            ("-oProxyCommand=x 10.0.0.1", "hosts.txt:1: name: found `-oProxyCommand=x`"),
            ("a;b 10.0.0.1", "hosts.txt:1: name: found `a;b`"),
            ("a 10.0.0.1 1000\nb 10.0.0.2 25", "hosts.txt:2: ranks: found `25`; allowed is 1024 on all hosts"),
            ("# nobody\n", "hosts.txt:1: name: found no host"),
        ];
        for (text, complaint) in wrong {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(complaint), "{text:?}: {error}");
        }
    }
}
