//! Commands of clients that follow slots.

use super::{CommandResult, Context, Failure, integer};
use crate::cluster::SlotRange;
use crate::resp::Arguments;
use crate::slot::{SLOT_BITS, slot_of};

pub(super) fn info(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    let map = &context.node.slots;
    let (members, with_slots) = (map.members, map.by_member().len());
    let text = format!(
        "cluster_enabled:1\r\ncluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_slots_ok:16384\r\n\
         cluster_slots_pfail:0\r\ncluster_slots_fail:0\r\ncluster_known_nodes:{members}\r\ncluster_size:{with_slots}\r\n\
         cluster_current_epoch:{epoch}\r\ncluster_my_epoch:{epoch}\r\ncluster_servers:{servers}\r\n",
        servers = map.servers,
        epoch = map.ranges.len()
    );
    context.reply.verbatim(&text);
    Ok(())
}

pub(super) fn slots(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    let (map, reply) = (&context.node.slots, &mut *context.reply);
    reply.array(map.ranges.len());
    for range in &map.ranges {
        reply.array(3);
        reply.integer(range.first.into());
        reply.integer(range.last.into());
        reply.array(4);
        reply.bulk(range.host.as_bytes());
        reply.integer(range.port.into());
        reply.bulk(range.member.as_bytes());
        reply.array(0);
    }
    Ok(())
}

pub(super) fn shards(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    let (map, reply) = (&context.node.slots, &mut *context.reply);
    let members = map.by_member();
    reply.array(members.len());
    for ranges in members {
        let Some(range) = ranges.first() else { continue };
        reply.map(2);
        reply.bulk(b"slots");
        reply.array(2 * ranges.len());
        for range in &ranges {
            reply.integer(range.first.into());
            reply.integer(range.last.into());
        }
        reply.bulk(b"nodes");
        reply.array(1);
        reply.map(7);
        reply.bulk(b"id");
        reply.bulk(range.member.as_bytes());
        reply.bulk(b"port");
        reply.integer(range.port.into());
        for (name, value) in
            [("ip", &*range.host), ("endpoint", &*range.host), ("role", "master"), ("health", "online")]
        {
            reply.bulk(name.as_bytes());
            reply.bulk(value.as_bytes());
        }
        reply.bulk(b"replication-offset");
        reply.integer(0);
    }
    Ok(())
}

pub(super) fn nodes(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    let map = &context.node.slots;
    let line = |ranges: &Vec<&SlotRange>| {
        let range = ranges.first()?;
        let slots: Vec<String> = ranges.iter().map(|range| written(range)).collect();
        let SlotRange { member, host, port, members_port, .. } = range;
        let flags = if *member == map.own { "myself,master" } else { "master" };
        Some(format!("{member} {host}:{port}@{members_port} {flags} - 0 0 1 connected {}\n", slots.join(" ")))
    };
    let text: String = map.by_member().iter().filter_map(line).collect();
    context.reply.verbatim(&text);
    Ok(())
}

fn written(range: &SlotRange) -> String {
    match (range.first, range.last) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    }
}

pub(super) fn my_id(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    let own = context.node.slots.own.clone();
    context.reply.bulk(own.as_bytes());
    Ok(())
}

pub(super) fn key_slot(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    context.reply.integer(slot_of(arguments.get(2)).into());
    Ok(())
}

/// The slot that an argument names.
pub(crate) fn slot(argument: &[u8]) -> Result<u16, Failure> {
    let slot = u16::try_from(integer(argument)?).ok().filter(|slot| *slot < 1 << SLOT_BITS);
    slot.ok_or_else(|| Failure::Message("ERR Invalid or out of range slot".to_owned()))
}

/// The most keys that GETKEYSINSLOT is to return.
pub(crate) fn most_keys(argument: &[u8]) -> Result<usize, Failure> {
    usize::try_from(integer(argument)?).map_err(|_| Failure::Message("ERR Invalid number of keys".to_owned()))
}

pub(super) fn count_keys(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let slot = slot(arguments.get(2))?;
    let in_slot = context.bucket.records(context.now).filter(|record| slot_of(record.key()) == slot);
    context.reply.count(in_slot.count() as u64);
    Ok(())
}

pub(super) fn keys_in(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (slot, most) = (slot(arguments.get(2))?, most_keys(arguments.get(3))?);
    let in_slot = context.bucket.records(context.now).filter(|record| slot_of(record.key()) == slot);
    let keys: Vec<&[u8]> = in_slot.map(|record| record.key()).take(most).collect();
    context.reply.array(keys.len());
    keys.iter().for_each(|key| context.reply.bulk(key));
    Ok(())
}

/// Refuses the command: the host, which has the member, executes all valid ones.
pub(super) fn resize(_: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    Err(Failure::Message("ERR allowed is a number of servers up to 4294967295, outside of transactions".to_owned()))
}

/// Refuses the command, as [`resize`].
pub(super) fn drain(_: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    Err(Failure::Message("ERR not allowed in a transaction".to_owned()))
}

/// ASKING, READONLY and READWRITE have no effect: every member answers for its own keys in any mode.
pub(super) fn accept(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    context.reply.ok();
    Ok(())
}
