//! What the layer below must do.

use endpoint::Result;
use quantities::{Rank, Time};

use crate::Datagram;

/// To whom a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One rank.
    One(Rank),
    /// All other ranks, at once.
    All,
}

/// A network interface: it carries datagrams, or loses, repeats or delays them. A simulated Ethernet is one, and UDP is another.
#[allow(async_fn_in_trait)] // a world polls its own futures on one thread: no `Send` bound is wanted
pub trait Datagrams {
    /// The time at this rank.
    fn now(&self) -> Time;
    /// Sends all of `datagrams`, in this order if it can; more than one, so that they can be handed over at once. A datagram that
    /// is lost is no error.
    ///
    /// # Errors
    /// When the network can't be used any more.
    async fn send(&self, datagrams: &[(Destination, Datagram)]) -> Result<()>;
    /// Waits until something has come, or it is `until`, and puts what is there behind what is in `arrived`.
    ///
    /// # Errors
    /// When the network can't be used any more.
    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()>;
}
