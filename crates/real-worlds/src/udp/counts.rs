//! What went through a port.

/// What went through a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpCounts {
    /// Datagrams handed to the kernel.
    pub datagrams: u64,
    /// System calls that handed them over.
    pub calls: u64,
    /// Bytes of headers handed to the kernel. [B]
    pub headers: u64,
    /// Bytes of payloads handed to the kernel, which copies them, as nobody else does; zeros for what is only a size count. [B]
    pub payloads: u64,
    /// Datagrams that came.
    pub received: u64,
    /// How often the kernel had no room, and was waited for.
    pub waits: u64,
    /// Datagrams that the system refused to send at this moment; to the other ranks they are lost.
    pub refused: u64,
    /// Datagrams from addresses that are no rank's.
    pub strangers: u64,
    /// Datagrams of ranks that could not be read.
    pub unreadable: u64,
}
