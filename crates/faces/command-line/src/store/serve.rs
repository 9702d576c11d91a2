//! `maquette store serve`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;

use ::store::journal::disk::{Data, Fsync, Recovered};
use ::store::link::Secret;
use ::store::member::{Durability, MOST_SERVERS, Policy, Role};
use ::store::node::{Eviction, Settings};
use ::store::parity::MOST_PARITIES;
use ::store::resp::Limits;
use ::store::serve::{Pool, Promise, Server, Tls};
use clap::{Args, ValueEnum};
use linear_hash::Growth;
use quantities::{Bytes, Duration, ParseError};
use serde_json::json;

use super::access::ServerTls;
use super::configuration::Configuration;
use super::observability::Observability;
use super::service_manager::ServiceManager;
use super::{first_line, member_address};
use crate::failure::{Failure, warn};
use crate::quantity::{seconds, whole};
use crate::{CommandOutput, json, print};
use formats::interrupt;

/// The port for other members is this much above the clients' port, and the port for clients that follow slots that
/// much.
const TO_MEMBERS_PORT: u16 = 10_000;
const TO_SLOTS_PORT: u16 = 15_000;
/// The most records that go from one server to another at a time.
const CHUNK: u64 = 256;
/// After how long an unanswered request is sent again. [ms]
const PATIENCE: u64 = 1_000;
/// The least patience: a member reports four times within this time, so none is taken for lost sooner. [ms]
const LEAST_PARITY_PATIENCE: u64 = 500;

/// Serve a table to Redis clients until interrupted
///
/// Redis clients in any language can use it, with version 2 or 3 of the protocol: strings, keys that expire, SCAN,
/// transactions. The table is held in memory and is gone when the command ends, unless `--data` names a directory to
/// keep it in.
///
/// With `--join` it becomes a member of a pool, and stands by until another member has too many records. The table then
/// spreads to it while it is served, and shrinks again as it empties. Clients may ask any member. Those that follow
/// slots, as in Redis Cluster, find them by CLUSTER SLOTS and are redirected by MOVED.
///
/// All options can also be written in a file: `maquette store config` prints one.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  maquette store serve --port 6379 --max-memory 1GiB --evict

A pool of two members; the second takes over half of the table when the first has more than 80,000 records:
  maquette store serve --port 7001 --capacity 100000
  maquette store serve --port 7002 --capacity 100000 --join 127.0.0.1:17001

A store that keeps its records on disk, and has them again after a restart, however it ended:
  maquette store serve --data our.records --fsync always

A pool that survives the loss of any one member, its disk included: the fourth keeps parity of the first three, and the fifth is their spare:
  maquette store serve --port 7001 --parity 1 --data our.first
  maquette store serve --port 7002 --parity 1 --data our.second --join 127.0.0.1:17001
  maquette store serve --port 7003 --parity 1 --data our.third --join 127.0.0.1:17001
  maquette store serve --port 7004 --parity 1 --data our.parity --join 127.0.0.1:17001 --role parity
  maquette store serve --port 7005 --parity 1 --data our.spare --join 127.0.0.1:17001 --role spare

A store for other machines, too, with a password that only the owner of its file can read:
  maquette store serve --bind 0.0.0.0 --password-file our.password

The same, encrypted:
  maquette store serve --bind 0.0.0.0 --password-file our.password \\
      --tls-certificate our.pem --tls-key our.key

The options in a file, by their names:
  maquette store config > our.toml
  maquette store serve --config our.toml")]
pub(super) struct Arguments {
    /// A file with options, in TOML, by the names that they have here. The command line wins over it.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[arg(skip)]
    pub(super) configuration: Option<Configuration>,
    #[command(flatten)]
    options: Options,
}

