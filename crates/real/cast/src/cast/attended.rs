//! A network that also serves the lobby.

use std::cell::{Cell, RefCell};

use endpoint::{Error, Result};
use messaging::{Datagram, Datagrams, Destination};
use quantities::{Duration, Time};

use super::ms;

/// The interval between two calls of `attend`.
const BETWEEN: Duration = ms(20);

/// A network that calls `attend` from time to time, and ends when that returns an error.
pub(super) struct Attended<D, F> {
    network: D,
    attend: RefCell<F>,
    at: Cell<Time>,
    ends: Cell<Time>,
}

impl<D: Datagrams, F: FnMut(Time) -> Result<()>> Attended<D, F> {
    pub(super) fn new(network: D, attend: F) -> Attended<D, F> {
        Attended { network, attend: RefCell::new(attend), at: Cell::new(Time::ZERO), ends: Cell::new(Time::NEVER) }
    }

    /// Nothing is waited for beyond `time`.
    pub(super) fn ends_at(&self, time: Time) {
        self.ends.set(time);
    }

    /// Like [`Attended::ends_at`], but without attending to anything else meanwhile.
    pub(super) fn ends_alone_at(&self, time: Time) {
        self.ends_at(time);
        self.at.set(Time::NEVER);
    }
}

impl<D: Datagrams, F: FnMut(Time) -> Result<()>> Datagrams for &Attended<D, F> {
    fn now(&self) -> Time {
        self.network.now()
    }

    async fn send(&self, datagrams: &[(Destination, Datagram)]) -> Result<()> {
        self.network.send(datagrams).await
    }

    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()> {
        let now = self.now();
        if self.ends.get() <= now {
            return Err(Error::Stopped);
        }
        if self.at.get() <= now {
            self.at.set(now + BETWEEN);
            (self.attend.borrow_mut())(now)?;
        }
        let soon = self.at.get().min(self.ends.get());
        self.network.receive(Some(until.map_or(soon, |until| until.min(soon))), arrived).await
    }
}
