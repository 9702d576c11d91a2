//! A packet on its way, and the channels that it has been granted so far.

use machines::routing::RouteState;
use quantities::Time;

use super::super::Injection;

/// A channel on a packet's way. Times in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub channel: u32,
    /// The link of the virtual channel that the packet takes.
    pub link: u32,
    /// Flits whose start is known.
    pub sent: u32,
    pub requested: u64,
    pub granted: u64,
    /// The header does not start before this.
    pub earliest: u64,
    /// The latest known start of a flit.
    pub last: u64,
    /// Whether the header's start is known.
    pub started: bool,
    /// Whether all slots that the packet needs were taken with the header.
    pub reserved: bool,
}

impl Row {
    /// A row that was just granted.
    pub fn new(channel: u32, link: u32, requested: u64, now: Time) -> Row {
        let granted = now.picoseconds();
        Row { channel, link, sent: 0, requested, granted, earliest: granted, last: 0, started: false, reserved: false }
    }
}

#[derive(Debug)]
pub(super) struct Packet {
    pub order: Injection,
    pub number: u64,
    pub injected: u64,
    pub route: RouteState,
    pub rows: Vec<Row>,
    /// The first row whose starts are not all known.
    pub first: usize,
    /// When the header (where packets are stored, the tail) comes to the buffer behind the last row.
    pub header_at: u64,
}
