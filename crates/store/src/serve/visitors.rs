//! The sockets of browsers and of Prometheus: one request each, and its response.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr};

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use super::clients::Gone;
use crate::pages::{LONGEST_HEAD, Request, Response, Status};
use crate::record::Milliseconds;
use crate::tls::{Acceptor, Stream};

/// As many are served at once.
const MOST: usize = 64;
/// For a request and its response there is so much time. [ms]
const TIME: Milliseconds = 10_000;

#[derive(Debug)]
struct Visitor {
    stream: Stream<TcpStream>,
    address: SocketAddr,
    since: Milliseconds,
    received: Vec<u8>,
    /// The response, once there is one, and how much of it was sent.
    response: Option<(Vec<u8>, usize)>,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Visitors(BTreeMap<usize, Visitor>);

impl Visitors {
    /// Somebody has come. One for whom there is no room is told so.
    pub(super) fn let_in(
        &mut self,
        registry: &Registry,
        token: usize,
        (mut stream, address): (TcpStream, SocketAddr),
        acceptor: Option<&Acceptor>,
        now: Milliseconds,
    ) {
        if self.0.len() >= MOST {
            if acceptor.is_none() {
                // Whoever does not hear it is turned away all the same.
                let _ = stream.write(&Response::refusal(Status::Unavailable).bytes(false));
            }
            return;
        }
        // One that can't be registered is closed.
        let ready = registry.register(&mut stream, Token(token), Interest::READABLE | Interest::WRITABLE);
        if let Ok(stream) = ready.and_then(|()| Stream::accepted(stream, acceptor)) {
            self.0.insert(token, Visitor { stream, address, since: now, received: Vec::new(), response: None });
        }
    }

    /// A socket has something to read, or room to send; nothing is done for one that is no visitor's. Who has gone, and why, if that says anything.
    pub(super) fn turn(
        &mut self,
        token: usize,
        answer: impl FnOnce(&Request, IpAddr) -> Response,
    ) -> Option<(SocketAddr, Gone)> {
        let visitor = self.0.get_mut(&token)?;
        let gone = visitor.turn(answer).err()?;
        self.0.remove(&token).map(|visitor| (visitor.address, gone))
    }

    /// Ends those that have had their time.
    pub fn look(&mut self, now: Milliseconds) {
        self.0.retain(|_, visitor| now.saturating_sub(visitor.since) < TIME);
    }
}

impl Visitor {
    fn turn(&mut self, answer: impl FnOnce(&Request, IpAddr) -> Response) -> Result<(), Gone> {
        if self.response.is_none() {
            self.receive()?;
            let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
            let at = self.stream.socket().local_addr().map_or(nowhere, |address| address.ip().to_canonical());
            let response = match Request::read(&self.received) {
                // Of a handshake there may still be something to send.
                Ok(None) => return self.send(),
                Ok(Some(request)) => answer(&request, at).bytes(request.is_head),
                Err(refusal) => refusal.bytes(false),
            };
            self.response = Some((response, 0));
        }
        self.send()?;
        // It may send more than it was asked for; only when it has ended is it sure to have read the response.
        self.receive()
    }

    /// Reads what comes, and keeps as much of it as a head may be long.
    fn receive(&mut self) -> Result<(), Gone> {
        let mut buffer = [0; LONGEST_HEAD];
        // More than that at a time is no request.
        for _ in 0..LONGEST_HEAD {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(Gone::Ended),
                Ok(bytes) => {
                    let room = LONGEST_HEAD - self.received.len();
                    self.received.extend_from_slice(&buffer[..bytes.min(room)]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Gone::of(&error, &self.stream)),
            }
        }
        Err(Gone::Ended)
    }

    fn send(&mut self) -> Result<(), Gone> {
        loop {
            let unsent = self.response.as_ref().map_or(&[][..], |(response, sent)| &response[*sent..]);
            let outcome = if unsent.is_empty() {
                self.stream.flush().map(|()| None)
            } else {
                self.stream.write(unsent).map(Some)
            };
            match outcome {
                Ok(None) => break,
                Ok(Some(0)) => return Err(Gone::Ended),
                Ok(Some(bytes)) => self.response.iter_mut().for_each(|(_, sent)| *sent += bytes),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Gone::Ended),
            }
        }
        if self.response.is_some() {
            // That nothing more follows; where that fails the other has gone.
            self.stream.close();
            let _ = self.stream.socket().shutdown(Shutdown::Write);
        }
        Ok(())
    }
}
