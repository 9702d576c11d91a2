//! Arbitrary messages from another member: a member takes or refuses each, goes on, and does no more than a message can
//! ask for.

use std::net::{Ipv4Addr, SocketAddr};

use linear_hash::{Growth, Request, ToClient, ToServerOf};
use maquette_store::bucket::Bucket;
use maquette_store::connection::Connection;
use maquette_store::contents::Operation;
use maquette_store::host::Host;
use maquette_store::member::{
    Departure, Durability, Identity, LeavingStage, MOST_SERVERS, Message, Output, Peer, Placement, Policy, Role,
    Sequenced, SharedSettings,
};
use maquette_store::node::{Node, Settings};
use maquette_store::resp::{OwnedArguments, Version};
use maquette_store::slot::c_of;
use proptest::prelude::*;
use quantities::Duration;

const GROWTH: Growth =
    Growth { capacity: 10, sensitivity: 0.8, shrink: Some(0.3), apart: false, most_servers: 16, chunk: 4 };
/// The most outputs of one message: a scan goes to each server that can exist, and a server moves some records.
const MOST_OUTPUTS: usize = MOST_SERVERS as usize + 1_000;

fn peer(number: u32) -> Peer {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, number as u16));
    Peer { identity: Identity(number), address, clients: address, role: Role::Data, life: 0 }
}

/// A member that has told two others to open servers, with clients' requests pending.
fn host() -> Host {
    let node = Node::new(Settings::default(), 6379, [1; 3], 0);
    let policy = Policy {
        growth: GROWTH,
        servers_each: 4,
        patience: Duration::from_microseconds(10),
        durability: Durability::default(),
    };
    let mut host = Host::new(node, peer(1), policy, true);
    for other in [2, 3] {
        host.with_member(|member, now, outputs| {
            let joins = Message::Join(peer(other), member.settings());
            member.receive(now, Identity(other), joins, outputs);
        });
    }
    for request in (0..40).map(|number| format!("SET key:{number} value")).chain(["SCAN 0".into(), "DBSIZE".into()]) {
        let client = host.node().borrow_mut().connect("stranger".to_owned(), String::new(), 0);
        let mut connection = Connection::new(client, &host.node().borrow());
        connection.requests.feed(format!("{request}\r\n").as_bytes());
        connection.turn(&mut host);
    }
    host.take_outputs();
    host
}

/// A number in a message: mostly small, since small ones reach the most code, or about as large as its width allows.
fn number() -> impl Strategy<Value = u64> {
    let large = (0_u32..64, 0_u64..3).prop_map(|(bit, less)| (1_u64 << bit).wrapping_sub(less));
    prop_oneof![12 => 0_u64..3, 4 => 0_u64..20, 2 => large, 1 => any::<u64>()]
}

/// The messages that must not be lost, by their place among all.
const SEQUENCED: u64 = 6;

