//! The table of all commands.

use std::sync::LazyLock;

use super::{
    Context, Failure, Outcome, client, cluster, connection, counters, documentation, expiry, information, keeping,
    keys, scan,
};
use super::{lossy, server, strings, transactions};
use crate::resp::Arguments;

/// How many arguments a command has, including its name: exactly this number or, if negative, at least its absolute value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity(pub i32);

impl Arity {
    /// Whether this number of arguments is allowed.
    pub const fn allows(self, arguments: usize) -> bool {
        let bound = self.0.unsigned_abs() as usize;
        if self.0 < 0 { arguments >= bound } else { arguments == bound }
    }
}

/// A property of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// It changes nothing.
    ReadOnly,
    /// It changes records.
    Write,
    /// It may need more memory.
    NeedsRoom,
    /// It takes constant time.
    Fast,
    /// It is allowed before the client has authenticated.
    BeforeAuthentication,
    /// It is for the node's operator.
    Admin,
    /// In a transaction it is carried out at once.
    NotQueued,
}

impl Flag {
    /// Its name in replies to COMMAND.
    pub const fn name(self) -> &'static str {
        match self {
            Flag::ReadOnly => "readonly",
            Flag::Write => "write",
            Flag::NeedsRoom => "denyoom",
            Flag::Fast => "fast",
            Flag::BeforeAuthentication => "no_auth",
            Flag::Admin => "admin",
            Flag::NotQueued => "no_multi",
        }
    }
}

/// Families of commands, as in Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Values.
    String,
    /// Keys, whatever their values.
    Generic,
    /// Several requests carried out as one.
    Transactions,
    /// The connection and its client.
    Connection,
    /// The node.
    Server,
    /// Slots.
    Cluster,
}

impl Group {
    /// Its name in replies to COMMAND DOCS.
    pub const fn name(self) -> &'static str {
        match self {
            Group::String => "string",
            Group::Generic => "generic",
            Group::Transactions => "transactions",
            Group::Connection => "connection",
            Group::Server => "server",
            Group::Cluster => "cluster",
        }
    }
}

/// Which arguments are keys: each `step`-th from the `first` to the `last`, where -1 is the last argument. None if the first is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: i32,
    /// The distance from one to the next.
    pub step: usize,
}

impl Keys {
    /// The positions of the keys among this number of arguments.
    #[inline]
    pub fn places(self, arguments: usize) -> impl Iterator<Item = usize> {
        let Keys { first, last, step } = self;
        let end = if last < 0 { arguments } else { arguments.min(last as usize + 1) };
        (first..if first == 0 { 0 } else { end }).step_by(step.max(1))
    }
}

const NONE: Keys = Keys { first: 0, last: 0, step: 0 };
const ONE: Keys = Keys { first: 1, last: 1, step: 1 };
const TWO: Keys = Keys { first: 1, last: 2, step: 1 };
const ALL: Keys = Keys { first: 1, last: -1, step: 1 };
const PAIRS: Keys = Keys { first: 1, last: -1, step: 2 };
const SECOND: Keys = Keys { first: 2, last: 2, step: 1 };

/// A command.
#[derive(Debug)]
pub struct Command {
    /// Its name in lower case; a subcommand's with that of its command: `client|id`.
    pub name: &'static str,
    /// How many arguments it has.
    pub arity: Arity,
    /// Its family.
    pub group: Group,
    /// Which arguments are keys.
    pub keys: Keys,
    /// Its properties.
    pub flags: &'static [Flag],
    /// The first version of Redis that had it.
    pub since: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Carries it out.
    pub run: fn(&mut Context<'_>, Arguments<'_>) -> Outcome,
    /// Its subcommands.
    pub subcommands: &'static [Command],
}

impl Command {
    /// Whether it has this property.
    #[inline]
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    /// The subcommand that a request names, or itself if it has none.
    pub(crate) fn with_subcommand(&'static self, arguments: Arguments<'_>) -> Result<&'static Command, Failure> {
        if self.subcommands.is_empty() || arguments.len() < 2 {
            return Ok(self);
        }
        self.subcommand(arguments.get(1)).ok_or_else(|| {
            let (given, name) = (lossy(arguments.get(1)), self.name.to_uppercase());
            Failure::Told(format!("ERR unknown subcommand '{given}'. Try {name} HELP."))
        })
    }

    /// A subcommand by its name, in any case.
    pub fn subcommand(&self, name: &[u8]) -> Option<&'static Command> {
        let own = |command: &&Command| command.name.as_bytes()[self.name.len() + 1..].eq_ignore_ascii_case(name);
        self.subcommands.iter().find(own)
    }

    /// The keys of a request.
    pub fn keys_of<'a>(&self, arguments: Arguments<'a>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.keys.places(arguments.len()).map(move |place| arguments.get(place))
    }

    const fn of(self, subcommands: &'static [Command]) -> Command {
        Command { subcommands, ..self }
    }
}

