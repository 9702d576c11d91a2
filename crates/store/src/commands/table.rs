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
    "append" 3 ONE [Write NeedsRoom Fast] "2.0.0" strings::append, "Appends bytes to a value";
    "decr" 2 ONE [Write NeedsRoom Fast] "1.0.0" counters::decr, "Decrements a number by 1";
    "decrby" 3 ONE [Write NeedsRoom Fast] "1.0.0" counters::decr_by, "Decrements a number by an amount";
    "get" 2 ONE [ReadOnly Fast] "1.0.0" strings::get, "Returns a value";
    "getdel" 2 ONE [Write Fast] "6.2.0" strings::getdel, "Returns a value and deletes its key";
    "getex" -2 ONE [Write Fast] "6.2.0" strings::getex, "Returns a value and changes when its key expires";
    "getrange" 4 ONE [ReadOnly] "2.4.0" strings::getrange, "Returns a part of a value";
    "getset" 3 ONE [Write NeedsRoom Fast] "1.0.0" strings::getset, "Stores a value and returns the one that it replaces";
    "incr" 2 ONE [Write NeedsRoom Fast] "1.0.0" counters::incr, "Increments a number by 1";
    "incrby" 3 ONE [Write NeedsRoom Fast] "1.0.0" counters::incr_by, "Increments a number by an amount";
    "incrbyfloat" 3 ONE [Write NeedsRoom Fast] "2.6.0" counters::incr_by_float, "Increments a number by a decimal amount";
    "mget" -2 ALL [ReadOnly Fast] "1.0.0" strings::mget, "Returns the values of several keys";
    "mset" -3 PAIRS [Write NeedsRoom] "1.0.1" strings::mset, "Stores the values of several keys";
    "msetnx" -3 PAIRS [Write NeedsRoom] "1.0.1" strings::msetnx, "Stores the values of several keys if none of them exists";
    "psetex" 4 ONE [Write NeedsRoom] "2.6.0" strings::psetex, "Stores a value with its time to live in milliseconds";
    "set" -3 ONE [Write NeedsRoom] "1.0.0" strings::set, "Stores a value";
    "setex" 4 ONE [Write NeedsRoom] "2.0.0" strings::setex, "Stores a value with its time to live in seconds";
    "setnx" 3 ONE [Write NeedsRoom Fast] "1.0.0" strings::setnx, "Stores a value if its key doesn't exist";
    "setrange" 4 ONE [Write NeedsRoom] "2.2.0" strings::setrange, "Overwrites a part of a value";
    "strlen" 2 ONE [ReadOnly Fast] "2.2.0" strings::strlen, "Returns the length of a value";
    "substr" 4 ONE [ReadOnly] "1.0.0" strings::getrange, "Returns a part of a value, as GETRANGE";
    "type" 2 ONE [ReadOnly Fast] "1.0.0" keys::kind, "Returns the type of a value";
};

static GENERIC: [Command; 25] = rows! { Generic:
    "copy" -3 TWO [Write NeedsRoom] "6.2.0" keys::copy, "Copies a value to another key";
    "del" -2 ALL [Write] "1.0.0" keys::del, "Deletes keys";
    "exists" -2 ALL [ReadOnly Fast] "1.0.0" keys::exists, "Counts how many of the keys exist";
    "expire" -3 ONE [Write Fast] "1.0.0" expiry::expire, "Sets the time to live of a key in seconds";
    "expireat" -3 ONE [Write Fast] "1.2.0" expiry::expireat, "Sets when a key expires, in seconds since 1970";
    "expiretime" 2 ONE [ReadOnly Fast] "7.0.0" expiry::expiretime, "Returns when a key expires, in seconds since 1970";
    "keys" 2 NONE [ReadOnly] "1.0.0" scan::keys, "Returns all keys that match a pattern";
    "persist" 2 ONE [Write Fast] "2.2.0" expiry::persist, "Stops a key from expiring";
    "pexpire" -3 ONE [Write Fast] "2.6.0" expiry::pexpire, "Sets the time to live of a key in milliseconds";
    "pexpireat" -3 ONE [Write Fast] "2.6.0" expiry::pexpireat, "Sets when a key expires, in milliseconds since 1970";
    "pexpiretime" 2 ONE [ReadOnly Fast] "7.0.0" expiry::pexpiretime, "Returns when a key expires, in milliseconds since 1970";
    "pttl" 2 ONE [ReadOnly Fast] "2.6.0" expiry::pttl, "Returns the time to live of a key in milliseconds";
    "randomkey" 1 NONE [ReadOnly] "1.0.0" keys::randomkey, "Returns a key at random";
    "rename" 3 TWO [Write] "1.0.0" keys::rename, "Renames a key";
    "renamenx" 3 TWO [Write Fast] "1.0.0" keys::renamenx, "Renames a key if the new name is free";
    "scan" -2 NONE [ReadOnly] "2.8.0" scan::scan, "Returns some keys and the cursor to continue with";
    "touch" -2 ALL [ReadOnly Fast] "3.2.1" keys::touch, "Marks keys as used without reading them";
    "ttl" 2 ONE [ReadOnly Fast] "1.0.0" expiry::ttl, "Returns the time to live of a key in seconds";
    "unlink" -2 ALL [Write Fast] "4.0.0" keys::del, "Deletes keys";
    "dbsize" 1 NONE [ReadOnly Fast] "1.0.0" server::dbsize, "Counts the keys";
    "flushall" -1 NONE [Write] "1.0.0" server::flush, "Deletes all keys";
    "flushdb" -1 NONE [Write] "1.0.0" server::flush, "Deletes all keys";
    "time" 1 NONE [Fast] "2.6.0" server::time, "Returns the server's time";
    "wait" 3 NONE [] "3.0.0" server::wait, "Returns the number of replicas that have the client's writes";
    "move" 3 ONE [Write Fast] "1.0.0" keys::move_key, "Does nothing: there is only one database";
};

