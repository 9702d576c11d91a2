//! Clients' commands: one table of all, a file for each family, and how a request is executed on one server's records.

mod bit_fields;
mod bits;
mod client;
mod cluster;
mod connection;
mod counters;
mod documentation;
mod expiry;
mod information;
mod keys;
mod pattern;
mod persistence;
mod scan;
mod server;
mod strings;
mod subsequence;
mod table;
mod transactions;

pub(crate) use cluster::{most_keys, slot};
pub(crate) use information::asks_for_keyspace;
pub(crate) use pattern::matches;
pub(crate) use persistence::refuses_snapshot;
pub(crate) use scan::{Wanted, cursor_at};
pub use server::bytes;
pub use table::{Arity, COMMANDS, Command, Flag, Gather, Group, Keys, PoolHandler, Route, find};
pub(crate) use transactions::lacks_room;

use crate::bucket::Bucket;
use crate::connection::Session;
use crate::node::{Eviction, Node};
use crate::record::Milliseconds;
use crate::resp::{Arguments, OwnedArguments, Reply, number};

/// What a command works on.
#[derive(Debug)]
pub struct Context<'a> {
    /// The records.
    pub bucket: &'a mut Bucket,
    /// The node's state.
    pub node: &'a mut Node,
    /// The client's state.
    pub session: &'a mut Session,
    /// The reply to the client.
    pub reply: &'a mut Reply,
    /// The time of day.
    pub now: Milliseconds,
}

/// Why a command was not executed. The texts are those of Redis, since clients look for them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Unknown options, or options that exclude each other.
    #[error("ERR syntax error")]
    Syntax,
    /// An argument that should be an integer.
    #[error("ERR value is not an integer or out of range")]
    NotAnInteger,
    /// An argument that should be a number.
    #[error("ERR value is not a valid float")]
    NotANumber,
    /// A sum that is too large.
    #[error("ERR increment or decrement would overflow")]
    Overflow,
    /// A time at which no key can expire.
    #[error("ERR invalid expire time in '{0}' command")]
    ExpireTime(&'static str),
    /// A key that should exist.
    #[error("ERR no such key")]
    NoSuchKey,
    /// A position before the start of a value.
    #[error("ERR offset is out of range")]
    Offset,
    /// A value that would be longer than an argument may be.
    #[error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")]
    TooLong,
    /// A database other than 0.
    #[error("ERR DB index is out of range")]
    Database,
    /// Too few arguments, or too many.
    #[error("ERR wrong number of arguments for '{0}' command")]
    Arity(String),
    /// There is no room in memory.
    #[error("OOM command not allowed when used memory > 'maxmemory'.")]
    OutOfMemory,
    /// The client has to authenticate first.
    #[error("NOAUTH Authentication required.")]
    NotAuthenticated,
    /// A command that is not allowed in a transaction.
    #[error("ERR Command not allowed inside a transaction")]
    InTransaction,
    /// Any other failure.
    #[error("{0}")]
    Message(String),
}

/// How a command went. If it succeeded, it has replied; otherwise it has not.
pub type CommandResult = Result<(), Failure>;

/// A request and the command that it names, if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// The command's row of the table.
    pub command: Option<&'static Command>,
    /// The request.
    pub arguments: Arguments<'a>,
}

impl<'a> Invocation<'a> {
    /// Looks a request up in the table.
    #[inline]
    pub fn of(arguments: Arguments<'a>) -> Invocation<'a> {
        let command = find(arguments.get(0)).and_then(|command| command.with_subcommand(arguments).ok());
        Invocation { command, arguments }
    }

    /// Whether this is special about its command.
    #[inline]
    pub fn has(self, flag: Flag) -> bool {
        self.command.is_some_and(|command| command.has(flag))
    }

    /// Its keys.
    pub fn keys(self) -> impl Iterator<Item = &'a [u8]> {
        self.command.into_iter().flat_map(move |command| command.keys_of(self.arguments))
    }

    /// Its command, if it has one, enough arguments, and the client may use it.
    ///
    /// # Errors
    /// [`Failure`]
    #[inline]
    pub(crate) fn admit(self, session: &Session) -> Result<&'static Command, Failure> {
        let command = self.command.ok_or_else(|| unknown(self.arguments))?;
        if !command.arity.allows(self.arguments.len()) {
            return Err(Failure::Arity(command.name.to_owned()));
        }
        if !session.is_authenticated && !command.has(Flag::BeforeAuthentication) {
            return Err(Failure::NotAuthenticated);
        }
        Ok(command)
    }
}

