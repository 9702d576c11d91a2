//! Clients build an LH*LH table.

mod findings;
mod growing;
mod keys;
mod phases;
mod stages;

use linear_hash::build::{Built, entries_of_chunk, filled_capacity};
use linear_hash::{self, Growth, Key, KeyHash, Phase};
use quantities::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::size::share;
use super::{Entry, Size};
use crate::{Error, FilePath, Prepared, Ready, Site, within};
use findings::findings;
pub use growing::LinearHashGrowth;
use keys::Words;

/// Build a hash table that is spread over servers (LH*LH): clients insert keys, servers split as they fill.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinearHash {
    /// How many servers there can be; the table begins with one.
    #[serde(deserialize_with = "within::number::<1, 1_048_576, _, _>")]
    #[schemars(range(min = 1, max = 1_048_576), extend("x-value" = "S"))]
    servers: u32,
    /// How many clients insert at the same time, each its own part of the keys.
    #[serde(deserialize_with = "within::number::<1, 1_048_576, _, _>")]
    #[schemars(range(min = 1, max = 1_048_576), extend("x-value" = "C"))]
    clients: u32,
    /// Insert the lines of a file, each a key, in their order; if left out, the 180,689 Dutch words of OpenTaal's list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-value" = "FILE", "x-instead-of" = "random_keys"))]
    keys: Option<FilePath>,
    /// Insert N random words, none twice; if left out, those of `keys`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "within::option::<1, 10_000_000, _, _>")]
    #[schemars(range(min = 1, max = 10_000_000))]
    random_keys: Option<u32>,
    /// How much is stored under each key.
    body: Size,
    /// How long a server computes for each insert or other request of a key, after it has answered it.
    server_time: Duration,
    /// The hash function of keys.
    #[schemars(extend("x-value" = "HASH"))]
    hash: KeyHash,
    /// V: the entries that a server has room for; if left out, as many as let the keys just fill all servers to M.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "within::option::<1, { u64::MAX }, _, _>")]
    #[schemars(range(min = 1), extend("x-value" = "V"))]
    capacity: Option<u64>,
    /// M: the share to which servers are filled. The one whose turn it is splits at M V (2^i + n) / 2^i entries.
    sensitivity: Sensitivity,
    /// How much a server ships at a time when it splits or leaves, or returns to a scan; in between it answers
    /// requests.
    chunk: Size,
    /// Keep splits apart, against cascades: the server whose turn it is splits only if it has more than V entries
    /// itself, and not at once after another.
    apart: bool,
    /// The mean share of V below which the table shrinks again; at most half of M. If left out, it only grows.
    #[serde(skip_serializing_if = "Option::is_none")]
    shrink: Option<Shrink>,
    /// What clients do when the table is built, phase after phase: each begins when the one before is over everywhere.
    #[schemars(extend("x-value" = "PHASE,..."))]
    then: Vec<Phase>,
}

/// M, from 0.01 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("x-value" = "M", "type" = ["number", "string"], "minimum" = 0.01, "maximum" = 100))]
struct Sensitivity(f64);

impl<'de> Deserialize<'de> for Sensitivity {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Sensitivity, D::Error> {
        let allowed = "allowed is a number from 0.01 to 100; 0.7 to 0.9 are usual";
        share(from, 0.01, 100.0, allowed).map(Sensitivity)
    }
}

/// The share of a server below which a table shrinks, from 0.001 to 50.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("x-value" = "SHARE", "type" = ["number", "string"], "minimum" = 0.001, "maximum" = 50))]
struct Shrink(f64);

impl<'de> Deserialize<'de> for Shrink {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Shrink, D::Error> {
        let allowed = "allowed is a number from 0.001 to 50, and at most half of M; 0.3 is usual";
        share(from, 0.001, 50.0, allowed).map(Shrink)
    }
}

impl Default for LinearHash {
    fn default() -> LinearHash {
        LinearHash {
            servers: 11,
            clients: 1,
            keys: None,
            random_keys: None,
            body: Size(Bytes(0)),
            server_time: Duration::ZERO,
            hash: KeyHash::Uniform,
            capacity: None,
            sensitivity: Sensitivity(0.8),
            chunk: Size(Bytes(32 << 10)),
            apart: false,
            shrink: None,
            then: Vec::new(),
        }
    }
}