static TRANSACTIONS: [Command; 5] = rows! { Transactions:
    "discard" 1 NONE [Fast NotQueued] "2.0.0" transactions::discard, "Discards a transaction";
    "exec" 1 NONE [NotQueued] "1.2.0" transactions::exec, "Executes a transaction";
    "multi" 1 NONE [Fast NotQueued] "1.2.0" transactions::multi, "Begins a transaction";
    "unwatch" 1 NONE [Fast] "2.2.0" transactions::unwatch, "Forgets all watched keys";
    "watch" -2 ALL [Fast NotQueued] "2.2.0" transactions::watch, "Has the next transaction fail if a key changes first";
};

static CONNECTION: [Command; 7] = rows! { Connection:
    "auth" -2 NONE [Fast BeforeAuthentication] "1.0.0" connection::auth, "Authenticates the client";
    "echo" 2 NONE [Fast] "1.0.0" connection::echo, "Returns its argument";
    "hello" -1 NONE [Fast BeforeAuthentication] "6.0.0" connection::hello, "Selects a version of the protocol";
    "ping" -1 NONE [Fast] "1.0.0" connection::ping, "Tests whether the server answers";
    "quit" -1 NONE [Fast BeforeAuthentication NotQueued] "1.0.0" connection::quit, "Closes the connection";
    "reset" 1 NONE [Fast BeforeAuthentication NotQueued] "6.2.0" connection::reset, "Resets the state of the connection";
    "select" 2 NONE [Fast] "1.0.0" connection::select, "Selects a database; there is only number 0";
};

static SERVER: [Command; 5] = rows! { Server:
    "bgrewriteaof" 1 NONE [Admin] "1.0.0" keeping::rewrite_in_background, "Makes a snapshot, which replaces the logs";
    "bgsave" -1 NONE [Admin] "1.0.0" keeping::save_in_background, "Makes a snapshot, which replaces the logs";
    "lastsave" 1 NONE [Fast] "1.0.0" keeping::last_save, "Returns when the last snapshot was made, in seconds since 1970";
    "save" 1 NONE [Admin] "1.0.0" keeping::save, "Makes a snapshot and waits for it";
    "info" -1 NONE [] "1.0.0" information::info, "Returns the state of the node and its statistics";
};

