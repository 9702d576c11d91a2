//! `maquette store status`.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ::store::client::{Client, Error, Options};
use ::store::resp::Value;
use clap::Args;
use report::terminal::{Side, columns};
use serde_json::{Value as Json, json};

use super::access::Access;
use super::address;
use super::groups::Groups;
use crate::failure::{Failure, warn};
use crate::{CommandOutput, json};

/// How long a member may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Show the state of a pool of stores
///
/// One member is asked for the others, and then each one that has a part of the table. A member that does not answer is
/// reported on standard error, and the exit status is 1. While a member that has servers is gone, the one that was
/// asked shows its own. Members that have no part of the table stand by; those to which the member that was asked has
/// no connection are named as silent. For a pool with parity, each group is listed with its members, the members that
/// keep their parity, how many may be lost now, how many spares stand by, and what is being rebuilt.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  maquette store status 127.0.0.1:6379")]
pub(super) struct Arguments {
    /// A member, with its port for clients.
    #[arg(value_name = "HOST:PORT", default_value = "127.0.0.1:6379")]
    member: String,
    #[command(flatten)]
    access: Access,
}

/// A member that has a part of the table.
struct Member {
    /// Its address for clients that follow slots.
    address: SocketAddr,
    /// Its slots, from the first to the last of each range.
    slots: Vec<(i64, i64)>,
    servers: Vec<Server>,
    counts: Vec<(&'static str, u64)>,
}

/// A member, as the one that was asked knows it.
struct Known {
    /// Its address for clients that follow slots.
    address: SocketAddr,
    is_connected: bool,
    /// Whether it may host servers.
    is_host: bool,
}

/// A server of the file.
struct Server {
    number: u64,
    level: u64,
    records: u64,
    memory: u64,
}

/// The fields of a member's INFO that are reported, and their names.
const COUNTS: [(&str, &str); 4] = [
    ("answered", "pool_requests_answered"),
    ("forwarded", "pool_requests_forwarded"),
    ("splits", "pool_splits"),
    ("merges", "pool_merges"),
];

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let options = self.access.options(PATIENCE)?;
        let asked = address(&self.member)?;
        let mut client = Client::open(asked, &options)?;
        let info = client.ask(&[b"INFO", b"pool"])?.text();
        let known: Vec<Known> = info.lines().filter_map(Known::read).collect();
        let groups = Groups::ask(&mut client, &options)?;
        let (mut members, mut failures) = (Vec::new(), Vec::new());
        // While a member is gone or rebuilt nobody knows all slots, but groups know how far that has come, and a member
        // its own servers.
        let shards = client.ask(&[b"CLUSTER", b"SHARDS"]).unwrap_or_else(|error| {
            failures.push(error);
            Value::Null
        });
        let mut places: Vec<(SocketAddr, Vec<(i64, i64)>)> = shards.list().iter().filter_map(shard).collect();
        if shards == Value::Null && !groups.is_there() {
            places.push((asked, Vec::new()));
        }
        let hosts: Vec<SocketAddr> = places.iter().map(|(address, _)| *address).collect();
        let standing_by = standing_by(&known, (shards != Value::Null).then_some(&hosts), groups.is_there());
        for (address, slots) in places {
            match Member::ask(address, slots, &options) {
                Ok(member) => members.push(member),
                Err(error) => failures.push(error),
            }
        }
        failures.iter().chain(&groups.failures).for_each(|error| warn(&error.to_string()));
        let status = i32::from(failures.len() + groups.failures.len() > 0);
        let silent = known.iter().filter(|member| !member.is_connected).map(|member| member.address.to_string());
        let silent: Vec<String> = silent.collect();
        let text = if as_json {
            let members: Vec<Json> = members.iter().map(Member::json).collect();
            let mut object = json!({"members": members, "standing_by": standing_by, "silent": silent});
            if groups.is_there() {
                object["parity"] = groups.json();
            }
            json(&object)
        } else {
            let of_groups = if groups.is_there() { groups.text() } else { String::new() };
            text(&members, standing_by, &silent) + &of_groups
        };
        Ok(CommandOutput { text, status })
    }
}

impl Member {
    fn ask(address: SocketAddr, slots: Vec<(i64, i64)>, options: &Options) -> Result<Member, Error> {
        let info = Client::open(address, options)?.ask(&[b"INFO", b"pool"])?.text();
        let servers = info.lines().filter_map(Server::read).collect();
        let counts = COUNTS.map(|(name, line)| (name, field(&info, line).unwrap_or(0))).to_vec();
        Ok(Member { address, slots, servers, counts })
    }

    fn records(&self) -> u64 {
        self.servers.iter().map(|server| server.records).sum()
    }

    fn memory(&self) -> u64 {
        self.servers.iter().map(|server| server.memory).sum()
    }