type Run = fn(&mut Context<'_>, Arguments<'_>) -> Outcome;

/// A row of the table.
macro_rules! rows {
    ($group:ident: $($name:literal $arity:literal $keys:ident [$($flag:ident)*] $since:literal $run:path, $summary:literal;)*) => {
        [$(Command {
            name: $name,
            arity: Arity($arity),
            group: Group::$group,
            keys: $keys,
            flags: &[$(Flag::$flag),*],
            since: $since,
            summary: $summary,
            run: $run as Run,
            subcommands: &[],
        }),*]
    };
}

/// All commands, by family.
pub static COMMANDS: [&[Command]; 8] =
    [&STRINGS, &GENERIC, &TRANSACTIONS, &CONNECTION, &SERVER, &CONTAINERS, &FOLLOWING, &CLUSTERS];

static STRINGS: [Command; 22] = rows! { String:
    "append" 3 ONE [Write NeedsRoom Fast] "2.0.0" strings::append, "Adds to the end of a value";
    "decr" 2 ONE [Write NeedsRoom Fast] "1.0.0" counters::decr, "Takes 1 from a number";
    "decrby" 3 ONE [Write NeedsRoom Fast] "1.0.0" counters::decr_by, "Takes so much from a number";
    "get" 2 ONE [ReadOnly Fast] "1.0.0" strings::get, "What is stored under a key";
    "getdel" 2 ONE [Write Fast] "6.2.0" strings::getdel, "Takes out what is stored under a key";
    "getex" -2 ONE [Write Fast] "6.2.0" strings::getex, "What is stored under a key, which is to expire at another time";
    "getrange" 4 ONE [ReadOnly] "2.4.0" strings::getrange, "A part of a value";
    "getset" 3 ONE [Write NeedsRoom Fast] "1.0.0" strings::getset, "Stores a value, and gives what it replaces";
    "incr" 2 ONE [Write NeedsRoom Fast] "1.0.0" counters::incr, "Adds 1 to a number";
    "incrby" 3 ONE [Write NeedsRoom Fast] "1.0.0" counters::incr_by, "Adds so much to a number";
    "incrbyfloat" 3 ONE [Write NeedsRoom Fast] "2.6.0" counters::incr_by_float, "Adds so much to a number with decimals";
    "mget" -2 ALL [ReadOnly Fast] "1.0.0" strings::mget, "What is stored under each of some keys";
    "mset" -3 PAIRS [Write NeedsRoom] "1.0.1" strings::mset, "Stores values under keys";
    "msetnx" -3 PAIRS [Write NeedsRoom] "1.0.1" strings::msetnx, "Stores values under keys if there is nothing under any of them";
    "psetex" 4 ONE [Write NeedsRoom] "2.6.0" strings::psetex, "Stores a value that expires in so many milliseconds";
    "set" -3 ONE [Write NeedsRoom] "1.0.0" strings::set, "Stores a value under a key";
    "setex" 4 ONE [Write NeedsRoom] "2.0.0" strings::setex, "Stores a value that expires in so many seconds";
    "setnx" 3 ONE [Write NeedsRoom Fast] "1.0.0" strings::setnx, "Stores a value if there is nothing under the key";
    "setrange" 4 ONE [Write NeedsRoom] "2.2.0" strings::setrange, "Overwrites a part of a value";
    "strlen" 2 ONE [ReadOnly Fast] "2.2.0" strings::strlen, "How long a value is";
    "substr" 4 ONE [ReadOnly] "1.0.0" strings::getrange, "A part of a value, by its old name";
    "type" 2 ONE [ReadOnly Fast] "1.0.0" keys::kind, "Which type the value of a key has";
};

