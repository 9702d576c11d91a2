//! Members that leave in order while others are harmed.

use std::collections::BTreeSet;

use maquette_store::member::{Identity, Peer, Role};
use maquette_store::parity::Output;
use maquette_store::parity::column::{Extent, FileName};
use maquette_store::parity::data::DataMember;
use maquette_store::parity::facts::Facts;
use maquette_store::parity::message::{Message, Wish};
use maquette_store::parity::views::{Number, View};

use super::disk::Disk;
use super::{GroupRole, Machine, PATIENCE, World};

impl Machine {
    /// Tells its group role that it is leaving, or has left, the pool.
    pub(super) fn go_on_leaving(&mut self, now: u64) {
        let member = self.host.member();
        let (leaves, has_left) = (member.membership().departure().is_some(), member.membership().has_left());
        match &mut self.part {
            GroupRole::Data(data) if has_left => data.leave(now, &mut self.output),
            GroupRole::Spare(spare, _) if leaves => spare.leave(now),
            _ => {}
        }
    }

    /// Its progress with leaving and the members it waits for, if it is leaving.
    pub(super) fn how_it_leaves(&self) -> String {
        let member = self.host.member();
        let Some(departure) = member.membership().departure() else { return String::new() };
        let awaited: Vec<Identity> = member.uninformed().map(|peer| peer.identity).collect();
        format!(", leaves ({:?}), waits for {awaited:?}", departure.stage)
    }

    /// Whether its process exits, as nobody needs it any more.
    pub(super) fn has_left(&self) -> bool {
        let keeps_it = match &self.part {
            GroupRole::Data(data) => !data.has_left(),
            GroupRole::Spare(spare, _) => spare.is_given(),
            GroupRole::Parity(_) => false,
        };
        self.host.member().membership().has_left() && !keeps_it
    }
}

impl World {
    /// Whether no member is about to leave.
    pub(super) fn nobody_leaves(&self) -> bool {
        self.machines.iter().flatten().all(|machine| machine.host.member().membership().departure().is_none())
            && self.leaving.is_subset(&self.left)
    }

    /// Whether any parity member knows this member as one of its group.
    fn is_in_a_group(&self, member: Identity) -> bool {
        let knows = |machine: &Machine| matches!(&machine.part, GroupRole::Parity(parity) if parity.members().any(|it| it == member));
        self.machines.iter().flatten().any(knows)
    }

    /// Asks a data member or a spare to leave, if the others have room for its servers.
    pub(super) fn drain(&mut self) {
        let candidates = [self.members(Role::Data), self.members(Role::Spare)].concat();
        let place = candidates[self.draws.below(candidates.len() as u64) as usize];
        let is_over = self.left.len() >= 3 || !self.nobody_leaves();
        let Some(machine) = self.machines[place].as_ref().filter(|_| !is_over) else { return };
        let (member, is_spare) = (machine.host.member(), matches!(machine.part, GroupRole::Spare(..)));
        let servers = member.image().extent().buckets();
        if !is_spare && member.most_servers_of_others() < servers {
            return;
        }
        self.begin_to_leave(place);
    }

    pub(super) fn begin_to_leave(&mut self, place: usize) {
        let Some(machine) = &mut self.machines[place] else { return };
        if matches!(machine.part, GroupRole::Data(_)) {
            self.leaving.insert(machine.own().identity);
        }
        machine.host.with_member(|member, now, outputs| member.leave(now, outputs));
        self.commit(place, 0);
    }

    /// A member that was lost before the parity held its wish to leave is rebuilt without that, and stays: nobody was
    /// told that it would leave.
    fn forget_departures_that_were_lost(&mut self) {
        // A process of an earlier life, not yet told of the rebuilding, doesn't count.
        let is_last = |own: &&Peer| self.lives.get(&own.identity).copied().unwrap_or_default() == own.life;
        let machines = self.machines.iter().flatten();
        let staying = machines.filter(|machine| machine.host.member().membership().departure().is_none());
        let staying = staying.map(Machine::own).filter(is_last).map(|own| own.identity);
        let staying: BTreeSet<Identity> = staying.collect();
        self.leaving.retain(|it| !staying.contains(it));
    }

