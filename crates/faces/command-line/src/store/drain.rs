//! `maquette store drain`.

use std::thread;
use std::time::{Duration as WallDuration, Instant};

use ::store::client::{Client, Error};
use ::store::resp::Value;
use clap::Args;
use formats::interrupt;
use quantities::Duration;
use report::terminal::counted;
use serde_json::{Value as Json, json};

use super::access::Access;
use super::address;
use crate::failure::Failure;
use crate::progress::Spinner;
use crate::quantity::seconds;
use crate::{CommandOutput, json};

/// How long the member may take to answer.
const PATIENCE: WallDuration = WallDuration::from_secs(5);
/// How often it is asked for its progress.
const LOOK: WallDuration = WallDuration::from_millis(100);

/// Move a member's servers to others and let it leave the pool
///
/// Its servers move to other members, one after the other, while all serve. Once all members know where they are, the
/// member ends with exit status 0. All other members that host servers have to be up for that. In a pool with parity,
/// the member also waits until the parity of its group no longer covers it. A spare can be drained, too. If the time to
/// wait runs out, the member still goes on leaving.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  maquette store drain 127.0.0.1:7002")]
pub(super) struct Arguments {
    /// The member that is to leave, with its port for clients.
    #[arg(value_name = "HOST:PORT")]
    member: String,
    /// How long to wait until it has left, in seconds or with a unit.
    #[arg(long, value_name = "S", default_value = "600", value_parser = seconds)]
    wait: Duration,
    #[command(flatten)]
    access: Access,
}

/// The progress of the member.
struct Progress {
    has_left: bool,
    /// How many servers are still there.
    servers: i64,
    /// The servers that have moved, and where each is now.
    moved: Vec<(i64, String)>,
    /// Members that do not know of all moves yet.
    waits: Vec<String>,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let mut client = Client::open(address(&self.member)?, &self.access.options(PATIENCE)?)?;
        let (spinner, began) = (Spinner::new(), clock());
        let limit = WallDuration::from_nanos(self.wait.picoseconds() / 1_000);
        let progress = loop {
            let progress = Progress::ask(&mut client)?;
            if progress.has_left || clock().duration_since(began) >= limit {
                break progress;
            }
            if interrupt::requested() {
                return Err(Failure::Interrupted);
            }
            let all = progress.servers + progress.moved.len() as i64;
            spinner.show(format!("servers {} of {all} moved", progress.moved.len()));
            thread::sleep(LOOK);
        };
        drop(spinner);
        let text = if as_json { json(&progress.json()) } else { progress.text() };
        Ok(CommandOutput { text, status: i32::from(!progress.has_left) })
    }
}

impl Progress {
    /// Tells the member to leave, if it is not leaving yet.
    fn ask(client: &mut Client) -> Result<Progress, Error> {
        let reply = client.ask(&[b"CLUSTER", b"DRAIN"])?;
        let part = |place: usize| reply.list().get(place);
        let moved = part(2).map(Value::list).unwrap_or_default().iter();
        let moved = moved.filter_map(|one| Some((one.list().first()?.integer()?, one.list().get(1)?.text())));
        let waits = part(3).map(Value::list).unwrap_or_default().iter().map(Value::text);
        Ok(Progress {
            has_left: part(0).is_some_and(|stage| stage.text() == "left"),
            servers: part(1).and_then(Value::integer).unwrap_or_default(),
            moved: moved.collect(),
            waits: waits.collect(),
        })
    }

    fn json(&self) -> Json {
        let moved = self.moved.iter().map(|(server, to)| json!({"server": server, "to": to}));
        let moved: Vec<Json> = moved.collect();
        json!({"left": self.has_left, "servers": self.servers, "moved": moved, "waits_for": self.waits})
    }

    fn text(&self) -> String {
        let mut text: String =
            self.moved.iter().map(|(server, to)| format!("server {server} moved to {to}\n")).collect();
        if self.has_left {
            text.push_str("the member has left\n");
        } else {
            text.push_str(&format!("the member is still leaving: it has {}", counted(self.servers, "server")));
            if !self.waits.is_empty() {
                text.push_str(&format!(", and waits for {}", self.waits.join(" and ")));
            }
            text.push('\n');
        }
        text
    }
}

#[allow(clippy::disallowed_methods)] // whoever waits for a member waits by the clock
fn clock() -> Instant {
    Instant::now()
}
