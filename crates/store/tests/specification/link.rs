//! Links between members: messages arrive as they were sent, however the bytes are cut, and only those who know the
//! secret can send one.

use std::net::{Ipv4Addr, SocketAddr};

use maquette_store::large::{LARGE, SharedValue};
use maquette_store::link::{Error, Link, LinkEvent, Secret};
use maquette_store::member::{Identity, Peer, Role};
use maquette_store::resp::Reply;
use proptest::prelude::*;

fn peer(number: u32) -> Peer {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, number as u16));
    Peer { identity: Identity(number), address, clients: address, role: Role::Data, life: 0 }
}

fn pair(secrets: [&[u8]; 2]) -> [Link; 2] {
    let [one, other] = secrets.map(Secret::of);
    [Link::new(true, &one, [1; 32], &peer(1)), Link::new(false, &other, [2; 32], &peer(2))]
}

/// Carries the bytes of one side to the other, `cut` at a time, and returns the events there.
fn carry(from: &mut Link, to: &mut Link, cut: usize) -> Result<Vec<LinkEvent>, Error> {
    let mut events = Vec::new();
    while !from.unsent().is_empty() {
        let bytes = from.unsent();
        let some = bytes[..bytes.len().min(cut)].to_vec();
        from.was_sent(some.len());
        to.received(&some);
        while let Some(event) = to.next_event()? {
            events.push(event);
        }
    }
    Ok(events)
}

/// Both sides of an open link.
fn opened() -> [Link; 2] {
    let [mut caller, mut called] = pair([b"secret"; 2]);
    assert_eq!(carry(&mut caller, &mut called, 7), Ok(vec![]));
    assert_eq!(carry(&mut called, &mut caller, 7), Ok(vec![LinkEvent::Identified(peer(2))]));
    assert_eq!(carry(&mut caller, &mut called, 7), Ok(vec![LinkEvent::Identified(peer(1))]));
    assert!(caller.is_open() && called.is_open());
    [caller, called]
}

