//! What of a server and its table is kept on disk, and how both are brought back.
//!
//! A server does the same again when it takes the same messages in the same state. So it is enough to keep its entries, the messages that it
//! takes, and what it begins by itself: where a split or a merge stood comes out of these again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::contents::{Contents, OutputOf};
use super::reorganisation::Change;
use super::{Applied, Bounds, Extent, Growth, Server, ServerCounts};

/// All of a server but its contents and its measures. `R` is how a request goes. Parts of scans that wait are asked for again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Control<R> {
    token: Option<Extent>,
    change: Option<Change>,
    asked_to_leave: Option<(u32, u32)>,
    pace: Pace,
    applied: BTreeMap<u64, Applied<R>>,
    told: BTreeMap<u64, u64>,
}

/// What a server counts until it may split or shrink: it changes with each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    rest: u64,
    since: u64,
}

impl<C: Contents> Server<C> {
    /// All that there is to keep of it but its contents.
    pub fn control(&self) -> Control<C::Outcome> {
        let (applied, told) = (self.applied.clone(), self.told.clone());
        let (token, change, asked_to_leave) = (self.token, self.change, self.asked_to_leave);
        Control { token, change, asked_to_leave, pace: self.pace(), applied, told }
    }

    /// Server `number` as it was, with contents as they were.
    pub fn resume(
        contents: C,
        number: u32,
        (growth, bounds): (Growth, Bounds),
        control: Control<C::Outcome>,
    ) -> Server<C> {
        let Control { token, change, asked_to_leave, pace: Pace { rest, since }, applied, told } = control;
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
            told,
            counts,
        }
    }

    /// What it counts until it may split or shrink.
    pub const fn pace(&self) -> Pace {
        Pace { rest: self.rest, since: self.since }
    }

    /// Counts on from there.
    pub const fn set_pace(&mut self, pace: Pace) {
        (self.rest, self.since) = (pace.rest, pace.since);
    }

    /// Grows and shrinks by other measures from now on, but does not look yet whether it is to split.
    pub const fn set_growth(&mut self, growth: Growth, bounds: Bounds) {
        (self.growth, self.bounds) = (growth, bounds);
    }

    /// What it remembers of a client's last request.
    pub fn last_of(&self, client: u64) -> Option<&Applied<C::Outcome>> {
        self.applied.get(&client)
    }

    /// Remembers how a client's last request went.
    pub fn remember(&mut self, client: u64, applied: Applied<C::Outcome>) {
        self.applied.insert(client, applied);
    }

    /// Begins again what it had begun by itself: to split, or to let the file shrink, or one after the other.
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