/// Bytes that are mostly a message: its kind, and then numbers.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![2 => 0_u64..16, 1 => Just(SEQUENCED)];
    (kind, prop::collection::vec(number(), 10..60)).prop_map(|(kind, numbers)| {
        [kind].into_iter().chain(numbers).flat_map(|number| postcard::to_stdvec(&number).unwrap()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]
    #[test]
    fn a_member_goes_on_whatever_another_one_sends(messages in prop::collection::vec((2_u32..5, message()), 1..60)) {
        let (mut host, mut sequenced) = (host(), [0; 5]);
        for (from, message) in messages {
            let Ok(mut message) = postcard::from_bytes::<Message<Bucket>>(&message) else { continue };
            if message.check().is_err() {
                continue;
            }
            // Only the next number is taken.
            if let Message::Sequenced(of_server) = &mut message {
                sequenced[from as usize] += 1;
                of_server.number = sequenced[from as usize];
            }
            host.node().borrow_mut().now += 5;
            host.with_member(|member, now, outputs| {
                member.receive(now, Identity(from), message, outputs);
                member.wake(now, outputs);
                member.tick(now, outputs);
            });
            prop_assert!(host.take_outputs().iter().filter(|output| matches!(output, Output::Send(..))).count() < MOST_OUTPUTS);
        }
    }
}

#[test]
fn impossible_numbers_are_refused_and_the_error_says_what_is_allowed() {
    let adjust = |server, level| Message::<Bucket>::ToClient {
        server: None,
        client: 0,
        message: ToClient::Adjust { server, level },
    };
    assert_eq!(adjust(16_383, 14).check(), Ok(()));
    let error = |message: Message<Bucket>| message.check().unwrap_err().to_string();
    assert_eq!(error(adjust(0, 64)), "a message of the table with a level of 64; allowed is at most 31");
    assert_eq!(error(adjust(0, 15)), "a message of the table with a level of 15; allowed is at most 14");
    assert_eq!(error(adjust(16_384, 1)), "a message of the table with a server of 16384; allowed is at most 16383");
    assert_eq!(
        error(Message::NotHere(u32::MAX)),
        "a message of the table with a server of 4294967295; allowed is at most 16383"
    );
}

/// What a member has noted of another's departure, with so many hosts of servers.
fn noted(hosts: u32) -> Message<Bucket> {
    let (stage, moved, is_quiet, peers) = (0_u32, 0_u32, true, Vec::<u32>::new());
    let hosts: Vec<u32> = (0..hosts).collect();
    // Its place among all messages is what it is.
    let mut messages = (0_u32..).map_while(|place| {
        let encoded = postcard::to_stdvec(&(place, stage, moved, is_quiet, &hosts, &peers)).ok()?;
        Some(postcard::from_bytes::<Message<Bucket>>(&encoded).ok())
    });
    messages.by_ref().take(64).flatten().find(|message| matches!(message, Message::Noted(_))).unwrap()
}

#[test]
fn a_member_that_names_more_hosts_than_there_can_be_servers_is_refused() {
    assert_eq!(noted(MOST_SERVERS).check(), Ok(()));
    assert_eq!(
        noted(MOST_SERVERS + 1).check().unwrap_err().to_string(),
        "a message of the table with hosts of 16385; allowed is at most 16384"
    );
}

/// The departure of another member that is gone.
fn gone(number: u32) -> (Identity, Departure) {
    let mut departure = Departure::default();
    departure.stage = LeavingStage::Over;
    (Identity(number), departure)
}

fn receive(host: &mut Host, from: u32, message: Message<Bucket>) -> Vec<Output<Bucket>> {
    host.with_member(|member, now, outputs| member.receive(now, Identity(from), message, outputs));
    host.take_outputs()
}

/// A member that has been admitted by the first one, and hosts nothing.
fn standing_by() -> Host {
    let node = Node::new(Settings::default(), 6380, [1; 3], 0);
    let policy = Policy {
        growth: GROWTH,
        servers_each: 4,
        patience: Duration::from_microseconds(10),
        durability: Durability::default(),
    };
    let mut host = Host::new(node, peer(9), policy, false);
    let mut first = self::host();
    let joins = Message::Join(peer(9), first.member().settings());
    for output in receive(&mut first, 9, joins) {
        if let Output::Send(Identity(9), message) = output {
            receive(&mut host, 1, message);
        }
    }
    host
}

#[test]
fn a_member_told_that_a_server_is_not_there_asks_there_again_if_no_other_host_is_known() {
    let mut host = standing_by();
    // The servers were said to have moved there, but had not arrived yet.
    (0..16).for_each(|server| drop(receive(&mut host, 1, Message::NotHere(server))));
    let client = host.node().borrow_mut().connect("stranger".to_owned(), String::new(), 0);
    let mut connection = Connection::new(client, &host.node().borrow());
    connection.requests.feed(b"GET key\r\n");
    connection.turn(&mut host);
    let is_asked = |output: &Output<Bucket>| matches!(output, Output::Send(Identity(1), Message::Request(..)));
    assert!(host.take_outputs().iter().any(is_asked));
}

#[test]
fn a_repeated_request_is_carried_out_again_if_it_changes_nothing_and_is_answered_from_memory_otherwise() {
    let mut host = host();
    let reply = |host: &mut Host, number, line: &str| {
        let arguments: OwnedArguments = line.split(' ').map(str::as_bytes).collect();
        let operation = Operation::Request(Version::Two, arguments);
        let request = Request { client: 2 << 32, number, c: c_of(b"{key:1}"), operation, forwards: 0 };
        let answer = receive(host, 2, Message::Request(0, request)).into_iter().find_map(|output| match output {
            Output::Send(Identity(2), Message::ToClient { message: ToClient::Reply { outcome, .. }, .. }) => {
                Some(String::from_utf8_lossy(&outcome.joined()).into_owned())
            }
            _ => None,
        });
        answer.unwrap_or_default()
    };
    assert_eq!(reply(&mut host, 1, "APPEND {key:1}2 abc"), ":3\r\n");
    assert_eq!(reply(&mut host, 1, "APPEND {key:1}2 abc"), ":3\r\n");
    let remembered = |host: &Host| {
        let mut servers = host.member().servers();
        servers.find_map(|(_, server)| server.last_of(2 << 32).map(|applied| applied.number))
    };
    assert_eq!(reply(&mut host, 2, "GET {key:1}2"), "$3\r\nabc\r\n");
    assert_eq!(remembered(&host), Some(1));
    let client = host.node().borrow_mut().connect("stranger".to_owned(), String::new(), 0);
    let mut connection = Connection::new(client, &host.node().borrow());
    connection.requests.feed(b"SET {key:1}2 new\r\n");
    connection.turn(&mut host);
    assert_eq!(reply(&mut host, 2, "GET {key:1}2"), "$3\r\nnew\r\n");
    assert_eq!(reply(&mut host, 3, "DEL {key:1}2"), ":1\r\n");
    assert_eq!(reply(&mut host, 2, "GET {key:1}2"), "", "its client has moved on");
    assert_eq!(remembered(&host), Some(3));
}

#[test]
fn a_new_member_with_other_settings_is_not_admitted() {
    let mut host = host();
    let pool = host.member().settings();
    let Durability { is_persistent, .. } = pool.durability;
    let others = [
        SharedSettings { capacity: 11, ..pool },
        SharedSettings { servers_each: 1, ..pool },
        SharedSettings { durability: Durability { is_persistent: !is_persistent, ..pool.durability }, ..pool },
        SharedSettings { durability: Durability { parity: 1, ..pool.durability }, ..pool },
    ];
    let (known, options) =
        (host.member().membership().peers().count(), ["--capacity", "--servers", "--data", "--parity"]);
    for (settings, option) in others.into_iter().zip(options) {
        let outputs = receive(&mut host, 9, Message::Join(peer(9), settings));
        let [Output::Send(Identity(9), Message::Differs(refused))] = &outputs[..] else { panic!("{outputs:?}") };
        let differences = refused.differences(&settings);
        assert!(differences.starts_with(&format!("{option}: found ")) && !differences.contains(';'), "{differences}");
        assert_eq!(host.member().membership().peers().count(), known);
    }
    receive(&mut host, 9, Message::Join(peer(9), pool));
    assert_eq!(host.member().membership().peers().count(), known + 1);
}

#[test]
fn a_new_member_with_other_settings_is_not_admitted_by_one_that_is_admitted_after_it_has_asked() {
    let (mut first, node) = (self::host(), Node::new(Settings::default(), 6380, [1; 3], 0));
    let mut second = Host::new(node, peer(8), *first.member().policy(), false);
    let settings = first.member().settings();
    let other = SharedSettings { capacity: 11, ..settings };
    assert!(receive(&mut second, 9, Message::Join(peer(9), other)).is_empty());
    let mut refusals = 0;
    for output in receive(&mut first, 8, Message::Join(peer(8), settings)) {
        let Output::Send(Identity(8), message) = output else { continue };
        let outputs = receive(&mut second, 1, message);
        refusals += outputs.iter().filter(|it| matches!(it, Output::Send(Identity(9), Message::Differs(_)))).count();
    }
    assert_eq!((refusals, second.member().membership().peer(Identity(9))), (1, None));
}

#[test]
fn a_new_member_learns_of_departures_unknown_to_the_member_that_let_it_in() {
    let mut host = standing_by();
    receive(&mut host, 2, Message::Welcome(vec![peer(1), peer(2), peer(7)], Placement::default(), Vec::new()));
    assert!(host.member().membership().peer(Identity(7)).is_some());
    receive(&mut host, 1, Message::Welcome(vec![peer(1), peer(2)], Placement::default(), vec![gone(7)]));
    assert!(host.member().membership().peer(Identity(7)).is_none());
    let outputs = receive(&mut host, 1, Message::Member(peer(8)));
    let is_told = |output: &Output<Bucket>| matches!(output, Output::Send(Identity(8), Message::There(_, over)) if *over == [gone(7)]);
    assert!(outputs.iter().any(is_told), "the member that admit it may not know either");
}

#[test]
fn a_member_whose_reply_comes_after_its_server_was_taken_over_is_not_asked_again() {
    let mut host = host();
    let names = |host: &Host, server| host.member().hints().host(server);
    let child = names(&host, 1).expect("another member has been told to open server 1");
    receive(&mut host, child.0, Message::NotHere(1));
    assert_eq!(names(&host, 1), Some(child), "this member has opened the server, and knows better");
    let late = Message::ToClient { server: Some(8), client: 0, message: ToClient::Again { number: 0 } };
    receive(&mut host, 2, late);
    assert_eq!(names(&host, 8), Some(Identity(2)));
    receive(&mut host, 2, Message::NotHere(8));
    assert_eq!(names(&host, 8), None);
}

#[test]
fn a_member_to_which_a_server_moves_knows_best_which_servers_were_split_off_from_its_own() {
    let mut host = host();
    let mut placement = Placement::default();
    [(8, 2), (14, 3), (15, 2)].into_iter().for_each(|(server, host)| placement.learn(server, Identity(host)));
    let moved = ToServerOf::<Bucket>::Moved { token: None, leave: None };
    let message = postcard::from_bytes(&postcard::to_stdvec(&moved).unwrap()).unwrap();
    let (placement, journaled) = (Some(placement), None);
    let sequenced = Sequenced { number: 1, from: 7, to: 7, message, placement, origin: None, journaled };
    receive(&mut host, 2, Message::Sequenced(sequenced));
    let named = [8, 14, 15].map(|server| host.member().hints().host(server));
    // Server 8 would have been split off from server 0 here, which has taken it over if it ever existed; server 15,
    // from the one that moves.
    assert_eq!(named, [None, Some(Identity(3)), Some(Identity(2))]);
}

/// Whether a member is admitted by these outputs.
fn is_admitted(member: u32, outputs: &[Output<Bucket>]) -> bool {
    let is_it =
        |output: &Output<Bucket>| matches!(output, Output::Send(to, Message::Welcome(..)) if *to == Identity(member));
    outputs.iter().any(is_it)
}

#[test]
fn a_leaving_member_lets_in_only_those_to_which_its_servers_may_move() {
    let mut host = host();
    let settings = host.member().settings();
    host.with_member(|member, now, outputs| member.leave(now, outputs));
    let outputs = receive(&mut host, 9, Message::Join(peer(9), settings));
    assert!(!is_admitted(9, &outputs), "others admit it");
    let outputs = receive(&mut host, 2, Message::Join(peer(2), settings));
    assert!(is_admitted(2, &outputs), "it has not heard that it was admitted before");
    let node = Node::new(Settings::default(), 6379, [1; 3], 0);
    let mut alone = Host::new(node, peer(1), *host.member().policy(), true);
    alone.with_member(|member, now, outputs| member.leave(now, outputs));
    let outputs = receive(&mut alone, 2, Message::Join(peer(2), settings));
    assert!(is_admitted(2, &outputs), "its server can move nowhere else");
}

#[test]
fn a_member_notes_a_departure_once_it_is_admitted() {
    let (mut first, node) = (host(), Node::new(Settings::default(), 6380, [1; 3], 0));
    let settings = first.member().settings();
    let mut second = Host::new(node, peer(2), *first.member().policy(), false);
    let notes = |outputs: &[Output<Bucket>]| {
        outputs.iter().any(|output| matches!(output, Output::Send(Identity(1), Message::Noted(_))))
    };
    assert!(
        !notes(&receive(&mut second, 1, Message::Leaving(Departure::default()))),
        "nobody else may be able to admit it"
    );
    first.with_member(|member, now, outputs| member.leave(now, outputs));
    let mut outputs = Vec::new();
    for output in receive(&mut first, 2, Message::Join(peer(2), settings)) {
        if let Output::Send(Identity(2), message) = output {
            outputs.extend(receive(&mut second, 1, message));
        }
    }
    assert!(notes(&outputs));
}
