//! What all clients of a node share: its settings, the list of clients, and its counters.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use quantities::splitmix64;
use serde::{Deserialize, Serialize};

use crate::cluster::{PoolState, SlotMap};
use crate::journal::disk::FilesState;
use crate::parity::state::ParityState;
use crate::record::Milliseconds;
use crate::resp::Limits;

/// The version of Redis whose commands and replies the store implements. Clients look at it to know what they may send.
pub const REDIS_VERSION: &str = "7.0.15";

/// What is evicted when there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eviction {
    /// Nothing: requests that need room are refused.
    #[default]
    Refuse,
    /// The least recently used of some random records.
    LeastRecentlyUsed,
}

impl Eviction {
    /// Its name as a setting of Redis.
    pub const fn name(self) -> &'static str {
        match self {
            Eviction::Refuse => "noeviction",
            Eviction::LeastRecentlyUsed => "allkeys-lru",
        }
    }
}

/// The settings of a node.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The password that clients must give; none, if they need none.
    pub password: Option<Vec<u8>>,
    /// The most clients that are served at once.
    pub most_clients: usize,
    /// The most memory that the table may take; none, or 0 as for Redis, for as much as there is. [B]
    pub most_memory: Option<usize>,
    /// What is evicted when it takes more.
    pub eviction: Eviction,
    /// What clients may send.
    pub limits: Limits,
    /// A client that has not authenticated after this time is disconnected. [ms]
    pub time_to_authenticate: Milliseconds,
    /// A client that was idle for this time is disconnected; none for never. [s]
    pub most_idle: Option<u64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            password: None,
            most_clients: 10_000,
            most_memory: None,
            eviction: Eviction::Refuse,
            limits: Limits::default(),
            time_to_authenticate: 60_000,
            most_idle: None,
        }
    }
}

/// What a client and others may know about it.
#[derive(Debug, Default)]
pub struct Client {
    /// Its number, which no other client is given.
    pub id: u64,
    /// The address that it is connected from.
    pub address: String,
    /// The address that it is connected to.
    pub local_address: String,
    /// When it connected.
    pub since: Milliseconds,
    /// When it last sent a request.
    pub last: Cell<Milliseconds>,
    /// The command of that request.
    pub command: Cell<&'static str>,
    /// The name that it gave itself.
    pub name: RefCell<Vec<u8>>,
    /// The client library that it says it uses.
    pub library: RefCell<Vec<u8>>,
    /// The version of that library.
    pub library_version: RefCell<Vec<u8>>,
    /// Whether it speaks RESP3.
    pub speaks_three: Cell<bool>,
    /// How many requests of a transaction it has queued; none outside a transaction.
    pub queued: Cell<Option<usize>>,
    /// How many keys it watches.
    pub watches: Cell<usize>,
    /// Whether a client has asked for its connection to be closed.
    pub is_killed: Cell<bool>,
}

/// The counters of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that were executed.
    pub commands: u64,
    /// Clients that connected.
    pub connections: u64,
    /// Clients that were turned away because there were too many.
    pub rejected: u64,
    /// Replies that were errors.
    pub errors: u64,
    /// Of these, requests that were refused because there was no room.
    pub out_of_memory: u64,
    /// Wrong passwords that were given.
    pub wrong_passwords: u64,
    /// Clients that failed to speak TLS.
    pub tls_failures: u64,
    /// Clients that were disconnected because they sent an HTTP request.
    pub http_requests: u64,
    /// How much was received. [B]
    pub received: u64,
    /// How much was sent. [B]
    pub sent: u64,
}

/// The role of a node in a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupState {
    /// It hosts servers.
    Data {
        /// The member that keeps parity of it, in hexadecimal.
        covered_by: Option<String>,
        /// Whether it could be rebuilt.
        is_covered: bool,
    },
    /// It keeps parity.
    Parity(ParityState),
    /// It stands by.
    Spare {
        /// Whether it has received anything of a lost member.
        is_given: bool,
    },
}

/// A node.
#[derive(Debug)]
pub struct Node {
    /// Its settings.
    pub settings: Settings,
    /// The port on which it listens.
    pub port: u16,
    /// When it started.
    pub since: Milliseconds,
    /// The current time.
    pub now: Milliseconds,
    /// Twenty random bytes, in hexadecimal, which tell this run from others.
    pub run: String,
    /// Its counters.
    pub counts: Counts,
    /// The memory that the process has, and the most that it had. [B]
    pub resident: (u64, u64),
    /// The clients that are connected, by their numbers.
    pub clients: BTreeMap<u64, Rc<Client>>,
    /// Which slots are where, as of the last request that needed it.
    pub slots: SlotMap,
    /// The state of its member, as of the last request that needed it.
    pub pool: PoolState,
    /// How many keys there are, and how many of them expire, as of the last INFO.
    pub keyspace: (u64, u64),
    /// The state of its files, if it keeps its data on disk.
    pub disk: Option<FilesState>,
    /// Its role in a group, if it has one.
    pub group: Option<GroupState>,
    /// Whether clients were killed whose connections are still open.
    pub has_killed: bool,
    /// Whether a client has asked for a snapshot.
    pub wants_snapshot: bool,
    next_client: u64,
    seed: u64,
}

impl Node {
    /// A node without clients. The random numbers name this run, and the first of them seeds [`Node::draw`].
    pub fn new(settings: Settings, port: u16, random: [u64; 3], now: Milliseconds) -> Node {
        let most_memory = settings.most_memory.filter(|most| *most > 0);
        Node {
            settings: Settings { most_memory, ..settings },
            port,
            since: now,
            now,
            run: random.map(|word| format!("{word:016x}")).concat()[..40].to_owned(),
            counts: Counts::default(),
            resident: (0, 0),
            clients: BTreeMap::new(),
            slots: SlotMap::default(),
            pool: PoolState::default(),
            keyspace: (0, 0),
            disk: None,
            group: None,
            has_killed: false,
            wants_snapshot: false,
            next_client: 0,
            seed: random[0],
        }
    }

    /// A client connects.
    pub fn connect(&mut self, address: String, local_address: String, now: Milliseconds) -> Rc<Client> {
        self.next_client += 1;
        self.counts.connections += 1;
        let client = Client { id: self.next_client, address, local_address, since: now, ..Client::default() };
        client.last.set(now);
        let client = Rc::new(client);
        self.clients.insert(client.id, Rc::clone(&client));
        client
    }

    /// A client disconnects.
    pub fn disconnect(&mut self, client: &Client) {
        self.clients.remove(&client.id);
    }

    /// A random number, good enough to choose a key.
    pub const fn draw(&mut self) -> u64 {
        splitmix64::draw(&mut self.seed)
    }

    /// Whether a password is the one that was set. The comparison takes the same time wherever the first difference is.
    pub fn is_password(&self, given: &[u8]) -> bool {
        let Some(password) = &self.settings.password else { return false };
        let differences = password.iter().zip(given).fold(0, |differences, (a, b)| differences | (a ^ b));
        password.len() == given.len() && differences == 0
    }
}