    /// Replaces data members that have left, once their group knows that they have and has both parity members:
    /// otherwise one of these could found a group of its own with the newcomer.
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

/// A pool whose group survives one loss, which stores some records and has had no losses.
pub(super) fn calm() -> World {
    let mut world = World::new(1, 1);
    world.run(60, true);
    (world.begun, world.rebuilt) = (0, 0);
    world
}

#[test]
fn the_only_spare_becomes_a_lost_member_even_while_it_leaves() {
    let mut world = calm();
    let (lost, spare) = (world.members(Role::Data)[0], world.members(Role::Spare)[0]);
    let identity = world.machines[lost].as_ref().unwrap().own().identity;
    world.lose(lost);
    world.begin_to_leave(spare);
    world.until_nothing_is_under_way();
    world.check();
    assert_eq!(world.machines[spare].as_ref().unwrap().own().identity, identity);
    assert_eq!((world.begun, world.rebuilt), (2, 1), "the first offer is one for another spare, if there is one");
}

#[test]
fn a_leaving_spare_lets_another_one_become_the_lost_member() {
    let mut world = calm();
    let (lost, spare) = (world.members(Role::Data)[0], world.members(Role::Spare)[0]);
    let identity = world.machines[lost].as_ref().unwrap().own().identity;
    world.add(Role::Spare);
    world.lose(lost);
    world.begin_to_leave(spare);
    world.until_nothing_is_under_way();
    world.check();
    assert!(world.machines[spare].is_none(), "it has left");
    assert!(world.places().into_iter().any(|place| world.machines[place].as_ref().unwrap().own().identity == identity));
    assert_eq!((world.begun, world.rebuilt), (2, 1));
}

/// Whether a group's second parity is being made while a member leaves the group.
fn is_made_while_one_leaves(machine: &Machine) -> bool {
    let GroupRole::Parity(parity) = &machine.part else { return false };
    let state = parity.state();
    state.rebuilding.is_some_and(|it| it.member.is_none()) && state.columns.iter().any(|column| column.leaves)
}

#[test]
fn a_leaving_member_lost_while_the_second_parity_is_made_is_taken_out_first() {
    let mut lost = 0;
    for seed in 0..40 {
        let mut world = World::new(seed, 2);
        world.run(30, true);
        let leads = |machine: &Machine| matches!(&machine.part, GroupRole::Parity(parity) if parity.leads());
        let parities = world.members(Role::Parity);
        let follower = parities.into_iter().find(|place| !world.machines[*place].as_ref().is_some_and(leads)).unwrap();
        let leaver = world.members(Role::Data)[0];
        world.lose(follower);
        world.replace_lost();
        world.begin_to_leave(leaver);
        let until = world.now + 20 * PATIENCE;
        while world.now < until && !world.machines.iter().flatten().any(is_made_while_one_leaves) {
            world.step(0);
        }
        if world.now < until && world.machines[leaver].is_some() {
            world.lose(leaver);
            lost += 1;
        }
        world.until_nothing_is_under_way();
        world.check();
    }
    assert!(lost > 0);
}

#[test]
fn two_may_be_lost_only_once_both_parity_members_know_who_has_left() {
    let mut world = World::new(1, 2);
    world.run(30, true);
    let leaver = world.members(Role::Data)[0];
    let identity = world.machines[leaver].as_ref().unwrap().own().identity;
    world.begin_to_leave(leaver);
    // What the parity members survive: the one that leads, and whether each still knows the member.
    let stand = |world: &World| {
        let mut parities = world.machines.iter().flatten().filter_map(|machine| match &machine.part {
            GroupRole::Parity(parity) => {
                Some((parity.leads(), parity.survives(), parity.members().any(|it| it == identity)))
            }
            _ => None,
        });
        let lead = parities.clone().find(|(leads, ..)| *leads);
        (lead.map(|(_, survives, knows)| (survives, knows)), parities.any(|(leads, _, knows)| !leads && knows))
    };
    let until = world.now + 20 * PATIENCE;
    while world.now < until && !matches!(stand(&world), (Some((_, false)), _)) {
        world.step(0);
    }
    assert_eq!(stand(&world), (Some((1, false)), true), "the other one has yet to hear that it has left");
    while world.now < until && stand(&world).1 {
        world.step(0);
    }
    (0..100).for_each(|_| world.step(0));
    assert_eq!(stand(&world), (Some((2, false)), false));
}

#[test]
fn two_halted_members_with_open_links_are_rebuilt() {
    let mut world = World::new(1, 2);
    world.run(60, true);
    world.rebuilt = 0;
    for place in world.members(Role::Data).into_iter().take(2) {
        world.forget_clients(place);
        world.machines[place] = None;
    }
    let until = world.now + 40 * PATIENCE;
    while world.rebuilt < 2 && world.now < until {
        world.step(0);
    }
    assert_eq!(world.rebuilt, 2);
    world.until_nothing_is_under_way();
    world.check();
}

#[test]
fn a_member_that_had_no_room_in_a_group_asks_again_when_it_meets_the_parity_member_again() {
    let (parity, disk) = (Identity(1), Disk::default());
    let mut member = DataMember::new(&Facts::default(), PATIENCE, 0);
    let meets = |member: &mut DataMember| {
        let mut output = Output::default();
        member.connect(0, parity, &mut output);
        output.sends
    };
    let asks = |session| (parity, Message::Hello { session, life: 0, wish: Wish::Join });
    assert_eq!(meets(&mut member), [asks(1)]);
    member.receive(0, parity, Message::Full(1), &disk, &mut Output::default()).unwrap();
    assert_eq!(meets(&mut member), []);
    member.disconnect(parity);
    assert_eq!(meets(&mut member), [asks(2)], "it may have been started again, and forgotten whom to tell of room");
}

#[test]
fn a_member_that_was_not_told_of_its_place_has_its_vote_and_waits_for_its_group() {
    let ([lead, follower, other], disk) = ([Identity(1), Identity(2), Identity(3)], Disk::default());
    let view = View { group: Number(1, lead), number: Number(1, lead), lead, follower: Some(follower) };
    let of_follower = View { number: Number(2, follower), lead: follower, follower: None, ..view };
    let elsewhere = View { group: Number(1, other), number: Number(1, other), lead: other, follower: None };
    let member = || {
        let mut member = DataMember::new(&Facts::default(), PATIENCE, 0);
        member.connect(0, lead, &mut Output::default());
        member.disconnect(lead);
        member
    };
    let takes = |member: &mut DataMember, from, message| {
        let mut output = Output::default();
        member.receive(0, from, message, &disk, &mut output).unwrap();
        output.sends
    };
    let joins = |to: Identity, sends: &[(Identity, Message)]| {
        let joins = |message: &Message| matches!(message, Message::Hello { wish: Wish::Join, .. });
        sends.iter().any(|(receiver, message)| *receiver == to && joins(message))
    };
    assert!(joins(other, &takes(&mut member(), other, Message::Leads(elsewhere))), "it knows of no place in a group");
    let number = of_follower.number;
    let granted = Message::Granted { number, view, life: 0, has_parity: false };
    let mut is_asked = member();
    assert_eq!(takes(&mut is_asked, follower, Message::Ask { settled: view, number }), [(follower, granted.clone())]);
    // The lead has given it a place, and can't say so before its follower, which is lost, has confirmed that.
    let mut awaits_the_answer = DataMember::new(&Facts::default(), PATIENCE, 0);
    awaits_the_answer.connect(0, lead, &mut Output::default());
    assert_eq!(takes(&mut awaits_the_answer, lead, Message::Ask { settled: view, number }), [(lead, granted)]);
    assert!(!joins(other, &takes(&mut is_asked, other, Message::Leads(elsewhere))));
    assert!(joins(follower, &takes(&mut is_asked, follower, Message::Leads(of_follower))));
    let (mut waits_in_vain, mut output) = (member(), Output::default());
    takes(&mut waits_in_vain, follower, Message::Ask { settled: view, number });
    waits_in_vain.connect(0, other, &mut output);
    waits_in_vain.tick(5 * PATIENCE, &mut output);
    assert_eq!(output.sends, []);
    waits_in_vain.tick(6 * PATIENCE, &mut output);
    assert!(joins(other, &output.sends));
}

#[test]
fn a_member_is_covered_once_its_group_has_confirmed_that() {
    let (lead, disk) = (Identity(1), Disk::default());
    let (mut member, mut output) = (DataMember::new(&Facts::default(), PATIENCE, 0), Output::default());
    member.connect(0, lead, &mut output);
    let stands = Message::Stands { session: 1, files: Vec::new(), is_complete: false, leaves: false, view: None };
    member.receive(0, lead, stands, &disk, &mut output).unwrap();
    let completes = output.sends.iter().find_map(|(_, message)| match message {
        Message::Beat { number, is_complete: true, .. } => Some(*number),
        _ => None,
    });
    let number = completes.expect("there is nothing to send");
    assert!(!member.may_acknowledge((1, 40), 0), "it holds back what the parity may not hold, in case it is rebuilt");
    assert!(!member.is_covered(), "the beat may be lost together with the member");
    member.receive(0, lead, Message::Acknowledged { session: 1, number: number - 1 }, &disk, &mut output).unwrap();
    assert!(!member.is_covered());
    member.receive(0, lead, Message::Acknowledged { session: 1, number }, &disk, &mut output).unwrap();
    assert!(member.is_covered());
}

#[test]
fn a_member_leaves_once_the_parity_knows_of_its_run() {
    let (lead, disk) = (Identity(1), Disk::default());
    disk.write(FileName::log(1), &[0; 40]);
    // The parity holds so much of a log that says after 40 bytes that the run has begun.
    let leaves = |parity_has: u64| {
        let facts = Facts { covered_by: Some(lead), ..Facts::default() };
        let (mut member, mut output) = (DataMember::new(&facts, PATIENCE, 0), Output::default());
        member.has_written((1, 40));
        member.leave(0, &mut output);
        assert!(!member.may_acknowledge((1, 40), 0), "another process could begin a run with the same number");
        member.connect(0, lead, &mut output);
        let files = vec![(FileName::log(1), Extent { length: parity_has, is_whole: false })];
        let stands = Message::Stands { session: 1, files, is_complete: true, leaves: false, view: None };
        member.receive(0, lead, stands, &disk, &mut output).unwrap();
        member.leave(0, &mut output);
        let is_told = |(_, message): &(Identity, Message)| matches!(message, Message::Hello { wish: Wish::Leave, .. });
        (member.may_acknowledge((1, 40), 0), output.sends.iter().any(is_told))
    };
    assert_eq!(leaves(0), (false, false));
    assert_eq!(leaves(40), (true, true));
}
