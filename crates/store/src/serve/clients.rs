//! A client's socket: its requests are read, carried out and answered, turn by turn.

use std::io::{ErrorKind, Read, Write};
use std::rc::Rc;

use crate::connection::{Connection, Pause};
use crate::host::Host;
use crate::node::{Client, Node};
use crate::record::Milliseconds;
use crate::tls::Stream;

/// A client's socket.
pub(super) struct Peer<S> {
    pub stream: Stream<S>,
    pub connection: Connection,
    /// Whether the socket may have more to read.
    pub has_more: bool,
    /// Whether the client has closed its side: then an end of file remains to be read.
    pub is_ending: bool,
    /// Whether it is queued for a turn.
    pub is_queued: bool,
    /// How many of its turns have replies that are still held back.
    pub held: usize,
}

/// How much is sent to a client before it is another's turn. [B]
const MOST_SENT: usize = 1 << 20;

/// How much of the pending data was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    All,
    /// As much as its socket accepts for now.
    Some,
    /// The most that is sent in a turn: it goes on in the next one.
    Enough,
}

/// Why a client's connection has ended, or is to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disconnection {
    /// The client has closed it, or the network has failed.
    Ended,
    /// The client speaks HTTP.
    SpeaksHttp,
    /// The client does not send proper TLS.
    NotUnderstood(String),
}

impl Disconnection {
    /// What a socket's error means.
    pub(super) fn of<S>(error: &std::io::Error, stream: &Stream<S>) -> Disconnection {
        match (error.kind(), stream) {
            (ErrorKind::InvalidData, Stream::Tls(_)) => Disconnection::NotUnderstood(error.to_string()),
            _ => Disconnection::Ended,
        }
    }
}

impl<S: Read + Write> Peer<S> {
    /// A client that has just connected.
    pub(super) fn new(stream: Stream<S>, client: Rc<Client>, node: &Node, follows_slots: bool) -> Peer<S> {
        let mut connection = Connection::new(client, node);
        connection.session.follows_slots = follows_slots;
        Peer { stream, connection, has_more: false, is_ending: false, is_queued: false, held: 0 }
    }

    /// Carries out its requests, as far as possible now.
    pub(super) fn work(&mut self, host: &mut Host) -> Result<Pause, Disconnection> {
        // What is left from the turn before.
        self.send(host)?;
        if !host.journal_arriving(&mut self.connection.requests) {
            return Ok(Pause::Turn);
        }
        let mut pause = self.connection.turn(host);
        if pause == Pause::Receive && self.has_more && !self.ends_too_early() {
            self.receive(host)?;
            if !host.journal_arriving(&mut self.connection.requests) {
                return Ok(Pause::Turn);
            }
            pause = self.connection.turn(host);
        }
        // All its requests are answered before its end of file is read.
        Ok(if pause == Pause::Receive && self.ends_too_early() { Pause::Answer } else { pause })
    }

    /// Whether it has closed its side while it still waits for something.
    fn ends_too_early(&self) -> bool {
        self.is_ending && self.connection.waits()
    }

    /// Sends its replies. Returns whether it is to have another turn even if its socket reports nothing new.
    pub(super) fn send_replies(&mut self, pause: Pause, host: &Host) -> Result<bool, Disconnection> {
        if pause == Pause::Refuse {
            return Err(Disconnection::SpeaksHttp);
        }
        let sent = self.send(host)?;
        let all_sent = sent == Sent::All;
        match pause {
            _ if sent == Sent::Enough => Ok(true),
            Pause::Leave if all_sent => Err(Disconnection::Ended),
            Pause::Leave | Pause::Refuse => Ok(false),
            Pause::Turn => Ok(true),
            // Sending may have made room for more.
            Pause::Send => Ok(all_sent),
            Pause::Receive => Ok(self.has_more),
            Pause::Answer => Ok(false),
        }
    }

    /// Whether its time for the handshake, for authentication or for being idle is over, or it was killed.
    pub(super) fn is_over(&self, node: &Node, now: Milliseconds) -> bool {
        let client = &self.connection.session.client;
        let is_late = || now.saturating_sub(client.since) > node.settings.time_to_authenticate;
        client.is_killed.get() || self.connection.is_overdue(node, now) || self.stream.is_opening() && is_late()
    }

    /// Reads as much as there is room for.
    fn receive(&mut self, host: &Host) -> Result<(), Disconnection> {
        let room = self.connection.requests.room();
        let asked = room.len();
        match self.stream.fill(room) {
            Ok(0) if self.connection.waits() => {
                self.is_ending = true;
                Ok(())
            }
            Ok(0) => Err(Disconnection::Ended),
            Ok(bytes) => {
                self.connection.requests.received(bytes);
                host.node().borrow_mut().counts.received += bytes as u64;
                self.has_more = self.is_ending || self.stream.may_have_more(bytes, asked);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.has_more = false;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(Disconnection::of(&error, &self.stream)),
        }
    }

    /// Sends as much as its socket accepts, up to the bound of one turn.
    fn send(&mut self, host: &Host) -> Result<Sent, Disconnection> {
        let mut sent = 0;
        while sent < MOST_SENT {
            let unsent = self.connection.reply.unsent();
            let unsent = &unsent[..unsent.len().min(MOST_SENT)];
            // Earlier writes may still have to go out.
            let outcome = if unsent.is_empty() {
                self.stream.flush().map(|()| None)
            } else {
                self.stream.write(unsent).map(Some)
            };
            match outcome {
                Ok(None) => return Ok(Sent::All),
                Ok(Some(0)) => return Err(Disconnection::Ended),
                Ok(Some(bytes)) => {
                    sent += bytes;
                    self.connection.reply.was_sent(bytes);
                    host.node().borrow_mut().counts.sent += bytes as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Sent::Some),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Disconnection::Ended),
            }
        }
        Ok(Sent::Enough)
    }
}

#[cfg(test)]
mod tests;
