//! Ranks that are gone, and receivers of broadcasts that are too slow.

use quantities::{Rank, Time};

use super::Engine;
use crate::packet::Body;
use crate::peer::Peer;
use crate::{Destination, Losses};

impl Engine {
    /// Does what is due: sends again what was not acknowledged, and gives up on ranks that are gone.
    pub fn wake(&mut self, now: Time) {
        self.agenda.touch_due(now);
        let touched = self.agenda.touched();
        for &rank in &touched {
            let to_one = self.peer_mut(rank).is_some_and(|peer| peer.wake(now));
            let to_all = self.source.wake(now, rank);
            self.counts.timeouts += u64::from(to_one) + u64::from(to_all);
        }
        let is_due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        for &rank in &touched {
            if is_due(self.gone_at(rank)) {
                self.peer_mut(rank).into_iter().for_each(Peer::lose);
                self.present -= 1;
                self.departures += 1;
                self.lose_receiver(rank);
            }
        }
        for &rank in &touched {
            if is_due(self.slow_at(rank)) {
                self.lose_receiver(rank);
            }
        }
    }

    /// When this rank will count as gone unless something arrives from it.
    pub(super) fn gone_at(&self, rank: Rank) -> Option<Time> {
        let view = self.source.view(rank).and_then(|view| view.stuck_since());
        Some(self.peer(rank)?.silent_since(view)? + self.parameters.patience)
    }

    /// When it will count as too slow a receiver of broadcasts unless it gets further.
    pub(super) fn slow_at(&self, rank: Rank) -> Option<Time> {
        Some(self.source.view(rank)?.stuck_since()? + self.parameters.slowest?)
    }

    /// Continues with broadcasts without this receiver, or stops them.
    fn lose_receiver(&mut self, rank: Rank) {
        let Some(view) = self.source.view(rank) else { return };
        let misses = view.is_under_way() || self.source.waiting() > 0;
        match self.parameters.losses {
            Losses::GoOn => {
                self.left_behind.push(rank);
                self.source.unlink(rank);
                self.push(Destination::One(rank), false, false, Body::Dropped);
            }
            Losses::Fail => {
                self.failed = Some(rank);
                self.source.clear();
                self.peer_mut(rank).into_iter().for_each(|peer| peer.missed |= misses);
                self.push(Destination::All, false, false, Body::Dropped);
            }
        }
    }

    /// A rank that was gone, or too slow, before it had everything that was sent to it, apart from broadcasts that
    /// continued without it.
    pub fn failure(&self) -> Option<Rank> {
        self.others().find(|(_, peer)| peer.missed).map(|(rank, _)| rank)
    }
}
