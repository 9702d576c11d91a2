//! `maquette store serve`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use ::store::link::Secret;
use ::store::member::Policy;
use ::store::node::{Eviction, Settings};
use ::store::resp::Limits;
use ::store::serve::{Pool, Server};
use clap::Args;
use programs::linear_hash::Growth;
use quantities::{Bytes, Duration};
use serde_json::json;

use super::first_line;
use crate::failure::{Failure, note};
use crate::quantity::seconds;
use crate::{CommandOutput, json, print};
use formats::interrupt;

/// Other members call this much above the clients' port, and clients that follow slots that much.
const TO_MEMBERS_PORT: u16 = 10_000;
const TO_SLOTS_PORT: u16 = 20_000;
/// As many servers a pool has at most: each has at least one slot.
const MOST_SERVERS: u32 = 1 << 14;
/// So many records go from one server to another at a time.
const CHUNK: u64 = 256;
/// After how long a request is sent again that no server has answered. [ms]
const PATIENCE: u64 = 1_000;
/// The largest value that may be allowed: what Redis allows.
const LARGEST_VALUE: Bytes = Bytes(512 << 20);

/// Serve a table until it is interrupted
///
/// Clients of Redis in any language can use it, in versions 2 and 3 of their protocol: strings, keys that expire, SCAN, transactions. What
/// it holds is in memory only, and gone when it ends.
///
/// With `--join` it becomes a member of a pool, and stands by until another member has more than its capacity: then the table spreads over
/// it, while it serves, and draws back as it empties. Clients may ask any member. Those that follow slots find them by CLUSTER SLOTS, and
/// are told MOVED where they are wrong.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  maquette store serve --port 6379 --max-memory 1GiB --evict

A pool of two members, of which the second takes over half of the table when that has more than 100,000 records:
  maquette store serve --port 7001 --capacity 100000
  maquette store serve --port 7002 --capacity 100000 --join 127.0.0.1:17001

For other machines, too, with a password that only the owner of its file can read:
  maquette store serve --bind 0.0.0.0 --password-file our.password")]
