//! `maquette cast send`.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use ::cast::cast::{CastError, Event, SendSettings, Sent, Watch, send};
use ::cast::files::{Listing, Unsendable, list};
use ::cast::lobby::Mismatch;
use clap::Args;
use quantities::shown_path;
use quantities::{Bytes, Duration, Rate};
use serde_json::json;

use super::meeting::{GROUP, Way, group, other_version};
use crate::failure::{Failure, note, warn};
use crate::progress::DataBar;
use crate::quantity::{rate, seconds, whole};
use crate::{CommandOutput, json};
use formats::interrupt;
use report::terminal::{amount, bytes_per_second, counted, rounded};

/// Send files and folders to all receivers
///
/// Begins when all expected receivers have joined, or else with the first. Later ones can join, too. The exit status is
/// 1 when a receiver that had joined has not received everything, or fewer have than were expected. Permissions are
/// transferred, less the receiver's umask; setuid, setgid and sticky bits, owners and times are not.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  maquette cast send disk.img --receivers 7 --interface eth0 --rate \"900 Mbit/s\"
  maquette cast send photos notes.txt --wait 30 --interface 192.168.1.5 --key-file our.key")]
pub(super) struct Arguments {
    /// The files and folders to send; folders with all their contents.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The multicast group where receivers listen.
    #[arg(long, value_name = "GROUP[:PORT]", default_value = GROUP, value_parser = group)]
    to: SocketAddrV4,
    /// Wait for this many receivers, and end when they have everything.
    #[arg(long, value_name = "N", value_parser = whole(1..=1_000_u32))]
    receivers: Option<u32>,
    /// End when no receiver has joined for this time, in seconds or with a unit. 10 s where the number of receivers is
    /// not given.
    #[arg(long, value_name = "S", value_parser = seconds)]
    wait: Option<Duration>,
    /// Send no faster than this, counting the packets' share of an Ethernet: "900 Mbit/s".
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<Rate>,
    /// Skip and list files that cannot be sent: those that cannot be read, or have invisible characters in their names,
    /// and links that lead out of their folder. Otherwise nothing is sent if there are any.
    #[arg(long)]
    skip_unsendable: bool,
    #[command(flatten)]
    way: Way,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { files, to, receivers, wait, rate, skip_unsendable, way } = self;
        let meeting = way.meeting(to)?;
        let sealed = meeting.secret.is_some();
        let unsendable = if skip_unsendable { Unsendable::Skip } else { Unsendable::Refuse };
        let listing = list(&files, unsendable).map_err(CastError::from)?;
        for path in &listing.left_out {
            warn(&format!("`{}` is not sent: it is neither a file nor a folder nor a link", shown_path(path)));
        }
        for error in &listing.unsendable {
            warn(&format!("not sent: {error}"));
        }
        let title = title(&listing, &files);
        let (count, size) = (listing.manifest.files(), listing.manifest.size());
        let settings =
            SendSettings { meeting, title, rate, receivers: receivers.map(|receivers| receivers as usize), wait };
        let mut watching = Watching::new(receivers);
        let sent = send(listing, &settings, &mut watching);
        drop(watching);
        let sent = sent.inspect_err(|error| {
            if matches!(error, CastError::Interrupted) {
                note("receivers keep what they have, and resume from there when the same files are sent again");
            }
        })?;
        for name in &sent.without {
            warn(&format!("{name} has not received everything"));
        }
        let wanted = receivers.map_or(1, |receivers| receivers as usize);
        if sent.came() < wanted {
            warn(&format!("{} of {wanted} receivers joined", sent.came()));
        }
        let status = i32::from(sent.done < wanted || !sent.without.is_empty());
        let text = if as_json { as_json_text(&sent, count, size, sealed) } else { text(&sent, count, size) };
        Ok(CommandOutput { text, status })
    }
}

/// The title of a cast: the first file, and the number of others.
fn title(listing: &Listing, files: &[PathBuf]) -> String {
    let first = listing.manifest.entries().first().map_or("nothing", |entry| entry.name.as_str());
    let first = first.split('/').next().unwrap_or(first);
    match files.len() {
        1 => first.to_string(),
        more => format!("{first} and {} more", more - 1),
    }
}

fn speed(size: Bytes, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { size.0 as f64 / time.seconds() }
}

fn text(sent: &Sent, count: usize, size: Bytes) -> String {
    let Sent { done, time, rounds, .. } = sent;
    let (files, receivers) = (counted(count, "file"), counted(*done, "receiver"));
    let again = if *rounds > 1 { format!(" in {rounds} rounds") } else { String::new() };
    let speed = bytes_per_second(speed(size, *time));
    format!("sent {files}, {}, to {receivers} in {}{again}: {speed}\n", amount(size), rounded(*time))
}

fn as_json_text(sent: &Sent, count: usize, size: Bytes, sealed: bool) -> String {
    let Sent { done, without, rounds, time, packets, repeated, digest } = sent;
    json(&json!({
        "files": count,
        "bytes": size.0,
        "receivers": done,
        "without": without,
        "rounds": rounds,
        "seconds": time.seconds(),
        "bytes_per_second": speed(size, *time),
        "packets": packets,
        "packets_again": repeated,
        "sealed": sealed,
        "checksum": digest.map(|digest| digest.to_string()),
    }))
}

/// Why a receiver at that address cannot read the cast.
fn mismatch(why: Mismatch, from: Ipv4Addr) -> String {
    match why {
        Mismatch::Sealed => format!("the receiver at {from} has no key: it needs --key-file to receive this"),
        Mismatch::Open => {
            format!("the receiver at {from} has a key, and receives nothing that is sent without --key-file")
        }
        Mismatch::OtherKey => {
            format!("the receiver at {from} has another key: its --key-file may be the wrong one, or this one may be")
        }
        Mismatch::Version(version) => other_version("receiver", version, from),
    }
}

/// What the user sees meanwhile.
struct Watching {
    bar: DataBar,
    receivers: Option<u32>,
    joined: u32,
    done: u32,
}

impl Watching {
    fn new(receivers: Option<u32>) -> Watching {
        let watching = Watching { bar: DataBar::new(String::new()), receivers, joined: 0, done: 0 };
        watching.waits();
        watching
    }

    fn waits(&self) {
        let of = self.receivers.map(|receivers| format!(" of {receivers}")).unwrap_or_default();
        self.bar.set_message(format!("{}{of} receivers have joined", self.joined));
    }
}

impl Watch for Watching {
    fn see(&mut self, event: Event) {
        match event {
            Event::Joined(_) => {
                self.joined += 1;
                self.waits();
            }
            Event::Begins(receivers) => self.bar.set_message(format!("to {receivers}")),
            Event::Sent(done, of) => self.bar.show(done.0, of.0),
            Event::Lost(name) => self.bar.aside(|| warn(&format!("{name} is gone, or too slow; it may come back"))),
            Event::Refused(name, reason) => self.bar.aside(|| warn(&format!("{name} refuses the files: {reason}"))),
            Event::Done(_) => {
                self.done += 1;
                self.bar.set_message(format!("{} have it", self.done));
            }
            Event::ReceiverMismatch(why, from) => self.bar.aside(|| warn(&mismatch(why, from))),
            Event::Found(..) | Event::Has(..) | Event::SenderLeft(_) | Event::SenderMismatch(..) => {}
        }
    }

    fn ends(&self) -> bool {
        interrupt::requested()
    }
}