static GENERIC: [Command; 25] = rows! { Generic:
    "copy" -3 TWO [Write NeedsRoom] "6.2.0" keys::copy, "Stores what is under one key under another, too";
    "del" -2 ALL [Write] "1.0.0" keys::del, "Takes out keys";
    "exists" -2 ALL [ReadOnly Fast] "1.0.0" keys::exists, "How many of some keys are there";
    "expire" -3 ONE [Write Fast] "1.0.0" expiry::expire, "Has a key expire in so many seconds";
    "expireat" -3 ONE [Write Fast] "1.2.0" expiry::expireat, "Has a key expire at a time in seconds since 1970";
    "expiretime" 2 ONE [ReadOnly Fast] "7.0.0" expiry::expiretime, "When a key expires, in seconds since 1970";
    "keys" 2 NONE [ReadOnly] "1.0.0" scan::keys, "All keys that match a pattern";
    "persist" 2 ONE [Write Fast] "2.2.0" expiry::persist, "Has a key not expire";
    "pexpire" -3 ONE [Write Fast] "2.6.0" expiry::pexpire, "Has a key expire in so many milliseconds";
    "pexpireat" -3 ONE [Write Fast] "2.6.0" expiry::pexpireat, "Has a key expire at a time in milliseconds since 1970";
    "pexpiretime" 2 ONE [ReadOnly Fast] "7.0.0" expiry::pexpiretime, "When a key expires, in milliseconds since 1970";
    "pttl" 2 ONE [ReadOnly Fast] "2.6.0" expiry::pttl, "In how many milliseconds a key expires";
    "randomkey" 1 NONE [ReadOnly] "1.0.0" keys::randomkey, "Some key";
    "rename" 3 TWO [Write] "1.0.0" keys::rename, "Gives a key another name";
    "renamenx" 3 TWO [Write Fast] "1.0.0" keys::renamenx, "Gives a key another name that no other has";
    "scan" -2 NONE [ReadOnly] "2.8.0" scan::scan, "Some of the keys, and from where to go on";
    "touch" -2 ALL [ReadOnly Fast] "3.2.1" keys::touch, "Uses keys without reading them";
    "ttl" 2 ONE [ReadOnly Fast] "1.0.0" expiry::ttl, "In how many seconds a key expires";
    "unlink" -2 ALL [Write Fast] "4.0.0" keys::del, "Takes out keys";
    "dbsize" 1 NONE [ReadOnly Fast] "1.0.0" server::dbsize, "How many keys there are";
    "flushall" -1 NONE [Write] "1.0.0" server::flush, "Takes out all keys";
    "flushdb" -1 NONE [Write] "1.0.0" server::flush, "Takes out all keys";
    "time" 1 NONE [Fast] "2.6.0" server::time, "What time it is";
    "wait" 3 NONE [] "3.0.0" server::wait, "How many copies have what was written";
    "move" 3 ONE [Write Fast] "1.0.0" keys::move_key, "Nothing: there is one database only";
};

static TRANSACTIONS: [Command; 5] = rows! { Transactions:
    "discard" 1 NONE [Fast NotQueued] "2.0.0" transactions::discard, "Gives up a transaction";
    "exec" 1 NONE [NotQueued] "1.2.0" transactions::exec, "Carries out a transaction";
    "multi" 1 NONE [Fast NotQueued] "1.2.0" transactions::multi, "Begins a transaction";
    "unwatch" 1 NONE [Fast] "2.2.0" transactions::unwatch, "Watches no keys any more";
    "watch" -2 ALL [Fast NotQueued] "2.2.0" transactions::watch, "Has the next transaction fail if a key changes before";
};

static CONNECTION: [Command; 7] = rows! { Connection:
    "auth" -2 NONE [Fast BeforeAuthentication] "1.0.0" connection::auth, "Says who the client is";
    "echo" 2 NONE [Fast] "1.0.0" connection::echo, "Gives back what it is given";
    "hello" -1 NONE [Fast BeforeAuthentication] "6.0.0" connection::hello, "Chooses a version of the protocol";
    "ping" -1 NONE [Fast] "1.0.0" connection::ping, "Whether anyone is there";
    "quit" -1 NONE [Fast BeforeAuthentication NotQueued] "1.0.0" connection::quit, "Ends the connection";
    "reset" 1 NONE [Fast BeforeAuthentication NotQueued] "6.2.0" connection::reset, "Makes the connection as it was at first";
    "select" 2 NONE [Fast] "1.0.0" connection::select, "Chooses a database, of which there is number 0";
};

static SERVER: [Command; 5] = rows! { Server:
    "bgrewriteaof" 1 NONE [Admin] "1.0.0" keeping::rewrite_in_background, "Makes a snapshot, which takes the place of logs";
    "bgsave" -1 NONE [Admin] "1.0.0" keeping::save_in_background, "Makes a snapshot, which takes the place of logs";
    "lastsave" 1 NONE [Fast] "1.0.0" keeping::last_save, "When the last snapshot was made, in seconds since 1970";
    "save" 1 NONE [Admin] "1.0.0" keeping::save, "Makes a snapshot, and waits until it is made";
    "info" -1 NONE [] "1.0.0" information::info, "What there is to know of the node";
};