proptest! {
    #[test]
    fn messages_arrive_as_they_were_sent(
        sizes in prop::collection::vec(prop_oneof![0_usize..100, 60_000_usize..140_000], 1..6),
        cut in 1_usize..50_000,
    ) {
        let [mut caller, mut called] = opened();
        let messages: Vec<Vec<u8>> =
            sizes.iter().enumerate().map(|(number, &size)| (0..size).map(|at| (at * 7 + number) as u8).collect()).collect();
        messages.iter().for_each(|message| caller.send(message));
        let arrived = carry(&mut caller, &mut called, cut).unwrap();
        prop_assert_eq!(arrived, messages.into_iter().map(LinkEvent::Message).collect::<Vec<_>>());
    }

    /// No more of a large message is sealed at a time than is asked for, and later messages arrive after it.
    #[test]
    fn a_message_that_is_sealed_in_pieces_arrives_whole(
        size in prop_oneof![4 => 0_usize..600_000, 1 => LARGE..2 * LARGE],
        most in 1_usize..200_000,
    ) {
        let [mut caller, mut called] = opened();
        // A large value stands between other bytes.
        let mut reply = Reply::default();
        reply.value(SharedValue::from((0..size).map(|place| (place % 251) as u8).collect::<Vec<u8>>()).into());
        reply.ok();
        let (pieces, mut arrived) = (reply.into_pieces(), Vec::new());
        let message = pieces.joined().into_owned();
        caller.begin(pieces.clone());
        while !caller.seal_more(most) {
            prop_assert!(caller.unsent().len() < most + (66 << 10));
            arrived.extend(carry(&mut caller, &mut called, 30_000).unwrap());
        }
        caller.begin(pieces);
        caller.send(b"after it");
        arrived.extend(carry(&mut caller, &mut called, 30_000).unwrap());
        prop_assert_eq!(arrived, [message.clone(), message, b"after it".to_vec()].map(LinkEvent::Message));
    }

    /// Whatever a stranger sends, the worst outcome is an error.
    #[test]
    fn a_stranger_is_refused_or_waited_for(bytes in prop::collection::vec(any::<u8>(), 0..200), greets in any::<bool>()) {
        let [_, mut called] = pair([b"secret"; 2]);
        if greets {
            called.received(b"maquette store 1\n");
        }
        called.received(&bytes);
        prop_assert!(matches!(called.next_event(), Ok(None) | Err(_)));
    }

    /// Any bit, of the length or of the sealed bytes. If the length has become longer, the link ends once that much has
    /// arrived.
    #[test]
    fn bytes_changed_in_transit_end_the_link(at in 0_usize..63, bit in 0_u32..8) {
        let [mut caller, mut called] = opened();
        caller.send(b"forty-one bytes, of which one was changed");
        let mut bytes = caller.unsent().to_vec();
        prop_assert_eq!(bytes.len(), 63);
        bytes[at] ^= 1 << bit;
        called.received(&bytes);
        let at_once = called.next_event();
        prop_assert!(matches!(at_once, Err(Error::Sealed | Error::Long)) || at_once == Ok(None) && at < 2);
        called.received(&[0; 1 << 17]);
        prop_assert!(matches!(called.next_event(), Err(Error::Sealed | Error::Long)));
    }

    /// Messages arrive as they were sent, however much waits and in whatever pieces it travels.
    #[test]
    fn messages_that_are_sent_slowly_arrive_as_they_were_sent(
        sizes in prop::collection::vec(0_usize..1_500_000, 1..6), piece in 100_000_usize..3_000_000,
    ) {
        let [mut caller, mut called] = opened();
        let (mut sent, mut arrived) = (Vec::new(), Vec::new());
        for (number, size) in sizes.into_iter().enumerate() {
            let message: Vec<u8> = (0..size).map(|at| (at * 7 + number) as u8).collect();
            caller.send(&message);
            sent.push(LinkEvent::Message(message));
            let some = caller.unsent()[..piece.min(caller.unsent().len())].to_vec();
            caller.was_sent(some.len());
            called.received(&some);
        }
        while let Some(event) = called.next_event().unwrap() {
            arrived.push(event);
        }
        arrived.extend(carry(&mut caller, &mut called, piece).unwrap());
        prop_assert_eq!(arrived, sent);
    }
}

#[test]
fn a_link_with_another_secret_is_refused() {
    let [mut caller, mut called] = pair([b"secret", b"another"]);
    assert_eq!(carry(&mut caller, &mut called, 1_000), Err(Error::Sealed));
    assert!(!caller.has_met_a_store());
    assert_eq!(carry(&mut called, &mut caller, 1_000), Ok(vec![]));
    assert!(caller.has_met_a_store() && !caller.is_open() && !called.is_open());
}

#[test]
fn a_message_cannot_be_replayed() {
    let [mut caller, mut called] = opened();
    caller.send(b"once");
    let bytes = caller.unsent().to_vec();
    called.received(&bytes);
    assert_eq!(called.next_event(), Ok(Some(LinkEvent::Message(b"once".to_vec()))));
    called.received(&bytes);
    assert_eq!(called.next_event(), Err(Error::Sealed));
}

#[test]
fn a_redis_client_is_recognized() {
    let [_, mut called] = pair([b"secret"; 2]);
    called.received(b"*1\r\n$4\r\nPING\r\n");
    assert_eq!(called.next_event(), Err(Error::Stranger));
}

#[test]
fn a_peer_that_speaks_tls_is_recognized() {
    let [mut caller, _] = pair([b"secret"; 2]);
    // A fatal alert: the other side has received something that is no TLS record.
    caller.received(&[21, 3, 3, 0, 2, 2, 10]);
    assert_eq!(caller.next_event(), Err(Error::Tls));
}
