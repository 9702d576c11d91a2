//! CLIENT: information on clients, and their settings.

use std::rc::Rc;

use super::{CommandResult, Context, Failure, integer, is, lossy};
use crate::connection::Replies;
use crate::node::Client;
use crate::record::Milliseconds;
use crate::resp::Arguments;

/// A command with subcommands is never executed without one.
pub(super) fn none(_: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    Err(Failure::Syntax)
}

pub(super) fn id(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    context.reply.count(context.session.client.id);
    Ok(())
}

pub(super) fn get_name(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    let name = context.session.client.name.borrow();
    context.reply.bulk_or_null(Some(&name[..]).filter(|name| !name.is_empty()));
    Ok(())
}

fn has_spaces(text: &[u8]) -> bool {
    text.iter().any(|byte| !(b'!'..=b'~').contains(byte))
}

/// Checks a client's name, which has to fit into a line of CLIENT LIST.
pub(super) fn check_name(name: &[u8]) -> CommandResult {
    if !has_spaces(name) {
        return Ok(());
    }
    Err(Failure::Message("ERR Client names cannot contain spaces, newlines or special characters.".to_owned()))
}

pub(super) fn set_name(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    check_name(arguments.get(2))?;
    context.session.client.name.replace(arguments.get(2).to_vec());
    context.reply.ok();
    Ok(())
}

pub(super) fn set_info(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (attribute, value) = (arguments.get(2), arguments.get(3));
    let client = &context.session.client;
    let kept = match attribute {
        _ if is(attribute, "lib-name") => &client.library,
        _ if is(attribute, "lib-ver") => &client.library_version,
        _ => return Err(Failure::Message(format!("ERR Unrecognized option '{}'", lossy(attribute)))),
    };
    if has_spaces(value) {
        let attribute = lossy(attribute);
        return Err(Failure::Message(format!(
            "ERR {attribute} cannot contain spaces, newlines or special characters."
        )));
    }
    kept.replace(value.to_vec());
    context.reply.ok();
    Ok(())
}

/// Capabilities of the client. Unknown ones are not an error: later versions may have more.
pub(super) fn capabilities(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let has = |name: &str| arguments.from(2).any(|capability| is(capability, name));
    context.session.takes_ranges |= has("ranges");
    context.session.takes_table |= has("table");
    context.reply.ok();
    Ok(())
}

/// The bytes of a request as clients send it.
fn sent_size(arguments: Arguments<'_>) -> usize {
    let of_number = |number: usize| 1 + number.to_string().len() + 2;
    let of_arguments = arguments.from(0).map(|argument| of_number(argument.len()) + argument.len() + 2);
    of_number(arguments.len()) + of_arguments.sum::<usize>()
}

/// A client's line in CLIENT LIST; `waiting` are the bytes of its requests that are not answered yet.
fn line(client: &Client, waiting: usize, now: Milliseconds) -> String {
    let seconds = |since: Milliseconds| now.saturating_sub(since) / 1000;
    format!(
        "id={} addr={} laddr={} fd=0 name={} age={} idle={} flags={} db=0 sub=0 psub=0 ssub=0 multi={} watch={} qbuf={waiting} \
         qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd={} user=default \
         redir=-1 resp={} lib-name={} lib-ver={}\n",
        client.id,
        client.address,
        client.local_address,
        lossy(&client.name.borrow()),
        seconds(client.since),
        seconds(client.last.get()),
        if client.queued.get().is_some() { "x" } else { "N" },
        client.queued.get().map_or(-1, |queued| queued as i64),
        client.watches.get(),
        client.command.get(),
        if client.speaks_three.get() { 3 } else { 2 },
        lossy(&client.library.borrow()),
        lossy(&client.library_version.borrow()),
    )
}

pub(super) fn info(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    context.reply.verbatim(&line(&context.session.client, sent_size(arguments), context.now));
    Ok(())
}

pub(super) fn list(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let mut wanted = None;
    match arguments.len() {
        2 => {}
        4 if is(arguments.get(2), "type") => check_kind(arguments.get(3))?,
        4.. if is(arguments.get(2), "id") => {
            let ids: Result<Vec<i64>, Failure> = arguments.from(3).map(client_id).collect();
            wanted = Some(ids?);
        }
        _ => return Err(Failure::Syntax),
    }
    let is_wanted = |client: &Client| wanted.as_ref().is_none_or(|ids| ids.contains(&(client.id as i64)));
    let normal = arguments.len() != 4 || !is(arguments.get(2), "type") || is(arguments.get(3), "normal");
    let clients = context.node.clients.values().filter(|client| normal && is_wanted(client));
    let own = context.session.client.id;
    let waiting = |client: &Client| if client.id == own { sent_size(arguments) } else { 0 };
    let lines: String = clients.map(|client| line(client, waiting(client), context.now)).collect();
    context.reply.verbatim(&lines);
    Ok(())
}

