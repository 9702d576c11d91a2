//! When a pool is at rest, and how it stands if it does not come to rest.

use maquette_store::member::{Identity, Role};

use super::{DATA, GroupRole, Machine, World};

impl World {
    /// Whether any k members may be lost now.
    pub(super) fn is_covered(&self) -> bool {
        let covers = |machine: &Machine| {
            let GroupRole::Parity(parity) = &machine.part else { return false };
            let is_linked = parity.members().all(|member| machine.links.contains_key(&member));
            let is_covered = parity.survives() == self.k;
            assert!(!is_covered || self.covers_as_well(parity.other()), "{}", self.how_it_stands());
            parity.members().count() == DATA && is_covered && is_linked
        };
        let is_covered = self.machines.iter().flatten().any(covers);
        let has_spares = self.members(Role::Spare).len() >= self.k;
        is_covered && has_spares && self.cut_off.is_empty() && self.split.is_none() && self.harm.is_none()
    }

    /// Whether the other parity member of a group, if there is one and it has any parity, can have each member rebuilt,
    /// too. The lead may not have heard yet that it was restarted.
    fn covers_as_well(&self, other: Option<Identity>) -> bool {
        let of_other = self.machines.iter().flatten().filter(|machine| Some(machine.own().identity) == other);
        let covers = |machine: &Machine| match &machine.part {
            GroupRole::Parity(parity) => {
                let state = parity.state();
                state.bytes == 0 || state.columns.iter().all(|it| it.is_complete || it.leaves)
            }
            _ => false,
        };
        of_other.into_iter().all(covers)
    }

    pub(super) fn is_quiet(&self) -> bool {
        let mut machines = self.machines.iter().flatten();
        self.cut_off.is_empty()
            && self.is_covered()
            && self.nobody_leaves()
            && self.links.values().all(|it| it.is_of_group)
            && machines.all(|machine| {
                let member = machine.host.member();
                let is_lost = matches!(&machine.part, GroupRole::Data(data) if data.is_lost());
                !is_lost && machine.turns.is_empty() && member.deadline().is_none() && member.behind().next().is_none()
            })
    }

    pub(super) fn until_nothing_is_under_way(&mut self) {
        let mut steps = 0;
        while !self.is_quiet() {
            self.step(0);
            self.harm_another();
            self.replace_lost();
            self.replace_those_that_left();
            steps += 1;
            assert!(steps < 300_000, "it never ends: {}", self.how_it_stands());
        }
    }

    fn how_it_stands(&self) -> String {
        let of_machine = |place: &usize| {
            let machine = self.machines[*place].as_ref().unwrap();
            let member = machine.host.member();
            let servers: Vec<u32> = member.servers().map(|(number, _)| number).collect();
            let behind: Vec<Identity> = member.behind().collect();
            let asked: Vec<u64> =
                machine.clients.each.iter().filter_map(|(_, asked)| Some(asked.as_ref()?.key)).collect();
            let part = match &machine.part {
                GroupRole::Data(data) => format!("covered {}, lost {}", data.is_covered(), data.is_lost()),
                GroupRole::Parity(parity) => {
                    let (leads, survives) = (parity.leads(), parity.survives());
                    format!("leads {leads}, survives {survives}, {:?}", parity.state())
                }
                GroupRole::Spare(..) => String::new(),
            };
            format!(
                "\n{place}: {:?}, servers {servers:?}, behind {behind:?}, waits for keys {asked:?}, {} turns, deadline {:?}, links {:?}, {part}",
                member.own(),
                machine.turns.len(),
                machine.host.member().deadline(),
                machine.links,
            ) + &machine.how_it_leaves()
        };
        let machines: String = self.places().iter().map(of_machine).collect();
        format!("{:?} leave, of whom {:?} have left{machines}", self.leaving, self.left)
    }
}
