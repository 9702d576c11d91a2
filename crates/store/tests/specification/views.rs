//! Messages between members of a group, one at a time: which parity member may lead, and that no message makes a parity
//! member fail.

use maquette_store::member::{Identity, Role};
use maquette_store::parity::Output;
use maquette_store::parity::column::{FileName, Piece};
use maquette_store::parity::facts::Facts;
use maquette_store::parity::group::ParityMember;
use maquette_store::parity::message::{LeadStep, Message, Wish};
use maquette_store::parity::views::{Acceptor, Number, View};
use proptest::prelude::*;

/// [ms]
const PATIENCE: u64 = 300;
const OWN: Identity = Identity(1);
const OTHER: Identity = Identity(2);
/// The members of the group that host servers.
const DATA: [Identity; 3] = [Identity(11), Identity(12), Identity(13)];
/// How often each of them has been rebuilt.
const LIFE: u32 = 1;

/// The view of a group that the other parity member leads.
const LED_BY_OTHER: View = View { group: Number(1, OTHER), number: Number(5, OTHER), lead: OTHER, follower: Some(OWN) };

/// A restarted parity member, which has nothing, in a group that another one leads.
fn started_again() -> ParityMember {
    let mut columns = [None; 4];
    DATA.iter().zip(&mut columns).for_each(|(member, column)| *column = Some((*member, LIFE)));
    let facts = Facts { columns, views: Acceptor::of(Some(LED_BY_OTHER)), ..Facts::default() };
    let mut member = ParityMember::new(OWN, 2, &facts, PATIENCE, 1 << 16);
    DATA.iter().for_each(|data| member.connect(*data, Role::Data, &mut Output::default()));
    member
}

/// Lets time pass until it asks the others for a view in which it leads. Returns the view's number.
fn asks(member: &mut ParityMember) -> Number {
    for _ in 0..100 {
        let mut output = Output::default();
        member.tick(PATIENCE / 10, &mut output);
        let asked = output.sends.iter().find_map(|(_, message)| match message {
            Message::Ask { number, .. } => Some(*number),
            _ => None,
        });
        if let Some(number) = asked {
            return number;
        }
    }
    panic!("it never asks");
}

/// A data member of this life grants that. Returns whether the parity member then asks others to record its view, or
/// leads.
fn is_granted(member: &mut ParityMember, from: Identity, number: Number, life: u32) -> bool {
    let mut output = Output::default();
    member.receive(from, Message::Granted { number, view: LED_BY_OTHER, life, has_parity: false }, &mut output);
    let records = output.sends.iter().any(|(_, message)| matches!(message, Message::Record(_)));
    records || member.leads()
}

#[test]
fn a_parity_member_that_has_nothing_leads_only_if_all_members_grant_it() {
    let mut member = started_again();
    let number = asks(&mut member);
    assert!(!is_granted(&mut member, DATA[0], number, LIFE));
    // With itself these are a majority of the five, but the other parity member may have gone on with the rest.
    assert!(!is_granted(&mut member, DATA[1], number, LIFE), "one member may know more than all others");
    assert!(is_granted(&mut member, DATA[2], number, LIFE), "together they have everything on disk");
}

#[test]
fn a_former_life_of_a_member_that_was_rebuilt_has_no_vote() {
    let mut member = started_again();
    let number = asks(&mut member);
    assert!(!is_granted(&mut member, DATA[0], number, LIFE));
    assert!(!is_granted(&mut member, DATA[1], number, LIFE));
    assert!(!is_granted(&mut member, DATA[2], number, LIFE - 1), "it lacks changes that the group holds");
    assert!(is_granted(&mut member, DATA[2], number, LIFE));
}

