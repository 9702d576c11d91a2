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
const MOST_LOOKS: usize = 100;

fn peer(number: u32, address: SocketAddr) -> Peer {
    Peer { identity: Identity(number), address, clients: address, role: Role::Data, life: 0 }
}

fn peers(own: Peer) -> Peers {
    Peers::new(own, Secret::of(b"of a test"), None)
}

/// A member that has called another one at an address, and the other one.
fn connected(poll: &mut Poll, own: SocketAddr, other: &TcpListener, at: SocketAddr) -> [Peers; 2] {
    let [mut caller, mut called] = [peers(peer(1, own)), peers(peer(2, at))];
    caller.call(poll.registry(), CALLER, at, [1; 32], 0).expect("somebody listens there");
    let (mut events, mut arrivals) = (Events::with_capacity(8), Vec::new());
    for _ in 0..MOST_LOOKS {
        if let Ok((stream, _)) = other.accept() {
            called.let_in(poll.registry(), CALLED, stream, [2; 32], 0);
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
    assert_eq!(caller.due_calls(known, 0), [elsewhere.address]);
    // When the other one is gone, the former one may be back.
    drop(called);
    let (mut events, mut arrivals) = (Events::with_capacity(8), Vec::new());
    for _ in 0..MOST_LOOKS {
        caller.turn(CALLER, &mut arrivals);
        if !caller.reaches(Identity(2)) {
            break;
        }
        poll.poll(&mut events, Some(Duration::from_millis(100))).expect("it waits for what comes");
    }
    assert_eq!(caller.due_calls(known, TIME_TO_CALL_AGAIN), [former.address, elsewhere.address]);
}

#[test]
fn a_member_that_calls_itself_meets_no_member() {
    let mut poll = Poll::new().unwrap();
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let at = listener.local_addr().unwrap();
    let mut own = peers(peer(1, at));
    own.call(poll.registry(), CALLER, at, [1; 32], 0).unwrap();
    let (mut events, mut arrivals) = (Events::with_capacity(8), Vec::new());
    for _ in 0..MOST_LOOKS {
        if let Ok((stream, _)) = listener.accept() {
            own.let_in(poll.registry(), CALLED, stream, [2; 32], 0);
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
