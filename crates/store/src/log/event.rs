//! The events of a member that an operator should know about, as values: each has a name, a level, fields, and a
//! sentence.

use std::fmt;
use std::net::SocketAddr;

use serde::Serialize;

/// The severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It needs action.
    Error,
    /// It may need action.
    Warning,
    /// It is good to know.
    Info,
}

impl Level {
    /// All levels, with their names.
    pub const ALL: [(&'static str, Level); 3] =
        [("error", Level::Error), ("warning", Level::Warning), ("info", Level::Info)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Level::ALL.into_iter().find(|(_, level)| *level == self).map_or("", |(name, _)| name)
    }
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// It listens.
    Listening {
        /// For clients.
        clients: Vec<SocketAddr>,
        /// For other members.
        members: SocketAddr,
        /// For clients that follow slots.
        slots: SocketAddr,
        /// For browsers and Prometheus.
        http: Vec<SocketAddr>,
        /// Whether all of these except members use TLS.
        tls: bool,
        /// Whether members use TLS.
        tls_for_members: bool,
    },
    /// The member that it asked to admit it has not done so yet.
    NotAdmitted {
        /// Its address.
        by: SocketAddr,
        /// Why, as far as known.
        why: String,
    },
    /// A member of its pool was started with other options, of which all members need the same.
    OtherSettings {
        /// Its address.
        member: SocketAddr,
        /// The options that differ.
        differences: String,
    },
    /// It was admitted.
    Admitted {
        /// How many members there are, itself included.
        members: usize,
    },
    /// A connection with another member is open.
    MemberConnected {
        /// The member.
        member: String,
        /// Its address.
        address: SocketAddr,
    },
    /// The connection with another member is lost.
    MemberLost {
        /// The member.
        member: String,
        /// Its address.
        address: SocketAddr,
    },
    /// A member has left the pool.
    MemberLeft {
        /// The member.
        member: String,
        /// Its former address.
        address: SocketAddr,
    },
    /// It can be rebuilt if it is lost.
    Covered {
        /// The parity member that covers it.
        by: String,
    },
    /// A member of its group was silent for too long, and is rebuilt on a spare.
    MemberTakenForLost {
        /// The member.
        member: String,
        /// The spare that should become it.
        spare: String,
    },
    /// A member was taken for lost, no spare is known to have become it, and it is back: it goes on as that member.
    MemberReadmitted {
        /// The member.
        member: String,
    },
    /// A spare has everything of a lost member, and becomes it.
    MemberRebuilt {
        /// The member.
        member: String,
        /// The spare.
        spare: String,
    },
    /// A member has left its group in order.
    LeftGroup {
        /// The member.
        member: String,
    },
    /// It leads a group from now on, since it has heard nothing from the parity member that did.
    LeadsGroup,
    /// The other parity member of its group was silent for too long: this one keeps the parity alone.
    ParityLost {
        /// The member.
        member: String,
    },
    /// The other parity member of its group has all of its parity.
    ParityMade {
        /// The member.
        member: String,
    },
    /// It was a spare, and is another member now.
    Becomes {
        /// The member.
        member: String,
    },
    /// Another member reads nothing, and too much was waiting for it.
    MessagesDropped {
        /// How many requests and replies were dropped.
        messages: u64,
    },
    /// A message from another member is impossible, or of another version.
    MessageRefused {
        /// The member.
        member: String,
        /// The fault.
        why: String,
    },
    /// It hosts a new server: by a split, or from a member that leaves.
    ServerOpened {
        /// The server.
        server: u32,
        /// Its level.
        level: u32,
    },
    /// One of its servers has split.
    ServerSplit {
        /// The server.
        server: u32,
        /// Its level now.
        level: u32,
        /// Its number of records now.
        records: u64,
    },
    /// One of its servers should split, and no member that is connected has room for another one.
    SplitWaits {
        /// The members that are not connected.
        away: Vec<SocketAddr>,
    },
    /// One of its servers has merged with the one that it had split off.
    ServerMerged {
        /// The server.
        server: u32,
        /// Its level now.
        level: u32,
        /// Its number of records now.
        records: u64,
    },
    /// One of its servers has given its records back and ended, or has moved to another member.
    ServerEnded {
        /// The server.
        server: u32,
    },
    /// It has left its pool.
    Left {
        /// How many of its servers have moved to others.
        servers: usize,
    },
    /// There were too many clients.
    ClientsTurnedAway {
        /// How many were turned away.
        clients: u64,
        /// The most that are served at once.
        most: usize,
    },
    /// Clients have given a wrong password.
    WrongPasswords {
        /// How often.
        attempts: u64,
    },
    /// A client that should use TLS did not, or presents or trusts other certificates.
    TlsFailed {
        /// The client's address.
        client: String,
        /// Why the handshake failed.
        why: String,
    },
    /// A client has sent an HTTP request: a web page may have made a browser send it.
    HttpRefused {
        /// The client's address.
        client: String,
    },
    /// Certificates and keys were read again, on the operator's request.
    CertificatesRead,
    /// Certificates and keys could not be read again.
    CertificatesRefused {
        /// Why.
        why: String,
    },
    /// Memory was full.
    OutOfMemory {
        /// How many requests were refused with OOM.
        requests: u64,
        /// The limit on records. [B]
        most: usize,
    },
    /// A turn of the loop took long: all clients had to wait.
    Slow {
        /// For how long. [ms]
        milliseconds: u64,
        /// The commands in that turn.
        commands: Vec<&'static str>,
    },
    /// It exits, as it was told to.
    Ending {
        /// How many requests it has executed.
        requests: u64,
        /// After how long. [s]
        seconds: u64,
    },
}

impl Event {
    /// Its severity.
    pub const fn level(&self) -> Level {
        match self {
            Event::CertificatesRefused { .. } => Level::Error,
            Event::NotAdmitted { .. }
            | Event::OtherSettings { .. }
            | Event::MemberLost { .. }
            | Event::SplitWaits { .. }
            | Event::MemberTakenForLost { .. }
            | Event::LeadsGroup
            | Event::ParityLost { .. }
            | Event::MessagesDropped { .. }
            | Event::MessageRefused { .. }
            | Event::ClientsTurnedAway { .. }
            | Event::WrongPasswords { .. }
            | Event::TlsFailed { .. }
            | Event::HttpRefused { .. }
            | Event::OutOfMemory { .. }
            | Event::Slow { .. } => Level::Warning,
            Event::Listening { .. }
            | Event::Admitted { .. }
            | Event::MemberConnected { .. }
            | Event::MemberLeft { .. }
            | Event::Covered { .. }
            | Event::MemberRebuilt { .. }
            | Event::MemberReadmitted { .. }
            | Event::LeftGroup { .. }
            | Event::ParityMade { .. }
            | Event::Becomes { .. }
            | Event::ServerOpened { .. }
            | Event::ServerSplit { .. }
            | Event::ServerMerged { .. }
            | Event::ServerEnded { .. }
            | Event::Left { .. }
            | Event::CertificatesRead
            | Event::Ending { .. } => Level::Info,
        }
    }
}

fn joined(items: &[impl fmt::Display], between: &str) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

/// A count with its noun, in words.
fn counted(count: impl fmt::Display + PartialEq + From<u8>, one: &str) -> String {
    let plural = if count == 1.into() { "" } else { "s" };
    format!("{count} {one}{plural}")
}

/// The addresses at which it listens: for clients first, then for others, named in words, and for browsers if any; and
/// where TLS is used.
fn listening(
    out: &mut fmt::Formatter<'_>,
    clients: &[impl fmt::Display],
    others: &str,
    http: &[impl fmt::Display],
    how: (bool, bool),
) -> fmt::Result {
    let (scheme, how) = match how {
        (false, _) => ("http", ""),
        (true, false) => ("https", ", by TLS except for members"),
        (true, true) => ("https", ", by TLS"),
    };
    write!(out, "listening on {}, {others}", joined(clients, " and "))?;
    http.iter().try_for_each(|address| write!(out, ", for browsers on {scheme}://{address}/"))?;
    write!(out, "{how}; Ctrl-C ends it")
}

/// Writes that clients had to wait, and for which commands, if they are known.
fn slow(out: &mut fmt::Formatter<'_>, milliseconds: u64, commands: &[&str]) -> fmt::Result {
    write!(out, "clients had to wait for {milliseconds} ms")?;
    if commands.is_empty() { Ok(()) } else { write!(out, ": the requests were {}", joined(commands, ", ")) }
}

/// Writes that a client spoke HTTP, and what that may mean.
fn http_refused(out: &mut fmt::Formatter<'_>, client: &str) -> fmt::Result {
    write!(out, "disconnected {client}, which sent an HTTP request: a web page may have made a browser send it")
}

impl fmt::Display for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Listening { clients, members, slots, http, tls, tls_for_members } => {
                let how = (*tls, *tls_for_members);
                listening(out, clients, &format!("for members on {members}, for slots on {slots}"), http, how)
            }
            Event::NotAdmitted { by, why } => write!(out, "not admitted yet by {by}: {why}; calling again"),
            Event::OtherSettings { member, differences } => {
                write!(out, "this member was restarted with other options than {member}: {differences}")
            }
            Event::Admitted { members } => write!(out, "admitted: the pool has {}", counted(*members, "member")),
            Event::MemberConnected { member, address } => write!(out, "connected with member {member} at {address}"),
            Event::MemberLost { member, address } => {
                write!(out, "the connection with member {member} at {address} is lost")
            }
            Event::SplitWaits { away } => {
                write!(out, "a server is full and can't split while members are not connected: {}", joined(away, ", "))
            }
            Event::MemberLeft { member, address } => {
                write!(out, "member {member} at {address} has left the pool: its servers have moved to others")
            }
            Event::Covered { by } => write!(out, "this member can be rebuilt: member {by} keeps its parity"),
            Event::MemberTakenForLost { member, spare } => {
                write!(out, "member {member} was silent for too long: it is being rebuilt on member {spare}")
            }
            Event::MemberReadmitted { member } => write!(out, "member {member} was taken for lost, but goes on"),
            Event::MemberRebuilt { member, spare } => write!(out, "member {spare} has all data of member {member}"),
            Event::LeadsGroup => {
                write!(out, "the parity member that led was silent for too long: this one leads now, alone")
            }
            Event::LeftGroup { member } => write!(out, "member {member} has left the group"),
            Event::ParityLost { member } => {
                write!(out, "parity member {member} was silent for too long: this one keeps the parity alone")
            }
            Event::ParityMade { member } => write!(out, "parity member {member} has all of its parity"),
            Event::Becomes { member } => write!(out, "this spare is now member {member}, which was lost"),
            Event::MessagesDropped { messages } => {
                write!(out, "requests and replies dropped: {messages}; members did not take them, and ask again")
            }
            Event::MessageRefused { member, why } => write!(out, "ignored what member {member} sent: {why}"),
            Event::ServerOpened { server, level } => write!(out, "server {server} of level {level} has opened"),
            Event::ServerSplit { server, level, records } => {
                write!(out, "server {server} has split: it has level {level} and {}", counted(*records, "record"))
            }
            Event::ServerMerged { server, level, records } => {
                write!(out, "server {server} has merged: it has level {level} and {}", counted(*records, "record"))
            }
            Event::ServerEnded { server } => write!(out, "server {server} is closed: its records have moved"),
            Event::Left { servers } => {
                write!(out, "this member has left its pool; servers moved to other members: {servers}")
            }
            Event::ClientsTurnedAway { clients, most } => {
                write!(out, "clients turned away: {clients}; at most {most} are served at once")
            }
            Event::TlsFailed { client, why } => write!(out, "no TLS with {client}: {why}"),
            Event::HttpRefused { client } => http_refused(out, client),
            Event::CertificatesRead => {
                write!(out, "certificates and keys were read again: they apply to new connections")
            }
            Event::CertificatesRefused { why } => write!(out, "certificates and keys stay as they were: {why}"),
            Event::WrongPasswords { attempts } => write!(out, "wrong passwords given: {attempts}"),
            Event::OutOfMemory { requests, most } => {
                write!(out, "requests refused with OOM: {requests}; records take {most} bytes, which is the most")
            }
            Event::Slow { milliseconds, commands } => slow(out, *milliseconds, commands),
            Event::Ending { requests, seconds } => {
                write!(out, "ends after {} in {seconds} s", counted(*requests, "request"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_something_is_told_as_one() {
        let split = |records| Event::ServerSplit { server: 0, level: 1, records }.to_string();
        assert_eq!(split(1), "server 0 has split: it has level 1 and 1 record");
        assert_eq!(split(2), "server 0 has split: it has level 1 and 2 records");
        assert_eq!(
            Event::Left { servers: 1 }.to_string(),
            "this member has left its pool; servers moved to other members: 1"
        );
        assert_eq!(Event::Ending { requests: 1, seconds: 1 }.to_string(), "ends after 1 request in 1 s");
        assert_eq!(Event::WrongPasswords { attempts: 1 }.to_string(), "wrong passwords given: 1");
    }

    #[test]
    fn a_split_that_waits_names_the_members_that_are_not_connected() {
        let waits = |ports: &[u16]| {
            let away = ports.iter().map(|port| SocketAddr::from(([127, 0, 0, 1], *port))).collect();
            Event::SplitWaits { away }.to_string()
        };
        let text = "a server is full and can't split while members are not connected: ";
        assert_eq!(waits(&[7_001]), format!("{text}127.0.0.1:7001"));
        assert_eq!(waits(&[7_001, 7_002]), format!("{text}127.0.0.1:7001, 127.0.0.1:7002"));
    }
}
