//! Members that leave in order, while others come to harm.

use std::collections::BTreeSet;

use maquette_store::member::{Identity, Peer, Role};

use super::{Machine, Part, World};

impl Machine {
    /// Tells its part of the group that it leaves, or has left the pool.
    pub(super) fn go_on_leaving(&mut self, now: u64) {
        let member = self.host.member();
        let (leaves, has_left) = (member.departure().is_some(), member.has_left());
        match &mut self.part {
            Part::Data(data) if has_left => data.leave(now, &mut self.output),
            Part::Spare(spare, _) if leaves => spare.leave(),
            _ => {}
        }
    }

    /// How far it has come with leaving, and for whom it waits, if it leaves.
    pub(super) fn how_it_leaves(&self) -> String {
        let member = self.host.member();
        let Some(departure) = member.departure() else { return String::new() };
        let awaited: Vec<Identity> = member.not_heard().map(|peer| peer.identity).collect();
        format!(", leaves ({:?}), waits for {awaited:?}", departure.stage)
    }

    /// Whether its process ends, as nobody needs it any more.
    pub(super) fn has_left(&self) -> bool {
        self.host.member().has_left() && !matches!(&self.part, Part::Data(data) if !data.has_left())
    }
}

impl World {
    /// Whether nobody is about to leave.
    pub(super) fn nobody_leaves(&self) -> bool {
        self.machines.iter().flatten().all(|machine| machine.host.member().departure().is_none())
            && self.leaving.is_subset(&self.left)
    }

    /// Whether some parity member knows a member as one of its group.
    fn is_in_a_group(&self, member: Identity) -> bool {
        let knows = |machine: &Machine| matches!(&machine.part, Part::Parity(parity) if parity.members().any(|it| it == member));
        self.machines.iter().flatten().any(knows)
    }

    /// A member that hosts servers is asked to leave, or a spare, if all others have room for its servers.
    pub(super) fn drain(&mut self) {
        let candidates = [self.members(Role::Data), self.members(Role::Spare)].concat();
        let place = candidates[self.draws.below(candidates.len() as u64) as usize];
        let is_over = self.left.len() >= 3 || !self.nobody_leaves();
        let Some(machine) = self.machines[place].as_mut().filter(|_| !is_over) else { return };
        let (member, is_spare) = (machine.host.member(), matches!(machine.part, Part::Spare(..)));
        let servers = member.image().extent().buckets();
        if !is_spare && member.most_servers_of_others() < servers {
            return;
        }
        if !is_spare {
            self.leaving.insert(member.own().identity);
        }
        machine.host.with_member(|member, now, outputs| member.leave(now, outputs));
        self.commit(place, 0);
    }

    /// A member that was lost before the parity had its wish to leave is rebuilt without it, and stays: nobody was told that it leaves.
    fn forget_departures_that_were_lost(&mut self) {
        let machines = || self.machines.iter().flatten();
        let keeps_parity = |machine: &&Machine| matches!(machine.part, Part::Parity(_));
        let seats = || machines().filter(keeps_parity).flat_map(|machine| machine.facts.columns.iter().flatten());
        // A former life that has not heard that it was rebuilt says nothing of the member.
        let is_last =
            |own: &Peer| seats().filter(|seat| seat.0 == own.identity).map(|seat| seat.1).max() == Some(own.life);
        let staying = machines().filter(|machine| machine.host.member().departure().is_none());
        let staying = staying.map(Machine::own).filter(|own| is_last(own)).map(|own| own.identity);
        let staying: BTreeSet<Identity> = staying.collect();
        self.leaving.retain(|it| !staying.contains(it));
    }

    /// Data members that have left have others in their place, as soon as their group knows that they have; and once it has both parity members,
    /// of which the one could else begin a group of its own with whoever comes.
    pub(super) fn replace_those_that_left(&mut self) {
        self.forget_departures_that_were_lost();
        let is_there = |it| self.machines.iter().flatten().any(|machine| machine.own().identity == it);
        let is_gone = |it: &Identity| !self.left.contains(it) && !is_there(*it) && !self.is_in_a_group(*it);
        let takes_in = self.k == 1 || self.all_lead_or_follow();
        if let Some(gone) = self.leaving.iter().copied().find(is_gone).filter(|_| takes_in) {
            self.left.insert(gone);
            self.add(Role::Data);
        }
    }
}
