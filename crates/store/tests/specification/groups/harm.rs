//! Harm to two members of a group at once.

use std::collections::BTreeSet;

use maquette_store::member::Role;

use super::{GroupRole, Machine, PATIENCE, TICK, World};

impl World {
    /// Replaces spares and parity members that are gone.
    pub(super) fn replace_lost(&mut self) {
        if self.members(Role::Spare).len() < self.k {
            self.add(Role::Spare);
        }
        if self.members(Role::Parity).len() < self.k {
            self.add(Role::Parity);
        }
    }

    /// Harms two members of the group, or partitions the pool, if the group can survive that now.
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

    /// Harms the second member when its time has come.
    pub(super) fn harm_another(&mut self) {
        if self.harm.take_if(|at| *at <= self.now).is_some() {
            self.harm_one(false);
        }
    }

    /// A member of the group is lost, is cut off for a while, or dies and is restarted.
    fn harm_one(&mut self, is_first: bool) {
        let parities = self.members(Role::Parity);
        let all = [self.covered_members(), parities.clone()].concat();
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

    /// Data members that can be rebuilt: one that has replaced a member that left may not be covered yet.
    fn covered_members(&self) -> Vec<usize> {
        let states = self.machines.iter().flatten().filter_map(|machine| match &machine.part {
            GroupRole::Parity(parity) => Some(parity.state()),
            _ => None,
        });
        let covered = states.flat_map(|state| state.columns).filter(|column| column.is_complete);
        let covered: BTreeSet<String> = covered.map(|column| column.member).collect();
        let is_covered = |place: &usize| {
            self.machines[*place].as_ref().is_some_and(|machine| covered.contains(&machine.own().identity.to_string()))
        };
        self.members(Role::Data).into_iter().filter(is_covered).collect()
    }

    /// Whether the group has both parities, and no member is cut off.
    pub(super) fn all_lead_or_follow(&self) -> bool {
        let survives = |machine: &Machine| matches!(&machine.part, GroupRole::Parity(parity) if parity.is_backed());
        self.cut_off.is_empty() && self.machines.iter().flatten().any(survives)
    }

    /// For a while, some members can reach only each other.
    fn split_some(&mut self) {
        let places = self.places();
        let part: BTreeSet<usize> = places.iter().copied().filter(|_| self.draws.percent(50)).collect();
        let others: Vec<usize> = places.into_iter().filter(|place| !part.contains(place)).collect();
        part.iter().for_each(|place| self.part_from(*place, others.clone()));
        self.split = Some((part, self.now + self.draws.below(10 * PATIENCE)));
    }

    /// The two sides of a partition reach each other again.
    pub(super) fn unite(&mut self) {
        let Some((part, _)) = self.split.take_if(|(_, until)| *until <= self.now) else { return };
        for one in part {
            for other in self.places().into_iter().filter(|other| *other != one) {
                self.connect(one, other);
            }
        }
    }
}

#[test]
fn a_member_is_rebuilt_although_another_one_is_lost_once_the_absent_one_is_back() {
    let mut world = World::new(1, 2);
    world.run(60, true);
    (world.begun, world.rebuilt) = (0, 0);
    let [lost, absent, other] = world.members(Role::Data)[..3] else { panic!("there are four") };
    world.lose(lost);
    let is_almost_over = |machine: &Machine| {
        let GroupRole::Parity(parity) = &machine.part else { return false };
        parity.leads() && parity.state().columns.iter().any(|column| column.silent > PATIENCE - 2 * TICK)
    };
    while !world.machines.iter().flatten().any(is_almost_over) {
        world.step(0);
    }
    // For this moment another member is away, too.
    world.part(absent);
    world.cut_off.insert(absent, world.now + 4 * TICK);
    while world.begun == 0 {
        world.step(0);
    }
    assert!(world.cut_off.contains_key(&absent));
    world.lose(other);
    world.until_nothing_is_under_way();
    world.check();
    assert_eq!(world.rebuilt, 2);
}
