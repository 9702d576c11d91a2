//! Clients ask all the while, as an LH*LH table grows.

use linear_hash::build::filled_capacity;
use linear_hash::growing::{self, Costs, Popularity, Routing, Workload};
use linear_hash::{Growth, Key, build::entries_of_chunk};
use quantities::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::check;
use super::stages::findings;
use crate::catalogue::size::share;
use crate::catalogue::{Entry, Size};
use crate::{Error, Prepared, Ready, Site, within};

/// M: to which share servers are filled.
const SENSITIVITY: f64 = 0.8;
/// The share of keys with which servers are all there.
const FILLED: f64 = 0.9;
/// How much a server ships at a time when it splits. [B]
const CHUNK: Bytes = Bytes(32 << 10);

/// What a GET takes the store, by `cargo bench -p maquette-store --bench cluster_slots`.
const REQUEST: Duration = Duration::from_picoseconds(180_000);
/// And CLUSTER SLOTS of 500 servers, for each of them.
const MAP: Duration = Duration::from_picoseconds(330_000);
/// How long the reply is, for each of them. [B]
const MAP_SIZE: Bytes = Bytes(98);
/// As valkey-go asks.
const ASKED_FOR_MAP: u32 = 4;

/// Let clients send requests while a hash table (LH*LH) grows from one server to many: how often are they wrong, and
/// what does that cost?
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinearHashGrowth {
    /// How many servers there can be; the table begins with one, and has about that many when all keys are inserted.
    #[serde(deserialize_with = "within::number::<1, 65_536, _, _>")]
    #[schemars(range(min = 1, max = 65_536), extend("x-value" = "S"))]
    servers: u32,
    /// How many clients send requests at the same time, each one after the other.
    #[serde(deserialize_with = "within::number::<1, 1_048_576, _, _>")]
    #[schemars(range(min = 1, max = 1_048_576), extend("x-value" = "C"))]
    clients: u32,
    /// How many keys they insert in total.
    #[serde(deserialize_with = "within::number::<1, 10_000_000, _, _>")]
    #[schemars(range(min = 1, max = 10_000_000), extend("x-value" = "N"))]
    keys: u32,
    /// The mean number of keys that they read for each that they insert.
    reads: Reads,
    /// Which of the existing keys they read.
    #[schemars(extend("x-value" = "HOW"))]
    popularity: Popularity,
    /// The mean time that a client waits between an answer and its next request.
    period: Duration,
    /// What happens when a client asks the wrong server.
    #[schemars(extend("x-value" = "HOW"))]
    routing: Routing,
    /// How much is stored under each key.
    body: Size,
    /// How long a server computes for a request.
    server_time: Duration,
    /// How long a server that is asked for the map computes for each server that there is; if left out, 330 ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    map_time: Option<Duration>,
    /// How long a map is for each server that there is; if left out, 98 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    map_size: Option<Size>,
    /// How many servers a client asks for the map at once, of which it takes the first answer; if left out, 4, as
    /// valkey-go does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "within::option::<1, 65_536, _, _>")]
    #[schemars(range(min = 1, max = 65_536), extend("x-value" = "N"))]
    asked_for_map: Option<u32>,
}

/// R, from 0 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("x-value" = "R", "type" = ["number", "string"], "minimum" = 0, "maximum" = 1000))]
struct Reads(f64);

impl<'de> Deserialize<'de> for Reads {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Reads, D::Error> {
        share(from, 0.0, 1_000.0, "allowed is a number from 0 to 1000").map(Reads)
    }
}

impl Default for LinearHashGrowth {
    fn default() -> LinearHashGrowth {
        LinearHashGrowth {
            servers: 32,
            clients: 100,
            keys: 6_400,
            reads: Reads(4.0),
            popularity: Popularity::Uniform,
            period: Duration::from_microseconds(1_000),
            routing: Routing::Forward,
            body: Size(Bytes(64)),
            server_time: REQUEST,
            map_time: None,
            map_size: None,
            asked_for_map: None,
        }
    }
}

