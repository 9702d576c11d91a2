//! `maquette run linear-hash`: clients build an LH*LH table.

mod findings;
mod keys;
mod phases;

use std::ffi::{OsStr, OsString};

use clap::Args;
use programs::linear_hash::{Growth, Key, KeyHash, LinearHash, Phase};
use quantities::{Bytes, Duration};
use serde_json::{Value, json};

use super::simulation::{Prepared, RunOptions};
use super::summary::Summary;
use crate::choice::choice;
use crate::failure::Failure;
use crate::quantity::duration;
use crate::sizes::size;
use crate::{CommandOutput, working};
use findings::findings;
use keys::Keys;
use programs::linear_hash::build::{Built, entries_of_chunk, filled_capacity};

/// The most servers, and the most clients.
const MOST: i64 = 1 << 20;

/// Build a hash table that is spread over servers (LH*LH): clients insert keys, servers split as they fill.
#[derive(Args, Debug)]
#[command(
    after_help = "Server a is on node a, and client k on the node as many after the last server.\nWhere a send would wait until \
                        the receiver asks for the message, it is over on its arrival instead, as servers must not wait for each \
                        other.\n\nExamples:\n  \
                        maquette run linear-hash --machine parsytec-cc-16 --clients 5\n  \
                        maquette run linear-hash --machine parsytec-cc-16 --keys words.txt --hash last-letters --capacity 6000\n  \
                        maquette run linear-hash --machine parsytec-cc-16 --random-keys 20000 --shrink 0.3 --then forget,get,scan,remove"
)]
pub(super) struct Arguments {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE")]
    machine: OsString,
    /// How many servers there can be; the table begins with one.
    #[arg(long, value_name = "S", default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..=MOST))]
    servers: u32,
    /// How many clients insert at once, each its own part of the keys.
    #[arg(long, value_name = "C", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST))]
    clients: u32,
    #[command(flatten)]
    keys: Keys,
    /// How much is stored under each key.
    #[arg(long, value_name = "B", default_value = "0", value_parser = size)]
    body: Bytes,
    /// How long a server computes for each insert or other request of a key, after it has answered it.
    #[arg(long, value_name = "TIME", default_value = "0ns", value_parser = duration)]
    server_time: Duration,
    /// How the hash of a key follows from it.
    #[arg(long, value_name = "HASH", default_value = "uniform", value_parser = choice::<KeyHash>())]
    hash: KeyHash,
    /// V: what a server has room for, in entries; if left out, so much that the keys just fill all servers to M.
    #[arg(long, value_name = "V", value_parser = clap::value_parser!(u64).range(1..))]
    capacity: Option<u64>,
    /// M: to which share servers are filled. The one whose turn it is splits at M V (2^i + n) / 2^i entries.
    #[arg(long, value_name = "M", default_value_t = 0.8, value_parser = sensitivity)]
    sensitivity: f64,
    /// How much a server ships at a time when it splits or leaves, and gives to a scan; in between it answers.
    #[arg(long, value_name = "B", default_value = "32KiB", value_parser = size)]
    chunk: Bytes,
    /// Keep splits apart, against cascades: the server whose turn it is splits only if it has more than V entries itself, and
    /// not at once after another.
    #[arg(long)]
    apart: bool,
    /// Below which share of V on the mean the table shrinks again; at most half of M. If left out, it only grows.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    shrink: Option<f64>,
    /// What clients do when the table is built, phase after phase: each begins when the one before is over everywhere.
    #[arg(long, value_name = "PHASE,...", value_delimiter = ',', num_args = 1, value_parser = choice::<Phase>())]
    then: Vec<Phase>,
    #[command(flatten)]
    options: RunOptions,
}

/// Reads the share of a server below which a table shrinks.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.001..=50.0).contains(&share) => Ok(share),
        _ => Err("allowed is a number from 0.001 to 50, and at most half of M; 0.3 is usual".to_string()),
    }
}

/// Reads the share of a server that is filled.
fn sensitivity(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.01..=100.0).contains(&share) => Ok(share),
        _ => Err("allowed is a number from 0.01 to 100; 0.7 to 0.9 are usual".to_string()),
    }
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let (source, seed) = (self.keys.clone(), self.options.seed());
        let keys = working("reads the keys", move || source.get(seed))?;
        let growth = self.growth(&keys.words)?;
        let mut parameters = self.parameters(&growth, &keys.source);
        let Arguments { machine, servers, clients, body, server_time, hash, then, options, .. } = self;
        let mut prepared = options.prepare_for(&machine, servers + clients)?;
        if prepared.send_without_waiting() {
            parameters["sends"] = Value::from("over on arrival");
        }
        check(&prepared, body, &machine)?;
        prepared.runs("linear-hash", parameters);
        keys.file.into_iter().for_each(|file| prepared.experiment.read(file));
        if keys.are_random {
            prepared.experiment.draws();
        }
        let (keys, phases) = (keys.words, then.clone());
        let program =
            LinearHash { servers, clients, keys, body, hash, growth, server_time, then: phases, finish_splits: true };
        let ran = prepared.run(program)?;
        working("looks at the table", move || {
            let mut findings = findings(&Built::new(&ran.output), growth.capacity);
            findings.extend(phases::findings(&then, &ran.output));
            Ok(Summary { findings }.said(&ran, as_json))
        })
    }

    fn growth(&self, words: &[Key]) -> Result<Growth, Failure> {
        let Arguments { servers, sensitivity, shrink, apart, .. } = *self;
        if let Some(share) = shrink.filter(|share| *share > sensitivity / 2.0) {
            let allowed = format!(
                "at most {}, half of --sensitivity: a table that has shrunk would grow again",
                sensitivity / 2.0
            );
            return Err(Failure::argument("--shrink", share, allowed));
        }
        if self.chunk > Growth::LARGEST_CHUNK {
            return Err(Failure::argument("--chunk", self.chunk, format!("at most {}", Growth::LARGEST_CHUNK)));
        }
        let capacity = self.capacity.unwrap_or_else(|| filled_capacity(words.len(), servers, sensitivity));
        let chunk = entries_of_chunk(self.chunk, words, self.body);
        Ok(Growth { capacity, sensitivity, shrink, apart, most_servers: servers, chunk })
    }

    fn parameters(&self, growth: &Growth, source: &str) -> Value {
        let mut parameters = json!({
            "servers": self.servers, "clients": self.clients, "keys": source, "body": self.body.0,
            "capacity": growth.capacity, "sensitivity": self.sensitivity, "hash": self.hash.name(),
            "server_time": self.server_time.to_string(), "chunk": self.chunk.0,
        });
        if !self.then.is_empty() {
            let phases: Vec<&str> = self.then.iter().map(|phase| phase.name()).collect();
            parameters["then"] = Value::from(phases.join(","));
        }
        if self.apart {
            parameters["apart"] = Value::from(true);
        }
        if let Some(shrink) = self.shrink {
            parameters["shrink"] = Value::from(shrink);
        }
        parameters
    }
}

/// That no send waits for its receiver.
fn check(prepared: &Prepared, body: Bytes, machine: &OsStr) -> Result<(), Failure> {
    // As long as the longest message there may be.
    let longest = Bytes(body.0.saturating_add(1 << 20));
    if prepared.waits_for_receivers(longest) {
        let allowed = "a machine whose sends do not wait for receivers: servers could wait for each other";
        return Err(Failure::argument("--machine", machine.display(), allowed));
    }
    Ok(())
}
