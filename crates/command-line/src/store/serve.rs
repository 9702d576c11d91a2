//! `maquette store serve`.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use ::store::node::{Eviction, Settings};
use ::store::resp::Limits;
use ::store::serve::Server;
use clap::Args;
use quantities::{Bytes, Duration};
use serde_json::json;

use crate::failure::{Failure, note};
use crate::quantity::seconds;
use crate::{CommandOutput, json, print};
use formats::{input, interrupt};

/// The longest password that is read from a file.
const LONGEST_PASSWORD: Bytes = Bytes(4 << 10);
/// The largest value that may be allowed: what Redis allows.
const LARGEST_VALUE: Bytes = Bytes(512 << 20);

/// Serve a table until it is interrupted
///
/// Clients of Redis in any language can use it, in versions 2 and 3 of their protocol: strings, keys that expire, SCAN, transactions. What
/// it holds is in memory only, and gone when it ends.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  maquette store serve --port 6379 --max-memory 1GiB --evict

For other machines, too, with a password that only the owner of its file can read:
  maquette store serve --bind 0.0.0.0 --password-file our.password")]
pub(super) struct Arguments {
    /// The address of this machine on which to listen; several, if it is given several times. Other machines can reach any but those
    /// of the loopback.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: Vec<IpAddr>,
    /// The port on which to listen; 0 for one that is free.
    #[arg(long, default_value_t = 6379)]
    port: u16,
    /// A file whose first line is the password that clients must give.
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Let anyone who reaches an address beyond the loopback read and change everything, without a password.
    #[arg(long, conflicts_with = "password_file")]
    unprotected: bool,
    /// The most clients at once.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_clients: usize,
    /// The most that records may take in memory. What would need more is refused with an OOM error.
    #[arg(long, value_name = "BYTES")]
    max_memory: Option<Bytes>,
    /// Instead of refusing, drop records that were not used for long.
    #[arg(long, requires = "max_memory")]
    evict: bool,
    /// The largest key or value, of at most 512 MiB.
    #[arg(long, value_name = "BYTES", default_value = "512MiB")]
    max_value: Bytes,
    /// The time within which a client must give the password, in seconds or with a unit.
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    authenticate_within: Duration,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let addresses: Vec<SocketAddr> = self.bind.iter().map(|&address| (address, self.port).into()).collect();
        let settings = self.settings()?;
        let mut server = Server::listen(&addresses, settings, chance()?)?;
        let addresses: Vec<String> = server.addresses().iter().map(SocketAddr::to_string).collect();
        if as_json {
            print(&json(&json!({"listening": addresses})));
        } else {
            note(&format!("listening on {}; Ctrl-C ends it", addresses.join(" and ")));
        }
        server.serve(interrupt::requested)?;
        Ok(CommandOutput { text: String::new(), status: interrupt::status() })
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let password = self.password_file.as_deref().map(password).transpose()?;
        let open = self.bind.iter().find(|address| !address.is_loopback());
        if let (Some(open), None, false) = (open, &password, self.unprotected) {
            return Err(Failure::argument(
                "--bind",
                format!("{open}, which other machines can reach, and no password"),
                "an address of the loopback, or --password-file, or --unprotected",
            ));
        }
        if self.max_clients == 0 {
            return Err(Failure::argument("--max-clients", 0, "at least 1"));
        }
        if self.max_value == Bytes(0) || self.max_value > LARGEST_VALUE {
            return Err(Failure::argument("--max-value", self.max_value, format!("1B to {LARGEST_VALUE}")));
        }
        let limits = Limits { argument: self.max_value.0 as usize, ..Limits::default() };
        Ok(Settings {
            password,
            most_clients: self.max_clients,
            most_memory: self.max_memory.map(|most| most.0 as usize),
            eviction: if self.evict { Eviction::LeastRecentlyUsed } else { Eviction::Refuse },
            limits,
            time_to_authenticate: self.authenticate_within.picoseconds() / 1_000_000_000,
            most_idle: None,
        })
    }
}

/// The first line of a file.
fn password(path: &Path) -> Result<Vec<u8>, Failure> {
    let text =
        input::read(path, LONGEST_PASSWORD).map_err(|cause| Failure::Unreadable { path: path.to_owned(), cause })?;
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Err(Failure::argument("--password-file", "a file whose first line is empty", "a password"));
    }
    Ok(line.to_vec())
}

/// Numbers that nobody else has.
fn chance() -> Result<[u64; 3], Failure> {
    let mut numbers = [0; 3];
    for number in &mut numbers {
        *number = getrandom::u64().map_err(|cause| ::store::serve::Error::Wait(std::io::Error::other(cause)))?;
    }
    Ok(numbers)
}
