//! Members that come back after they were taken for lost, and newcomers that do not come back.

use maquette_store::member::{Identity, Role};
use maquette_store::parity::Output;
use maquette_store::parity::column::{Change, Effect, FileName};
use maquette_store::parity::data::DataMember;
use maquette_store::parity::facts::Facts;
use maquette_store::parity::group::ParityMember;
use maquette_store::parity::message::{Message, Wish};

use super::disk::Disk;
use super::drains::calm;
use super::{GroupRole, Machine, PARITY, PATIENCE, World};

const OWN: Identity = Identity(1);
const MEMBER: Identity = Identity(11);
const OTHER: Identity = Identity(12);
const SPARE: Identity = Identity(21);
const OTHER_SPARE: Identity = Identity(22);

/// The only parity member of a group, with these facts.
fn parity(facts: &Facts) -> ParityMember {
    ParityMember::new(OWN, 1, facts, PATIENCE, 1 << 16)
}

/// What it answers a member that greets in a life.
fn answer(parity: &mut ParityMember, session: u64, life: u32, wish: Wish) -> Vec<Message> {
    let mut output = Output::default();
    parity.receive(MEMBER, Message::Hello { session, life, wish }, &mut output);
    output.sends.into_iter().map(|(_, message)| message).collect()
}

/// Lets time pass, and returns what it sends meanwhile.
fn wait(parity: &mut ParityMember, patiences: u64) -> Vec<Message> {
    let mut output = Output::default();
    (0..10 * patiences).for_each(|_| parity.tick(PATIENCE / 10, &mut output));
    output.sends.into_iter().map(|(_, message)| message).collect()
}

const GO_ON: Wish = Wish::GoOn(None);

fn stands(answer: &[Message]) -> bool {
    matches!(answer, [Message::Stands { leaves: false, .. }])
}

#[test]
fn nobody_is_told_that_it_is_lost_before_another_process_is_that_member() {
    let mut parity = parity(&Facts::default());
    parity.connect(SPARE, Role::Spare, &mut Output::default());
    assert!(stands(&answer(&mut parity, 1, 0, Wish::Join)));
    parity.receive(MEMBER, Message::Beat { session: 1, number: 1, is_complete: true }, &mut Output::default());
    let is_given = |sent: &[Message], due| {
        sent.iter().any(|message| matches!(message, Message::Become(successor) if successor.life == due))
    };
    assert!(is_given(&wait(&mut parity, 4), 1));
    assert_eq!(answer(&mut parity, 2, 0, GO_ON), [], "the spare may have gone, and this one may be needed again");
    parity.connect(OTHER_SPARE, Role::Spare, &mut Output::default());
    assert!(is_given(&wait(&mut parity, 2), 2), "the first one has not greeted");
    assert!(stands(&answer(&mut parity, 3, 2, GO_ON)));
    assert_eq!(answer(&mut parity, 4, 1, GO_ON), [Message::Lost(2)]);
    assert_eq!(answer(&mut parity, 5, 0, GO_ON), [Message::Lost(2)]);
}

#[test]
fn a_restarted_parity_member_readmits_whoever_has_all_that_was_acknowledged() {
    let facts = Facts {
        columns: [Some((MEMBER, 3)), None, None, None],
        confirmed: [Some(2), None, None, None],
        ..Facts::default()
    };
    let mut parity = parity(&facts);
    let readmitted = |session, life| [Message::Readmitted { session, life }];
    assert_eq!(answer(&mut parity, 1, 1, GO_ON), [Message::Lost(2)], "it lacks what was acknowledged in the next life");
    assert_eq!(answer(&mut parity, 2, 2, GO_ON), readmitted(2, 4), "a spare may have life 3");
    assert_eq!(answer(&mut parity, 3, 3, GO_ON), readmitted(3, 5), "that spare is there, too");
    let facts = parity.facts();
    for mut parity in [parity, self::parity(&facts)] {
        assert!(stands(&answer(&mut parity, 4, 5, GO_ON)));
        assert_eq!(answer(&mut parity, 5, 4, GO_ON), [Message::Lost(5)], "only one of the two goes on");
    }
}

