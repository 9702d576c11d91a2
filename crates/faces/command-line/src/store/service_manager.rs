//! What a store reports to the service manager that has started it: systemd, or another one with its protocol, of which
//! the environment names the socket.

use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr as NetworkAddress;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use crate::failure::warn;

/// The manager that waits for reports, if there is one.
pub(super) struct ServiceManager(Option<SocketAddr>);

impl ServiceManager {
    /// The one of the environment.
    pub(super) fn of_environment() -> ServiceManager {
        let name = std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty());
        ServiceManager(name.and_then(|name| match address(&name) {
            Ok(address) => Some(address),
            Err(problem) => {
                warn(&format!("NOTIFY_SOCKET is `{}`, which is no socket: {problem}", name.to_string_lossy()));
                None
            }
        }))
    }

    /// Its clients can connect: it listens on these addresses and has read what it has kept.
    pub(super) fn is_ready(&self, addresses: &[NetworkAddress]) {
        let addresses: Vec<String> = addresses.iter().map(NetworkAddress::to_string).collect();
        self.report(&format!("READY=1\nSTATUS=listens on {}", addresses.join(", ")));
    }

    /// It was asked to end.
    pub(super) fn is_ending(&self) {
        self.report("STOPPING=1\nSTATUS=ends");
    }

    fn report(&self, state: &str) {
        let Some(manager) = &self.0 else { return };
        let sent = UnixDatagram::unbound().and_then(|socket| socket.send_to_addr(state.as_bytes(), manager));
        if let Err(problem) = sent {
            warn(&format!("the service manager at NOTIFY_SOCKET can't be reached: {problem}"));
        }
    }
}

/// The socket with this name: a path, or after `@` a name that is in no folder.
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
        [b'/', ..] => SocketAddr::from_pathname(name),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it begins with neither `/` nor `@`")),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    /// What a manager receives on a socket that has this name, and is bound there.
    fn received(name: &str) -> Vec<String> {
        let address = address(&OsString::from(name)).unwrap();
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        let manager = ServiceManager(Some(address));
        manager.is_ready(&["127.0.0.1:6379".parse().unwrap(), "[::1]:6379".parse().unwrap()]);
        manager.is_ending();
        let next = || {
            let mut bytes = [0; 200];
            let length = socket.recv(&mut bytes).unwrap();
            String::from_utf8(bytes[..length].to_vec()).unwrap()
        };
        vec![next(), next()]
    }

    #[test]
    fn a_manager_is_reported_to_at_a_path_and_at_a_name_without_one() {
        let expected = ["READY=1\nSTATUS=listens on 127.0.0.1:6379, [::1]:6379", "STOPPING=1\nSTATUS=ends"];
        let path = std::env::temp_dir().join(format!("maquette-manager-{}", std::process::id()));
        assert_eq!(received(path.to_str().unwrap()), expected);
        std::fs::remove_file(path).unwrap();
        assert_eq!(received(&format!("@maquette-manager-{}", std::process::id())), expected);
    }

    #[test]
    fn a_name_that_is_no_socket_is_refused() {
        assert!(address(OsStr::new("manager")).is_err());
    }
}