/// These grant a lead its next view, and say that they have recorded it if they are asked to. Returns whether they are
/// asked.
fn is_recorded(lead: &mut ParityMember, number: Number, by: &[Identity], record: bool) -> bool {
    let view = View { group: Number(1, OWN), number: Number(1, OWN), lead: OWN, follower: None };
    let mut output = Output::default();
    for from in by {
        lead.receive(*from, Message::Granted { number, view, life: LIFE, has_parity: false }, &mut output);
    }
    let is_asked = output.sends.iter().any(|(_, message)| matches!(message, Message::Record(_)));
    by.iter()
        .filter(|_| is_asked && record)
        .for_each(|from| lead.receive(*from, Message::Recorded(number), &mut output));
    is_asked
}

/// The lead of a group of two members, whose follower is the other parity member, and the number of its view.
fn with_follower() -> (ParityMember, Number) {
    let view = View { group: Number(1, OWN), number: Number(1, OWN), lead: OWN, follower: None };
    let columns = [Some((DATA[0], LIFE)), Some((DATA[1], LIFE)), None, None];
    let facts = Facts { columns, views: Acceptor::of(Some(view)), ..Facts::default() };
    let (mut lead, mut output) = (ParityMember::new(OWN, 2, &facts, PATIENCE, 1 << 16), Output::default());
    DATA[..2].iter().for_each(|data| lead.connect(*data, Role::Data, &mut output));
    lead.connect(OTHER, Role::Parity, &mut output);
    lead.receive(OTHER, Message::Available, &mut output);
    let number = asks(&mut lead);
    assert!(is_recorded(&mut lead, number, &DATA[..2], true));
    assert_eq!(lead.other(), Some(OTHER));
    (lead, number)
}

/// A lead that asks for a view in which it leads alone, the number of that view, the group's view with its follower,
/// and the one in which the follower leads alone, for which the follower has asked.
fn both_ask_to_lead_alone() -> (ParityMember, Number, View, View) {
    let (mut lead, number) = with_follower();
    let settled = View { group: Number(1, OWN), number, lead: OWN, follower: Some(OTHER) };
    let of_follower = View { number: Number(number.0 + 1, OTHER), lead: OTHER, follower: None, ..settled };
    let alone = asks(&mut lead);
    (lead, alone, settled, of_follower)
}

/// A member grants a candidate its view, and knows this one. Returns whether the candidate then asks others to record
/// its own.
fn has_enough(candidate: &mut ParityMember, number: Number, (from, view): (Identity, View), has_parity: bool) -> bool {
    let mut output = Output::default();
    candidate.receive(from, Message::Granted { number, view, life: LIFE, has_parity }, &mut output);
    output.sends.iter().any(|(_, message)| matches!(message, Message::Record(_)))
}

#[test]
fn a_view_that_its_candidate_has_given_up_is_in_nobodys_way() {
    let (mut lead, alone, settled, of_follower) = both_ask_to_lead_alone();
    // Both data members have recorded that the follower leads alone. It may have counted them, and lead.
    assert!(!has_enough(&mut lead, alone, (DATA[0], of_follower), false));
    assert!(!has_enough(&mut lead, alone, (DATA[1], of_follower), false));
    assert!(!has_enough(&mut lead, alone, (OTHER, of_follower), true), "the follower may lead by now");
    // Restarted, it knows that it does not, and no longer counts who has recorded its view.
    assert!(has_enough(&mut lead, alone, (OTHER, settled), false));
}

#[test]
fn a_view_that_half_of_the_group_has_recorded_is_in_nobodys_way_once_the_others_have_promised() {
    let (mut lead, alone, settled, of_follower) = both_ask_to_lead_alone();
    // Of the four in the group, the follower and one data member have recorded that the follower leads alone; it is
    // gone for ever.
    assert!(!has_enough(&mut lead, alone, (DATA[0], of_follower), false), "the other one may have recorded it, too");
    assert!(has_enough(&mut lead, alone, (DATA[1], settled), false), "it has not, and won't");
}