static CONTAINERS: [Command; 6] = {
    let [client, command, config, function, memory, object] = rows! { Server:
        "client" -2 NONE [] "2.4.0" client::none, "Clients";
        "command" -1 NONE [] "2.8.13" documentation::all, "Commands";
        "config" -2 NONE [Admin] "2.0.0" client::none, "Settings";
        "function" -2 NONE [] "7.0.0" client::none, "Functions, of which there are none";
        "memory" -2 NONE [] "4.0.0" client::none, "Memory";
        "object" -2 NONE [] "2.2.3" client::none, "How a value is kept";
    };
    [
        client.of(&CLIENT),
        command.of(&COMMAND),
        config.of(&CONFIG),
        function.of(&FUNCTION),
        memory.of(&MEMORY),
        object.of(&OBJECT),
    ]
};

static FOLLOWING: [Command; 3] = rows! { Cluster:
    "asking" 1 NONE [Fast] "3.0.0" cluster::accept, "Nothing: who has a key answers for it";
    "readonly" 1 NONE [Fast] "3.0.0" cluster::accept, "Nothing: there are no copies to read from";
    "readwrite" 1 NONE [Fast] "3.0.0" cluster::accept, "Nothing: there are no copies to read from";
};

static CLUSTERS: [Command; 1] = {
    let [cluster] = rows! { Cluster:
        "cluster" -2 NONE [] "3.0.0" client::none, "Slots";
    };
    [cluster.of(&CLUSTER)]
};

static CLUSTER: [Command; 12] = rows! { Cluster:
    "cluster|countkeysinslot" 3 NONE [] "3.0.0" cluster::count_keys, "How many keys of a slot this server has";
    "cluster|drain" 2 NONE [Admin] "7.0.0" cluster::drain, "Has this member leave, once its servers have moved to others";
    "cluster|getkeysinslot" 4 NONE [] "3.0.0" cluster::keys_in, "Keys of a slot that this server has";
    "cluster|grow" -2 NONE [Admin] "7.0.0" cluster::resize, "Spreads the table over one server more, or so many";
    "cluster|help" 2 NONE [] "5.0.0" documentation::help, "What there is of CLUSTER";
    "cluster|info" 2 NONE [] "3.0.0" cluster::info, "How many members and slots there are";
    "cluster|keyslot" 3 NONE [] "3.0.0" cluster::key_slot, "The slot of a key";
    "cluster|myid" 2 NONE [] "3.0.0" cluster::my_id, "The name of this member";
    "cluster|nodes" 2 NONE [] "3.0.0" cluster::nodes, "All members with slots, as text";
    "cluster|shards" 2 NONE [] "7.0.0" cluster::shards, "All members with their slots";
    "cluster|shrink" -2 NONE [Admin] "7.0.0" cluster::resize, "Draws the table back to one server fewer, or so many";
    "cluster|slots" 2 NONE [] "3.0.0" cluster::slots, "All ranges of slots, and who has them";
};

static CLIENT: [Command; 13] = rows! { Connection:
    "client|capa" -3 NONE [Fast] "8.0.0" client::capabilities, "Says what the client understands: `ranges`, of slots that have moved";
    "client|getname" 2 NONE [Fast] "2.6.9" client::get_name, "The name of the client";
    "client|help" 2 NONE [Fast] "5.0.0" documentation::help, "What there is of CLIENT";
    "client|id" 2 NONE [Fast] "5.0.0" client::id, "The number of the client";
    "client|info" 2 NONE [Fast] "6.2.0" client::info, "What there is to know of the client";
    "client|kill" -3 NONE [Admin] "2.4.0" client::kill, "Ends connections";
    "client|list" -2 NONE [Admin] "2.4.0" client::list, "What there is to know of all clients";
    "client|no-evict" 3 NONE [Admin] "7.0.0" client::accept_switch, "Nothing: no client is ended for what it takes";
    "client|no-touch" 3 NONE [Fast] "7.2.0" client::accept_switch, "Nothing: every use counts";
    "client|reply" 3 NONE [Fast] "3.2.0" client::reply, "Which requests have replies";
    "client|setinfo" 4 NONE [Fast] "7.2.0" client::set_info, "Says which library the client uses";
    "client|setname" 3 NONE [Fast] "2.6.9" client::set_name, "Gives the client a name";
    "client|unpause" 2 NONE [Admin] "6.2.0" client::unpause, "Nothing: no client is paused";
};

