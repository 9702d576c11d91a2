//! What comes to two members of a group at once.

use std::collections::BTreeSet;

use maquette_store::member::Role;

use super::{Machine, PATIENCE, Part, World};

impl World {
    /// Spares and parity members that are gone have others in their place.
    pub(super) fn replace_lost(&mut self) {
        for role in [Role::Spare, Role::Parity] {
            if self.members(role).len() < self.k {
                self.add(role);
            }
        }
    }

    /// Two members of the group come to harm, or all lose sight of some, if that may be.
    pub(super) fn harm_some(&mut self) {
        if !self.is_covered() || self.rebuilt >= 6 {
            return;
        }
        if self.draws.percent(20) {
            return self.split_some();
        }
        self.harm = Some(self.now + self.draws.below(5 * PATIENCE));
        self.harm_one(true);
    }

    /// What was to happen to another member of the group happens when its time has come.
    pub(super) fn harm_another(&mut self) {
        if self.harm.take_if(|at| *at <= self.now).is_some() {
            self.harm_one(false);
        }
    }

    /// A member of the group is lost, is cut off for a while, or dies and is started again.
    fn harm_one(&mut self, is_first: bool) {
        let parities = self.members(Role::Parity);
        let all = [self.members(Role::Data), parities.clone()].concat();
        let place = all[self.draws.below(all.len() as u64) as usize];
        let may_be_gone = !parities.contains(&place) || is_first || parities.len() > 1 && self.all_lead_or_follow();
        match self.draws.below(3) {
            0 if may_be_gone => self.lose(place),
            1 if may_be_gone => {
                self.part(place);
                self.cut_off.insert(place, self.now + self.draws.below(8 * PATIENCE));
            }
            _ => self.crash(place),
        }
    }

    /// Whether a group's parity is there twice.
    fn all_lead_or_follow(&self) -> bool {
        let survives = |machine: &Machine| matches!(&machine.part, Part::Parity(parity) if parity.is_backed());
        self.cut_off.is_empty() && self.machines.iter().flatten().any(survives)
    }

    /// Some members reach each other and nobody else for a while.
    fn split_some(&mut self) {
        let places = self.places();
        let part: BTreeSet<usize> = places.iter().copied().filter(|_| self.draws.percent(50)).collect();
        let others: Vec<usize> = places.into_iter().filter(|place| !part.contains(place)).collect();
        part.iter().for_each(|place| self.part_from(*place, others.clone()));
        self.split = Some((part, self.now + self.draws.below(10 * PATIENCE)));
    }

    /// Those that had lost sight of each other meet again.
    pub(super) fn unite(&mut self) {
        let Some((part, _)) = self.split.take_if(|(_, until)| *until <= self.now) else { return };
        for one in part {
            for other in self.places().into_iter().filter(|other| *other != one) {
                self.meet(one, other);
            }
        }
    }
}
