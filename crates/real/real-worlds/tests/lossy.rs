//! A thousand broadcasts by ranks in threads of their own, with one datagram in twenty lost: each arrives as it was
//! sent.

use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use endpoint::{Endpoint, Message, Result};
use maquette_real_worlds::udp::{Group, UdpNetwork, UdpSettings, receives_multicast};
use maquette_real_worlds::{Clock, block_on, real_parameters};
use messaging::{Datagram, Datagrams, Destination, Messenger};
use quantities::{Rank, Time, splitmix64};

const RANKS: u32 = 4;
const BROADCASTS: u32 = 1_000;
const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 78, 1);

/// A network that loses some of what it receives.
struct Lossy<D> {
    network: D,
    percent: u64,
    state: Cell<u64>,
    lost: Rc<Cell<u64>>,
}

impl<D: Datagrams> Lossy<D> {
    /// Whether the next one is lost.
    fn loses(&self) -> bool {
        let mut state = self.state.get();
        let loses = splitmix64::draw(&mut state) % 100 < self.percent;
        self.state.set(state);
        self.lost.set(self.lost.get() + u64::from(loses));
        loses
    }
}

impl<D: Datagrams> Datagrams for Lossy<D> {
    fn now(&self) -> Time {
        self.network.now()
    }

    async fn send(&self, datagrams: &[(Destination, Datagram)]) -> Result<()> {
        self.network.send(datagrams).await
    }

    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()> {
        let mut came = Vec::new();
        self.network.receive(until, &mut came).await?;
        arrived.extend(came.into_iter().filter(|_| !self.loses()));
        Ok(())
    }
}

/// Broadcast `number`, whose size and bytes follow from the number.
fn message(number: u32) -> Message {
    let length = [0, 1, 200, 1_400, 5_000, 20_000][number as usize % 6];
    Message::from((0..length).map(|place: u32| (place * 7 + number * 13) as u8).collect::<Vec<u8>>())
}

/// No rank may take longer.
const LIMIT: Duration = Duration::from_secs(120);

/// How many broadcasts were wrong at a rank, and how many datagrams it lost.
async fn rank(endpoint: &Messenger<Lossy<UdpNetwork>>, lost: impl Fn() -> u64) -> Result<(u32, u64)> {
    let mut wrong = 0;
    for number in 0..BROADCASTS {
        let root = Rank(number / 50 % RANKS);
        if endpoint.rank() == root {
            endpoint.multicast(message(number)).await?;
        } else {
            wrong += u32::from(endpoint.receive_multicast(root).await? != message(number));
        }
    }
    endpoint.end().await?;
    Ok((wrong, lost()))
}

fn run(with_group: bool) {
    let sockets: Vec<UdpSocket> = (0..RANKS).map(|_| UdpSocket::bind((LOOPBACK, 0)).unwrap()).collect();
    let ranks: Vec<Option<SocketAddr>> = sockets.iter().map(|socket| socket.local_addr().ok()).collect();
    let port = UdpSocket::bind((LOOPBACK, 0)).unwrap().local_addr().unwrap().port();
    let group = Group { address: SocketAddrV4::new(GROUP, port), interface: LOOPBACK, hops: 1, has_local_peers: true };
    let clock = Clock::starting_now();
    let parameters = real_parameters(77);
    let (give, ended) = channel();
    let start = |(me, socket): (u32, UdpSocket)| {
        let group = with_group.then_some(group);
        let longest = parameters.datagram;
        let ranks = ranks.clone();
        let settings = UdpSettings { me: Rank(me), ranks, socket, group, rate: None, longest, clock };
        let network = UdpNetwork::new(settings).unwrap();
        let give = give.clone();
        thread::spawn(move || {
            let state = Cell::new(u64::from(me) + 1);
            let lost = Rc::new(Cell::new(0));
            let network = Lossy { network, percent: 5, state, lost: lost.clone() };
            let endpoint = Messenger::new(network, Rank(me), RANKS, parameters).unwrap();
            let ended = block_on(rank(&endpoint, || lost.get())).unwrap();
            // If a rank took too long, nobody waits for the others.
            let _ = give.send(ended);
        });
    };
    (0..).zip(sockets).for_each(start);
    for _ in 0..RANKS {
        let (wrong, lost) = ended.recv_timeout(LIMIT).unwrap().unwrap();
        assert_eq!(wrong, 0);
        assert!(lost > 100, "only {lost} datagrams were lost");
    }
}

#[test]
fn none_of_a_thousand_broadcasts_with_loss_is_wrong() {
    run(false);
}

#[test]
fn none_of_a_thousand_multicasts_with_loss_is_wrong() {
    match receives_multicast(GROUP, LOOPBACK) {
        Ok(()) => run(true),
        Err(error) => println!("skipped: no multicast on this machine: {error}"),
    }
}