#[test]
fn of_an_older_version_only_the_last_life_is_known() {
    let facts = r#"{"covered_by":null,"life":0,"columns":[[11,3],null,null,null]}"#;
    let mut parity = parity(&serde_json::from_str(facts).unwrap());
    assert_eq!(answer(&mut parity, 1, 2, GO_ON), [Message::Lost(3)]);
    wait(&mut parity, 20);
    assert_eq!(parity.members().count(), 1, "it may have been complete");
    assert!(stands(&answer(&mut parity, 2, 3, GO_ON)));
}

#[test]
fn a_readmitted_member_greets_in_its_new_life() {
    let facts = Facts { covered_by: Some(OWN), life: 2, ..Facts::default() };
    let (mut member, disk, mut output) = (DataMember::new(&facts, PATIENCE, 7), Disk::default(), Output::default());
    member.connect(0, OWN, &mut output);
    let readmitted = |session| Message::Readmitted { session, life: 4 };
    member.receive(0, OWN, readmitted(7), &disk, &mut output).unwrap();
    assert_eq!(member.take_new_life(), None, "that was meant for another process");
    member.receive(0, OWN, readmitted(8), &disk, &mut output).unwrap();
    assert_eq!((member.take_new_life(), member.take_new_life()), (Some(4), None));
    assert_eq!(member.facts().life, 4);
    member.receive(0, OWN, Message::Lost(3), &disk, &mut output).unwrap();
    assert!(!member.is_lost(), "that is the life of a spare that is the member no more");
    output = Output::default();
    member.disconnect(OWN);
    member.connect(0, OWN, &mut output);
    let [(OWN, Message::Hello { session, life: 4, wish: GO_ON })] = output.sends[..] else { panic!("{output:?}") };
    assert!(session > Facts { life: 3, ..Facts::default() }.sessions_before(1 << 16), "later than those of life 3");
}

#[test]
fn a_member_goes_on_if_the_spare_was_lost_before_it_became_that_member_and_the_parity_with_it() {
    let mut world = calm();
    let (absent, spare) = (world.members(Role::Data)[0], world.members(Role::Spare)[0]);
    world.part(absent);
    world.cut_off.insert(absent, u64::MAX);
    while !world.machines.iter().flatten().any(is_rebuilt) {
        world.step(0);
    }
    world.lose(spare);
    world.crash(PARITY);
    world.cut_off.insert(absent, world.now);
    world.until_nothing_is_under_way();
    world.check();
    assert_eq!((world.rebuilt, world.readmitted, world.replaced), (0, 1, 0));
}

#[test]
fn a_spare_that_becomes_a_member_is_not_replaced_while_the_lead_waits_for_a_lost_follower() {
    let mut world = World::new(1, 2);
    world.run(60, true);
    (world.begun, world.rebuilt, world.replaced) = (0, 0, 0);
    let (lost, follower) = (world.members(Role::Data)[0], follower_of(&world));
    world.lose(lost);
    while !world.machines.iter().flatten().any(is_rebuilt) {
        world.step(0);
    }
    world.lose(follower);
    world.until_nothing_is_under_way();
    world.check();
    assert_eq!(
        (world.begun, world.rebuilt, world.replaced),
        (1, 1, 0),
        "one spare is enough, and nobody is told that it is lost"
    );
}

/// The place of a parity member that does not lead.
fn follower_of(world: &World) -> usize {
    let leads = |place: &usize| {
        let machine = &world.machines[*place];
        matches!(machine, Some(Machine { part: GroupRole::Parity(parity), .. }) if parity.leads())
    };
    world.members(Role::Parity).into_iter().find(|place| !leads(place)).unwrap()
}

fn is_rebuilt(machine: &Machine) -> bool {
    matches!(&machine.part, GroupRole::Parity(parity) if parity.state().rebuilt > 0)
}