/// Executes a client's request, or queues it if the client is in a transaction, and replies.
pub fn execute(context: &mut Context<'_>, invocation: Invocation<'_>) {
    let end = context.reply.end();
    context.session.client.last.set(context.now);
    let outcome = execute_or_queue(context, invocation);
    reply_to_failure(context, end, outcome);
    context.session.has_replied(context.reply, end);
}

/// Executes a request of a transaction or of another member, and replies.
pub(crate) fn apply(context: &mut Context<'_>, request: &OwnedArguments) {
    let (end, invocation) = (context.reply.end(), Invocation::of(request.borrowed()));
    let outcome = prepare(context, invocation).and_then(|command| run(context, command, invocation.arguments));
    reply_to_failure(context, end, outcome);
}

/// Replaces what was replied from `end` on if the request has failed.
#[inline]
fn reply_to_failure(context: &mut Context<'_>, end: usize, outcome: CommandResult) {
    if let Err(failure) = outcome {
        context.node.counts.errors += 1;
        context.reply.take_back(end);
        context.reply.error(&failure.to_string());
    }
}

fn execute_or_queue(context: &mut Context<'_>, invocation: Invocation<'_>) -> CommandResult {
    let prepared = prepare(context, invocation);
    if let Some(transaction) = &mut context.session.transaction {
        let command = prepared.inspect_err(|_| transaction.is_broken = true)?;
        if command.has(Flag::NoTransaction) {
            transaction.is_broken = true;
            return Err(Failure::InTransaction);
        }
        if !command.has(Flag::NotQueued) {
            return transactions::queue(context, invocation.arguments);
        }
        return run(context, command, invocation.arguments);
    }
    run(context, prepared?, invocation.arguments)
}

/// The command of a request that may be executed and has room for what it stores.
fn prepare(context: &mut Context<'_>, invocation: Invocation<'_>) -> Result<&'static Command, Failure> {
    let command = invocation.admit(context.session)?;
    if command.has(Flag::NeedsRoom) {
        make_room(context)?;
    }
    Ok(command)
}

fn run(context: &mut Context<'_>, command: &'static Command, arguments: Arguments<'_>) -> CommandResult {
    context.node.counts.commands += 1;
    context.session.client.command.set(command.name);
    (command.run)(context, arguments)
}

/// Why no command has the name that a request gives.
fn unknown(arguments: Arguments<'_>) -> Failure {
    if let Some(Err(failure)) = find(arguments.get(0)).map(|command| command.with_subcommand(arguments)) {
        return failure;
    }
    let shown = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(128)]).into_owned();
    let mut beginning = String::new();
    for argument in arguments.from(1) {
        if beginning.len() >= 128 {
            break;
        }
        beginning.push_str(&format!("'{}' ", shown(argument)));
    }
    Failure::Message(format!(
        "ERR unknown command '{}', with args beginning with: {beginning}",
        shown(arguments.get(0))
    ))
}

/// How many random records are sampled to evict one.
const SAMPLE: u32 = 5;
/// The most records that are evicted for one request.
const MOST_EVICTED: usize = 64;

/// Makes sure that the records take no more memory than they may.
fn make_room(context: &mut Context<'_>) -> CommandResult {
    let Context { bucket, node, now, .. } = context;
    let Some(most) = node.settings.most_memory else { return Ok(()) };
    for _ in 0..MOST_EVICTED {
        if bucket.memory() <= most {
            return Ok(());
        }
        if node.settings.eviction == Eviction::Refuse || !bucket.evict(*now, SAMPLE, || node.draw()) {
            break;
        }
    }
    if bucket.memory() <= most {
        return Ok(());
    }
    node.counts.out_of_memory += 1;
    Err(Failure::OutOfMemory)
}

fn integer(text: &[u8]) -> Result<i64, Failure> {
    number::integer(text).ok_or(Failure::NotAnInteger)
}

/// Whether an argument is a keyword, in any case.
fn is(argument: &[u8], keyword: &str) -> bool {
    argument.eq_ignore_ascii_case(keyword.as_bytes())
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
