//! Where sender and receivers meet: the options that both have in common.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;

use ::cast::VERSION;
use ::cast::cast::Meeting;
use ::cast::interface;
use ::cast::secret::KeyFile;
use clap::Args;
use quantities::shown_path;

use crate::failure::{Failure, warn};
use crate::quantity::whole;

/// Where they meet by default: an address for use within an organisation, and a port that no well-known service uses.
pub(super) const GROUP: &str = "239.255.77.66:7447";

/// Which network, and which key.
#[derive(Args, Debug)]
pub(super) struct Way {
    /// The network interface to use, and no other: its name or its address. By default only this machine is reached.
    #[arg(long, value_name = "NAME|ADDRESS", default_value = "127.0.0.1")]
    interface: String,
    /// How many networks packets may cross: for more than one, routers must forward multicast.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole(1..=32_u32))]
    hops: u32,
    /// Encrypt and authenticate everything with the key in this file, of 32 bytes or more; sender and receivers need
    /// the same.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

impl Way {
    /// The meeting at `group`.
    pub(super) fn meeting(&self, group: SocketAddrV4) -> Result<Meeting, Failure> {
        let interface = interface::find(&self.interface)
            .map_err(|error| Failure::argument("--interface", error.found, error.allowed))?;
        let key_file = self.key_file.as_ref().map(|path| {
            let read = KeyFile::read(path).map_err(|cause| Failure::Unreadable { path: path.clone(), cause })?;
            if read.is_open {
                warn(&format!("`{}` can be read by other users of this machine: `chmod 600` it", shown_path(path)));
            }
            Ok::<_, Failure>(read.secret)
        });
        Ok(Meeting { group, interface, hops: self.hops, secret: key_file.transpose()? })
    }
}

/// Reads GROUP or GROUP:PORT.
pub(super) fn group(text: &str) -> Result<SocketAddrV4, String> {
    let (_, usual) = GROUP.split_once(':').unwrap_or_default();
    let (address, port) = text.split_once(':').unwrap_or((text, usual));
    let address: Option<Ipv4Addr> = address.parse().ok().filter(Ipv4Addr::is_multicast);
    let port: Option<u16> = port.parse().ok().filter(|port| (1..u16::MAX).contains(port));
    let both = address.zip(port).map(|(address, port)| SocketAddrV4::new(address, port));
    both.ok_or_else(|| {
        "allowed are 224.0.0.0 to 239.255.255.255, best 239.x.y.z, and after `:` a port up to 65534".to_string()
    })
}

/// The message that the `other`, at that address, cannot be understood because of its version.
pub(super) fn other_version(other: &str, version: u8, at: Ipv4Addr) -> String {
    format!(
        "the {other} at {at} has version {version} of the protocol of casts, and this is version {VERSION}: both sides need the same \
         version of Maquette"
    )
}
