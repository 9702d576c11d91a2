//! The table of all commands.

use std::sync::LazyLock;

use super::{
    CommandResult, Context, Failure, bit_fields, bits, client, cluster, connection, counters, documentation, expiry,
    information, keys, persistence, scan,
};
use super::{lossy, server, strings, subsequence, transactions};
use crate::host::{Call, Host, Waiting};
use crate::resp::Arguments;

/// How many arguments a command has, its name included: so many, or, if negative, at least as many as without the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity(pub i32);

impl Arity {
    /// Whether so many are allowed.
    pub const fn allows(self, arguments: usize) -> bool {
        let bound = self.0.unsigned_abs() as usize;
        if self.0 < 0 { arguments >= bound } else { arguments == bound }
    }
}

/// What is special about a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// It changes nothing.
    ReadOnly,
    /// It changes records.
    Write,
    /// It may need more memory.
    NeedsRoom,
    /// It takes as long however much there is.
    Fast,
    /// It may be asked for before the client is authenticated.
    BeforeAuthentication,
    /// It is for whoever runs the node.
    Admin,
    /// In a transaction it is executed at once.
    NotQueued,
    /// It is refused in a transaction.
    NoTransaction,
    /// It executes the client's transaction.
    EndsTransaction,
    /// It changes the value of its key in place.
    InPlace,
    /// It concerns one connection, while a client of the pool has one to each member.
    OneConnection,
}

impl Flag {
    /// Its name in what COMMAND says, if it has one there.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Flag::ReadOnly => Some("readonly"),
            Flag::Write => Some("write"),
            Flag::NeedsRoom => Some("denyoom"),
            Flag::Fast => Some("fast"),
            Flag::BeforeAuthentication => Some("no_auth"),
            Flag::Admin => Some("admin"),
            Flag::NoTransaction => Some("no_multi"),
            Flag::NotQueued | Flag::EndsTransaction | Flag::InPlace | Flag::OneConnection => None,
        }
    }
}

/// Families of commands, as Redis has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Values.
    String,
    /// The bits of values.
    Bitmap,
    /// Keys, whatever is stored under them.
    Generic,
    /// Several requests as one.
    Transactions,
    /// Who talks to whom, and how.
    Connection,
    /// The node.
    Server,
    /// Slots.
    Cluster,
}

impl Group {
    /// Its name in what COMMAND DOCS says.
    pub const fn name(self) -> &'static str {
        match self {
            Group::String => "string",
            Group::Bitmap => "bitmap",
            Group::Generic => "generic",
            Group::Transactions => "transactions",
            Group::Connection => "connection",
            Group::Server => "server",
            Group::Cluster => "cluster",
        }
    }
}

/// Which arguments are keys: each `step`-th from the `first` to the `last`, where -1 is the last of all. None, if the
/// first is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: i32,
    /// From one to the next.
    pub step: usize,
}

impl Keys {
    /// Which of so many arguments are keys.
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
const FROM_SECOND: Keys = Keys { first: 2, last: -1, step: 1 };
const SECOND: Keys = Keys { first: 2, last: 2, step: 1 };

/// How the replies to the parts of a request are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    /// Listed one after another.
    List,
    /// Added up.
    Sum,
    /// OK if all succeeded.
    Ok,
}

