//! The counters of a port.

/// The counters of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpCounts {
    /// Datagrams handed to the kernel.
    pub datagrams: u64,
    /// System calls that handed them over.
    pub calls: u64,
    /// Bytes of headers handed to the kernel. [B]
    pub headers: u64,
    /// Bytes of payloads handed to the kernel, which makes the only copy of them; zeros in place of what is only a size
    /// are included. [B]
    pub payloads: u64,
    /// Datagrams that arrived.
    pub received: u64,
    /// How often the kernel had no room and had to be waited for.
    pub waits: u64,
    /// Datagrams that the system refused to send at the time; to the other ranks they are lost.
    pub refused: u64,
    /// Datagrams from addresses that belong to no rank.
    pub strangers: u64,
    /// Datagrams from ranks that could not be read.
    pub unreadable: u64,
}