/// All options of a store, on the command line or in a file.
#[derive(Args, Debug)]
pub(super) struct Options {
    /// An address of this machine on which to listen; can be given several times. Other machines can reach any except
    /// those of the loopback. Other members, and clients that follow slots, can connect only to the first.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: Vec<IpAddr>,
    /// The port on which to listen; 0 for any free one.
    #[arg(long, default_value_t = 6379, value_parser = whole(0..=u16::MAX))]
    port: u16,
    /// Another member, with its port for members; can be given several times.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = member_address)]
    join: Vec<SocketAddr>,
    /// The number of records that a server has room for. It splits when it has more than four fifths of that and there
    /// is another member.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    capacity: u64,
    /// The most servers that a member hosts.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole(0..=u32::MAX))]
    servers: u32,
    /// The port for other members; if left out, 10,000 above that for clients, or a free one if there is no such port.
    #[arg(long, value_name = "PORT", value_parser = whole(0..=u16::MAX))]
    members_port: Option<u16>,
    /// The port for clients that follow slots; if left out, 15,000 above that for clients, or a free one if there is no
    /// such port.
    #[arg(long, value_name = "PORT", value_parser = whole(0..=u16::MAX))]
    slots_port: Option<u16>,
    /// A directory in which to keep the data, created if it does not exist. Data that is already there is served again.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// When a write is safe from a power failure. It is safe from the end of the process as soon as it is acknowledged.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, requires = "data")]
    fsync: When,
    /// How many members of a group of four may be lost, with their disks: 0, 1 or 2. All members need the same value.
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = whole(0..=u32::MAX))]
    parity: u32,
    /// The role of this member. A member that is restarted keeps the role recorded in its directory.
    #[arg(long, value_enum, default_value_t)]
    role: As,
    /// How long a member may be silent before it is considered lost, in seconds or with a unit. Three times as long
    /// while it is connected.
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds)]
    parity_patience: Duration,
    /// The address given to other members and clients, if it differs from the first of `--bind`. If that is 0.0.0.0 or
    /// ::, and this is left out, it is the address of this machine from which the member to join is reached, or other
    /// networks.
    #[arg(long, value_name = "ADDRESS")]
    announce: Option<IpAddr>,
    /// A file whose first line is the secret that all members share; if left out, the password serves as the secret.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// A file whose first line is the password that clients must give.
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Let anyone who reaches an address beyond the loopback read and change everything, without a password.
    #[arg(long, conflicts_with = "password_file")]
    unprotected: bool,
    /// The most clients at once.
    #[arg(long, value_name = "N", default_value_t = Settings::default().most_clients)]
    max_clients: usize,
    /// The most memory that records may take. Commands that would need more are refused with an OOM error. 0 means any
    /// amount.
    #[arg(long, value_name = "BYTES", value_parser = memory)]
    max_memory: Option<Bytes>,
    /// Evict records that have not been used for long, instead of refusing commands.
    #[arg(long, requires = "max_memory")]
    evict: bool,
    /// The largest key or value allowed, at most 512 MiB.
    #[arg(
        long,
        value_name = "BYTES",
        default_value = largest_value().to_string().replace(' ', ""),
        value_parser = memory
    )]
    max_value: Bytes,
    /// The time within which a client must give the password, in seconds or with a unit.
    #[arg(long, value_name = "S", default_value = seconds_to_authenticate().to_string(), value_parser = seconds)]
    authenticate_within: Duration,
    #[command(flatten)]
    tls: ServerTls,
    #[command(flatten)]
    observability: Observability,
}

/// The largest value that may be allowed: that of Redis.
fn largest_value() -> Bytes {
    Bytes(Limits::default().argument as u64)
}

/// The usual time to give the password. [s]
fn seconds_to_authenticate() -> u64 {
    Settings::default().time_to_authenticate / 1_000
}

/// When what is kept is safe from a loss of power.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum When {
    /// Before it is acknowledged
    Always,
    /// Within about a second
    #[default]
    EverySecond,
    /// When the operating system chooses
    Never,
}

impl From<When> for Fsync {
    fn from(when: When) -> Fsync {
        match when {
            When::Always => Fsync::Always,
            When::EverySecond => Fsync::EverySecond,
            When::Never => Fsync::Never,
        }
    }
}

/// What a member is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum As {
    /// Host servers of the table
    #[default]
    Data,
    /// Keep parity of up to four members that host servers
    Parity,
    /// Stand by to replace a member that hosts servers; never one that keeps parity
    Spare,
}