fn client_id(text: &[u8]) -> Result<i64, Failure> {
    integer(text).ok().filter(|&id| id > 0).ok_or_else(|| Failure::Message("ERR Invalid client ID".to_owned()))
}

/// Checks a type of clients; all clients of this store are normal ones.
fn check_kind(kind: &[u8]) -> CommandResult {
    if ["normal", "master", "replica", "slave", "pubsub"].iter().any(|known| is(kind, known)) {
        return Ok(());
    }
    Err(Failure::Message(format!("ERR Unknown client type '{}'", lossy(kind))))
}

/// Which clients are to be killed.
#[derive(Default)]
struct Filter {
    id: Option<i64>,
    address: Option<String>,
    local_address: Option<String>,
    none_of_the_kind: bool,
    skips_own: bool,
}

impl Filter {
    fn read(arguments: Arguments<'_>) -> Result<Filter, Failure> {
        let mut filter = Filter { skips_own: true, ..Filter::default() };
        let mut rest = arguments.from(2);
        while let Some(option) = rest.next() {
            let given = rest.next().ok_or(Failure::Syntax)?;
            match option {
                _ if is(option, "id") => {
                    let invalid = || Failure::Message("ERR client-id should be greater than 0".to_owned());
                    filter.id = Some(integer(given).ok().filter(|&id| id > 0).ok_or_else(invalid)?);
                }
                _ if is(option, "addr") => filter.address = Some(lossy(given)),
                _ if is(option, "laddr") => filter.local_address = Some(lossy(given)),
                _ if is(option, "type") => {
                    check_kind(given)?;
                    filter.none_of_the_kind = !is(given, "normal");
                }
                _ if is(option, "user") && is(given, "default") => {}
                _ if is(option, "user") => {
                    return Err(Failure::Message(format!("ERR No such user '{}'", lossy(given))));
                }
                _ if is(option, "skipme") && is(given, "yes") => filter.skips_own = true,
                _ if is(option, "skipme") && is(given, "no") => filter.skips_own = false,
                _ => return Err(Failure::Syntax),
            }
        }
        Ok(filter)
    }

    fn is_for(&self, client: &Client, own: u64) -> bool {
        let is_spared = self.none_of_the_kind || self.skips_own && client.id == own;
        !is_spared
            && self.id.is_none_or(|id| id == client.id as i64)
            && self.address.as_ref().is_none_or(|address| *address == client.address)
            && self.local_address.as_ref().is_none_or(|address| *address == client.local_address)
    }
}

pub(super) fn kill(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let by_address = arguments.len() == 3;
    let filter = if by_address {
        Filter { address: Some(lossy(arguments.get(2))), ..Filter::default() }
    } else {
        Filter::read(arguments)?
    };
    let own = context.session.client.id;
    let clients = &mut context.node.clients;
    let killed: Vec<Rc<Client>> = clients.values().filter(|client| filter.is_for(client, own)).cloned().collect();
    killed.iter().for_each(|client| client.is_killed.set(true));
    // They are listed no longer, although their connections are only about to be closed.
    clients.retain(|id, client| *id == own || !client.is_killed.get());
    context.node.has_killed |= !killed.is_empty();
    let count = killed.len();
    match (by_address, count) {
        (true, 0) => return Err(Failure::Message("ERR No such client".to_owned())),
        (true, _) => context.reply.ok(),
        (false, count) => context.reply.count(count as u64),
    }
    Ok(())
}

pub(super) fn reply(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let how = arguments.get(2);
    context.session.replies = match how {
        _ if is(how, "on") => Replies::On,
        _ if is(how, "off") => Replies::Off,
        _ if is(how, "skip") && context.session.replies == Replies::Off => Replies::Off,
        _ if is(how, "skip") => Replies::SkipNext,
        _ => return Err(Failure::Syntax),
    };
    if context.session.replies == Replies::On {
        context.reply.ok();
    }
    Ok(())
}

/// Accepts a switch that has no effect in this store.
pub(super) fn accept_switch(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    if !is(arguments.get(2), "on") && !is(arguments.get(2), "off") {
        return Err(Failure::Syntax);
    }
    context.reply.ok();
    Ok(())
}

pub(super) fn unpause(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    context.reply.ok();
    Ok(())
}