static CONTAINERS: [Command; 6] = {
    let [client, command, config, function, memory, object] = rows! { Server:
        "client" -2 NONE [] "2.4.0" client::none, "Commands on clients";
        "command" -1 NONE [] "2.8.13" documentation::all, "Returns the arity, flags and keys of all commands";
        "config" -2 NONE [Admin] "2.0.0" client::none, "Commands on the configuration";
        "function" -2 NONE [] "7.0.0" client::none, "Commands on functions, of which there are none";
        "memory" -2 NONE [] "4.0.0" client::none, "Commands on memory";
        "object" -2 NONE [] "2.2.3" client::none, "Commands on how values are stored";
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
    "asking" 1 NONE [Fast] "3.0.0" cluster::accept, "Does nothing: the member that has a key answers for it";
    "readonly" 1 NONE [Fast] "3.0.0" cluster::accept, "Does nothing: there are no replicas to read from";
    "readwrite" 1 NONE [Fast] "3.0.0" cluster::accept, "Does nothing: there are no replicas to read from";
};

static CLUSTERS: [Command; 1] = {
    let [cluster] = rows! { Cluster:
        "cluster" -2 NONE [] "3.0.0" client::none, "Commands on the pool and its slots";
    };
    [cluster.of(&CLUSTER)]
};

static CLUSTER: [Command; 12] = rows! { Cluster:
    "cluster|countkeysinslot" 3 NONE [] "3.0.0" cluster::count_keys, "Counts the keys of a slot on this server";
    "cluster|drain" 2 NONE [Admin] "7.0.0" cluster::drain, "Has this member leave once its servers have moved to others";
    "cluster|getkeysinslot" 4 NONE [] "3.0.0" cluster::keys_in, "Returns keys of a slot on this server";
    "cluster|grow" -2 NONE [Admin] "7.0.0" cluster::resize, "Spreads the table over one more server, or over several";
    "cluster|help" 2 NONE [] "5.0.0" documentation::help, "Lists the subcommands of CLUSTER";
    "cluster|info" 2 NONE [] "3.0.0" cluster::info, "Returns the number of members and slots";
    "cluster|keyslot" 3 NONE [] "3.0.0" cluster::key_slot, "Returns the slot of a key";
    "cluster|myid" 2 NONE [] "3.0.0" cluster::my_id, "Returns the identity of this member";
    "cluster|nodes" 2 NONE [] "3.0.0" cluster::nodes, "Returns all members and their slots as text";
    "cluster|shards" 2 NONE [] "7.0.0" cluster::shards, "Returns all members and their slots";
    "cluster|shrink" -2 NONE [Admin] "7.0.0" cluster::resize, "Draws the table back to one server fewer, or several";
    "cluster|slots" 2 NONE [] "3.0.0" cluster::slots, "Returns all ranges of slots with the members that have them";
};

static CLIENT: [Command; 13] = rows! { Connection:
    "client|capa" -3 NONE [Fast] "8.0.0" client::capabilities, "Declares what the client understands: `ranges` of slots that have moved";
    "client|getname" 2 NONE [Fast] "2.6.9" client::get_name, "Returns the client's name";
    "client|help" 2 NONE [Fast] "5.0.0" documentation::help, "Lists the subcommands of CLIENT";
    "client|id" 2 NONE [Fast] "5.0.0" client::id, "Returns the client's number";
    "client|info" 2 NONE [Fast] "6.2.0" client::info, "Returns the state of this client's connection";
    "client|kill" -3 NONE [Admin] "2.4.0" client::kill, "Closes connections of clients";
    "client|list" -2 NONE [Admin] "2.4.0" client::list, "Returns the state of all clients' connections";
    "client|no-evict" 3 NONE [Admin] "7.0.0" client::accept_switch, "Does nothing: no client is disconnected for its memory";
    "client|no-touch" 3 NONE [Fast] "7.2.0" client::accept_switch, "Does nothing: every access counts as a use";
    "client|reply" 3 NONE [Fast] "3.2.0" client::reply, "Chooses which requests are replied to";
    "client|setinfo" 4 NONE [Fast] "7.2.0" client::set_info, "Sets the name or version of the client's library";
    "client|setname" 3 NONE [Fast] "2.6.9" client::set_name, "Sets the client's name";
    "client|unpause" 2 NONE [Admin] "6.2.0" client::unpause, "Does nothing: no client is paused";
};

static COMMAND: [Command; 6] = rows! { Server:
    "command|count" 2 NONE [] "2.8.13" documentation::count, "Counts the commands";
    "command|docs" -2 NONE [] "7.0.0" documentation::docs, "Returns the documentation of commands";
    "command|getkeys" -4 NONE [] "2.8.13" documentation::get_keys, "Returns the keys of a request";
    "command|help" 2 NONE [] "5.0.0" documentation::help, "Lists the subcommands of COMMAND";
    "command|info" -2 NONE [] "2.8.13" documentation::info, "Returns the arity, flags and keys of commands";
    "command|list" -2 NONE [] "7.0.0" documentation::list, "Returns the names of all commands";
};

static CONFIG: [Command; 5] = rows! { Server:
    "config|get" -3 NONE [Admin] "2.0.0" server::config_get, "Returns settings";
    "config|help" 2 NONE [] "5.0.0" documentation::help, "Lists the subcommands of CONFIG";
    "config|resetstat" 2 NONE [Admin] "2.0.0" server::config_resetstat, "Resets the statistics";
    "config|rewrite" 2 NONE [Admin] "2.8.0" server::config_rewrite, "Does nothing: there is no configuration file";
    "config|set" -4 NONE [Admin] "2.0.0" server::config_set, "Changes settings";
};

static FUNCTION: [Command; 3] = rows! { Server:
    "function|flush" -2 NONE [Write] "7.0.0" server::function_flush, "Deletes all functions, of which there are none";
    "function|help" 2 NONE [] "7.0.0" documentation::help, "Lists the subcommands of FUNCTION";
    "function|list" -2 NONE [] "7.0.0" server::function_list, "Lists all functions, of which there are none";
};

static MEMORY: [Command; 2] = rows! { Server:
    "memory|help" 2 NONE [] "4.0.0" documentation::help, "Lists the subcommands of MEMORY";
    "memory|usage" -3 SECOND [ReadOnly] "4.0.0" server::memory_usage, "Returns the memory that a key and its value take";
};

static OBJECT: [Command; 5] = rows! { Generic:
    "object|encoding" 3 SECOND [ReadOnly] "2.2.3" keys::encoding, "Returns the encoding that Redis would use for a value";
    "object|freq" 3 SECOND [ReadOnly] "4.0.0" keys::frequency, "Does nothing: uses of keys are not counted";
    "object|help" 2 NONE [] "6.2.0" documentation::help, "Lists the subcommands of OBJECT";
    "object|idletime" 3 SECOND [ReadOnly] "2.2.3" keys::idle_time, "Returns the seconds since a key was last used";
    "object|refcount" 3 SECOND [ReadOnly] "2.2.3" keys::reference_count, "Returns the number of references to a value";
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