impl Entry for LinearHashGrowth {
    const NAME: &'static str = "linear-hash-growth";
    const EXAMPLES: &'static str = "Server a is on node a, and client k on the node as many after the last server. Times of servers and sizes of \
         maps are those of `maquette store`, as measured; `experiments/growth.md` has runs of 1,000 servers.\n\nExamples:\n  \
         maquette run linear-hash-growth --machine loggp\n  \
         maquette run linear-hash-growth --machine loggp --routing refresh --popularity zipf\n  \
         maquette run linear-hash-growth --machine infiniband-128 --servers 28 --reads 9";
    const ANY_RANKS: bool = false;

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let &LinearHashGrowth { servers, clients, keys, routing, body: Size(body), .. } = self;
        let (Reads(reads), costs) = (self.reads, self.costs()?);
        if reads == 0.0 && self.popularity != Popularity::Uniform {
            return Err(Error::parameter("popularity", self.popularity.name(), "uniform, where nothing is read"));
        }
        let workload = Workload::new(clients, keys, reads, self.period, self.popularity);
        let capacity = filled_capacity((f64::from(keys) * FILLED) as usize, servers, SENSITIVITY);
        // As long as a key is.
        let chunk = entries_of_chunk(CHUNK, &[Key::from(*b"key:00000000")], body);
        let growth =
            Growth { capacity, sensitivity: SENSITIVITY, shrink: None, apart: false, most_servers: servers, chunk };
        let mut parameters = self.parameters(capacity, costs);
        let ranks = site.exactly(servers + clients, "as many as servers and clients")?;
        if site.send_without_waiting() {
            parameters["sends"] = Value::from("over on arrival");
        }
        check(site, body)?;
        let program = growing::Growing { servers, workload, routing, body, growth, costs, seed: site.seed };
        // Two for each request; those of clients that were wrong are few beside them.
        let messages = (2.0 * f64::from(keys) * (1.0 + reads)) as u64;
        let mut prepared = Prepared::new(program, ranks, parameters).expecting(Some(messages));
        prepared.notes.draws = true;
        Ok(Box::new(prepared.with_findings(move |ends, _| findings(ends, routing))))
    }
}

impl LinearHashGrowth {
    /// What servers' work takes.
    fn costs(&self) -> Result<Costs, Error> {
        if self.routing != Routing::Refresh {
            let allowed = "none, unless routing is refresh: nobody asks for the map";
            let given = [
                ("map_time", self.map_time.map(|time| time.to_string())),
                ("map_size", self.map_size.map(|Size(size)| size.to_string())),
                ("asked_for_map", self.asked_for_map.map(|servers| servers.to_string())),
            ];
            if let Some((name, found)) = given.into_iter().find_map(|(name, found)| Some((name, found?))) {
                return Err(Error::parameter(name, found, allowed));
            }
        }
        Ok(Costs {
            request: self.server_time,
            map: self.map_time.unwrap_or(MAP),
            map_size: self.map_size.map_or(MAP_SIZE, |Size(size)| size),
            asked_for_map: self.asked_for_map.unwrap_or(ASKED_FOR_MAP),
        })
    }

    fn parameters(&self, capacity: u64, costs: Costs) -> Value {
        let mut parameters = json!({
            "servers": self.servers, "clients": self.clients, "keys": self.keys, "reads": self.reads.0,
            "popularity": self.popularity.name(), "period": self.period.to_string(), "routing": self.routing.name(),
            "body": self.body.0.0, "capacity": capacity, "server_time": self.server_time.to_string(),
        });
        if self.routing == Routing::Refresh {
            parameters["map_time"] = Value::from(costs.map.to_string());
            parameters["map_size"] = Value::from(costs.map_size.0);
            parameters["asked_for_map"] = Value::from(costs.asked_for_map);
        }
        parameters
    }
}
