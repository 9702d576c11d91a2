//! What is printed about a table that was built.

use linear_hash::ServerEnd;
use serde_json::{Value, json};

use crate::Finding;
use linear_hash::build::{Built, Split};
use report::terminal::{counted, rounded};

/// As many splits are told to a person one by one.
const SHOWN: usize = 16;

/// All of it.
pub(super) fn findings(built: &Built<'_>, capacity: u64) -> Vec<Finding> {
    vec![
        inserts(built),
        build(built),
        insert_time(built),
        splits(built),
        messages(built),
        adjustments(built),
        forwards(built),
        load(built, capacity),
    ]
}

fn inserts(built: &Built<'_>) -> Finding {
    let (all, stored) = (built.inserts(), built.stored());
    let text = if stored == all { all.to_string() } else { format!("{all}, {} of them stored already", all - stored) };
    Finding { name: "inserts", text, key: "inserts", value: json!({"all": all, "stored": stored}) }
}

/// How long the build took, and its course.
fn build(built: &Built<'_>) -> Finding {
    let whole = built.until(built.inserts());
    let course = built.points().map(|inserts| json!({"inserts": inserts, "at_ps": built.until(inserts).picoseconds()}));
    Finding {
        name: "build time",
        text: rounded(whole),
        key: "build",
        value: json!({"time_ps": whole.picoseconds(), "course": course.collect::<Vec<Value>>()}),
    }
}

fn insert_time(built: &Built<'_>) -> Finding {
    let (mean, worst, longest) = (built.mean_time(built.inserts()), built.worst_mean_time(), built.longest());
    let text = format!(
        "{} on average, {} at worst along the way; the longest took {}",
        rounded(mean),
        rounded(worst),
        rounded(longest)
    );
    let value = json!({
        "mean_ps": mean.picoseconds(),
        "worst_mean_ps": worst.picoseconds(),
        "longest_ps": longest.picoseconds(),
    });
    Finding { name: "time an insert", text, key: "insert_time", value }
}

fn splits(built: &Built<'_>) -> Finding {
    let splits = built.splits();
    let shown: Vec<String> = splits.iter().take(SHOWN).map(|split| split.inserts.to_string()).collect();
    let and_so_on = if splits.len() > SHOWN { ", and so on" } else { "" };
    let text = match splits.len() {
        0 => "none".to_string(),
        count => format!("{count}, after {} inserts{and_so_on}", shown.join(", ")),
    };
    let one = |&Split { at, inserts, server }: &Split| json!({"at_ps": at.picoseconds(), "inserts": inserts, "server": server});
    Finding { name: "splits", text, key: "splits", value: splits.iter().map(one).collect() }
}

fn messages(built: &Built<'_>) -> Finding {
    let (by_clients, by_servers) = built.messages();
    let mean = built.messages_per_insert();
    Finding {
        name: "messages an insert",
        text: format!("{mean:.4}"),
        key: "messages_per_insert",
        value: json!({"mean": mean, "by_clients": by_clients, "by_servers": by_servers}),
    }
}

fn adjustments(built: &Built<'_>) -> Finding {
    let count = built.adjustments();
    Finding { name: "adjustments", text: count.to_string(), key: "adjustments", value: json!(count) }
}

fn forwards(built: &Built<'_>) -> Finding {
    let (count, most) = (built.forwards(), built.most_forwards());
    Finding {
        name: "forwards",
        text: format!("{count}, at most {most} of one insert"),
        key: "forwards",
        value: json!({"all": count, "most_of_one": most}),
    }
}

/// How full servers are, and what each did.
fn load(built: &Built<'_>, capacity: u64) -> Finding {
    let entries = built.entries();
    let share = built.load_factor(capacity);
    let (least, most) = (entries.iter().min().unwrap_or(&0), entries.iter().max().unwrap_or(&0));
    let by_server = |server: &&ServerEnd| {
        json!({
            "entries": server.entries,
            "answered": server.counts.answered,
            "forwarded": server.counts.forwarded,
            "splits": server.counts.splits,
            "messages": server.messages,
        })
    };
    let on_the_mean = built.mean_load_factor(capacity);
    let since = on_the_mean.map_or(String::new(), |mean| format!("; {mean:.3} on average since the first split"));
    Finding {
        name: "load factor",
        text: format!(
            "{share:.3} over {} with {least} to {most} entries each{since}",
            counted(entries.len(), "server")
        ),
        key: "load",
        value: json!({
            "factor": share,
            "mean_factor": on_the_mean,
            "servers": entries.len(),
            "by_server": built.servers().iter().map(by_server).collect::<Vec<Value>>(),
        }),
    }
}
