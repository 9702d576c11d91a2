//! COMMAND and all HELP: replies from the table of commands.

use super::table::{COMMANDS, Command, Keys, find};
use super::{CommandResult, Context, Failure, is, lossy};
use crate::resp::{Arguments, OwnedArguments};

fn all_commands() -> impl Iterator<Item = &'static Command> + Clone {
    COMMANDS.iter().copied().flatten()
}

pub(super) fn all(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    context.reply.array(all_commands().count());
    all_commands().for_each(|command| describe(context, command));
    Ok(())
}

pub(super) fn count(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    context.reply.count(all_commands().count() as u64);
    Ok(())
}

/// A command by its name, or a subcommand by its full name: `client|id`.
fn named(name: &[u8]) -> Option<&'static Command> {
    let mut parts = name.splitn(2, |&byte| byte == b'|');
    let command = find(parts.next()?)?;
    match parts.next() {
        Some(subcommand) => command.subcommand(subcommand),
        None => Some(command),
    }
}

pub(super) fn info(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    if arguments.len() == 2 {
        return all(context, arguments);
    }
    context.reply.array(arguments.len() - 2);
    for name in arguments.from(2) {
        match named(name) {
            Some(command) => describe(context, command),
            None => context.reply.null_array(),
        }
    }
    Ok(())
}

/// Name, arity, flags, first, last and step of the keys, categories, tips, specifications of keys, subcommands.
fn describe(context: &mut Context<'_>, command: &'static Command) {
    let Keys { first, last, step } = command.keys;
    context.reply.array(10);
    context.reply.bulk(command.name.as_bytes());
    context.reply.integer(command.arity.0.into());
    let flags = command.flags.iter().filter_map(|flag| flag.name());
    context.reply.set(flags.clone().count());
    flags.for_each(|flag| context.reply.simple(flag));
    context.reply.integer(first as i64);
    context.reply.integer(last.into());
    context.reply.integer(step as i64);
    context.reply.set(1);
    context.reply.simple(&format!("@{}", category(command)));
    context.reply.array(0);
    context.reply.array(0);
    context.reply.array(command.subcommands.len());
    command.subcommands.iter().for_each(|subcommand| describe(context, subcommand));
}

/// The ACL category of a command's family; some have another name there.
fn category(command: &Command) -> &'static str {
    match command.group.name() {
        "generic" => "keyspace",
        "transactions" => "transaction",
        "server" => "admin",
        name => name,
    }
}

pub(super) fn docs(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let asked: Vec<&'static Command> = match arguments.len() {
        2 => all_commands().collect(),
        _ => arguments.from(2).filter_map(named).collect(),
    };
    context.reply.map(asked.len());
    asked.into_iter().for_each(|command| document(context, command));
    Ok(())
}

fn document(context: &mut Context<'_>, command: &'static Command) {
    let parts = command.subcommands;
    context.reply.bulk(command.name.as_bytes());
    context.reply.map(if parts.is_empty() { 3 } else { 4 });
    for (name, text) in [("summary", command.summary), ("since", command.since), ("group", command.group.name())] {
        context.reply.bulk(name.as_bytes());
        context.reply.bulk(text.as_bytes());
    }
    if !parts.is_empty() {
        context.reply.bulk(b"subcommands");
        context.reply.map(parts.len());
        parts.iter().for_each(|part| document(context, part));
    }
}

pub(super) fn list(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let pattern = match arguments.len() {
        2 => None,
        5 if is(arguments.get(2), "filterby") && is(arguments.get(3), "pattern") => Some(arguments.get(4)),
        _ => return Err(Failure::Syntax),
    };
    let fits = |name: &str| pattern.is_none_or(|pattern| super::pattern::matches(pattern, name.as_bytes()));
    let names: Vec<&str> = all_commands().map(|command| command.name).filter(|name| fits(name)).collect();
    context.reply.array(names.len());
    names.iter().for_each(|name| context.reply.bulk(name.as_bytes()));
    Ok(())
}

pub(super) fn get_keys(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let request: OwnedArguments = arguments.from(2).collect();
    let request = request.borrowed();
    let failure = |text: &str| Failure::Message(text.to_owned());
    let command = find(request.get(0)).ok_or_else(|| failure("ERR Invalid command specified"))?;
    let command = command.with_subcommand(request)?;
    if command.keys.first == 0 {
        return Err(failure("ERR The command has no key arguments"));
    }
    if !command.arity.allows(request.len()) {
        return Err(failure("ERR Invalid number of arguments specified for command"));
    }
    let keys: Vec<&[u8]> = command.keys_of(request).collect();
    context.reply.array(keys.len());
    keys.iter().for_each(|key| context.reply.bulk(key));
    Ok(())
}

/// Two lines per subcommand: its syntax, and what it does.
pub(super) fn help(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let Some(command) = find(arguments.get(0)) else { return Err(Failure::Message(lossy(arguments.get(0)))) };
    let name = command.name.to_uppercase();
    let mut lines = vec![format!("{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")];
    for part in command.subcommands {
        let own = part.name[command.name.len() + 1..].to_uppercase();
        let more = if part.arity == super::Arity(2) { "" } else { " ..." };
        lines.push(format!("{own}{more}"));
        lines.push(format!("    {}.", part.summary));
    }
    context.reply.array(lines.len());
    lines.iter().for_each(|line| context.reply.simple(line));
    Ok(())
}