#[test]
fn a_newcomer_that_is_gone_before_it_was_covered_loses_its_place() {
    let mut parity = parity(&Facts::default());
    answer(&mut parity, 1, 0, Wish::Join);
    wait(&mut parity, 5);
    assert_eq!(parity.members().count(), 1);
    let mut restarted = self::parity(&parity.facts());
    for parity in [&mut parity, &mut restarted] {
        wait(parity, 7);
        assert_eq!(parity.members().count(), 0);
    }
    let mut restarted = self::parity(&parity.facts());
    for parity in [&mut parity, &mut restarted] {
        assert_eq!(answer(parity, 2, 0, GO_ON), [Message::Left(2)], "nobody else is this member");
        assert!(stands(&answer(parity, 3, 0, Wish::Join)));
        parity.receive(MEMBER, Message::Beat { session: 3, number: 1, is_complete: true }, &mut Output::default());
        wait(parity, 20);
        assert_eq!(parity.members().count(), 1, "it could be rebuilt, and keeps its place");
    }
}

#[test]
fn a_newcomer_that_is_given_up_is_received_once_its_share_of_the_parity_is_taken_out() {
    let mut parity = parity(&Facts::default());
    let change = || Change { file: FileName::log(1), at: 0, bytes: vec![1; 40], effect: Effect::Grows };
    let mut output = Output::default();
    for from in [MEMBER, OTHER] {
        parity.receive(from, Message::Hello { session: 1, life: 0, wish: Wish::Join }, &mut output);
        parity.receive(from, Message::Change { session: 1, number: 1, change: change() }, &mut output);
    }
    parity.receive(OTHER, Message::Beat { session: 1, number: 2, is_complete: true }, &mut output);
    wait(&mut parity, 7);
    assert_eq!(answer(&mut parity, 2, 0, GO_ON), [], "its share can't be computed without the other member");
    parity.receive(OTHER, Message::Hello { session: 2, life: 0, wish: GO_ON }, &mut output);
    let asked = wait(&mut parity, 1);
    let [Message::Read { request, .. }] = asked[..] else { panic!("{asked:?}") };
    parity.receive(OTHER, Message::Block { request, bytes: vec![1; 40] }, &mut output);
    assert_eq!(answer(&mut parity, 3, 0, GO_ON), [Message::Left(3)]);
    assert_eq!(parity.members().collect::<Vec<_>>(), [OTHER]);
}

#[test]
fn a_member_that_has_lost_its_place_asks_for_another_one() {
    let (mut member, disk, mut output) =
        (DataMember::new(&Facts::default(), PATIENCE, 0), Disk::default(), Output::default());
    member.connect(0, OWN, &mut output);
    let stands = Message::Stands { session: 1, files: Vec::new(), is_complete: false, leaves: false, view: None };
    member.receive(0, OWN, stands, &disk, &mut output).unwrap();
    member.connect(0, OWN, &mut output);
    output = Output::default();
    member.receive(0, OWN, Message::Left(2), &disk, &mut output).unwrap();
    assert_eq!(output.sends, [(OWN, Message::Hello { session: 3, life: 0, wish: Wish::Join })]);
}

#[test]
fn another_member_takes_the_place_of_a_newcomer_that_is_gone() {
    let mut world = calm();
    let leaver = world.members(Role::Data)[0];
    world.begin_to_leave(leaver);
    world.until_nothing_is_under_way();
    let leaver = world.members(Role::Data)[0];
    world.begin_to_leave(leaver);
    let is_begun = |machine: &Machine| {
        let GroupRole::Parity(parity) = &machine.part else { return false };
        parity.state().columns.iter().any(|column| !column.is_complete)
    };
    while !world.machines.iter().flatten().any(is_begun) {
        world.step(0);
        world.replace_those_that_left();
    }
    let newcomer = *world.members(Role::Data).last().unwrap();
    world.lose(newcomer);
    world.add(Role::Data);
    world.until_nothing_is_under_way();
    world.check();
}