static COMMAND: [Command; 6] = rows! { Server:
    "command|count" 2 NONE [] "2.8.13" documentation::count, "How many commands there are";
    "command|docs" -2 NONE [] "7.0.0" documentation::docs, "What commands are for";
    "command|getkeys" -4 NONE [] "2.8.13" documentation::get_keys, "The keys of a request";
    "command|help" 2 NONE [] "5.0.0" documentation::help, "What there is of COMMAND";
    "command|info" -2 NONE [] "2.8.13" documentation::info, "What arguments commands have";
    "command|list" -2 NONE [] "7.0.0" documentation::list, "The names of all commands";
};

static CONFIG: [Command; 5] = rows! { Server:
    "config|get" -3 NONE [Admin] "2.0.0" server::config_get, "What is set";
    "config|help" 2 NONE [] "5.0.0" documentation::help, "What there is of CONFIG";
    "config|resetstat" 2 NONE [Admin] "2.0.0" server::config_resetstat, "Counts from 0 again";
    "config|rewrite" 2 NONE [Admin] "2.8.0" server::config_rewrite, "Nothing: there is no file of settings";
    "config|set" -4 NONE [Admin] "2.0.0" server::config_set, "Sets something";
};

static FUNCTION: [Command; 3] = rows! { Server:
    "function|flush" -2 NONE [Write] "7.0.0" server::function_flush, "Takes out all functions, of which there are none";
    "function|help" 2 NONE [] "7.0.0" documentation::help, "What there is of FUNCTION";
    "function|list" -2 NONE [] "7.0.0" server::function_list, "All functions, of which there are none";
};

static MEMORY: [Command; 2] = rows! { Server:
    "memory|help" 2 NONE [] "4.0.0" documentation::help, "What there is of MEMORY";
    "memory|usage" -3 SECOND [ReadOnly] "4.0.0" server::memory_usage, "What a key takes with its value";
};

static OBJECT: [Command; 5] = rows! { Generic:
    "object|encoding" 3 SECOND [ReadOnly] "2.2.3" keys::encoding, "How a value would be kept by Redis";
    "object|freq" 3 SECOND [ReadOnly] "4.0.0" keys::frequency, "Nothing: how often keys are used is not counted";
    "object|help" 2 NONE [] "6.2.0" documentation::help, "What there is of OBJECT";
    "object|idletime" 3 SECOND [ReadOnly] "2.2.3" keys::idle_time, "For how many seconds a key was not used";
    "object|refcount" 3 SECOND [ReadOnly] "2.2.3" keys::reference_count, "How many refer to a value";
};

/// The longest name that is looked up, so that it fits into a `u128`. [B]
const LONGEST_NAME: usize = size_of::<u128>();

/// All commands, in the order of their packed names.
static INDEX: LazyLock<Box<[(u128, &'static Command)]>> = LazyLock::new(|| {
    let packed = |command: &'static Command| (pack(command.name.as_bytes()), command);
    let mut index: Box<[_]> = COMMANDS.iter().copied().flatten().map(packed).collect();
    index.sort_unstable_by_key(|(name, _)| *name);
    index
});

/// A name in lower case as a number. Names consist of letters, so no other bytes make the same number.
fn pack(name: &[u8]) -> u128 {
    name.iter().fold(0, |packed, byte| packed << 8 | u128::from(byte | 0x20))
}

/// A command by its name, in any case.
#[inline]
pub fn find(name: &[u8]) -> Option<&'static Command> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let name = pack(name);
    let place = INDEX.binary_search_by_key(&name, |(known, _)| *known).ok()?;
    Some(INDEX[place].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_by_their_names_and_by_no_others() {
        for command in COMMANDS.iter().copied().flatten() {
            let name = command.name;
            assert!(name.len() <= LONGEST_NAME && name.bytes().all(|byte| byte.is_ascii_lowercase()), "{name}");
            for spelled in [name.to_owned(), name.to_uppercase(), name[..1].to_uppercase() + &name[1..]] {
                assert_eq!(find(spelled.as_bytes()).map(|found| found.name), Some(name));
            }
            for other in [format!("{name} "), format!("\0{name}"), format!(" {name}"), name.replace('e', "\u{5}")] {
                assert_eq!(find(other.as_bytes()).map(|found| found.name).filter(|_| other != name), None, "{other:?}");
            }
        }
        assert!(find(b"").is_none() && find(&[b'a'; LONGEST_NAME + 1]).is_none());
    }
}
