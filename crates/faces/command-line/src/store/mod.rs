//! `maquette store`: a hash table for clients of Redis.

mod access;
mod bench;
mod configuration;
mod drain;
mod groups;
mod observability;
mod resize;
mod serve;
mod service_manager;
mod status;

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;

use clap::{Args, Subcommand};
use formats::input;
use quantities::Bytes;

use super::CommandOutput;
use super::failure::Failure;
pub(super) use configuration::{Configuration, configured, schema};

/// The longest file with a password that is read.
const LONGEST_PASSWORD: Bytes = Bytes(4 << 10);

/// Serve a hash table to Redis clients, on one machine or a pool of them
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Example, in one terminal and then in another:
  maquette store serve
  redis-cli set greeting hello")]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Bench(bench::Arguments),
    Config(configuration::Arguments),
    Drain(drain::Arguments),
    Grow(resize::Grow),
    Serve(Box<serve::Arguments>),
    Shrink(resize::Shrink),
    Status(status::Arguments),
}

impl Arguments {
    /// Tells the command which options come from a file.
    pub(super) fn configured_by(&mut self, configuration: Configuration) {
        match &mut self.action {
            Action::Serve(arguments) => arguments.configuration = Some(configuration),
            Action::Bench(_)
            | Action::Config(_)
            | Action::Drain(_)
            | Action::Grow(_)
            | Action::Shrink(_)
            | Action::Status(_) => {}
        }
    }

    pub(super) fn execute(self, json: bool) -> Result<CommandOutput, Failure> {
        match self.action {
            Action::Bench(arguments) => arguments.execute(json),
            Action::Config(arguments) => arguments.execute(json),
            Action::Drain(arguments) => arguments.execute(json),
            Action::Grow(arguments) => arguments.execute(json),
            Action::Shrink(arguments) => arguments.execute(json),
            Action::Serve(arguments) => arguments.execute(json),
            Action::Status(arguments) => arguments.execute(json),
        }
    }
}

/// The address of a member, which is named by its host and its port.
fn address(member: &str) -> Result<SocketAddr, Failure> {
    let wrong = |found: String, allowed: &str| Failure::argument("HOST:PORT", found, allowed);
    let both = "an address or a host name, and a port";
    let (host, port) = member.rsplit_once(':').ok_or_else(|| wrong(format!("`{member}`"), both))?;
    // An address of version 6 is written in brackets, since it has colons itself.
    if host.is_empty() || host.contains(':') && !(host.starts_with('[') && host.ends_with(']')) {
        return Err(wrong(format!("`{member}`"), both));
    }
    if !port.parse().is_ok_and(|port: u16| port > 0) {
        return Err(wrong(format!("port `{port}`"), "a port from 1 to 65535"));
    }
    match member.to_socket_addrs().map(|mut addresses| addresses.next()) {
        Ok(Some(address)) => Ok(address),
        Ok(None) | Err(_) => {
            Err(wrong(format!("host `{host}`, which has no address"), "an address, or a host with one"))
        }
    }
}

/// The address of a member that is asked to let another one in.
fn member_address(member: &str) -> Result<SocketAddr, String> {
    member.parse().map_err(|_| "allowed is an IP address and a port of at most 65535, as in 127.0.0.1:16379".to_owned())
}

/// The first line of a file.
fn first_line(path: &Path) -> Result<Vec<u8>, Failure> {
    let text =
        input::read(path, LONGEST_PASSWORD).map_err(|cause| Failure::Unreadable { path: path.to_owned(), cause })?;
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        let found = format!("`{}`, whose first line is empty", quantities::shown_path(path));
        return Err(Failure::argument("a file with a secret", found, "one with a password or a secret"));
    }
    Ok(line.to_vec())
}
