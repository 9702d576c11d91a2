//! What all clients of a node have in common: settings, who is connected, what was counted.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use quantities::splitmix64;
use serde::{Deserialize, Serialize};

use crate::cluster::{PoolState, SlotMap};
use crate::journal::disk::State;
use crate::parity::state::ParityState;
use crate::record::Milliseconds;
use crate::resp::Limits;

/// The version of Redis whose commands and replies these are. Clients look at it to know what they may send.
pub const REDIS_VERSION: &str = "7.0.15";

/// What goes when there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eviction {
    /// Nothing: what needs room is refused.
    #[default]
    Refuse,
    /// Of some records that chance names the one that was not used for the longest time.
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

/// What can be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What clients have to say who they are; none, if anyone may ask.
    pub password: Option<Vec<u8>>,
    /// As many clients are served at once.
    pub most_clients: usize,
    /// What the table may take; none for as much as there is. [B]
    pub most_memory: Option<usize>,
    /// What goes when it takes more.
    pub eviction: Eviction,
    /// What clients may send.
    pub limits: Limits,
    /// A client that has not said who it is goes after so long. [ms]
    pub time_to_authenticate: Milliseconds,
    /// A client that is silent goes after so long; none for never. [s]
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

/// What there is to know of a client, for itself and for others.
#[derive(Debug, Default)]
pub struct Client {
    /// Its number: none has the same again.
    pub id: u64,
    /// From where it is connected, and to where.
    pub address: String,
    /// To where.
    pub local_address: String,
    /// Since when.
    pub since: Milliseconds,
    /// When it last asked for something.
    pub last: Cell<Milliseconds>,
    /// What that was.
    pub command: Cell<&'static str>,
    /// The name that it gave itself.
    pub name: RefCell<Vec<u8>>,
    /// The library that it uses, as it says.
    pub library: RefCell<Vec<u8>>,
    /// And its version.
    pub library_version: RefCell<Vec<u8>>,
    /// Whether it speaks RESP3.
    pub speaks_three: Cell<bool>,
    /// How many requests of a transaction it has queued; none where it is in none.
    pub queued: Cell<Option<usize>>,
    /// How many keys it watches.
    pub watches: Cell<usize>,
    /// Whether somebody has asked for its end.
    pub is_killed: Cell<bool>,
}

/// What a node counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that were carried out.
    pub commands: u64,
    /// Clients that came.
    pub connections: u64,
    /// Clients that were turned away, since there were too many.
    pub rejected: u64,
    /// Replies that were errors.
    pub errors: u64,
    /// Of these, requests that were refused since there was no room.
    pub out_of_memory: u64,
    /// And passwords that were none.
    pub wrong_passwords: u64,
    /// Clients that did not speak TLS as they were to.
    pub tls_failures: u64,
    /// What was received. [B]
    pub received: u64,
    /// What was sent. [B]
    pub sent: u64,
}

/// What part a node has in a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupState {
    /// It hosts servers.
    Data {
        /// Who keeps parity of it, in hexadecimal.
        covered_by: Option<String>,
        /// Whether it could be rebuilt.
        is_covered: bool,
    },
    /// It keeps parity.
    Parity(ParityState),
    /// It stands by.
    Spare {
        /// Whether it was given anything of a lost member.
        is_given: bool,
    },
}

/// A node.
#[derive(Debug)]
pub struct Node {
    /// What was set.
    pub settings: Settings,
    /// On which port it listens.
    pub port: u16,
    /// When it began.
    pub since: Milliseconds,
    /// Now.
    pub now: Milliseconds,
    /// Twenty random bytes, in hexadecimal: what tells this run of it from others.
    pub run: String,
    /// What was counted.
    pub counts: Counts,
    /// What the process has in memory, and the most that it had. [B]
    pub resident: (u64, u64),
    /// Who is connected.
    pub clients: BTreeMap<u64, Rc<Client>>,
    /// Which slots are where, as far as was asked for.
    pub slots: SlotMap,
    /// How its member stands, as far as was asked for.
    pub pool: PoolState,
    /// How what it holds is kept on disk, if it is.
    pub kept: Option<State>,
    /// What part it has in a group, if it has one.
    pub group: Option<GroupState>,
    /// Whether a client has asked for a snapshot.
    pub wants_snapshot: bool,
    next_client: u64,
    chance: u64,
}

impl Node {
    /// A node that nobody is connected to. Its `chance` begins with a number that was handed in.
    pub fn new(settings: Settings, port: u16, chance: [u64; 3], now: Milliseconds) -> Node {
        Node {
            settings,
            port,
            since: now,
            now,
            run: chance.map(|word| format!("{word:016x}")).concat()[..40].to_owned(),
            counts: Counts::default(),
            resident: (0, 0),
            clients: BTreeMap::new(),
            slots: SlotMap::default(),
            pool: PoolState::default(),
            kept: None,
            group: None,
            wants_snapshot: false,
            next_client: 0,
            chance: chance[0],
        }
    }

    /// A client comes.
    pub fn connect(&mut self, address: String, local_address: String, now: Milliseconds) -> Rc<Client> {
        self.next_client += 1;
        self.counts.connections += 1;
        let client = Client { id: self.next_client, address, local_address, since: now, ..Client::default() };
        client.last.set(now);
        let client = Rc::new(client);
        self.clients.insert(client.id, Rc::clone(&client));
        client
    }

    /// A client goes.
    pub fn disconnect(&mut self, client: &Client) {
        self.clients.remove(&client.id);
    }

    /// A random number, good enough to choose a key.
    pub const fn draw(&mut self) -> u64 {
        splitmix64::draw(&mut self.chance)
    }

    /// Whether a password is the one that was set; it takes as long wherever the first difference is.
    pub fn is_password(&self, given: &[u8]) -> bool {
        let Some(password) = &self.settings.password else { return false };
        let differences = password.iter().zip(given).fold(0, |differences, (a, b)| differences | (a ^ b));
        password.len() == given.len() && differences == 0
    }
}
