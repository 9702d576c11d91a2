//! Datagrams over UDP on this machine: who receives what, and what is counted.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use endpoint::Message;
use maquette_real_worlds::Clock;
use maquette_real_worlds::udp::{Group, UdpNetwork, UdpSettings, receives_multicast};
use messaging::packet::{Body, Data, Packet, Part};
use messaging::{Datagram, Datagrams, Destination};
use quantities::{Duration, Rank, Rate};

const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 77, 1);

/// The result of a future that blocks, and so is ready at once.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("it did not block"),
    }
}

/// Networks of `ranks` ranks on this machine, with a group if it has multicast.
fn networks(ranks: u32, with_group: bool, rate: Option<Rate>) -> Vec<UdpNetwork> {
    let sockets: Vec<UdpSocket> = (0..ranks).map(|_| UdpSocket::bind((LOOPBACK, 0)).unwrap()).collect();
    let addresses: Vec<Option<SocketAddr>> = sockets.iter().map(|socket| socket.local_addr().ok()).collect();
    // A port that is free for a rank is free for the group.
    let port = UdpSocket::bind((LOOPBACK, 0)).unwrap().local_addr().unwrap().port();
    let group = Group { address: SocketAddrV4::new(GROUP, port), interface: LOOPBACK, hops: 1, has_local_peers: true };
    let clock = Clock::starting_now();
    let network = |(me, socket)| {
        let group = with_group.then_some(group);
        UdpNetwork::new(UdpSettings {
            me: Rank(me),
            ranks: addresses.clone(),
            socket,
            group,
            rate,
            longest: 1_472,
            clock,
        })
    };
    (0..).zip(sockets).map(|numbered| network(numbered).unwrap()).collect()
}

fn has_multicast() -> bool {
    let heard = receives_multicast(GROUP, LOOPBACK);
    if let Err(error) = &heard {
        println!("skipped: no multicast on this machine: {error}");
    }
    heard.is_ok()
}

fn datagram(source: u32, sequence: u32, payload: &Message) -> Datagram {
    let data = Data { sequence, message: 1, part: Part::From(0), payload: payload.clone() };
    Packet { session: 5, source: Rank(source), broadcast: true, answer: false, body: Body::Data(data) }.encode()
}

/// The next `count` datagrams, or fewer if no more arrive within a second.
fn arrive(network: &UdpNetwork, count: usize) -> Vec<Datagram> {
    let mut arrived = Vec::new();
    let until = network.now() + Duration::from_microseconds(1_000_000);
    while arrived.len() < count && network.now() < until {
        ready(network.receive(Some(until), &mut arrived)).unwrap();
    }
    arrived
}

#[test]
fn a_broadcast_is_handed_to_the_kernel_once_however_many_receive_it() {
    if !has_multicast() {
        return;
    }
    let content: Vec<u8> = (0..100_000_u32).map(|place| place as u8).collect();
    for receivers in [1, 3, 7] {
        let networks = networks(receivers + 1, true, None);
        let parts = content.chunks(1_446).map(|part| Message::from(part.to_vec()));
        let all: Vec<_> =
            (0..).zip(parts).map(|(number, part)| (Destination::All, datagram(0, number, &part))).collect();
        ready(networks[0].send(&all)).unwrap();
        let counts = networks[0].counts();
        assert_eq!((counts.payloads, counts.datagrams), (100_000, 70));
        assert!(counts.calls <= 70, "{counts:?}");
        for network in &networks[1..] {
            let mut arrived: Vec<Datagram> = arrive(network, 70);
            arrived.sort_by_key(|datagram| datagram.header().to_vec()[12..16].to_vec());
            let bytes: Vec<u8> = arrived.iter().flat_map(|it| it.payload().content().unwrap().to_vec()).collect();
            assert!(bytes == content, "{} of {} datagrams arrived", arrived.len(), all.len());
        }
        assert!(arrive_now(&networks[0]).is_empty(), "a rank does not hear itself");
        assert_eq!(networks[0].counts().strangers, 0);
    }
}

fn arrive_now(network: &UdpNetwork) -> Vec<Datagram> {
    let mut arrived = Vec::new();
    ready(network.receive(Some(network.now()), &mut arrived)).unwrap();
    arrived
}

#[test]
fn without_a_group_each_rank_is_sent_its_own() {
    let networks = networks(4, false, None);
    let message = Message::from(vec![7; 500]);
    ready(networks[1].send(&[(Destination::All, datagram(1, 1, &message))])).unwrap();
    for place in [0, 2, 3] {
        assert_eq!(arrive(&networks[place], 1), [datagram(1, 1, &message)]);
    }
    assert_eq!(networks[1].counts().payloads, 3 * 500);
}

#[test]
fn what_is_only_a_size_goes_as_zeros() {
    let networks = networks(2, false, None);
    let message = Message::beginning_with(vec![1, 2, 3], quantities::Bytes(1_000));
    ready(networks[0].send(&[(Destination::One(Rank(1)), datagram(0, 1, &message))])).unwrap();
    let arrived = arrive(&networks[1], 1);
    let Body::Data(data) = Packet::decode(&arrived[0]).unwrap().body else { panic!("it was data") };
    assert_eq!(data.payload, message);
    assert_eq!(networks[0].counts().payloads, 1_000);
}

#[test]
fn strangers_and_impostors_are_turned_away_and_counted() {
    let networks = networks(3, false, None);
    let sent = datagram(1, 1, &Message::from(vec![1]));
    let stranger = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    stranger.send_to(&sent.to_bytes(), networks[0].port().address()).unwrap();
    ready(networks[2].send(&[(Destination::One(Rank(0)), sent.clone())])).unwrap();
    ready(networks[1].send(&[(Destination::One(Rank(0)), sent.clone())])).unwrap();
    assert_eq!(arrive(&networks[0], 1), [sent]);
    let counts = networks[0].counts();
    assert_eq!((counts.received, counts.strangers, counts.unreadable), (3, 1, 1));
}

#[test]
fn sending_to_nobody_is_no_error() {
    let networks = networks(2, false, None);
    let gone = networks[1].port().address();
    drop(networks.into_iter().nth(1));
    let socket = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let ranks = vec![socket.local_addr().ok(), Some(gone), None];
    let clock = Clock::starting_now();
    let alone = UdpSettings { me: Rank(0), ranks, socket, group: None, rate: None, longest: 1_472, clock };
    let alone = UdpNetwork::new(alone).unwrap();
    for number in 0..20 {
        for to in [1, 2] {
            let sent = datagram(0, number, &Message::from(vec![1; 1_000]));
            ready(alone.send(&[(Destination::One(Rank(to)), sent)])).unwrap();
        }
        assert!(arrive_now(&alone).is_empty());
    }
}

#[test]
fn a_rate_is_kept() {
    let networks = networks(2, false, Some(Rate::from_bits_per_second(100_000_000)));
    let message = Message::from(vec![0; 1_446]);
    let start = networks[0].now();
    let all: Vec<_> = (0..200).map(|number| (Destination::One(Rank(1)), datagram(0, number, &message))).collect();
    ready(networks[0].send(&all)).unwrap();
    // 200 frames of 1,538 bytes take 24.6 ms; the first eight and the last eight leave together.
    assert!(networks[0].now().since(start) > Duration::from_microseconds(22_000));
    assert_eq!(arrive(&networks[1], 200).len(), 200);
}
