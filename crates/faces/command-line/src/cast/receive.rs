//! `maquette cast receive`.

use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use ::cast::cast::{CastError, Event, ReceiveSettings, Received, Watch, receive};
use ::cast::files::{Folder, Wishes};
use ::cast::lobby::Mismatch;
use clap::Args;
use quantities::shown;
use quantities::{Bytes, Duration};
use serde_json::json;

use super::meeting::{GROUP, Way, group, other_version};
use crate::failure::{Failure, note, warn};
use crate::progress::DataBar;
use crate::quantity::seconds;
use crate::{CommandOutput, json, print};
use formats::interrupt;
use report::terminal::{amount, bytes_per_second, counted, rounded};

/// Receive files and folders from a sender
///
/// Ends when everything from a sender has arrived, complete and verified, under its own name. Until then it is kept in
/// a folder whose name begins with `.maquette-cast-`; a command that is stopped resumes from there. Files and folders
/// get the sender's permissions, less this process's umask; setuid, setgid and sticky bits, owners and times are not
/// transferred, and existing folders keep their permissions.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette cast receive --into /srv/images --interface eth0 --key-file our.key")]
pub(super) struct Arguments {
    /// The folder to receive into, created if it does not exist. Nothing is written anywhere else.
    #[arg(long, value_name = "DIR", default_value = ".")]
    into: PathBuf,
    /// The multicast group to listen to.
    #[arg(long, alias = "to", value_name = "GROUP[:PORT]", default_value = GROUP, value_parser = group)]
    from: SocketAddrV4,
    /// Go on with the next sender, and the next, until interrupted.
    #[arg(long)]
    keep: bool,
    /// End when nothing has been announced for this time, in seconds or with a unit.
    #[arg(long, value_name = "S", value_parser = seconds)]
    wait: Option<Duration>,
    /// Replace existing files, instead of refusing.
    #[arg(long)]
    overwrite: bool,
    /// Refuse files that are larger than this in total.
    #[arg(long, value_name = "BYTES")]
    max_size: Option<Bytes>,
    /// Count nothing as received until it is on disk.
    #[arg(long)]
    sync: bool,
    #[command(flatten)]
    way: Way,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { into, from, keep, wait, overwrite, max_size, sync, way } = self;
        let meeting = way.meeting(from)?;
        let mut folder = Folder::new(&into, Wishes { overwrite, max_size, sync }).map_err(CastError::from)?;
        let sealed = meeting.secret.is_some();
        if !sealed {
            note(
                "without --key-file the network is trusted: anyone on it can send files to this computer, and read what is sent",
            );
        }
        let settings = ReceiveSettings { meeting, name: host_name(), wait };
        let mut watching = Watching { bar: DataBar::new("waiting for a sender".to_string()) };
        let mut last = None;
        let result = receive(&mut folder, &settings, &mut watching, |received| {
            let output =
                received.map(|received| if as_json { as_json_text(&received, sealed) } else { text(&received) });
            match (output, keep) {
                // A reader may wait for each, and this command may never end.
                (Ok(text), true) => return print(&text).is_none(),
                (Err(reason), true) => warn(&format!("not received: {reason}")),
                (output, false) => last = Some(output),
            }
            keep
        });
        drop(watching);
        folder.leave();
        if matches!(result, Err(CastError::Interrupted)) {
            note("what has arrived is kept; the same command resumes from there");
        }
        result?;
        match last {
            Some(Ok(text)) => Ok(text.into()),
            Some(Err(reason)) => Err(CastError::Refused(reason).into()),
            None => Ok(CommandOutput::default()),
        }
    }
}

/// The name of this machine.
fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "receiver".to_string() } else { name.trim().to_string() }
}

fn text(received: &Received) -> String {
    let Received { title, manifest, came, time } = received;
    let files = counted(manifest.files(), "file");
    let speed = bytes_per_second(if time.is_zero() { 0.0 } else { came.0 as f64 / time.seconds() });
    let before = Bytes(manifest.size().0.saturating_sub(came.0));
    let before = if before.0 > 0 { format!("; {} had arrived before", amount(before)) } else { String::new() };
    format!("received {title}: {files}, {}, in {}: {speed}{before}\n", amount(manifest.size()), rounded(*time))
}

fn as_json_text(received: &Received, sealed: bool) -> String {
    let Received { title, manifest, came, time } = received;
    let names: Vec<&str> = manifest.entries().iter().map(|entry| entry.name.as_str()).collect();
    json(&json!({
        "title": title,
        "names": names,
        "files": manifest.files(),
        "bytes": manifest.size().0,
        "bytes_that_came": came.0,
        "seconds": time.seconds(),
        "sealed": sealed,
    }))
}

/// Why a cast from that address cannot be received.
fn mismatch(why: Mismatch, from: Ipv4Addr) -> String {
    match why {
        Mismatch::Sealed => format!("{from} sends with a key: --key-file is needed to receive it"),
        Mismatch::Open => format!("{from} sends without a key: with --key-file that is not received"),
        Mismatch::OtherKey => {
            format!("{from} sends with another key: this --key-file may be the wrong one, or the sender's may be")
        }
        Mismatch::Version(version) => other_version("sender", version, from),
    }
}

/// What the user sees meanwhile.
struct Watching {
    bar: DataBar,
}

impl Watch for Watching {
    fn see(&mut self, event: Event) {
        match event {
            Event::Found(announce, from, has) => {
                let before =
                    if has.0 > 0 { format!(", {} of it already received", amount(has)) } else { String::new() };
                let size = amount(Bytes(announce.bytes));
                self.bar.set_message(format!("{} from {from}, {size}{before}", shown(&announce.title)));
            }
            Event::Has(has, of) => self.bar.show(has.0.min(of.0), of.0),
            Event::SenderLeft(reason) => self.bar.aside(|| {
                warn(&format!("the sender is gone: {reason}; what has arrived is kept for when it returns"));
            }),
            Event::SenderMismatch(why, from) => self.bar.aside(|| warn(&mismatch(why, from))),
            Event::Joined(_) | Event::Begins(_) | Event::Sent(..) => {}
            Event::Lost(_) | Event::Refused(..) | Event::Done(_) | Event::ReceiverMismatch(..) => {}
        }
    }

    fn ends(&self) -> bool {
        interrupt::requested()
    }
}
