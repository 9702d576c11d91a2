//! Which addresses a member calls, with real sockets on the loopback.

use std::net::Ipv4Addr;
use std::time::Duration;

use mio::net::TcpListener;
use mio::{Events, Poll};

use super::*;
use crate::member::Role;

/// The tokens of a socket's two ends.
const CALLER: usize = 1;
const CALLED: usize = 2;
/// How often sockets are polled, for a tenth of a second each time.
const MOST_POLLS: usize = 100;
/// How often sockets have their turn, at most a mebibyte each time, before a test gives up.
const MOST_TURNS: usize = 100_000;

fn peer(number: u32, address: SocketAddr) -> Peer {
    Peer { identity: Identity(number), address, clients: address, role: Role::Data, life: 0 }
}

fn peers(own: Peer) -> Peers {
    with_secret(own, b"of a test")
}

fn with_secret(own: Peer, secret: &[u8]) -> Peers {
    Peers::new(own, Secret::of(secret), None)
}

/// A member that has called another one at an address, and the other one.
fn connected(poll: &mut Poll, own: SocketAddr, other: &TcpListener, at: SocketAddr) -> [Peers; 2] {
    let [mut caller, mut called] = [peers(peer(1, own)), peers(peer(2, at))];
    caller.connect(poll.registry(), CALLER, at, [1; 32], 0).expect("somebody listens there");
    let (mut events, mut arrivals) = (Events::with_capacity(8), Vec::new());
    for _ in 0..MOST_POLLS {
        if let Ok((stream, _)) = other.accept() {
            called.accept(poll.registry(), CALLED, stream, [2; 32], 0);
        }
        caller.turn(CALLER, &mut arrivals);
        called.turn(CALLED, &mut arrivals);
        if caller.reaches(Identity(2)) && called.reaches(Identity(1)) {
            return [caller, called];
        }
        poll.poll(&mut events, Some(Duration::from_millis(100))).expect("it waits for what comes");
    }
    panic!("they have not met");
}

#[test]
fn an_address_at_which_another_member_has_answered_is_not_called() {
    let mut poll = Poll::new().unwrap();
    let listen = || TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let [listener, own] = [listen(), listen()];
    let [at, own] = [&listener, &own].map(|listener| listener.local_addr().unwrap());
    let [mut caller, called] = connected(&mut poll, own, &listener, at);
    // Former members at the address of the other one and at this one's own, and one elsewhere.
    let (former, own_former, elsewhere) =
        (peer(3, at), peer(4, own), peer(5, SocketAddr::from((Ipv4Addr::LOCALHOST, 9))));
    let known = |identity: Identity| [&former, &own_former, &elsewhere].into_iter().find(|it| it.identity == identity);
    [3, 4, 5].into_iter().for_each(|number| caller.expect(Identity(number)));
    assert_eq!(caller.due_connections(known, 0), [elsewhere.address]);
    // When the other one is gone, the former one may be back.
    drop(called);
    let (mut events, mut arrivals) = (Events::with_capacity(8), Vec::new());
    for _ in 0..MOST_POLLS {
        caller.turn(CALLER, &mut arrivals);
        if !caller.reaches(Identity(2)) {
            break;
        }
        poll.poll(&mut events, Some(Duration::from_millis(100))).expect("it waits for what comes");
    }
    assert_eq!(caller.due_connections(known, TIME_TO_RECONNECT), [former.address, elsewhere.address]);
}

#[test]
fn a_large_request_is_not_sent_again_while_it_is_still_being_sent() {
    let mut poll = Poll::new().unwrap();
    let listen = || TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let [listener, own] = [listen(), listen()];
    let [at, own] = [&listener, &own].map(|listener| listener.local_addr().unwrap());
    let [mut caller, mut called] = connected(&mut poll, own, &listener, at);
    let request = |number: u64| {
        let subject = Some(Subject::Request { client: 1, number });
        Outgoing { pieces: vec![number as u8; 24 << 20].into(), may_be_lost: true, subject }
    };
    caller.send(Identity(2), request(1));
    caller.send(Identity(2), request(1));
    // The first is sealed in part, as much as the system takes; the second waits.
    caller.flush();
    caller.send(Identity(2), request(1));
    caller.send(Identity(2), request(2));
    caller.send(Identity(2), request(2));
    let reply = Outgoing { subject: Some(Subject::Reply { client: 1, number: 2 }), ..request(2) };
    caller.send(Identity(2), reply);
    let (mut events, mut arrivals) = (Events::with_capacity(8), Vec::new());
    let mut received = Vec::new();
    let mut sends_again = true;
    for _ in 0..MOST_TURNS {
        caller.flush();
        caller.turn(CALLER, &mut Vec::new());
        called.turn(CALLED, &mut arrivals);
        for arrival in std::mem::take(&mut arrivals) {
            let Arrival::Message(_, message) = arrival else { continue };
            received.push((message[0], message.len()));
        }
        // What has been sent may be sent again.
        if received.len() == 3 && std::mem::take(&mut sends_again) {
            caller.send(Identity(2), request(1));
        }
        if received.len() == 4 {
            break;
        }
        poll.poll(&mut events, Some(Duration::ZERO)).expect("it looks for what comes");
    }
    assert_eq!(received, [1, 2, 2, 1].map(|number| (number, 24 << 20)));
    assert_eq!((caller.waiting(), caller.dropped()), (0, 0));
}

#[test]
fn a_member_that_calls_itself_meets_no_member() {
    let mut poll = Poll::new().unwrap();
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let at = listener.local_addr().unwrap();
    let mut own = peers(peer(1, at));
    own.connect(poll.registry(), CALLER, at, [1; 32], 0).unwrap();
    let (mut events, mut arrivals) = (Events::with_capacity(8), Vec::new());
    for _ in 0..MOST_POLLS {
        if let Ok((stream, _)) = listener.accept() {
            own.accept(poll.registry(), CALLED, stream, [2; 32], 0);
        }
        [CALLER, CALLED].into_iter().for_each(|token| own.turn(token, &mut arrivals));
        if own.failure(at).is_some() {
            assert_eq!(own.failure(at), Some("this is the store that calls"));
            assert!(arrivals.is_empty() && !own.reaches(Identity(1)), "{arrivals:?}");
            return;
        }
        poll.poll(&mut events, Some(Duration::from_millis(100))).expect("it waits for what comes");
    }
    panic!("it was not told that it has called itself");
}

#[test]
fn a_member_that_calls_one_with_another_secret_is_told_so() {
    let mut poll = Poll::new().unwrap();
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let at = listener.local_addr().unwrap();
    let own = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
    let [mut caller, mut called] = [with_secret(peer(1, own), b"one"), with_secret(peer(2, at), b"another")];
    caller.connect(poll.registry(), CALLER, at, [1; 32], 0).unwrap();
    let (mut events, mut arrivals) = (Events::with_capacity(8), Vec::new());
    for _ in 0..MOST_POLLS {
        if let Ok((stream, _)) = listener.accept() {
            called.accept(poll.registry(), CALLED, stream, [2; 32], 0);
        }
        called.turn(CALLED, &mut arrivals);
        caller.turn(CALLER, &mut arrivals);
        if caller.failure(at).is_some() {
            assert_eq!(caller.failure(at), Some("it has another secret, or its message was changed on the way"));
            assert!(arrivals.is_empty() && !called.has(CALLED), "{arrivals:?}");
            return;
        }
        poll.poll(&mut events, Some(Duration::from_millis(100))).expect("it waits for what comes");
    }
    panic!("they have not refused each other");
}
