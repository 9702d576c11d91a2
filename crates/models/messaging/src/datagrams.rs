//! What the layer below must provide.

use endpoint::Result;
use quantities::{Rank, Time};

use crate::Datagram;

/// Where a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One rank.
    One(Rank),
    /// All other ranks, at once.
    All,
}

/// A network interface: it carries datagrams, or loses, repeats or delays them. A simulated Ethernet is one, UDP is
/// another.
#[allow(async_fn_in_trait)] // a world polls its own futures on one thread: no `Send` bound is wanted
pub trait Datagrams {
    /// The time at this rank.
    fn now(&self) -> Time;
    /// Sends all of `datagrams`, in this order if it can; a slice, so that they can be handed over at once. A lost
    /// datagram is not an error.
    ///
    /// # Errors
    /// When the network can no longer be used.
    async fn send(&self, datagrams: &[(Destination, Datagram)]) -> Result<()>;
    /// Waits until something has arrived or the time is `until`, and appends what there is to `arrived`.
    ///
    /// # Errors
    /// When the network can no longer be used.
    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()>;
}