    fn json(&self) -> Json {
        let of_server = |server: &Server| {
            let Server { number, level, records, memory } = server;
            json!({"server": number, "level": level, "records": records, "memory": memory})
        };
        let servers: Vec<Json> = self.servers.iter().map(of_server).collect();
        let mut member = json!({"address": self.address, "slots": self.slots, "servers": servers});
        self.counts.iter().for_each(|(name, count)| member[name] = json!(count));
        member
    }

    fn row(&self) -> [String; 8] {
        let slots: Vec<String> = self.slots.iter().map(|(first, last)| format!("{first}-{last}")).collect();
        let servers: Vec<String> = self.servers.iter().map(|server| server.number.to_string()).collect();
        let count = |index: usize| self.counts[index].1.to_string();
        let memory = format!("{:.1}", mebibytes(self.memory()));
        let (slots, servers) = (slots.join(","), servers.join(","));
        let table = [self.address.to_string(), slots, servers, self.records().to_string(), memory];
        let [address, slots, servers, records, memory] = table;
        [address, slots, servers, records, memory, count(0), count(1), format!("{}, {}", count(2), count(3))]
    }
}

impl Known {
    /// A line of INFO: `pool_member3:member=5e0c91d2,role=data,address=127.0.0.1:27003,connected=1`.
    fn read(line: &str) -> Option<Known> {
        let of = parts(line.strip_prefix("pool_member")?.split_once(':')?.1);
        Some(Known {
            address: of.get("address")?.parse().ok()?,
            is_connected: *of.get("connected")? == "1",
            is_host: *of.get("role")? == "data",
        })
    }
}

/// How many connected members have no part of the table. If it is not known which members have all of it, only those
/// are counted that never have a part, and none where there is no parity.
fn standing_by(known: &[Known], hosts: Option<&Vec<SocketAddr>>, has_parity: bool) -> Option<u64> {
    let stands_by = |member: &&Known| match hosts {
        Some(hosts) => !hosts.contains(&member.address),
        None => !member.is_host,
    };
    let count = known.iter().filter(|member| member.is_connected).filter(stands_by).count() as u64;
    (hosts.is_some() || has_parity).then_some(count)
}

impl Server {
    /// A line of INFO: `server3:level=2,records=5,memory=640,steady=1`.
    fn read(line: &str) -> Option<Server> {
        let (number, rest) = line.strip_prefix("server")?.split_once(':')?;
        let of = |name: &str| {
            let fields = rest.split(',').filter_map(|field| field.split_once('='));
            fields.into_iter().find(|(own, _)| *own == name)?.1.parse().ok()
        };
        Some(Server {
            number: number.parse().ok()?,
            level: of("level")?,
            records: of("records")?,
            memory: of("memory")?,
        })
    }
}

/// A number of INFO.
pub(super) fn field(info: &str, name: &str) -> Option<u64> {
    let mut lines = info.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(own, _)| *own == name)?.1.parse().ok()
}

/// The parts of a line of INFO: `member=5e0c91d2,covered=1`.
pub(super) fn parts(line: &str) -> BTreeMap<&str, &str> {
    line.split(',').filter_map(|part| part.split_once('=')).collect()
}

/// Where a member of CLUSTER SHARDS is, and which slots it has.
fn shard(shard: &Value) -> Option<(SocketAddr, Vec<(i64, i64)>)> {
    let node = shard.field("nodes")?.list().first()?;
    let address: IpAddr = node.field("ip")?.text().parse().ok()?;
    let port = u16::try_from(node.field("port")?.integer()?).ok()?;
    let bounds = shard.field("slots")?.list().chunks_exact(2);
    let slots = bounds.filter_map(|bounds| Some((bounds[0].integer()?, bounds[1].integer()?))).collect();
    Some(((address, port).into(), slots))
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn text(members: &[Member], standing_by: Option<u64>, silent: &[String]) -> String {
    let sum = |of: fn(&Member) -> u64| members.iter().map(of).sum::<u64>();
    let servers: usize = members.iter().map(|member| member.servers.len()).sum();
    let (records, memory) = (sum(Member::records), mebibytes(sum(Member::memory)));
    let standing_by = standing_by.map_or_else(|| "unknown".to_string(), |count| count.to_string());
    let mut text = format!(
        "servers {servers}, records {records}, memory {memory:.1} MiB; members with servers {}, standing by {standing_by}\n",
        members.len()
    );
    if !silent.is_empty() {
        text.push_str(&format!("silent: {}\n", silent.join(" and ")));
    }
    let head = ["member", "slots", "servers", "records", "MiB", "answered", "forwarded", "splits, merges"];
    let rows: Vec<[String; 8]> = [head.map(str::to_owned)].into_iter().chain(members.iter().map(Member::row)).collect();
    let [left, right] = [Side::Left, Side::Right];
    text += &columns([left, left, left, right, right, right, right, right], &rows);
    text
}
