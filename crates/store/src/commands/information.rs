//! The INFO command.

use super::{CommandResult, Context, is};
use crate::cluster::{PoolState, ServerState};
use crate::connection::Session;
use crate::journal::disk::FilesState;
use crate::member::Peer;
use crate::node::{GroupState, REDIS_VERSION};
use crate::parity::state::{ParityState, RebuildingState, SeatState};
use crate::resp::Arguments;

/// A section: its name, and the function that makes its lines.
type Section = (&'static str, fn(&Context<'_>) -> Vec<(String, String)>);

/// A line: a name and a value.
fn line(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}

const SECTIONS: [Section; 10] = [
    ("Server", server),
    ("Clients", clients),
    ("Memory", memory),
    ("Persistence", persistence),
    ("Stats", stats),
    ("Replication", replication),
    ("Cluster", cluster),
    ("Pool", pool),
    (PARITY, parity),
    (KEYSPACE, keyspace),
];

/// The section that only a member of a group has.
const PARITY: &str = "Parity";
/// The section with the number of keys.
const KEYSPACE: &str = "Keyspace";

/// Arguments that ask for all sections.
const ALL: [&str; 3] = ["all", "default", "everything"];

/// Whether an INFO asks for a section.
fn asks_for(arguments: Arguments<'_>, name: &str) -> bool {
    arguments.len() == 1 || arguments.from(1).any(|asked| is(asked, name) || ALL.iter().any(|all| is(asked, all)))
}

/// Whether an INFO says how many keys there are.
pub(crate) fn asks_for_keyspace(arguments: Arguments<'_>) -> bool {
    asks_for(arguments, KEYSPACE)
}

pub(super) fn info(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let mut text = String::new();
    let is_there = |name: &str| name != PARITY || context.node.group.is_some();
    for (name, lines) in SECTIONS.iter().filter(|(name, _)| asks_for(arguments, name) && is_there(name)) {
        if !text.is_empty() {
            text.push_str("\r\n");
        }
        text.push_str(&format!("# {name}\r\n"));
        lines(context).iter().for_each(|(name, value)| text.push_str(&format!("{name}:{value}\r\n")));
    }
    context.reply.verbatim(&text);
    Ok(())
}

/// What the node is to a client: a node of a cluster for one that follows slots, and a server by itself for any other.
pub(super) const fn mode(session: &Session) -> &'static str {
    if session.follows_slots { "cluster" } else { "standalone" }
}

fn server(context: &Context<'_>) -> Vec<(String, String)> {
    let uptime = context.now.saturating_sub(context.node.since) / 1000;
    vec![
        line("redis_version", REDIS_VERSION.to_owned()),
        line("redis_mode", mode(context.session)),
        line("maquette_version", env!("CARGO_PKG_VERSION").to_owned()),
        line("os", std::env::consts::OS.to_owned()),
        line("arch_bits", usize::BITS.to_string()),
        line("process_id", std::process::id().to_string()),
        line("run_id", context.node.run.clone()),
        line("tcp_port", context.node.port.to_string()),
        line("uptime_in_seconds", uptime.to_string()),
        line("uptime_in_days", (uptime / 86_400).to_string()),
    ]
}

fn clients(context: &Context<'_>) -> Vec<(String, String)> {
    vec![
        line("connected_clients", context.node.clients.len().to_string()),
        line("maxclients", context.node.settings.most_clients.to_string()),
        line("blocked_clients", "0".to_owned()),
    ]
}

