//! INFO.

use super::{Context, Outcome, is};
use crate::node::REDIS_VERSION;
use crate::resp::Arguments;

/// A section: its name, and the lines of which it is made.
type Section = (&'static str, fn(&Context<'_>) -> Vec<(&'static str, String)>);

const SECTIONS: [Section; 7] = [
    ("Server", server),
    ("Clients", clients),
    ("Memory", memory),
    ("Stats", stats),
    ("Replication", replication),
    ("Cluster", cluster),
    ("Keyspace", keyspace),
];

/// Words that ask for all of them.
const ALL: [&str; 3] = ["all", "default", "everything"];

pub(super) fn info(context: &mut Context<'_>, arguments: Arguments<'_>) -> Outcome {
    let asks_for = |name: &str| {
        arguments.len() == 1 || arguments.from(1).any(|asked| is(asked, name) || ALL.iter().any(|all| is(asked, all)))
    };
    let mut text = String::new();
    for (name, lines) in SECTIONS.iter().filter(|(name, _)| asks_for(name)) {
        if !text.is_empty() {
            text.push_str("\r\n");
        }
        text.push_str(&format!("# {name}\r\n"));
        lines(context).iter().for_each(|(name, value)| text.push_str(&format!("{name}:{value}\r\n")));
    }
    context.reply.verbatim(&text);
    Ok(())
}

fn server(context: &Context<'_>) -> Vec<(&'static str, String)> {
    let uptime = context.now.saturating_sub(context.node.since) / 1000;
    vec![
        ("redis_version", REDIS_VERSION.to_owned()),
        ("redis_mode", "standalone".to_owned()),
        ("maquette_version", env!("CARGO_PKG_VERSION").to_owned()),
        ("os", std::env::consts::OS.to_owned()),
        ("arch_bits", usize::BITS.to_string()),
        ("process_id", std::process::id().to_string()),
        ("run_id", context.node.run.clone()),
        ("tcp_port", context.node.port.to_string()),
        ("uptime_in_seconds", uptime.to_string()),
        ("uptime_in_days", (uptime / 86_400).to_string()),
    ]
}

fn clients(context: &Context<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("connected_clients", context.node.clients.len().to_string()),
        ("maxclients", context.node.settings.most_clients.to_string()),
        ("blocked_clients", "0".to_owned()),
    ]
}

/// Bytes in the unit in which they are a small number.
fn human(bytes: u64) -> String {
    let units = [(1_u64 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(|| format!("{bytes}B"), |(unit, name)| format!("{:.2}{name}", bytes as f64 / unit as f64))
}

fn memory(context: &Context<'_>) -> Vec<(&'static str, String)> {
    let used = context.bucket.memory() as u64;
    let most = context.node.settings.most_memory.unwrap_or(0) as u64;
    let (resident, peak) = context.node.resident;
    vec![
        ("used_memory", used.to_string()),
        ("used_memory_human", human(used)),
        ("used_memory_rss", resident.to_string()),
        ("used_memory_rss_human", human(resident)),
        ("used_memory_rss_peak", peak.to_string()),
        ("used_memory_dataset", used.to_string()),
        ("maxmemory", most.to_string()),
        ("maxmemory_human", human(most)),
        ("maxmemory_policy", context.node.settings.eviction.name().to_owned()),
    ]
}

fn stats(context: &Context<'_>) -> Vec<(&'static str, String)> {
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
    ];
    counts.map(|(name, count)| (name, count.to_string())).to_vec()
}

fn replication(context: &Context<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("role", "master".to_owned()),
        ("connected_slaves", "0".to_owned()),
        ("master_replid", context.node.run.clone()),
        ("master_repl_offset", "0".to_owned()),
    ]
}

fn cluster(_: &Context<'_>) -> Vec<(&'static str, String)> {
    vec![("cluster_enabled", "0".to_owned())]
}

fn keyspace(context: &Context<'_>) -> Vec<(&'static str, String)> {
    if context.bucket.is_empty() {
        return Vec::new();
    }
    let (keys, expires) = (context.bucket.len(), context.bucket.expiring());
    vec![("db0", format!("keys={keys},expires={expires},avg_ttl=0"))]
}