/// A follower that has asked both data members to record that it leads alone, and was restarted, follows again, and is
/// then lost for good. Its lead, or that lead after a restart, asks to lead alone. Returns whether it may, with the
/// grants of both.
fn may_lead_without_one_that_followed_again(void: Number, is_restarted: bool) -> bool {
    let (mut lead, number) = with_follower();
    let settled = View { group: Number(1, OWN), number, lead: OWN, follower: Some(OTHER) };
    let of_follower = View { number: Number(number.0 + 1, OTHER), lead: OTHER, follower: None, ..settled };
    lead.receive(OTHER, Message::Follows { number, next: None, void }, &mut Output::default());
    if is_restarted {
        lead = ParityMember::new(OWN, 2, &lead.facts(), PATIENCE, 2 << 16);
        DATA[..2].iter().for_each(|data| lead.connect(*data, Role::Data, &mut Output::default()));
    }
    lead.disconnect(OTHER);
    let alone = asks(&mut lead);
    assert!(!has_enough(&mut lead, alone, (DATA[0], of_follower), false));
    has_enough(&mut lead, alone, (DATA[1], of_follower), false)
}

#[test]
fn a_view_that_a_follower_has_given_up_is_in_nobodys_way_when_the_follower_is_lost_later() {
    for is_restarted in [false, true] {
        assert!(!may_lead_without_one_that_followed_again(Number::default(), is_restarted));
        assert!(may_lead_without_one_that_followed_again(Number(3, OTHER), is_restarted));
    }
}

#[test]
fn a_follower_says_which_views_it_has_given_up() {
    let voided_by = |member: &mut ParityMember| {
        let mut output = Output::default();
        member.connect(OTHER, Role::Parity, &mut output);
        output.sends.into_iter().find_map(|(_, message)| match message {
            Message::Follows { void, .. } => Some(void),
            _ => None,
        })
    };
    let mut member = started_again();
    let number = asks(&mut member);
    assert_eq!(voided_by(&mut member), Some(Number::default()), "others may still grant it its view");
    let mut restarted = ParityMember::new(OWN, 2, &member.facts(), PATIENCE, 2 << 16);
    assert_eq!(voided_by(&mut restarted), Some(number));
}

#[test]
fn a_candidate_without_parity_gives_up_its_view_for_the_one_that_has_it() {
    let mut member = started_again();
    let number = asks(&mut member);
    assert!(DATA.iter().any(|from| is_granted(&mut member, *from, number, LIFE)), "it asks others to record its view");
    assert!(!has_enough(&mut member, number, (OTHER, LED_BY_OTHER), true));
    // The other one is granted precedence by a member that knows no later view, though all others have recorded one.
    let (mut output, later) = (Output::default(), Number(number.0 + 1, OTHER));
    member.receive(OTHER, Message::Ask { settled: LED_BY_OTHER, number: later }, &mut output);
    let grants =
        |(_, message): &(Identity, Message)| matches!(message, Message::Granted { view, .. } if *view == LED_BY_OTHER);
    assert!(output.sends.iter().any(grants));
}

#[test]
fn a_restarted_candidate_has_given_up_its_view() {
    let mut member = started_again();
    let number = asks(&mut member);
    assert!(DATA.iter().any(|from| is_granted(&mut member, *from, number, LIFE)), "it asks others to record its view");
    let later = Number(number.0 + 1, OTHER);
    let view_granted_by = |member: &mut ParityMember| {
        let mut output = Output::default();
        member.receive(OTHER, Message::Ask { settled: LED_BY_OTHER, number: later }, &mut output);
        output.sends.into_iter().find_map(|(_, message)| match message {
            Message::Granted { view, .. } => Some(view.lead),
            _ => None,
        })
    };
    let facts = member.facts();
    assert_eq!(view_granted_by(&mut member), Some(OWN));
    let mut restarted = ParityMember::new(OWN, 2, &facts, PATIENCE, 2 << 16);
    assert_eq!(view_granted_by(&mut restarted), Some(OTHER));
}