/// Bytes, in the unit that makes the number small.
fn human(bytes: u64) -> String {
    let units = [(1_u64 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(|| format!("{bytes}B"), |(unit, name)| format!("{:.2}{name}", bytes as f64 / unit as f64))
}

fn memory(context: &Context<'_>) -> Vec<(String, String)> {
    let used = context.bucket.memory() as u64;
    let most = context.node.settings.most_memory.unwrap_or(0) as u64;
    let (resident, peak) = context.node.resident;
    vec![
        line("used_memory", used.to_string()),
        line("used_memory_human", human(used)),
        line("used_memory_rss", resident.to_string()),
        line("used_memory_rss_human", human(resident)),
        line("used_memory_rss_peak", peak.to_string()),
        line("used_memory_dataset", used.to_string()),
        line("maxmemory", most.to_string()),
        line("maxmemory_human", human(most)),
        line("maxmemory_policy", context.node.settings.eviction.name().to_owned()),
    ]
}

/// The data on disk. The store's logs correspond to Redis's append-only file, and its snapshots to Redis's dump.
fn persistence(context: &Context<'_>) -> Vec<(String, String)> {
    let disk = context.node.disk.as_ref();
    let number = |of: fn(&FilesState) -> u64| disk.map_or(0, of).to_string();
    let status = if disk.is_some_and(|disk| disk.has_failed) { "err" } else { "ok" };
    vec![
        line("loading", 0),
        line("async_loading", 0),
        line("rdb_bgsave_in_progress", number(|disk| u64::from(disk.is_saving))),
        line("rdb_last_save_time", number(|disk| disk.saved.unwrap_or(0) / 1000)),
        line("rdb_last_bgsave_status", status),
        line("aof_enabled", u8::from(disk.is_some())),
        line("aof_rewrite_in_progress", number(|disk| u64::from(disk.is_saving))),
        line("aof_last_bgrewrite_status", status),
        // A member that can't write exits.
        line("aof_last_write_status", "ok"),
        line("aof_current_size", number(|disk| disk.snapshot + disk.logs)),
        line("aof_base_size", number(|disk| disk.snapshot)),
    ]
}

fn stats(context: &Context<'_>) -> Vec<(String, String)> {
    let (node, bucket) = (context.node.counts, context.bucket.counts);
    let counts = [
        ("total_connections_received", node.connections),
        ("total_commands_processed", node.commands),
        ("total_net_input_bytes", node.received),
        ("total_net_output_bytes", node.sent),
        ("rejected_connections", node.rejected),
        ("expired_keys", bucket.expired),
        ("evicted_keys", bucket.evicted),
        ("keyspace_hits", bucket.hits),
        ("keyspace_misses", bucket.misses),
        ("total_error_replies", node.errors),
        ("refused_http_requests", node.http_requests),
    ];
    counts.map(|(name, count)| line(name, count)).to_vec()
}

fn replication(context: &Context<'_>) -> Vec<(String, String)> {
    vec![
        line("role", "master".to_owned()),
        line("connected_slaves", "0".to_owned()),
        line("master_replid", context.node.run.clone()),
        line("master_repl_offset", "0".to_owned()),
    ]
}

fn cluster(context: &Context<'_>) -> Vec<(String, String)> {
    vec![line("cluster_enabled", u8::from(context.session.follows_slots))]
}

/// The member's role in a group with parity.
fn parity(context: &Context<'_>) -> Vec<(String, String)> {
    let Some(group) = &context.node.group else { return Vec::new() };
    let members = context.node.pool.members.iter().enumerate();
    let members = members.map(|(number, (peer, _))| line(&format!("parity_pool{number}"), of_member(peer)));
    part(group).into_iter().chain(members).collect()
}

/// A member, its role and its address for clients that follow slots.
fn of_member(Peer { identity, role, clients, .. }: &Peer) -> String {
    format!("member={identity},role={},address={clients}", role.name())
}

/// The lines about a member's own role.
fn part(group: &GroupState) -> Vec<(String, String)> {
    match group {
        GroupState::Data { covered_by, is_covered } => vec![
            line("parity_role", "data"),
            line("parity_member", covered_by.as_deref().unwrap_or_default()),
            line("parity_covered", u8::from(*is_covered)),
        ],
        GroupState::Parity(state) => of_parity(state),
        GroupState::Spare { is_given } => {
            vec![line("parity_role", "spare"), line("parity_rebuilding", u8::from(*is_given))]
        }
    }
}

/// The lines of a parity member about its group.
fn of_parity(state: &ParityState) -> Vec<(String, String)> {
    let of_column = |(number, column): (usize, &SeatState)| {
        let SeatState { member, is_complete, is_being_rebuilt, leaves, silent } = column;
        let [covered, rebuilding, leaving] = [*is_complete, *is_being_rebuilt, *leaves].map(u8::from);
        let text =
            format!("member={member},covered={covered},rebuilding={rebuilding},leaving={leaving},silent={silent}");
        line(&format!("parity_column{number}"), text)
    };
    let of_rebuilding = |RebuildingState { member, to, done, stripes }: &RebuildingState| {
        let member = member.as_deref().unwrap_or_default();
        line("parity_rebuilding", format!("member={member},to={to},done={done},stripes={stripes}"))
    };
    let totals = [
        line("parity_role", "parity"),
        line("parity_leads", u8::from(state.leads)),
        line("parity_other", state.other.as_deref().unwrap_or_default()),
        line("parity_backed", u8::from(state.is_backed)),
        line("parity_survives", state.survives),
        line("parity_promised", state.promised),
        line("parity_whole", u8::from(state.is_whole())),
        line("parity_spares", state.spares),
        line("parity_bytes", state.bytes),
        line("parity_members_rebuilt", state.rebuilt),
    ];
    let columns = state.columns.iter().enumerate().map(of_column);
    totals.into_iter().chain(state.rebuilding.iter().map(of_rebuilding)).chain(columns).collect()
}

/// The member of the pool, and the servers that it hosts.
fn pool(context: &Context<'_>) -> Vec<(String, String)> {
    let PoolState { members, servers, counts } = &context.node.pool;
    let of_server = |server: &ServerState| {
        let ServerState { number, level, records, memory, is_steady, token, .. } = server;
        let token = token.map_or(String::new(), |servers| format!(",token_of_servers={servers}"));
        let steady = u8::from(*is_steady);
        (format!("server{number}"), format!("level={level},records={records},memory={memory},steady={steady}{token}"))
    };
    let connected = members.iter().filter(|(_, is_connected)| *is_connected).count();
    let reached = members.iter().enumerate().map(|(number, (peer, is_connected))| {
        line(&format!("pool_member{number}"), format!("{},connected={}", of_member(peer), u8::from(*is_connected)))
    });
    let counts = [
        line("pool_members", members.len()),
        line("pool_members_connected", connected),
        line("pool_servers_here", servers.len()),
        line("pool_requests_answered", counts.answered),
        line("pool_requests_forwarded", counts.forwarded),
        line("pool_splits", counts.splits),
        line("pool_merges", counts.merges),
    ];
    counts.into_iter().chain(servers.iter().map(of_server)).chain(reached).collect()
}

fn keyspace(context: &Context<'_>) -> Vec<(String, String)> {
    let (keys, expires) = context.node.keyspace;
    if keys == 0 {
        return Vec::new();
    }
    vec![line("db0", format!("keys={keys},expires={expires},avg_ttl=0"))]
}
