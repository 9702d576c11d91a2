//! `maquette store grow` and `maquette store shrink`.

use std::thread;
use std::time::{Duration as WallDuration, Instant};

use ::store::client::Client;
use clap::Args;
use formats::interrupt;
use quantities::Duration;
use serde_json::json;

use super::access::Access;
use super::address;
use crate::failure::Failure;
use crate::progress::Spinner;
use crate::quantity::{seconds, whole};
use crate::{CommandOutput, json};

/// How long a member may take to answer.
const PATIENCE: WallDuration = WallDuration::from_secs(5);
/// How often a member is asked for the number of servers.
const LOOK: WallDuration = WallDuration::from_millis(100);

/// Which way.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    Grow,
    Shrink,
}

/// Spread a table over more servers than its records need
///
/// Servers are split one after the other until there are that many more. The table does not shrink below the new number
/// until asked to. The members must be allowed to host that many.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  maquette store grow 127.0.0.1:6379 2")]
pub(super) struct Grow {
    #[command(flatten)]
    asked: Asked,
}

/// Merge a table into fewer servers than its records need
///
/// Servers are merged one after the other into those that they were split from, until there are that many fewer. The
/// table does not grow beyond the new number until asked to. The servers that remain must have room for all records.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  maquette store shrink 127.0.0.1:6379 2")]
pub(super) struct Shrink {
    #[command(flatten)]
    asked: Asked,
}

#[derive(Args, Debug)]
struct Asked {
    /// A member, with its port for clients.
    #[arg(value_name = "HOST:PORT", default_value = "127.0.0.1:6379")]
    member: String,
    /// How many servers to add, or to remove; 0 lets the records decide again.
    #[arg(value_name = "SERVERS", default_value_t = 1, value_parser = whole(0..=u32::MAX))]
    servers: u32,
    /// How long to wait until that is done, in seconds or with a unit.
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    wait: Duration,
    #[command(flatten)]
    access: Access,
}

impl Grow {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        self.asked.execute(Way::Grow, as_json)
    }
}

impl Shrink {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        self.asked.execute(Way::Shrink, as_json)
    }
}

impl Asked {
    fn execute(self, way: Way, as_json: bool) -> Result<CommandOutput, Failure> {
        let mut client = Client::open(address(&self.member)?, &self.access.options(PATIENCE)?)?;
        let name = match way {
            Way::Grow => "GROW",
            Way::Shrink => "SHRINK",
        };
        let due = client.ask(&[b"CLUSTER", name.as_bytes(), self.servers.to_string().as_bytes()])?.integer();
        let (spinner, began) = (Spinner::new(), clock());
        let limit = WallDuration::from_nanos(self.wait.picoseconds() / 1_000);
        let (mut there, mut is_there);
        loop {
            let info = client.ask(&[b"CLUSTER", b"INFO"])?.text();
            let mut lines = info.lines().filter_map(|line| line.strip_prefix("cluster_servers:"));
            there = lines.next().and_then(|servers| servers.parse::<i64>().ok());
            // The records may still require more, or fewer.
            is_there = self.servers == 0
                || there.zip(due).is_some_and(|(there, due)| match way {
                    Way::Grow => there >= due,
                    Way::Shrink => there <= due,
                });
            if is_there || clock().duration_since(began) >= limit {
                break;
            }
            if interrupt::requested() {
                return Err(Failure::Interrupted);
            }
            spinner.show(format!("servers {} of {}", there.unwrap_or_default(), due.unwrap_or_default()));
            thread::sleep(LOOK);
        }
        drop(spinner);
        let (servers, asked) = (there.unwrap_or_default(), due.unwrap_or_default());
        let text = match (as_json, is_there) {
            (true, _) => json(&json!({"servers": servers, "asked": asked})),
            (false, true) => format!("servers {servers}\n"),
            (false, false) => format!("servers {servers} of {asked} asked for\n"),
        };
        Ok(CommandOutput { text, status: i32::from(!is_there) })
    }
}

#[allow(clippy::disallowed_methods)] // whoever waits for servers waits by the clock
fn clock() -> Instant {
    Instant::now()
}
