//! A client's replies over a socket that transfers any number of bytes at a time, plain or with TLS.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;

use proptest::prelude::*;

use super::*;
use crate::node::Settings;
use crate::tls::authority::{ADDRESS, Authority, NAME};
use crate::tls::{Acceptor, Connector};

const NOW: Milliseconds = 1_700_000_000_000;

/// One direction of a wire.
#[derive(Debug, Default)]
struct Direction {
    bytes: VecDeque<u8>,
    /// How many of these have arrived.
    arrived: usize,
    /// How many more may be written.
    room: usize,
    /// Whether nothing more is written.
    is_closed: bool,
}

/// An end of a wire, which never blocks.
#[derive(Clone, Debug, Default)]
struct Socket {
    reads: Rc<RefCell<Direction>>,
    writes: Rc<RefCell<Direction>>,
}

impl Read for Socket {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let from = &mut *self.reads.borrow_mut();
        let bytes = from.arrived.min(room.len());
        if bytes == 0 && !(from.is_closed && from.bytes.is_empty()) {
            return Err(ErrorKind::WouldBlock.into());
        }
        from.arrived -= bytes;
        from.bytes.drain(..bytes).zip(room).for_each(|(byte, at)| *at = byte);
        Ok(bytes)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let to = &mut *self.writes.borrow_mut();
        let taken = to.room.min(bytes.len());
        if taken == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        to.room -= taken;
        to.bytes.extend(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A server with one client, whose socket reports once that data has arrived, or that there is room again.
struct World {
    host: Host,
    socket: ClientSocket<Socket>,
    client: Stream<Socket>,
    wire: Socket,
    unsent: Vec<u8>,
    replies: Vec<u8>,
}

impl World {
    fn new(acceptor: Option<&Acceptor>, connector: Option<&Connector>, settings: Settings) -> World {
        let wire = Socket::default();
        let server = Socket { reads: Rc::clone(&wire.writes), writes: Rc::clone(&wire.reads) };
        let mut node = Node::new(settings, 6379, [1, 2, 3], NOW);
        let client = node.connect("localhost:1".to_owned(), String::new(), NOW);
        let stream = Stream::accepted(server, acceptor).unwrap();
        let socket = ClientSocket::new(stream, client, &node, false);
        let client = Stream::connected(wire.clone(), connector, ADDRESS).unwrap();
        World { host: Host::alone(node), socket, client, wire, unsent: Vec::new(), replies: Vec::new() }
    }

    fn turns(&mut self) -> Result<(), Disconnection> {
        loop {
            let pause = self.socket.work(&mut self.host)?;
            if !self.socket.send_replies(pause, &self.host)? {
                return Ok(());
            }
        }
    }

    /// Has `arrives` more bytes arrive at the server, which has room to send `room` bytes.
    fn step(&mut self, arrives: usize, room: usize) -> Result<(), Disconnection> {
        let to = Rc::clone(&self.wire.writes);
        let arrives = arrives.min(to.borrow().bytes.len() - to.borrow().arrived);
        to.borrow_mut().arrived += arrives;
        let had_none = std::mem::replace(&mut self.wire.reads.borrow_mut().room, room) == 0;
        if arrives > 0 || had_none {
            self.socket.has_more |= arrives > 0;
            self.turns()?;
        }
        Ok(())
    }

    /// The client sends and reads what it can.
    fn use_client(&mut self) {
        self.wire.writes.borrow_mut().room = usize::MAX;
        let mut from = self.wire.reads.borrow_mut();
        from.arrived = from.bytes.len();
        drop(from);
        let mut room = [0; 1_000];
        while let Ok(bytes @ 1..) = self.client.read(&mut room) {
            self.replies.extend(&room[..bytes]);
        }
        while let (false, Ok(bytes)) = (self.unsent.is_empty(), self.client.write(&self.unsent)) {
            self.unsent.drain(..bytes);
        }
        // What does not go out now goes out later.
        let _ = self.client.flush();
    }

    /// The replies to these requests, of `due` bytes, if as many bytes get through at a time as the cuts say.
    fn say(
        &mut self,
        requests: &[u8],
        due: usize,
        cuts: impl Iterator<Item = (usize, usize)>,
    ) -> Result<Vec<u8>, Disconnection> {
        self.unsent.extend(requests);
        for (arrives, room) in cuts {
            self.use_client();
            if self.replies.len() >= due {
                break;
            }
            self.step(arrives, room)?;
        }
        Ok(std::mem::take(&mut self.replies))
    }

    /// The same, with no bound on what gets through.
    fn ask(&mut self, request: &[u8], due: usize) -> Result<Vec<u8>, Disconnection> {
        self.say(request, due, std::iter::repeat_n((usize::MAX, usize::MAX), 100))
    }
}

const PONG: &[u8] = b"+PONG\r\n";

fn secured(settings: Settings) -> World {
    let authority = Authority::new();
    World::new(Some(&authority.acceptor()), Some(&authority.connector()), settings)
}

fn request(kind: u8, key: u8, size: usize) -> Vec<u8> {
    let head = format!("*3\r\n$3\r\nSET\r\n$1\r\n{}\r\n${size}\r\n", char::from(key));
    match kind {
        0 => [head.as_bytes(), &vec![b'v'; size], b"\r\n"].concat(),
        1 => [b"GET ", &[key][..], b"\r\n"].concat(),
        _ => b"PING\r\n".to_vec(),
    }
}

/// The replies to a client whose socket transfers everything at once.
fn due(requests: &[u8]) -> Vec<u8> {
    let mut world = World::new(None, None, Settings::default());
    world.ask(requests, usize::MAX).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn replies_do_not_depend_on_how_bytes_travel(
        requests in prop::collection::vec((0..3_u8, b'a'..b'd', prop_oneof![0..200_usize, 0..70_000_usize]), 1..12),
        cuts in prop::collection::vec((1..40_000_usize, prop_oneof![0..300_usize, 0..70_000_usize]), 1..12),
    ) {
        prop_assume!(cuts.iter().any(|(_, room)| *room > 64));
        let requests: Vec<u8> = requests.iter().flat_map(|(kind, key, size)| request(*kind, *key, *size)).collect();
        let due = due(&requests);
        let cuts = || cuts.iter().copied().cycle().take(1_000_000);
        let mut plain = World::new(None, None, Settings::default());
        prop_assert_eq!(plain.say(&requests, due.len(), cuts()), Ok(due.clone()));
        prop_assert_eq!(secured(Settings::default()).say(&requests, due.len(), cuts()), Ok(due));
    }

    #[test]
    fn bytes_that_are_not_tls_never_get_a_reply(garbage in prop::collection::vec(any::<u8>(), 5..2_000)) {
        let authority = Authority::new();
        let mut world = World::new(Some(&authority.acceptor()), None, Settings::default());
        world.unsent = garbage;
        world.use_client();
        // If the bytes could still become TLS, the server waits for more until the time is over.
        if world.step(usize::MAX, usize::MAX).is_ok() {
            prop_assert!(world.socket.is_over(&world.host.node().borrow(), NOW + 60_001));
        }
        prop_assert_eq!(world.host.node().borrow().counts.commands, 0);
    }
}

#[test]
fn a_plain_client_gets_no_reply_from_a_server_with_tls() {
    let mut world = World::new(Some(&Authority::new().acceptor()), None, Settings::default());
    let outcome = world.ask(b"*1\r\n$4\r\nPING\r\n", usize::MAX);
    assert_eq!(outcome, Err(Disconnection::NotUnderstood("what came is not TLS".to_owned())));
}

#[test]
fn a_client_whose_handshake_takes_too_long_is_ended() {
    let settings = Settings { time_to_authenticate: 5_000, ..Settings::default() };
    let mut world = secured(settings.clone());
    // It has begun with half of its first message.
    world.unsent = b"PING\r\n".to_vec();
    world.use_client();
    world.step(100, usize::MAX).unwrap();
    assert!(!world.socket.is_over(&world.host.node().borrow(), NOW + 5_000));
    assert!(world.socket.is_over(&world.host.node().borrow(), NOW + 5_001));
    let mut world = secured(settings);
    assert_eq!(world.ask(b"PING\r\n", PONG.len()), Ok(PONG.to_vec()));
    assert!(!world.socket.is_over(&world.host.node().borrow(), NOW + 5_001));
}

#[test]
fn a_handshake_that_is_cut_off_ends_the_connection() {
    for bytes in [0, 1, 5, 6, 100, 200] {
        let mut world = secured(Settings::default());
        world.use_client();
        world.unsent = b"PING\r\n".to_vec();
        world.use_client();
        let mut to = world.wire.writes.borrow_mut();
        to.bytes.truncate(bytes);
        to.is_closed = true;
        drop(to);
        world.socket.is_ending = true;
        world.socket.has_more = true;
        assert_eq!(
            world.step(usize::MAX, usize::MAX).and_then(|()| world.turns()),
            Err(Disconnection::Ended),
            "{bytes}"
        );
    }
}

#[test]
fn a_client_that_closes_tls_has_gone_though_its_socket_is_open() {
    let mut world = secured(Settings::default());
    assert_eq!(world.ask(b"PING\r\n", PONG.len()), Ok(PONG.to_vec()));
    world.unsent = b"PING\r\n".to_vec();
    world.use_client();
    world.client.close();
    // Its request is answered first.
    assert_eq!(world.step(usize::MAX, usize::MAX), Err(Disconnection::Ended));
    world.use_client();
    assert_eq!(world.replies, PONG);
}

#[test]
fn a_client_that_sends_no_more_is_answered_and_then_ended() {
    for mut world in [World::new(None, None, Settings::default()), secured(Settings::default())] {
        assert_eq!(world.ask(b"PING\r\n", PONG.len()), Ok(PONG.to_vec()));
        world.unsent = b"PING\r\n".to_vec();
        world.use_client();
        // The end of file arrives with the request, and is not reported again.
        world.wire.writes.borrow_mut().is_closed = true;
        world.socket.is_ending = true;
        assert_eq!(world.step(usize::MAX, usize::MAX), Err(Disconnection::Ended));
        world.use_client();
        assert_eq!(world.replies, PONG);
    }
}

#[test]
fn tls_is_closed_properly_for_a_client_that_quits() {
    let mut world = secured(Settings::default());
    assert_eq!(world.ask(b"QUIT\r\n", usize::MAX), Err(Disconnection::Ended));
    world.socket.stream.close();
    world.use_client();
    assert_eq!(world.replies, b"+OK\r\n");
    let nothing_follows = world.client.read(&mut [0; 10]).map_err(|error| error.kind());
    assert_eq!(nothing_follows, Ok(0), "its socket is open, and yet it knows");
}

#[test]
fn a_client_without_a_required_certificate_is_refused() {
    let (own, others) = (Authority::new(), Authority::new());
    let acceptor = Acceptor::new(&own.sign(), Some(&own.certificate)).unwrap();
    let outcome = |shown: Option<&Authority>| {
        let shown = shown.map(Authority::sign);
        let connector = Connector::new(&own.certificate, shown.as_ref(), None).unwrap();
        World::new(Some(&acceptor), Some(&connector), Settings::default()).ask(b"PING\r\n", PONG.len())
    };
    assert_eq!(outcome(Some(&own)), Ok(PONG.to_vec()));
    let due = "no certificate was shown, but one is required".to_owned();
    assert_eq!(outcome(None), Err(Disconnection::NotUnderstood(due)));
    assert!(matches!(outcome(Some(&others)), Err(Disconnection::NotUnderstood(why)) if why.contains("certificate")));
}

#[test]
fn a_client_trusts_only_its_authority_and_the_name_that_it_expects() {
    let (own, others) = (Authority::new(), Authority::new());
    let outcome = |trusted: &Authority, name: Option<&str>| {
        let connector = Connector::new(&trusted.certificate, None, name).unwrap();
        World::new(Some(&own.acceptor()), Some(&connector), Settings::default()).ask(b"PING\r\n", PONG.len())
    };
    assert_eq!(outcome(&own, None), Ok(PONG.to_vec()));
    assert_eq!(outcome(&own, Some(NAME)), Ok(PONG.to_vec()));
    for refused in [outcome(&others, None), outcome(&own, Some("another.test"))] {
        assert!(matches!(refused, Err(Disconnection::NotUnderstood(why)) if why.contains("alert")));
    }
}
