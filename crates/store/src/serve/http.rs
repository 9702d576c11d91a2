//! The sockets of browsers and of Prometheus: one request each, and its response.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr};

use mio::net::TcpStream;

use super::clients::Disconnection;
use super::listeners::Listeners;
use crate::pages::{LONGEST_HEAD, PageRequest, Response, Status};
use crate::record::Milliseconds;
use crate::tls::Stream;

/// The most connections at a time.
pub(crate) const MOST: usize = 64;
/// The time for a request and its response. [ms]
pub(crate) const TIME: Milliseconds = 10_000;

#[derive(Debug)]
struct HttpConnection {
    stream: Stream<TcpStream>,
    address: SocketAddr,
    since: Milliseconds,
    received: Vec<u8>,
    /// The response, once there is one, and how many bytes of it were sent.
    response: Option<(Vec<u8>, usize)>,
}

/// All connections, by their tokens.
#[derive(Debug, Default)]
pub struct HttpConnections(BTreeMap<usize, HttpConnection>);

impl HttpConnections {
    /// Accepts a connection. One for which there is no room is told so.
    pub(super) fn accept(
        &mut self,
        listeners: &mut Listeners,
        (mut stream, address): (TcpStream, SocketAddr),
        now: Milliseconds,
    ) {
        if self.0.len() >= MOST {
            if listeners.acceptor.is_none() {
                // If this fails, the connection is closed all the same.
                let _ = stream.write(&Response::refusal(Status::Unavailable).bytes(false));
            }
            return;
        }
        // One that can't be registered is closed.
        if let Ok((token, stream)) = listeners.register(stream) {
            self.0.insert(token, HttpConnection { stream, address, since: now, received: Vec::new(), response: None });
        }
    }

    /// Handles a socket that has something to read, or room to send; any other is ignored. Returns the address of
    /// a browser that has gone, and why.
    pub(super) fn turn(
        &mut self,
        token: usize,
        answer: impl FnOnce(&PageRequest, IpAddr) -> Response,
    ) -> Option<(SocketAddr, Disconnection)> {
        let connection = self.0.get_mut(&token)?;
        let gone = connection.turn(answer).err()?;
        self.0.remove(&token).map(|connection| (connection.address, gone))
    }

    /// Ends connections that have timed out.
    pub fn tick(&mut self, now: Milliseconds) {
        self.0.retain(|_, connection| now.saturating_sub(connection.since) < TIME);
    }
}

impl HttpConnection {
    fn turn(&mut self, answer: impl FnOnce(&PageRequest, IpAddr) -> Response) -> Result<(), Disconnection> {
        if self.response.is_none() {
            self.receive()?;
            let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
            let at = self.stream.socket().local_addr().map_or(nowhere, |address| address.ip().to_canonical());
            let response = match PageRequest::read(&self.received) {
                // A handshake may still have something to send.
                Ok(None) => return self.send(),
                Ok(Some(request)) => answer(&request, at).bytes(request.is_head),
                Err(refusal) => refusal.bytes(false),
            };
            self.response = Some((response, 0));
        }
        self.send()?;
        // It may send more than a request; it has surely read the response only when it has closed its side.
        self.receive()
    }

    /// Reads what has arrived, and keeps at most the length of the longest head.
    fn receive(&mut self) -> Result<(), Disconnection> {
        let mut buffer = [0; LONGEST_HEAD];
        // More than that at a time is no request.
        for _ in 0..LONGEST_HEAD {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(Disconnection::Ended),
                Ok(bytes) => {
                    let room = LONGEST_HEAD - self.received.len();
                    self.received.extend_from_slice(&buffer[..bytes.min(room)]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Disconnection::of(&error, &self.stream)),
            }
        }
        Err(Disconnection::Ended)
    }

    fn send(&mut self) -> Result<(), Disconnection> {
        loop {
            let unsent = self.response.as_ref().map_or(&[][..], |(response, sent)| &response[*sent..]);
            let outcome = if unsent.is_empty() {
                self.stream.flush().map(|()| None)
            } else {
                self.stream.write(unsent).map(Some)
            };
            match outcome {
                Ok(None) => break,
                Ok(Some(0)) => return Err(Disconnection::Ended),
                Ok(Some(bytes)) => self.response.iter_mut().for_each(|(_, sent)| *sent += bytes),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Disconnection::Ended),
            }
        }
        if self.response.is_some() {
            // Signals that nothing more follows; if that fails, the connection has gone.
            self.stream.close();
            let _ = self.stream.socket().shutdown(Shutdown::Write);
        }
        Ok(())
    }
}
