//! The state of a server and its table that is kept on disk, and how both are restored.
//!
//! A server in the same state does the same for the same messages. So it is enough to keep its entries, the messages
//! that it takes, and what it begins by itself: the progress of a split or a merge follows from these.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contents::{Contents, OutputOf};
use super::reorganisation::Change;
use super::{Applied, Bounds, Extent, Growth, Server, ServerCounts};

/// The state of a server except its contents and its growth parameters. `R` is the outcome of a request. Parts of scans
/// that wait are not kept: clients ask for them again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Control<R> {
    token: Option<Extent>,
    change: Option<Change>,
    asked_to_leave: Option<(u32, u32)>,
    pace: Pace,
    applied: BTreeMap<u64, Applied<R>>,
    known_to_receiver: BTreeMap<u64, u64>,
}

/// A server's counters that decide when it may split or shrink: they change with each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    rest: u64,
    since: u64,
}

impl<C: Contents> Server<C> {
    /// Its state to keep, except its contents.
    pub fn control(&self) -> Control<C::Outcome> {
        let (applied, known_to_receiver) = (self.applied.clone(), self.known_to_receiver.clone());
        let (token, change, asked_to_leave) = (self.token, self.change, self.asked_to_leave);
        Control { token, change, asked_to_leave, pace: self.pace(), applied, known_to_receiver }
    }

    /// Restores server `number` with its former contents.
    pub fn resume(
        contents: C,
        number: u32,
        (growth, bounds): (Growth, Bounds),
        control: Control<C::Outcome>,
    ) -> Server<C> {
        let Control { token, change, asked_to_leave, pace: Pace { rest, since }, applied, known_to_receiver } = control;
        let (scans, counts) = (Vec::new(), ServerCounts::default());
        Server {
            number,
            growth,
            bounds,
            contents,
            token,
            change,
            asked_to_leave,
            rest,
            since,
            scans,
            applied,
            known_to_receiver,
            counts,
        }
    }

    /// The counters that decide when it may split or shrink.
    pub const fn pace(&self) -> Pace {
        Pace { rest: self.rest, since: self.since }
    }

    /// Continues counting from `pace`.
    pub const fn set_pace(&mut self, pace: Pace) {
        (self.rest, self.since) = (pace.rest, pace.since);
    }

    /// Sets the parameters of growth from now on, without checking yet whether a split is due.
    pub const fn set_growth(&mut self, growth: Growth, bounds: Bounds) {
        (self.growth, self.bounds) = (growth, bounds);
    }

    /// What it remembers of a client's last request.
    pub fn last_of(&self, client: u64) -> Option<&Applied<C::Outcome>> {
        self.applied.get(&client)
    }

    /// Remembers the outcome of a client's last request.
    pub fn remember(&mut self, client: u64, applied: Applied<C::Outcome>) {
        self.applied.insert(client, applied);
    }

    /// Begins again what it had begun by itself: a split, or the shrinking of the file, or one after the other.
    pub fn begin_again(&mut self, splits: bool, shrinks: bool, outputs: &mut Vec<OutputOf<C>>) {
        if splits {
            self.consider_split(outputs);
        }
        if shrinks {
            self.rest = 0;
            self.consider_shrinking(outputs);
        }
    }
}