impl Entry for LinearHash {
    const NAME: &'static str = "linear-hash";
    const EXAMPLES: &'static str = "Server a is on node a, and client k on the node as many after the last server.\nWhere a send would wait until \
         the receiver asks for the message, it is over on its arrival instead, as servers must not wait for each \
         other.\n\nExamples:\n  \
         maquette run linear-hash --machine parsytec-cc-16 --clients 5\n  \
         maquette run linear-hash --machine parsytec-cc-16 --keys words.txt \\\n      \
         --hash last-letters --capacity 6000\n  \
         maquette run linear-hash --machine parsytec-cc-16 --random-keys 20000 --shrink 0.3 \\\n      \
         --then forget,get,scan,remove";
    const ANY_RANKS: bool = false;

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let keys = Words::get(self.keys.as_deref(), self.random_keys, site.seed)?;
        let growth = self.growth(&keys.words)?;
        let mut parameters = self.parameters(&growth, &keys.source);
        let &LinearHash { servers, clients, body: Size(body), server_time, hash, ref then, .. } = self;
        let ranks = site.exactly(servers + clients, "as many as servers and clients")?;
        if site.send_without_waiting() {
            parameters["sends"] = Value::from("over on arrival");
        }
        check(site, body)?;
        let (words, phases) = (keys.words, then.clone());
        let program = linear_hash::LinearHash {
            servers,
            clients,
            keys: words,
            body,
            hash,
            growth,
            server_time,
            then: then.clone(),
            finish_splits: true,
        };
        let mut prepared = Prepared::new(program, ranks, parameters);
        prepared.notes.files.extend(keys.file);
        prepared.notes.draws = keys.are_random;
        Ok(Box::new(prepared.with_findings(move |ends, _| {
            let mut findings = findings(&Built::new(ends), growth.capacity);
            findings.extend(phases::findings(&phases, ends));
            findings
        })))
    }
}

impl LinearHash {
    fn growth(&self, words: &[Key]) -> Result<Growth, Error> {
        let &LinearHash { servers, sensitivity: Sensitivity(sensitivity), apart, .. } = self;
        let shrink = self.shrink.map(|Shrink(share)| share);
        if let Some(share) = shrink.filter(|share| *share > sensitivity / 2.0) {
            let allowed = format!(
                "at most {}, half of the sensitivity: a table that has shrunk would grow again",
                sensitivity / 2.0
            );
            return Err(Error::parameter("shrink", share, allowed));
        }
        let Size(chunk) = self.chunk;
        if chunk > Growth::LARGEST_CHUNK {
            return Err(Error::parameter("chunk", chunk, format!("at most {}", Growth::LARGEST_CHUNK)));
        }
        let capacity = self.capacity.unwrap_or_else(|| filled_capacity(words.len(), servers, sensitivity));
        let chunk = entries_of_chunk(chunk, words, self.body.0);
        Ok(Growth { capacity, sensitivity, shrink, apart, most_servers: servers, chunk })
    }

    fn parameters(&self, growth: &Growth, source: &str) -> Value {
        let mut parameters = json!({
            "servers": self.servers, "clients": self.clients, "keys": source, "body": self.body.0.0,
            "capacity": growth.capacity, "sensitivity": self.sensitivity.0, "hash": self.hash.name(),
            "server_time": self.server_time.to_string(), "chunk": self.chunk.0.0,
        });
        if !self.then.is_empty() {
            let phases: Vec<&str> = self.then.iter().map(|phase| phase.name()).collect();
            parameters["then"] = Value::from(phases.join(","));
        }
        if self.apart {
            parameters["apart"] = Value::from(true);
        }
        if let Some(Shrink(share)) = self.shrink {
            parameters["shrink"] = Value::from(share);
        }
        parameters
    }
}

/// That no send waits for its receiver.
fn check(site: &Site<'_>, body: Bytes) -> Result<(), Error> {
    // As long as the longest message there may be.
    site.check_sends_do_not_wait(Bytes(body.0.saturating_add(1 << 20)))
}
