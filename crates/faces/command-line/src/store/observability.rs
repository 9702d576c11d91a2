//! What `maquette store serve` shows to its operator.

use std::io;
use std::net::{IpAddr, SocketAddr};

use ::store::log::{Format, Level, Log};
use ::store::pages::Assets;
use clap::{Args, ValueEnum};
use report::store_page;

use crate::failure::Failure;

/// Options about it.
#[derive(Args, Debug)]
pub(super) struct Observability {
    /// Serve a live page, and /metrics for Prometheus, at this port of the addresses of --bind, or at this address and
    /// port. If there is a password they require it, for any user name or as a bearer token.
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = place)]
    http: Option<Place>,
    /// The format of the log on standard error, one line for each event: text for people, or JSON.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
    /// The least severe level that is logged; info includes splits, merges and members.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: LogLevel,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogLevel {
    Error,
    Warning,
    Info,
}

/// Where pages are shown.
#[derive(Clone, Copy, Debug)]
enum Place {
    Port(u16),
    Address(SocketAddr),
}

/// A port, or an address with one.
fn place(text: &str) -> Result<Place, String> {
    let port = text.parse().map(Place::Port);
    port.or_else(|_| text.parse().map(Place::Address)).map_err(|_| "allowed is a port, or ADDRESS:PORT".to_owned())
}

impl Observability {
    /// Where pages are shown.
    pub(super) fn addresses(&self, bind: &[IpAddr], is_protected: bool) -> Result<Vec<SocketAddr>, Failure> {
        match self.http {
            None => Ok(Vec::new()),
            Some(Place::Port(port)) => Ok(bind.iter().map(|&address| (address, port).into()).collect()),
            Some(Place::Address(address)) if address.ip().is_loopback() || is_protected => Ok(vec![address]),
            Some(Place::Address(address)) => Err(Failure::argument(
                "--http",
                format!("{address}, which other machines can reach, without a password"),
                "a loopback address, --password-file or --unprotected",
            )),
        }
    }

    /// The files of the pages.
    pub(super) fn assets() -> Assets {
        Assets { page: store_page::html(), script: store_page::SCRIPT }
    }

    /// The log, as the options ask for it.
    pub(super) fn log(&self) -> Log {
        let format = match self.log_format {
            LogFormat::Text => Format::Text,
            LogFormat::Json => Format::Json,
        };
        let least = match self.log_level {
            LogLevel::Error => Level::Error,
            LogLevel::Warning => Level::Warning,
            LogLevel::Info => Level::Info,
        };
        Log::new(format, least, io::stderr())
    }
}