pub(super) struct Arguments {
    /// The address of this machine on which to listen; several, if it is given several times. Other machines can reach any but those
    /// of the loopback.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: Vec<IpAddr>,
    /// The port on which to listen; 0 for one that is free.
    #[arg(long, default_value_t = 6379)]
    port: u16,
    /// Another member, at its port for members; several, if it is given several times.
    #[arg(long, value_name = "ADDRESS:PORT")]
    join: Vec<SocketAddr>,
    /// As many records a server has room for. It splits when it has more than four fifths of that, and there is another member.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    capacity: u64,
    /// As many servers a member hosts at most.
    #[arg(long, value_name = "N", default_value_t = 1)]
    servers: u32,
    /// The port at which other members call; 10,000 above the clients', if left out, or a free one where there is none.
    #[arg(long, value_name = "PORT")]
    members_port: Option<u16>,
    /// The port for clients that follow slots; 20,000 above the clients', if left out, or a free one where there is none.
    #[arg(long, value_name = "PORT")]
    slots_port: Option<u16>,
    /// The address that other members and clients are told, where it is not the one on which it listens.
    #[arg(long, value_name = "ADDRESS")]
    announce: Option<IpAddr>,
    /// A file whose first line all members know, and strangers do not; the password, if left out.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// A file whose first line is the password that clients must give.
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Let anyone who reaches an address beyond the loopback read and change everything, without a password.
    #[arg(long, conflicts_with = "password_file")]
    unprotected: bool,
    /// The most clients at once.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_clients: usize,
    /// The most that records may take in memory. What would need more is refused with an OOM error.
    #[arg(long, value_name = "BYTES")]
    max_memory: Option<Bytes>,
    /// Instead of refusing, drop records that were not used for long.
    #[arg(long, requires = "max_memory")]
    evict: bool,
    /// The largest key or value, of at most 512 MiB.
    #[arg(long, value_name = "BYTES", default_value = "512MiB")]
    max_value: Bytes,
    /// The time within which a client must give the password, in seconds or with a unit.
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    authenticate_within: Duration,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let addresses: Vec<SocketAddr> = self.bind.iter().map(|&address| (address, self.port).into()).collect();
        let settings = self.settings()?;
        let pool = self.pool(settings.password.as_deref())?;
        let mut server = Server::listen(&addresses, settings, pool, chance()?)?;
        let addresses: Vec<String> = server.addresses().iter().map(SocketAddr::to_string).collect();
        let (members, slots) = (server.own().address, server.own().clients);
        if as_json {
            print(&json(&json!({"listening": addresses, "members": members, "slots": slots})));
        } else {
            let clients = addresses.join(" and ");
            note(&format!("listening on {clients}, for members on {members}, by slots on {slots}; Ctrl-C ends it"));
        }
        server.serve(interrupt::requested)?;
        Ok(CommandOutput { text: String::new(), status: interrupt::status() })
    }

    fn pool(&self, password: Option<&[u8]>) -> Result<Pool, Failure> {
        // There is one address at least, by default.
        let address = self.bind.first().copied().unwrap_or(IpAddr::from([127, 0, 0, 1]));
        // Where there is none so much above, it is one that is free.
        let port = |given: Option<u16>, above: u16| match (given, self.port) {
            (Some(given), _) => given,
            (None, 0) => 0,
            (None, port) => port.checked_add(above).unwrap_or(0),
        };
        let secret = self.secret_file.as_deref().map(first_line).transpose()?;
        let open = self.bind.iter().find(|address| !address.is_loopback());
        if let (Some(open), None, None, false) = (open, &secret, password, self.unprotected) {
            return Err(Failure::argument("--secret-file", format!("none, and {open}"), "one, or a password"));
        }
        if self.capacity == 0 {
            return Err(Failure::argument("--capacity", 0, "at least 1"));
        }
        if self.servers == 0 || self.servers > MOST_SERVERS {
            return Err(Failure::argument("--servers", self.servers, format!("1 to {MOST_SERVERS}")));
        }
        let growth = Growth {
            capacity: self.capacity,
            sensitivity: 0.8,
            shrink: Some(0.3),
            apart: false,
            most_servers: MOST_SERVERS,
            chunk: CHUNK,
        };
        // A member's clock counts microseconds for milliseconds.
        let policy = Policy { growth, servers_each: self.servers, patience: Duration::from_microseconds(PATIENCE) };
        Ok(Pool {
            members: (address, port(self.members_port, TO_MEMBERS_PORT)).into(),
            followers: (address, port(self.slots_port, TO_SLOTS_PORT)).into(),
            announced: self.announce,
            join: self.join.clone(),
            secret: Secret::of(secret.as_deref().or(password).unwrap_or_default()),
            policy,
            random,
        })
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let password = self.password_file.as_deref().map(first_line).transpose()?;
        let open = self.bind.iter().find(|address| !address.is_loopback());
        if let (Some(open), None, false) = (open, &password, self.unprotected) {
            return Err(Failure::argument(
                "--bind",
                format!("{open}, which other machines can reach, and no password"),
                "an address of the loopback, or --password-file, or --unprotected",
            ));
        }
        if self.max_clients == 0 {
            return Err(Failure::argument("--max-clients", 0, "at least 1"));
        }
        if self.max_value == Bytes(0) || self.max_value > LARGEST_VALUE {
            return Err(Failure::argument("--max-value", self.max_value, format!("1B to {LARGEST_VALUE}")));
        }
        let limits = Limits { argument: self.max_value.0 as usize, ..Limits::default() };
        Ok(Settings {
            password,
            most_clients: self.max_clients,
            most_memory: self.max_memory.map(|most| most.0 as usize),
            eviction: if self.evict { Eviction::LeastRecentlyUsed } else { Eviction::Refuse },
            limits,
            time_to_authenticate: self.authenticate_within.picoseconds() / 1_000_000_000,
            most_idle: None,
        })
    }
}

/// A number that nobody can guess.
fn random() -> std::io::Result<[u8; 32]> {
    let mut number = [0; 32];
    getrandom::fill(&mut number).map_err(std::io::Error::other)?;
    Ok(number)
}

/// Numbers that nobody else has.
fn chance() -> Result<[u64; 3], Failure> {
    let mut numbers = [0; 3];
    for number in &mut numbers {
        *number = getrandom::u64().map_err(|cause| ::store::serve::Error::Wait(std::io::Error::other(cause)))?;
    }
    Ok(numbers)
}
