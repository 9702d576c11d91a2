//! The sizes and limits of a store, for its operators: each from the constant that enforces it.

use std::fmt::Write;

use quantities::Bytes;

use crate::connection::{MOST_IN_TURN, MOST_UNSENT, under_way};
use crate::host::{MOST_UNDER_WAY, watching};
use crate::journal::disk::{Data, MOST_AT_ONCE};
use crate::large::LARGE;
use crate::log::MOST_IN_A_SECOND;
use crate::member::MOST_SERVERS;
use crate::node::Settings;
use crate::pages::request::{LONGEST_HEAD, MOST_HEADERS};
use crate::parity::MOST_PARITIES;
use crate::parity::code::COLUMNS;
use crate::record::Milliseconds;
use crate::resp::Limits;
use crate::serve::{LONGEST_WAIT_FOR_MEMBER, LONGEST_WITH_LARGE, http, outbox, peers};
use crate::{link, stamps};

/// A limit.
#[derive(Clone, Debug)]
pub struct Limit {
    /// What is limited.
    pub what: &'static str,
    /// The most of it, with its unit.
    pub most: String,
    /// The option that sets it to something else; none where it is always the same.
    pub option: Option<&'static str>,
    /// What happens beyond it.
    pub beyond: &'static str,
}

/// A number, with commas between its thousands.
fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn size(bytes: usize) -> String {
    Bytes(bytes as u64).to_string()
}

fn time(milliseconds: Milliseconds) -> String {
    format!("{} s", milliseconds / 1_000)
}

/// All limits, those of clients first.
pub fn limits() -> Vec<Limit> {
    let mut all = of_requests();
    all.extend(of_clients());
    all.extend(of_pools());
    all.extend(of_operators());
    all
}

const CLOSED: &str = "an error, and the connection is closed";

fn of_requests() -> Vec<Limit> {
    let all = Limits::default();
    let stranger = Limits::STRANGER;
    let before = format!(
        "{} arguments, {} each, {} in total",
        stranger.arguments,
        size(stranger.argument),
        size(stranger.request)
    );
    vec![
        limit("a key or value", size(all.argument), CLOSED).set_by("--max-value"),
        limit("arguments of a request, its name included", count(all.arguments as u64), CLOSED),
        limit("a request", size(all.request), CLOSED),
        limit("the requests of a transaction together", size(all.request), "an error, and `EXEC` refuses it"),
        limit("a request in a line of text, without lengths", size(Limits::LINE), CLOSED),
        limit("a request before the password", before, CLOSED),
        limit(
            "a value that is copied rather than shared",
            format!("below {}", size(LARGE)),
            "it is stored where it was received, and written to the log in parts",
        ),
    ]
}

fn of_clients() -> Vec<Limit> {
    let usual = Settings::default();
    vec![
        limit("clients at once", count(usual.most_clients as u64), CLOSED).set_by("--max-clients"),
        limit("the time to give the password", time(usual.time_to_authenticate), "the connection is closed")
            .set_by("--authenticate-within"),
        limit(
            "memory of keys, values and table",
            "no limit".to_owned(),
            "commands that need more are refused with `OOM`, or keys are evicted (`--evict`)",
        )
        .set_by("--max-memory"),
        limit("requests in a pipeline", "no limit".to_owned(), "they wait as the next rows say"),
        limit(
            "requests of a client that are executed before it is another one's turn",
            count(MOST_IN_TURN as u64),
            "the rest waits for the next turn",
        ),
        limit(
            "replies that a client has not read",
            size(MOST_UNSENT),
            "no more of its requests are executed before it reads; one reply may be larger",
        ),
        limit(
            "requests of a client that are under way at other members",
            count(under_way::MOST as u64),
            "those after them wait",
        ),
        limit(
            "these requests and their replies together",
            size(under_way::MOST_HELD),
            "those after them wait; a single one may be larger",
        ),
        limit(
            "requests of all clients of a member that are under way",
            count(MOST_UNDER_WAY as u64),
            "each client has one",
        ),
        limit("keys that a client watches at another member", count(watching::MOST_WATCHED as u64), "an error"),
        limit("these keys together", size(watching::MOST_BYTES), "an error"),
        limit(
            "watched keys of a server, of clients of other members",
            count(stamps::MOST as u64),
            "`EXEC` replies nil for the oldest, as if the key had changed",
        ),
    ]
}

fn of_pools() -> Vec<Limit> {
    vec![
        limit(
            "servers of a pool",
            count(MOST_SERVERS.into()),
            "the table is not split further, nor beyond `--servers` for each member",
        ),
        limit("members of a group with parity", count(COLUMNS as u64), "the next one needs another parity member"),
        limit("parity members of a group", count(MOST_PARITIES), "they stand by").set_by("--parity"),
        limit(
            "requests and replies that wait for a member that does not read",
            size(outbox::MOST),
            "the oldest are dropped, and asked for again; messages about splits and merges never are",
        ),
        limit("a message between members", size(link::LONGEST), "the connection is closed"),
        limit(
            "the time of a request at another member",
            time(LONGEST_WAIT_FOR_MEMBER),
            "`CLUSTERDOWN`; a second more for each 4 MiB of a large one",
        ),
        limit("the same, while a large message arrives", time(LONGEST_WITH_LARGE), "`CLUSTERDOWN`"),
        limit(
            "connections to the port for members that have not shown the secret",
            count(peers::MOST_STRANGERS as u64),
            "the next one is closed",
        ),
        limit("the time to show it", time(peers::TIME_TO_OPEN), "the connection is closed"),
    ]
}

fn of_operators() -> Vec<Limit> {
    vec![
        limit(
            "logs before a snapshot replaces them",
            format!("{}, or the size of the last snapshot", size(Data::LEAST_LOGS as usize)),
            "a snapshot is made",
        ),
        limit(
            "data that is written before it is synced, with `--fsync every-second`",
            size(MOST_AT_ONCE as usize),
            "it is synced before the second is over",
        ),
        limit("connections to pages at once", count(http::MOST as u64), "503"),
        limit("the head of a request for a page", size(LONGEST_HEAD), "431"),
        limit("headers of a request for a page", count(MOST_HEADERS as u64), "431"),
        limit("the time of a request for a page", time(http::TIME), "the connection is closed"),
        limit(
            "lines of one kind in the log",
            format!("{MOST_IN_A_SECOND} a second"),
            "the next line counts the others",
        ),
    ]
}

fn limit(what: &'static str, most: String, beyond: &'static str) -> Limit {
    Limit { what, most, option: None, beyond }
}

impl Limit {
    fn set_by(self, option: &'static str) -> Limit {
        Limit { option: Some(option), ..self }
    }
}

/// The limits as a table of Markdown.
pub fn table() -> String {
    let mut table = "| | at most | option | beyond it |\n|---|---|---|---|\n".to_owned();
    for Limit { what, most, option, beyond } in limits() {
        let option = option.map(|option| format!("`{option}`")).unwrap_or_default();
        // A text takes all that is written.
        let _ = writeln!(table, "| {what} | {most} | {option} | {beyond} |");
    }
    table
}