#[test]
fn a_lead_that_cannot_go_back_gets_its_view_although_its_follower_is_there_again() {
    let (mut lead, with_follower) = with_follower();
    let mut output = Output::default();
    // It wants to lead alone, but a member has promised the follower to record no such view.
    let alone = asks(&mut lead);
    assert!(is_recorded(&mut lead, alone, &DATA[..2], false));
    lead.receive(DATA[0], Message::Refused { number: alone, promised: Number(alone.0, OTHER) }, &mut output);
    // The follower gave up and is there again, but other members may have recorded the view.
    let mut follows = |lead: &mut ParityMember, next| {
        let void = Number::default();
        lead.receive(OTHER, Message::Follows { number: with_follower, next, void }, &mut output);
    };
    follows(&mut lead, None);
    let again = asks(&mut lead);
    assert!(again > alone);
    follows(&mut lead, Some(1));
    assert!(is_recorded(&mut lead, again, &DATA[..2], true));
    assert_eq!(lead.other(), None, "it leads alone");
}

#[test]
fn a_former_member_of_the_group_is_told_that_it_is_one() {
    let facts = Facts { columns: [Some((DATA[0], 0)), None, None, None], ..Facts::default() };
    let mut member = ParityMember::new(OWN, 1, &facts, PATIENCE, 1 << 16);
    let mut answer = |from: Identity, wish: Wish| {
        let mut output = Output::default();
        member.receive(from, Message::Hello { session: 1, life: 0, wish }, &mut output);
        output.sends.into_iter().map(|(_, message)| message).next().unwrap()
    };
    assert!(matches!(answer(DATA[0], Wish::GoOn(None)), Message::Stands { leaves: false, .. }));
    assert!(matches!(answer(DATA[0], Wish::Leave), Message::Stands { leaves: true, .. }));
    assert_eq!(answer(DATA[1], Wish::GoOn(None)), Message::Lost(1), "another process was this member, and has left");
    assert!(matches!(answer(DATA[1], Wish::GoOn(Some(Number(1, OTHER)))), Message::Full(1)), "it is of another group");
    assert_eq!(answer(DATA[1], Wish::Leave), Message::Left(1), "it missed the message that it has left");
}

/// How long a parity member that stands by waits before it founds a group, after a data member has asked it for parity.
fn begins_after(own: Identity, received: impl IntoIterator<Item = Message>) -> u64 {
    let (mut member, mut output) = (ParityMember::new(own, 2, &Facts::default(), PATIENCE, 1 << 16), Output::default());
    member.connect(OTHER, Role::Parity, &mut output);
    received.into_iter().for_each(|message| member.receive(OTHER, message, &mut output));
    member.receive(DATA[0], Message::Hello { session: 1, life: 0, wish: Wish::Join }, &mut output);
    let mut times = (1..100).map(|look| look * PATIENCE / 10);
    let begins = times.find(|_| {
        member.tick(PATIENCE / 10, &mut Output::default());
        member.leads()
    });
    begins.expect("it begins a group")
}

#[test]
fn a_parity_member_that_stands_by_leaves_others_the_time_to_take_it_into_their_group() {
    assert!(begins_after(OWN, [Message::Available]) < 2 * PATIENCE, "the other one is in no group");
    assert!(begins_after(OWN, []) > 5 * PATIENCE, "the other one may need it");
    let view = View { group: Number(1, OTHER), number: Number(5, OTHER), lead: OTHER, follower: None };
    let last = Identity(3);
    assert!(begins_after(last, [Message::Available, Message::Leads(view)]) > 5 * PATIENCE, "it is in a group now");
}

