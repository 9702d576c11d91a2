//! Clients' commands: one table of all, a file for each family, and how a request is carried out.

mod bit_fields;
mod bits;
mod client;
mod cluster;
mod connection;
mod counters;
mod documentation;
mod expiry;
mod information;
mod keeping;
mod keys;
mod pattern;
mod scan;
mod server;
mod strings;
mod subsequence;
mod table;
mod transactions;

pub(crate) use cluster::slot_asked_for;
pub(crate) use information::counts_keys;
pub(crate) use keeping::refuses_snapshot;
pub(crate) use pattern::matches;
pub(crate) use scan::{Wanted, cursor_at};
pub use server::bytes;
pub use table::{Arity, COMMANDS, Command, Flag, Group, Keys, find};
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

/// Why a command was not carried out. The texts are those of Redis, since clients look for them.
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
pub type Outcome = Result<(), Failure>;

/// Carries out a request, or queues it if the client is in a transaction, and replies.
pub fn dispatch(context: &mut Context<'_>, arguments: Arguments<'_>) {
    reply_to(context, |context| attempt(context, arguments));
}

/// Carries out a request whose command was found, may be carried out and is not queued, and replies.
pub(crate) fn dispatch_known(context: &mut Context<'_>, command: &'static Command, arguments: Arguments<'_>) {
    reply_to(context, |context| {
        find_room(context, command)?;
        run(context, command, arguments)
    });
}

/// Replies to a request as it succeeds or fails.
#[inline]
fn reply_to(context: &mut Context<'_>, carry_out: impl FnOnce(&mut Context<'_>) -> Outcome) {
    let end = context.reply.end();
    context.session.client.last.set(context.now);
    if let Err(failure) = carry_out(context) {
        context.node.counts.errors += 1;
        context.reply.take_back(end);
        context.reply.error(&failure.to_string());
    }
    context.session.has_replied(context.reply, end);
}

fn attempt(context: &mut Context<'_>, arguments: Arguments<'_>) -> Outcome {
    let checked = check(context, arguments);
    if let Some(transaction) = &mut context.session.transaction {
        let command = checked.inspect_err(|_| transaction.is_broken = true)?;
        if command.has(Flag::NoTransaction) {
            transaction.is_broken = true;
            return Err(Failure::InTransaction);
        }
        if !command.has(Flag::NotQueued) {
            return transactions::queue(context, arguments);
        }
        return run(context, command, arguments);
    }
    run(context, checked?, arguments)
}

/// The command of a request, if it may be carried out.
fn check(context: &mut Context<'_>, arguments: Arguments<'_>) -> Result<&'static Command, Failure> {
    let command = find(arguments.get(0)).ok_or_else(|| unknown(arguments))?;
    let command = command.with_subcommand(arguments)?;
    if !command.arity.allows(arguments.len()) {
        return Err(Failure::Arity(command.name.to_owned()));
    }
    if !context.session.is_authenticated && !command.has(Flag::BeforeAuthentication) {
        return Err(Failure::NotAuthenticated);
    }
    find_room(context, command)?;
    Ok(command)
}

/// Makes sure that there is room for what a command stores.
fn find_room(context: &mut Context<'_>, command: &Command) -> Outcome {
    if command.has(Flag::NeedsRoom) { make_room(context) } else { Ok(()) }
}

fn run(context: &mut Context<'_>, command: &'static Command, arguments: Arguments<'_>) -> Outcome {
    context.node.counts.commands += 1;
    context.session.client.command.set(command.name);
    (command.run)(context, arguments)
}

fn unknown(arguments: Arguments<'_>) -> Failure {
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
fn make_room(context: &mut Context<'_>) -> Outcome {
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

/// Carries out a stored request: one of a transaction, or one for another member.
pub(crate) fn carry_out(context: &mut Context<'_>, arguments: &OwnedArguments) {
    let end = context.reply.end();
    let arguments = arguments.borrowed();
    let outcome = check(context, arguments).and_then(|command| run(context, command, arguments));
    if let Err(failure) = outcome {
        context.node.counts.errors += 1;
        context.reply.take_back(end);
        context.reply.error(&failure.to_string());
    }
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
