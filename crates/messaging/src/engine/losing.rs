//! Ranks that are gone, and receivers of broadcasts that are too slow.

use quantities::{Rank, Time};

use super::Engine;
use crate::packet::Body;
use crate::peer::Peer;
use crate::{Destination, Losses};

impl Engine {
    /// Does what is due: sends again what nobody acknowledged, and gives up on who is gone.
    pub fn wake(&mut self, now: Time) {
        self.peers.iter_mut().flatten().for_each(|peer| peer.wake(now));
        self.source.wake(now);
        let gone: Vec<Rank> = self.gone_at().filter(|&(at, _)| at <= now).map(|(_, rank)| rank).collect();
        for rank in gone {
            self.peers.get_mut(rank.0 as usize).and_then(Option::as_mut).into_iter().for_each(Peer::lose);
            self.lose_receiver(rank);
        }
        let slow: Vec<Rank> = self.slow_at().filter(|&(at, _)| at <= now).map(|(_, rank)| rank).collect();
        slow.into_iter().for_each(|rank| self.lose_receiver(rank));
    }

    /// When which ranks will be gone if nothing is heard of them.
    pub(super) fn gone_at(&self) -> impl Iterator<Item = (Time, Rank)> {
        self.others().filter_map(|(rank, peer)| {
            let view = self.source.view(rank).and_then(|view| view.stuck_since());
            Some((peer.silent_since(view)? + self.parameters.patience, rank))
        })
    }

    /// When which receivers of broadcasts will be too slow if they get no further.
    pub(super) fn slow_at(&self) -> impl Iterator<Item = (Time, Rank)> {
        let stuck = self.others().filter_map(|(rank, _)| Some((self.source.view(rank)?.stuck_since()?, rank)));
        stuck.filter_map(|(since, rank)| Some((since + self.parameters.slowest?, rank)))
    }

    /// Goes on with broadcasts without that receiver, or not at all.
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
                self.peers
                    .get_mut(rank.0 as usize)
                    .and_then(Option::as_mut)
                    .into_iter()
                    .for_each(|it| it.missed |= misses);
                self.push(Destination::All, false, false, Body::Dropped);
            }
        }
    }

    /// A rank that was gone, or too slow, before it had all that was sent to it; but for broadcasts that went on without it.
    pub fn failure(&self) -> Option<Rank> {
        self.others().find(|(_, peer)| peer.missed).map(|(rank, _)| rank)
    }
}