/// Executes a command on the pool: replies, or returns what the reply waits for.
pub type PoolHandler = fn(&mut Host, &mut Call<'_>) -> Option<Waiting>;

/// Where in the pool a command is executed, if the records are on several servers.
#[derive(Clone, Copy, Debug)]
pub enum Route {
    /// On the server that has its keys; if it has none, on any.
    Server,
    /// The same, or, if its keys are on several servers, as a request of this name for each key.
    Split(&'static str, Gather),
    /// By a function of the host; where one server has all records, on that server.
    Pool(PoolHandler),
    /// By a function of the host in any case.
    Host(PoolHandler),
}

/// A command.
#[derive(Debug)]
pub struct Command {
    /// Its name in lower case; of a subcommand that of the command before it, too: `client|id`.
    pub name: &'static str,
    /// How many arguments it has.
    pub arity: Arity,
    /// Its family.
    pub group: Group,
    /// Which arguments are keys.
    pub keys: Keys,
    /// What is special about it.
    pub flags: &'static [Flag],
    /// The version of Redis that had it first.
    pub since: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Executes it on one server's records.
    pub run: fn(&mut Context<'_>, Arguments<'_>) -> CommandResult,
    /// Where in the pool it is executed.
    pub route: Route,
    /// What it is parted into.
    pub subcommands: &'static [Command],
}

impl Command {
    /// Whether this is special about it.
    #[inline]
    pub fn has(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    /// The subcommand that a request names, or itself where it has none.
    pub(crate) fn with_subcommand(&'static self, arguments: Arguments<'_>) -> Result<&'static Command, Failure> {
        if self.subcommands.is_empty() || arguments.len() < 2 {
            return Ok(self);
        }
        self.subcommand(arguments.get(1)).ok_or_else(|| {
            let (given, name) = (lossy(arguments.get(1)), self.name.to_uppercase());
            Failure::Message(format!("ERR unknown subcommand '{given}'. Try {name} HELP."))
        })
    }

    /// A subcommand by its name, in whatever case.
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

type Run = fn(&mut Context<'_>, Arguments<'_>) -> CommandResult;

/// A row of the table: its name, arity, keys, flags, since when Redis has it, the function that executes it, if need be
/// its route, and a summary.
macro_rules! rows {
    ($group:ident: $(
        $name:literal $arity:literal $keys:ident [$($flag:ident)*] $since:literal $run:path $(=> $route:expr)?,
            $summary:literal;
    )*) => {
        [$(Command {
            name: $name,
            arity: Arity($arity),
            group: Group::$group,
            keys: $keys,
            flags: &[$(Flag::$flag),*],
            since: $since,
            summary: $summary,
            run: $run as Run,
            route: rows!(@route $($route)?),
            subcommands: &[],
        }),*]
    };
    (@route) => { Route::Server };
    (@route $route:expr) => { $route };
}

/// All commands, by family.
pub static COMMANDS: [&[Command]; 9] =
    [&STRINGS, &BITMAPS, &GENERIC, &TRANSACTIONS, &CONNECTION, &SERVER, &CONTAINERS, &FOLLOWING, &CLUSTERS];

static STRINGS: [Command; 23] = rows! { String:
    "append" 3 ONE [Write NeedsRoom Fast InPlace] "2.0.0" strings::append, "Appends to a value";
    "decr" 2 ONE [Write NeedsRoom Fast] "1.0.0" counters::decr, "Decrements a number by 1";
    "decrby" 3 ONE [Write NeedsRoom Fast] "1.0.0" counters::decr_by, "Decrements a number";
    "get" 2 ONE [ReadOnly Fast] "1.0.0" strings::get, "Returns the value of a key";
    "getdel" 2 ONE [Write Fast] "6.2.0" strings::getdel, "Returns the value of a key and deletes the key";
    "getex" -2 ONE [Write Fast] "6.2.0" strings::getex, "Returns the value of a key and changes when it expires";
    "getrange" 4 ONE [ReadOnly] "2.4.0" strings::getrange, "Returns a part of a value";
    "getset" 3 ONE [Write NeedsRoom Fast] "1.0.0" strings::getset,
        "Stores a value and returns the one that it replaces";
    "incr" 2 ONE [Write NeedsRoom Fast] "1.0.0" counters::incr, "Increments a number by 1";
    "incrby" 3 ONE [Write NeedsRoom Fast] "1.0.0" counters::incr_by, "Increments a number";
    "incrbyfloat" 3 ONE [Write NeedsRoom Fast] "2.6.0" counters::incr_by_float, "Increments a number with decimals";
    "lcs" -3 TWO [ReadOnly] "7.0.0" subsequence::longest_common_subsequence,
        "Returns the longest common subsequence of two values";
    "mget" -2 ALL [ReadOnly Fast] "1.0.0" strings::mget => Route::Split("get", Gather::List),
        "Returns the values of several keys";
    "mset" -3 PAIRS [Write NeedsRoom] "1.0.1" strings::mset => Route::Split("set", Gather::Ok),
        "Stores the values of several keys";
    "msetnx" -3 PAIRS [Write NeedsRoom] "1.0.1" strings::msetnx,
        "Stores the values of several keys, if none of the keys exists";
    "psetex" 4 ONE [Write NeedsRoom] "2.6.0" strings::psetex,
        "Stores a value that expires after this many milliseconds";
    "set" -3 ONE [Write NeedsRoom] "1.0.0" strings::set, "Stores a value under a key";
    "setex" 4 ONE [Write NeedsRoom] "2.0.0" strings::setex, "Stores a value that expires after this many seconds";
    "setnx" 3 ONE [Write NeedsRoom Fast] "1.0.0" strings::setnx, "Stores a value, if the key does not exist";
    "setrange" 4 ONE [Write NeedsRoom InPlace] "2.2.0" strings::setrange, "Overwrites a part of a value";
    "strlen" 2 ONE [ReadOnly Fast] "2.2.0" strings::strlen, "Returns the length of a value";
    "substr" 4 ONE [ReadOnly] "1.0.0" strings::getrange, "Returns a part of a value; the old name of GETRANGE";
    "type" 2 ONE [ReadOnly Fast] "1.0.0" keys::kind, "Returns the type of a key's value";
};

static BITMAPS: [Command; 7] = rows! { Bitmap:
    "bitcount" -2 ONE [ReadOnly] "2.6.0" bits::count_bits, "Counts the bits of a value that are set";
    "bitfield" -2 ONE [Write NeedsRoom InPlace] "3.2.0" bit_fields::bit_field,
        "Reads, stores and increments integers of any width in a value";
    "bitfield_ro" -2 ONE [ReadOnly Fast] "6.0.0" bit_fields::read_bit_field, "Reads integers of any width in a value";
    "bitop" -4 FROM_SECOND [Write NeedsRoom] "2.6.0" bits::combine,
        "Combines the bits of several values, and stores the result";
    "bitpos" -3 ONE [ReadOnly] "2.8.7" bits::find_bit, "Returns the first bit of a value that is set, or that is not";
    "getbit" 3 ONE [ReadOnly Fast] "2.2.0" bits::get_bit, "Returns a bit of a value";
    "setbit" 4 ONE [Write NeedsRoom InPlace] "2.2.0" bits::set_bit, "Sets or clears a bit of a value";
};

static GENERIC: [Command; 25] = rows! { Generic:
    "copy" -3 TWO [Write NeedsRoom] "6.2.0" keys::copy, "Copies the value of a key to another key";
    "del" -2 ALL [Write] "1.0.0" keys::del => Route::Split("del", Gather::Sum), "Deletes keys";
    "exists" -2 ALL [ReadOnly Fast] "1.0.0" keys::exists => Route::Split("exists", Gather::Sum),
        "Counts how many of several keys exist";
    "expire" -3 ONE [Write Fast] "1.0.0" expiry::expire, "Makes a key expire after this many seconds";
    "expireat" -3 ONE [Write Fast] "1.2.0" expiry::expireat, "Makes a key expire at a Unix time in seconds";
    "expiretime" 2 ONE [ReadOnly Fast] "7.0.0" expiry::expiretime,
        "Returns when a key expires, as a Unix time in seconds";
    "keys" 2 NONE [ReadOnly] "1.0.0" scan::keys => Route::Pool(Host::list_keys),
        "Returns all keys that match a pattern";
    "persist" 2 ONE [Write Fast] "2.2.0" expiry::persist, "Makes a key no longer expire";
    "pexpire" -3 ONE [Write Fast] "2.6.0" expiry::pexpire, "Makes a key expire after this many milliseconds";
    "pexpireat" -3 ONE [Write Fast] "2.6.0" expiry::pexpireat, "Makes a key expire at a Unix time in milliseconds";
    "pexpiretime" 2 ONE [ReadOnly Fast] "7.0.0" expiry::pexpiretime,
        "Returns when a key expires, as a Unix time in milliseconds";
    "pttl" 2 ONE [ReadOnly Fast] "2.6.0" expiry::pttl, "Returns how many milliseconds remain until a key expires";
    "randomkey" 1 NONE [ReadOnly] "1.0.0" keys::randomkey => Route::Pool(Host::draw_key), "Returns a random key";
    "rename" 3 TWO [Write] "1.0.0" keys::rename, "Renames a key";
    "renamenx" 3 TWO [Write Fast] "1.0.0" keys::renamenx, "Renames a key, if no other key has the new name";
    "scan" -2 NONE [ReadOnly] "2.8.0" scan::scan => Route::Pool(Host::scan),
        "Returns some of the keys, and the cursor to continue from";
    "touch" -2 ALL [ReadOnly Fast] "3.2.1" keys::touch => Route::Split("touch", Gather::Sum),
        "Marks keys as used without reading them";
    "ttl" 2 ONE [ReadOnly Fast] "1.0.0" expiry::ttl, "Returns how many seconds remain until a key expires";
    "unlink" -2 ALL [Write Fast] "4.0.0" keys::del => Route::Split("unlink", Gather::Sum), "Deletes keys";
    "dbsize" 1 NONE [ReadOnly Fast] "1.0.0" server::dbsize => Route::Pool(Host::count_keys),
        "Returns the number of keys";
    "flushall" -1 NONE [Write] "1.0.0" server::flush => Route::Pool(Host::clear), "Deletes all keys";
    "flushdb" -1 NONE [Write] "1.0.0" server::flush => Route::Pool(Host::clear), "Deletes all keys";
    "time" 1 NONE [Fast] "2.6.0" server::time, "Returns the time";
    "wait" 3 NONE [] "3.0.0" server::wait, "Returns how many replicas have what was written";
    "move" 3 ONE [Write Fast] "1.0.0" keys::move_key, "Not supported: there is only one database";
};

static TRANSACTIONS: [Command; 5] = rows! { Transactions:
    "discard" 1 NONE [Fast NotQueued OneConnection] "2.0.0" transactions::discard, "Discards a transaction";
    "exec" 1 NONE [NotQueued OneConnection EndsTransaction] "1.2.0" transactions::exec => Route::Pool(Host::exec),
        "Carries out a transaction";
    "multi" 1 NONE [Fast NotQueued OneConnection] "1.2.0" transactions::multi, "Begins a transaction";
    "unwatch" 1 NONE [Fast OneConnection] "2.2.0" transactions::unwatch, "Stops watching all keys";
    "watch" -2 ALL [Fast NotQueued OneConnection] "2.2.0" transactions::watch => Route::Pool(Host::watch),
        "Makes the next transaction fail if a key changes before it";
};

static CONNECTION: [Command; 7] = rows! { Connection:
    "auth" -2 NONE [Fast BeforeAuthentication OneConnection] "1.0.0" connection::auth, "Authenticates the client";
    "echo" 2 NONE [Fast] "1.0.0" connection::echo, "Returns its argument";
    "hello" -1 NONE [Fast BeforeAuthentication OneConnection] "6.0.0" connection::hello,
        "Chooses a version of the protocol";
    "ping" -1 NONE [Fast] "1.0.0" connection::ping, "Checks that the server answers";
    "quit" -1 NONE [Fast BeforeAuthentication NotQueued OneConnection] "1.0.0" connection::quit,
        "Closes the connection";
    "reset" 1 NONE [Fast BeforeAuthentication NotQueued OneConnection] "6.2.0" connection::reset,
        "Resets the connection to its initial state";
    "select" 2 NONE [Fast OneConnection] "1.0.0" connection::select, "Selects a database; there is only number 0";
};

static SERVER: [Command; 5] = rows! { Server:
    "bgrewriteaof" 1 NONE [Admin] "1.0.0" persistence::rewrite_in_background,
        "Makes a snapshot in the background, which replaces the logs";
    "bgsave" -1 NONE [Admin] "1.0.0" persistence::save_in_background,
        "Makes a snapshot in the background, which replaces the logs";
    "lastsave" 1 NONE [Fast] "1.0.0" persistence::last_save,
        "Returns when the last snapshot was made, as a Unix time in seconds";
    "save" 1 NONE [Admin NoTransaction] "1.0.0" persistence::save => Route::Host(Host::save),
        "Makes a snapshot and waits until it is made";
    "info" -1 NONE [] "1.0.0" information::info => Route::Host(Host::inform), "Returns information about the node";
};

static CONTAINERS: [Command; 6] = {
    let [client, command, config, function, memory, object] = rows! { Server:
        "client" -2 NONE [OneConnection] "2.4.0" client::none, "Commands on clients";
        "command" -1 NONE [] "2.8.13" documentation::all, "Returns the arity, flags and keys of all commands";
        "config" -2 NONE [Admin] "2.0.0" client::none, "Commands on settings";
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
    "asking" 1 NONE [Fast OneConnection] "3.0.0" cluster::accept,
        "Does nothing: the member that has a key answers for it";
    "readonly" 1 NONE [Fast OneConnection] "3.0.0" cluster::accept, "Does nothing: there are no replicas to read from";
    "readwrite" 1 NONE [Fast OneConnection] "3.0.0" cluster::accept, "Does nothing: there are no replicas to read from";
};

static CLUSTERS: [Command; 1] = {
    let [cluster] = rows! { Cluster:
        "cluster" -2 NONE [] "3.0.0" client::none, "Commands on the pool and its slots";
    };
    [cluster.of(&CLUSTER)]
};

static CLUSTER: [Command; 12] = rows! { Cluster:
    "cluster|countkeysinslot" 3 NONE [] "3.0.0" cluster::count_keys => Route::Host(Host::count_keys_in_slot),
        "Counts the keys of a slot on this server";
    "cluster|drain" 2 NONE [Admin] "7.0.0" cluster::drain => Route::Host(Host::drain),
        "Makes this member leave, once its servers have moved to others";
    "cluster|getkeysinslot" 4 NONE [] "3.0.0" cluster::keys_in => Route::Host(Host::list_keys_in_slot),
        "Returns keys of a slot on this server";
    "cluster|grow" -2 NONE [Admin] "7.0.0" cluster::resize => Route::Host(Host::grow),
        "Spreads the table over one more server, or over this many more";
    "cluster|help" 2 NONE [] "5.0.0" documentation::help, "Lists the subcommands of CLUSTER";
    "cluster|info" 2 NONE [] "3.0.0" cluster::info => Route::Host(Host::describe_slots),
        "Returns the numbers of members and slots";
    "cluster|keyslot" 3 NONE [] "3.0.0" cluster::key_slot, "Returns the slot of a key";
    "cluster|myid" 2 NONE [] "3.0.0" cluster::my_id => Route::Host(Host::describe_slots),
        "Returns the name of this member";
    "cluster|nodes" 2 NONE [] "3.0.0" cluster::nodes => Route::Host(Host::describe_slots),
        "Returns all members with their slots, as text";
    "cluster|shards" 2 NONE [] "7.0.0" cluster::shards => Route::Host(Host::describe_slots),
        "Returns all members with their slots";
    "cluster|shrink" -2 NONE [Admin] "7.0.0" cluster::resize => Route::Host(Host::shrink),
        "Merges the table into one server fewer, or into this many fewer";
    "cluster|slots" 2 NONE [] "3.0.0" cluster::slots => Route::Host(Host::describe_slots),
        "Returns all ranges of slots and the members that have them";
};

static CLIENT: [Command; 13] = rows! { Connection:
    "client|capa" -3 NONE [Fast] "8.0.0" client::capabilities,
        "Declares what the client understands: `ranges` of slots that have moved, the whole `table` from one member";
    "client|getname" 2 NONE [Fast] "2.6.9" client::get_name, "Returns the name of the client";
    "client|help" 2 NONE [Fast] "5.0.0" documentation::help, "Lists the subcommands of CLIENT";
    "client|id" 2 NONE [Fast] "5.0.0" client::id, "Returns the number of the client";
    "client|info" 2 NONE [Fast] "6.2.0" client::info, "Returns information about the client";
    "client|kill" -3 NONE [Admin] "2.4.0" client::kill, "Closes connections";
    "client|list" -2 NONE [Admin] "2.4.0" client::list, "Returns information about all clients";
    "client|no-evict" 3 NONE [Admin] "7.0.0" client::accept_switch,
        "Does nothing: no client is disconnected for the memory that it takes";
    "client|no-touch" 3 NONE [Fast] "7.2.0" client::accept_switch, "Does nothing: every use counts";
    "client|reply" 3 NONE [Fast] "3.2.0" client::reply, "Chooses which requests are replied to";
    "client|setinfo" 4 NONE [Fast] "7.2.0" client::set_info, "Names the library that the client uses";
    "client|setname" 3 NONE [Fast] "2.6.9" client::set_name, "Names the client";
    "client|unpause" 2 NONE [Admin] "6.2.0" client::unpause, "Does nothing: clients are never paused";
};

static COMMAND: [Command; 6] = rows! { Server:
    "command|count" 2 NONE [] "2.8.13" documentation::count, "Returns the number of commands";
    "command|docs" -2 NONE [] "7.0.0" documentation::docs, "Describes commands";
    "command|getkeys" -4 NONE [] "2.8.13" documentation::get_keys, "Returns the keys of a request";
    "command|help" 2 NONE [] "5.0.0" documentation::help, "Lists the subcommands of COMMAND";
    "command|info" -2 NONE [] "2.8.13" documentation::info, "Returns the arity, flags and keys of commands";
    "command|list" -2 NONE [] "7.0.0" documentation::list, "Returns the names of all commands";
};

static CONFIG: [Command; 5] = rows! { Server:
    "config|get" -3 NONE [Admin] "2.0.0" server::config_get, "Returns settings";
    "config|help" 2 NONE [] "5.0.0" documentation::help, "Lists the subcommands of CONFIG";
    "config|resetstat" 2 NONE [Admin] "2.0.0" server::config_resetstat, "Resets the counters";
    "config|rewrite" 2 NONE [Admin] "2.8.0" server::config_rewrite, "Does nothing: there is no configuration file";
    "config|set" -4 NONE [Admin] "2.0.0" server::config_set, "Changes settings";
};

static FUNCTION: [Command; 3] = rows! { Server:
    "function|flush" -2 NONE [Write] "7.0.0" server::function_flush, "Deletes all functions, of which there are none";
    "function|help" 2 NONE [] "7.0.0" documentation::help, "Lists the subcommands of FUNCTION";
    "function|list" -2 NONE [] "7.0.0" server::function_list, "Returns all functions, of which there are none";
};

static MEMORY: [Command; 2] = rows! { Server:
    "memory|help" 2 NONE [] "4.0.0" documentation::help, "Lists the subcommands of MEMORY";
    "memory|usage" -3 SECOND [ReadOnly] "4.0.0" server::memory_usage,
        "Returns the memory that a key and its value take";
};

static OBJECT: [Command; 5] = rows! { Generic:
    "object|encoding" 3 SECOND [ReadOnly] "2.2.3" keys::encoding, "Returns how Redis would encode a value";
    "object|freq" 3 SECOND [ReadOnly] "4.0.0" keys::frequency, "Not supported: how often keys are used is not counted";
    "object|help" 2 NONE [] "6.2.0" documentation::help, "Lists the subcommands of OBJECT";
    "object|idletime" 3 SECOND [ReadOnly] "2.2.3" keys::idle_time, "Returns how many seconds a key has not been used";
    "object|refcount" 3 SECOND [ReadOnly] "2.2.3" keys::reference_count, "Returns the reference count of a value";
};

/// The longest name that is looked up: it fits into 16 bytes.
const LONGEST_NAME: usize = size_of::<u128>();

/// All commands, in the order of their packed names.
static INDEX: LazyLock<Box<[(u128, &'static Command)]>> = LazyLock::new(|| {
    let packed = |command: &'static Command| (pack(command.name.as_bytes()), command);
    let mut index: Box<[_]> = COMMANDS.iter().copied().flatten().map(packed).collect();
    index.sort_unstable_by_key(|(name, _)| *name);
    index
});

/// A name in lower case as a number. No name has bytes as low as 1, so that no other bytes make the same number, not
/// even if they begin with zeros.
fn pack(name: &[u8]) -> u128 {
    name.iter().fold(0, |packed, byte| packed << 8 | u128::from(byte.to_ascii_lowercase().max(1)))
}

/// A command by its name, in whatever case.
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
            assert!(name.len() <= LONGEST_NAME && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
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