impl From<As> for Role {
    fn from(what: As) -> Role {
        match what {
            As::Data => Role::Data,
            As::Parity => Role::Parity,
            As::Spare => Role::Spare,
        }
    }
}

/// Reads an amount of memory; also as Redis writes it, where `10mb` are 10 MiB.
fn memory(text: &str) -> Result<Bytes, String> {
    text.parse().or_else(|error: ParseError| {
        let of_redis = ::store::commands::bytes(text.as_bytes()).map(|bytes| Bytes(bytes as u64));
        of_redis.ok().filter(|_| !text.is_empty()).ok_or_else(|| error.to_string())
    })
}

/// Addresses on no network of this machine: those for documentation (RFC 5737, RFC 3849), at the port for discarding
/// (RFC 863).
const SOMEWHERE_IPV4: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 9);
const SOMEWHERE_IPV6: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)), 9);

/// The address of this machine from which packets to `destination` leave, if there is a route. None is sent.
fn source_address(destination: SocketAddr) -> Option<IpAddr> {
    let any: IpAddr = if destination.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(destination).ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { configuration, options, .. } = self;
        options.serve(as_json).map_err(|failure| match configuration {
            Some(configuration) => configuration.located(failure),
            None => failure,
        })
    }
}

impl Options {
    fn serve(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let addresses: Vec<SocketAddr> = self.bind.iter().map(|&address| (address, self.port).into()).collect();
        let settings = self.settings()?;
        let (acceptor, with_members) = self.tls.secured()?;
        let pool = self.pool(settings.password.as_deref(), with_members)?;
        let is_protected = settings.password.is_some() || self.unprotected;
        let pages = self.observability.addresses(&self.bind, is_protected)?;
        let mut server = Server::listen(&addresses, settings, pool, chance()?)?;
        if let Some(acceptor) = acceptor {
            server.speak_tls(acceptor);
            interrupt::reread_at_hangup();
            let tls = self.tls;
            server.reload_certificates_by(Box::new(move || {
                interrupt::takes_reread().then(|| tls.secured().map_err(|failure| failure.to_string()))
            }));
        }
        if let Some(found) = server.found() {
            report_losses(found);
        }
        server.serve_pages(&pages, Observability::assets())?;
        server.log_to(self.observability.log());
        if as_json {
            let (clients, pages) = (server.addresses(), server.page_addresses());
            let (members, slots) = (server.own().address, server.own().clients);
            print(&json(&json!({"listening": clients, "members": members, "slots": slots, "http": pages})));
        }
        let manager = ServiceManager::of_environment();
        manager.is_ready(&server.addresses());
        server.serve(|| {
            let ends = interrupt::requested();
            if ends {
                manager.is_ending();
            }
            ends
        })?;
        // SIGTERM is how a store is stopped in good order.
        let status = if server.has_left() || interrupt::was_terminated() { 0 } else { interrupt::status() };
        Ok(CommandOutput { text: String::new(), status })
    }

