//! Commands on the node: its data and its settings.

use std::ops::RangeInclusive;

use super::pattern::matches;
use super::{CommandResult, Context, Failure, integer, is, lossy};
use crate::journal::disk::Fsync;
use crate::node::{Counts, Eviction, Settings};
use crate::resp::{Arguments, number};

pub(super) fn dbsize(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    context.bucket.sweep(context.now, usize::MAX);
    context.reply.count(context.bucket.len());
    Ok(())
}

pub(super) fn flush(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let known =
        arguments.len() == 1 || arguments.len() == 2 && (is(arguments.get(1), "async") || is(arguments.get(1), "sync"));
    if !known {
        return Err(Failure::Syntax);
    }
    context.bucket.clear();
    context.reply.ok();
    Ok(())
}

pub(super) fn time(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    context.reply.array(2);
    context.reply.bulk((context.now / 1000).to_string().as_bytes());
    context.reply.bulk((context.now % 1000 * 1000).to_string().as_bytes());
    Ok(())
}

pub(super) fn wait(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    integer(arguments.get(1))?;
    let failure = |text: &str| Failure::Message(text.to_owned());
    let timeout = integer(arguments.get(2)).map_err(|_| failure("ERR timeout is not an integer or out of range"))?;
    if timeout < 0 {
        return Err(failure("ERR timeout is negative"));
    }
    context.reply.integer(0);
    Ok(())
}

/// The mean memory of a key's place in the table. [B]
const PLACE: usize = 16;

pub(super) fn memory_usage(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    match arguments.len() {
        3 => {}
        5 if is(arguments.get(3), "samples") => drop(integer(arguments.get(4))?),
        _ => return Err(Failure::Syntax),
    }
    match context.bucket.peek(arguments.get(2), context.now) {
        Some(record) => context.reply.count((record.memory() + PLACE) as u64),
        None => context.reply.null(),
    }
    Ok(())
}

pub(super) fn function_flush(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    if arguments.len() > 3 || arguments.len() == 3 && !is(arguments.get(2), "async") && !is(arguments.get(2), "sync") {
        return Err(Failure::Message("ERR FUNCTION FLUSH only supports SYNC|ASYNC option".to_owned()));
    }
    context.reply.ok();
    Ok(())
}

pub(super) fn function_list(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    context.reply.array(0);
    Ok(())
}

/// All settings by their names in Redis, with their values; settings that can't be changed have their fixed value.
fn settings(context: &Context<'_>) -> Vec<(&'static str, String)> {
    let Settings { password, most_clients, most_memory, eviction, limits, most_idle, .. } = &context.node.settings;
    let disk = context.node.disk.as_ref();
    vec![
        ("appendfsync", disk.map_or(Fsync::default(), |disk| disk.fsync).name().to_owned()),
        ("appendonly", if disk.is_some() { "yes" } else { "no" }.to_owned()),
        ("databases", "1".to_owned()),
        ("dir", disk.map_or_else(String::new, |disk| disk.directory.display().to_string())),
        ("maxclients", most_clients.to_string()),
        ("maxmemory", most_memory.unwrap_or(0).to_string()),
        ("maxmemory-policy", eviction.name().to_owned()),
        ("port", context.node.port.to_string()),
        ("proto-max-bulk-len", limits.argument.to_string()),
        ("requirepass", password.as_deref().map_or_else(String::new, lossy)),
        ("save", String::new()),
        ("timeout", most_idle.unwrap_or(0).to_string()),
    ]
}

pub(super) fn config_get(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let mut found = settings(context);
    found.retain(|(name, _)| arguments.from(2).any(|pattern| matches(&pattern.to_ascii_lowercase(), name.as_bytes())));
    context.reply.map(found.len());
    for (name, value) in found {
        context.reply.bulk(name.as_bytes());
        context.reply.bulk(value.as_bytes());
    }
    Ok(())
}

/// Sets all given settings, or none.
pub(super) fn config_set(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    if !arguments.len().is_multiple_of(2) {
        return Err(Failure::Arity("config|set".to_owned()));
    }
    let (known, names) = (settings(context), arguments.from(2).step_by(2));
    let failed = |name: &[u8], why: &str| {
        let name = lossy(name);
        Failure::Message(format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {why}"))
    };
    let mut found: Vec<&(&str, String)> = Vec::new();
    for name in names.clone() {
        let setting = known.iter().find(|(known, _)| is(name, known)).ok_or_else(|| {
            let name = lossy(name);
            Failure::Message(format!("ERR Unknown option or number of arguments for CONFIG SET - '{name}'"))
        })?;
        if found.contains(&setting) {
            return Err(failed(name, "duplicate parameter"));
        }
        found.push(setting);
    }
    let mut new = context.node.settings.clone();
    for ((name, value), (known, is_now)) in names.zip(arguments.from(3).step_by(2)).zip(found) {
        set(&mut new, known, is_now, value).map_err(|why| failed(name, &why))?;
    }
    context.node.settings = new;
    context.reply.ok();
    Ok(())
}

/// The longest value may be limited to this. [B]
const VALUES: RangeInclusive<usize> = 1 << 20..=512 << 20;

fn set(settings: &mut Settings, name: &str, is_now: &str, value: &[u8]) -> Result<(), String> {
    let count = || {
        let count = number::integer(value).and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| "argument couldn't be parsed into an integer".to_owned())
    };
    match name {
        "maxclients" => settings.most_clients = count()?.max(1),
        "maxmemory" => settings.most_memory = Some(bytes(value)?).filter(|&most| most > 0),
        "timeout" => settings.most_idle = Some(count()? as u64).filter(|&most| most > 0),
        "maxmemory-policy" => {
            let policies = [Eviction::Refuse, Eviction::LeastRecentlyUsed];
            let policy = policies.into_iter().find(|policy| is(value, policy.name()));
            settings.eviction = policy.ok_or("argument(s) must be one of the following: allkeys-lru, noeviction")?;
        }
        "proto-max-bulk-len" => {
            let most = Some(bytes(value)?).filter(|most| VALUES.contains(most));
            let allowed = || format!("argument must be between {} and {} inclusive", VALUES.start(), VALUES.end());
            settings.limits.argument = most.ok_or_else(allowed)?;
        }
        _ if value == is_now.as_bytes() => {}
        _ => return Err("can't set immutable config".to_owned()),
    }
    Ok(())
}

/// A number of bytes as Redis reads it, with an optional unit in any case: `100mb` are mebibytes, `1g` is 10^9 bytes.
///
/// # Errors
/// What it has to be.
pub fn bytes(text: &[u8]) -> Result<usize, String> {
    const UNITS: [(&str, usize); 7] = [
        ("kb", 1 << 10),
        ("mb", 1 << 20),
        ("gb", 1 << 30),
        ("k", 1_000),
        ("m", 1_000_000),
        ("g", 1_000_000_000),
        ("b", 1),
    ];
    if text.is_empty() {
        return Ok(0);
    }
    let text = text.to_ascii_lowercase();
    let unit = UNITS.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit.as_bytes())?, *bytes)));
    let (digits, unit) = unit.unwrap_or((&text, 1));
    let count = number::integer(digits).and_then(|count| usize::try_from(count).ok());
    let bytes = count.and_then(|count| count.checked_mul(unit));
    bytes.ok_or_else(|| "argument must be a memory value".to_owned())
}

pub(super) fn config_resetstat(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    context.node.counts = Counts::default();
    context.bucket.counts = crate::bucket::Counts::default();
    context.reply.ok();
    Ok(())
}

pub(super) fn config_rewrite(_: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    Err(Failure::Message("ERR The server is running without a config file".to_owned()))
}
