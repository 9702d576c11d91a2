//! The choice of a network interface.

use std::net::Ipv4Addr;

use nix::ifaddrs::getifaddrs;
pub use real_worlds::udp::receives_multicast;

/// An interface that this machine does not have, or that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found}; allowed are {allowed}")]
pub struct NoInterface {
    /// What was requested, and what is wrong with it.
    pub found: String,
    /// The interfaces that exist.
    pub allowed: String,
}

/// The address of the interface given by `text`, which is its name or its address.
///
/// # Errors
/// [`NoInterface`], listing those that exist.
pub fn find(text: &str) -> Result<Ipv4Addr, NoInterface> {
    let all: Vec<(String, Ipv4Addr)> = all();
    let address: Option<Ipv4Addr> = text.parse().ok();
    let found = all.iter().find(|(name, own)| name == text || Some(*own) == address);
    found.map(|(_, own)| *own).ok_or_else(|| NoInterface {
        found: format!("no interface `{text}` with an IPv4 address"),
        allowed: all.iter().map(|(name, own)| format!("{name} ({own})")).collect::<Vec<_>>().join(", "),
    })
}

/// All interfaces that have an address, with that address.
fn all() -> Vec<(String, Ipv4Addr)> {
    let interfaces = getifaddrs().into_iter().flatten();
    let own = |it: nix::ifaddrs::InterfaceAddress| Some((it.interface_name, it.address?.as_sockaddr_in()?.ip()));
    interfaces.filter_map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_found_by_its_name_or_its_address() {
        for (name, address) in all() {
            assert_eq!((find(&address.to_string()), find(&name).is_ok()), (Ok(address), true));
        }
        let complaint = find("nosuch0").unwrap_err().to_string();
        assert!(complaint.starts_with("no interface `nosuch0` with an IPv4 address; allowed are "), "{complaint}");
    }
}