    fn pool(&self, password: Option<&[u8]>, tls: Option<Tls>) -> Result<Pool, Failure> {
        // There is one address at least, by default.
        let address = self.bind.first().copied().unwrap_or(IpAddr::from([127, 0, 0, 1]));
        // If there is no port that much higher, any free one is used.
        let port = |given: Option<u16>, above: u16| match (given, self.port) {
            (Some(given), _) => given,
            (None, 0) => 0,
            (None, port) => port.checked_add(above).unwrap_or(0),
        };
        let secret = self.secret_file.as_deref().map(first_line).transpose()?;
        let open = self.bind.iter().find(|address| !address.is_loopback());
        if let (Some(open), None, None, false) = (open, &secret, password, self.unprotected) {
            return Err(Failure::argument(
                "--secret-file",
                format!("none, with --bind {open}"),
                "a secret, or a password",
            ));
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
        // A member's clock counts microseconds in place of milliseconds.
        let policy = Policy {
            growth,
            servers_each: self.servers,
            patience: Duration::from_microseconds(PATIENCE),
            durability: Durability::default(),
        };
        Ok(Pool {
            members: (address, port(self.members_port, TO_MEMBERS_PORT)).into(),
            followers: (address, port(self.slots_port, TO_SLOTS_PORT)).into(),
            announced: self.announced(address)?,
            join: self.join.clone(),
            secret: Secret::of(secret.as_deref().or(password).unwrap_or_default()),
            tls,
            policy,
            data: self.data.clone().map(|directory| Data {
                directory,
                fsync: self.fsync.into(),
                least_logs: Data::LEAST_LOGS,
                has_parity: self.parity > 0,
            }),
            role: self.role.into(),
            parity: self.promise()?,
            random,
        })
    }

    /// The address given to other members and clients, if it is not `bound`, where it listens: nobody can connect to an
    /// unspecified address.
    fn announced(&self, bound: IpAddr) -> Result<Option<IpAddr>, Failure> {
        if self.announce.is_some() || !bound.is_unspecified() {
            return Ok(self.announce);
        }
        let elsewhere = if bound.is_ipv4() { SOMEWHERE_IPV4 } else { SOMEWHERE_IPV6 };
        let address = source_address(self.join.first().copied().unwrap_or(elsewhere));
        address.map(Some).ok_or_else(|| {
            let found = format!("none, with --bind {bound}, and no route to another machine");
            Failure::argument("--announce", found, "the address at which others reach this machine")
        })
    }

    /// The losses that groups are to survive, if there is parity.
    fn promise(&self) -> Result<Option<Promise>, Failure> {
        let patience = self.parity_patience.picoseconds() / 1_000_000_000;
        if u64::from(self.parity) > MOST_PARITIES {
            return Err(Failure::argument("--parity", self.parity, "0, 1 or 2"));
        }
        if patience < LEAST_PARITY_PATIENCE {
            return Err(Failure::argument("--parity-patience", self.parity_patience, "at least 0.5 s"));
        }
        match (self.parity, self.role) {
            (0, As::Data) => Ok(None),
            (0, _) => Err(Failure::argument("--role", "parity or spare, without --parity", "--parity 1 or 2")),
            (_, As::Parity | As::Spare) if self.join.is_empty() && !self.is_known() => Err(Failure::argument(
                "--role",
                "parity or spare, without --join",
                "data for the first member of a pool",
            )),
            _ if self.data.is_none() => Err(Failure::argument(
                "--parity",
                format!("{}, without --data", self.parity),
                "--data with a directory",
            )),
            _ => Ok(Some(Promise { k: self.parity as usize, patience })),
        }
    }

    /// Whether its directory may determine its role.
    fn is_known(&self) -> bool {
        self.data.as_deref().is_some_and(|directory| directory.join("lock").exists())
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let password = self.password_file.as_deref().map(first_line).transpose()?;
        let open = self.bind.iter().find(|address| !address.is_loopback());
        if let (Some(open), None, false) = (open, &password, self.unprotected) {
            return Err(Failure::argument(
                "--bind",
                format!("{open}, which other machines can reach, without a password"),
                "a loopback address, --password-file or --unprotected",
            ));
        }
        if self.max_clients == 0 {
            return Err(Failure::argument("--max-clients", 0, "at least 1"));
        }
        if self.max_value == Bytes(0) || self.max_value > largest_value() {
            return Err(Failure::argument("--max-value", self.max_value, format!("1B to {}", largest_value())));
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

/// Reports what was being written when the process or the machine ended: none of it had been acknowledged.
fn report_losses(found: &Recovered) {
    if let Some(torn) = &found.torn {
        let (path, at, bytes) = (quantities::shown_path(&torn.path), torn.at, torn.bytes);
        warn(&format!("`{path}` is incomplete: its last {bytes} bytes, from byte {at} on, are ignored"));
    }
}

/// A number that cannot be guessed.
fn random() -> std::io::Result<[u8; 32]> {
    let mut number = [0; 32];
    getrandom::fill(&mut number).map_err(std::io::Error::other)?;
    Ok(number)
}

/// Random numbers that are unique to this process.
fn chance() -> Result<[u64; 3], Failure> {
    let mut numbers = [0; 3];
    for number in &mut numbers {
        *number = getrandom::u64().map_err(|cause| ::store::serve::Error::Wait(std::io::Error::other(cause)))?;
    }
    Ok(numbers)
}