#[test]
fn a_group_that_stays_empty_is_given_up() {
    let (mut member, mut output) = (ParityMember::new(OWN, 2, &Facts::default(), PATIENCE, 1 << 16), Output::default());
    member.receive(DATA[0], Message::Hello { session: 1, life: 0, wish: Wish::Join }, &mut output);
    let mut times = 1..100;
    assert!(times.any(|_| {
        member.tick(PATIENCE / 10, &mut output);
        member.leads()
    }));
    assert!(times.any(|_| {
        member.tick(PATIENCE / 10, &mut output);
        !member.leads()
    }));
}

#[test]
fn a_change_of_follower_does_not_wait_for_a_member_that_has_left() {
    let view = View { group: Number(1, OWN), number: Number(1, OWN), lead: OWN, follower: None };
    let columns = [Some((DATA[0], 0)), None, None, None];
    let facts = Facts { columns, views: Acceptor::of(Some(view)), ..Facts::default() };
    let (mut member, mut output) = (ParityMember::new(OWN, 2, &facts, PATIENCE, 1 << 16), Output::default());
    member.connect(DATA[0], Role::Data, &mut output);
    member.connect(OTHER, Role::Parity, &mut output);
    member.receive(OTHER, Message::Available, &mut output);
    asks(&mut member);
    assert_eq!(member.other(), None, "one of two is no majority");
    member.receive(DATA[0], Message::Hello { session: 1, life: 0, wish: Wish::Leave }, &mut output);
    member.tick(PATIENCE / 10, &mut output);
    assert_eq!(member.other(), Some(OTHER));
}

/// A number in a message: mostly small, since small ones reach the most code, or about as large as its width allows.
fn number() -> impl Strategy<Value = u64> {
    let large = (0_u32..64, 0_u64..3).prop_map(|(bit, less)| (1_u64 << bit).wrapping_sub(less));
    prop_oneof![12 => 0_u64..3, 4 => 0_u64..20, 2 => large, 1 => any::<u64>()]
}

/// Bytes that are mostly a message: its kind, and then numbers.
fn message() -> impl Strategy<Value = Vec<u8>> {
    (0_u64..32, prop::collection::vec(number(), 10..60)).prop_map(|(kind, numbers)| {
        [kind].into_iter().chain(numbers).flat_map(|number| postcard::to_stdvec(&number).unwrap()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]
    #[test]
    fn whatever_is_said_a_parity_member_goes_on(
        leads in any::<bool>(),
        messages in prop::collection::vec((0_usize..5, message()), 1..60),
    ) {
        let senders = [DATA[0], DATA[1], DATA[2], OTHER, Identity(99)];
        let facts = Facts { columns: [Some((DATA[0], 0)), Some((DATA[1], 0)), None, None], ..Facts::default() };
        let mut member = if leads { ParityMember::new(OWN, 2, &facts, PATIENCE, 1 << 16) } else { started_again() };
        for (from, message) in messages {
            let Ok(message) = postcard::from_bytes::<Message>(&message) else { continue };
            if message.check().is_ok() {
                let mut output = Output::default();
                member.receive(senders[from], message, &mut output);
                member.tick(PATIENCE / 3, &mut output);
            }
        }
        prop_assert!(member.members().count() <= 4);
    }
}

#[test]
fn impossible_numbers_are_refused_and_the_error_says_what_is_allowed() {
    let step = |column| Message::Step { number: Number(1, OTHER), place: 0, step: LeadStep::Leaves { column } };
    assert_eq!(step(3).check(), Ok(()));
    let error = |message: Message| message.check().unwrap_err().to_string();
    assert_eq!(error(step(4)), "a message of the table with a column of a group of 4; allowed is at most 3");
    let piece = Piece { file: FileName::log(1), at: 0, length: 65_537 };
    let read = Message::Read { request: 1, piece };
    assert_eq!(error(read), "a message of the table with bytes of a block of 65537; allowed is at most 65536");
    let follows = Message::Follows { number: Number(1, OTHER), next: Some(u64::MAX), void: Number::default() };
    assert!(error(follows).contains("steps of a parity member of 18446744073709551615"));
}
