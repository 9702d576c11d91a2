//! The sockets of browsers and of Prometheus: one request each, and its response.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown};

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use crate::pages::{LONGEST_HEAD, Request, Response, Status};
use crate::record::Milliseconds;

/// As many are served at once.
const MOST: usize = 64;
/// For a request and its response there is so much time. [ms]
const TIME: Milliseconds = 10_000;

#[derive(Debug)]
struct Visitor {
    stream: TcpStream,
    since: Milliseconds,
    received: Vec<u8>,
    /// The response, once there is one, and how much of it was sent.
    response: Option<(Vec<u8>, usize)>,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Visitors(BTreeMap<usize, Visitor>);

/// Whether a visitor stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stays {
    Yes,
    No,
}

impl Visitors {
    /// Somebody has come. One for whom there is no room is told so.
    pub fn let_in(&mut self, registry: &Registry, token: usize, mut stream: TcpStream, now: Milliseconds) {
        if self.0.len() >= MOST {
            // Whoever does not hear it is turned away all the same.
            let _ = stream.write(&Response::refusal(Status::Unavailable).bytes(false));
            return;
        }
        // One that can't be registered is closed.
        if registry.register(&mut stream, Token(token), Interest::READABLE | Interest::WRITABLE).is_ok() {
            self.0.insert(token, Visitor { stream, since: now, received: Vec::new(), response: None });
        }
    }

    /// A socket has something to read, or room to send; nothing is done for one that is no visitor's.
    pub fn turn(&mut self, token: usize, answer: impl FnOnce(&Request, IpAddr) -> Response) {
        let Some(visitor) = self.0.get_mut(&token) else { return };
        if visitor.turn(answer) == Stays::No {
            self.0.remove(&token);
        }
    }

    /// Ends those that have had their time.
    pub fn look(&mut self, now: Milliseconds) {
        self.0.retain(|_, visitor| now.saturating_sub(visitor.since) < TIME);
    }
}

impl Visitor {
    fn turn(&mut self, answer: impl FnOnce(&Request, IpAddr) -> Response) -> Stays {
        if self.response.is_none() {
            if self.receive() == Stays::No {
                return Stays::No;
            }
            let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
            let at = self.stream.local_addr().map_or(nowhere, |address| address.ip().to_canonical());
            let response = match Request::read(&self.received) {
                Ok(None) => return Stays::Yes,
                Ok(Some(request)) => answer(&request, at).bytes(request.is_head),
                Err(refusal) => refusal.bytes(false),
            };
            self.response = Some((response, 0));
        }
        match self.send() {
            // It may send more than it was asked for; only when it has ended is it sure to have read the response.
            Stays::Yes => self.receive(),
            Stays::No => Stays::No,
        }
    }

    /// Reads what comes, and keeps as much of it as a head may be long.
    fn receive(&mut self) -> Stays {
        let mut buffer = [0; LONGEST_HEAD];
        // More than that at a time is no request.
        for _ in 0..LONGEST_HEAD {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Stays::No,
                Ok(bytes) => {
                    let room = LONGEST_HEAD - self.received.len();
                    self.received.extend_from_slice(&buffer[..bytes.min(room)]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Stays::Yes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Stays::No,
            }
        }
        Stays::No
    }

    fn send(&mut self) -> Stays {
        let Some((response, sent)) = &mut self.response else { return Stays::Yes };
        while *sent < response.len() {
            match self.stream.write(&response[*sent..]) {
                Ok(0) => return Stays::No,
                Ok(bytes) => *sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Stays::Yes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Stays::No,
            }
        }
        // That nothing more follows; where that fails the other has gone.
        let _ = self.stream.shutdown(Shutdown::Write);
        Stays::Yes
    }
}
