//! What members of a pool of stores tell each other, from whatever bytes. As bytes of a stranger they come to a link,
//! cut into pieces; as messages of members they come sealed, by links that are open, to a member that has split and
//! goes on serving. It goes on, and what it answers is no more than what it was told.

#![no_main]

use std::net::{Ipv4Addr, SocketAddr};

use libfuzzer_sys::fuzz_target;
use linear_hash::Growth;
use quantities::Duration;
use store::bucket::Bucket;
use store::connection::Connection;
use store::host::Host;
use store::link::{Link, LinkEvent, Secret};
use store::member::{Durability, Identity, Message, Output, Peer, Policy, Role};
use store::node::{Node, Settings};

const GROWTH: Growth =
    Growth { capacity: 10, sensitivity: 0.8, shrink: Some(0.3), apart: false, most_servers: 16, chunk: 4 };
/// The most that a member does at once: it tells 16 servers and some clients something, or moves a few records.
const MOST_OUTPUTS: usize = 10_000;

fn peer(number: u32) -> Peer {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, number as u16));
    Peer { identity: Identity(number), address, clients: address, role: Role::Data, life: 0 }
}

/// Carries what one side has to send to the other, and gives the messages that come of it.
fn carry(from: &mut Link, to: &mut Link, piece: usize) -> Vec<Vec<u8>> {
    let bytes = from.unsent().to_vec();
    from.was_sent(bytes.len());
    let mut messages = Vec::new();
    for piece in bytes.chunks(piece.max(1)) {
        to.received(piece);
        while let Some(event) = to.next_event().expect("a member has sealed it") {
            messages.extend(match event {
                LinkEvent::Identified(_) => None,
                LinkEvent::Message(message) => Some(message),
            });
        }
    }
    messages
}

/// A member that has told two others to open servers, and two clients' requests under way.
fn host() -> Host {
    let node = Node::new(Settings::default(), 6379, [1; 3], 0);
    let patience = Duration::from_microseconds(10);
    let policy = Policy { growth: GROWTH, servers_each: 4, patience, durability: Durability::default() };
    let mut host = Host::new(node, peer(1), policy, true);
    for other in [2, 3] {
        host.with_member(|member, now, outputs| {
            let joins = Message::Join(peer(other), member.settings());
            member.receive(now, Identity(other), joins, outputs);
        });
    }
    let client = host.node().borrow_mut().connect("fuzzer".to_owned(), String::new(), 0);
    let mut connection = Connection::new(client, &host.node().borrow());
    for number in 0..40 {
        connection.requests.feed(format!("SET key:{number} value\r\n").as_bytes());
        connection.turn(&mut host);
    }
    host.take_outputs();
    host
}

/// Delivers a message to a member, whatever it says, as if another had sent it.
fn deliver(host: &mut Host, from: Identity, message: &[u8]) {
    let Ok(message) = postcard::from_bytes::<Message<Bucket>>(message) else { return };
    if message.check().is_err() {
        return;
    }
    let written = postcard::to_stdvec(&message).expect("what was read is written");
    assert!(postcard::from_bytes::<Message<Bucket>>(&written).is_ok());
    host.node().borrow_mut().now += 5;
    host.with_member(|member, now, outputs| {
        member.receive(now, from, message, outputs);
        if member.deadline().is_some_and(|deadline| deadline <= now) {
            member.wake(now, outputs);
        }
        member.tick(now, outputs);
    });
    let outputs = host.take_outputs();
    assert!(outputs.len() < MOST_OUTPUTS);
    for output in outputs {
        if let Output::Send(_, message) = output {
            postcard::to_stdvec(&message).expect("it can be written");
        }
    }
}

fuzz_target!(|input: (u8, Vec<u8>, Vec<(u8, Vec<u8>)>)| {
    let (piece, strange, messages) = input;
    let secret = Secret::of(b"");
    let mut called = Link::new(false, &secret, [2; 32], &peer(1));
    for piece in strange.chunks(usize::from(piece).max(1)) {
        called.received(piece);
        while let Ok(Some(_)) = called.next_event() {}
    }
    let mut caller = Link::new(true, &secret, [1; 32], &peer(2));
    let mut called = Link::new(false, &secret, [2; 32], &peer(1));
    carry(&mut caller, &mut called, 1 << 10);
    carry(&mut called, &mut caller, 1 << 10);
    carry(&mut caller, &mut called, 1 << 10);
    assert!(caller.is_open() && called.is_open());
    let mut host = host();
    for (from, message) in messages.iter().take(100) {
        caller.send(message);
        for message in carry(&mut caller, &mut called, usize::from(piece)) {
            deliver(&mut host, Identity(2 + u32::from(from % 3)), &message);
        }
    }
});
