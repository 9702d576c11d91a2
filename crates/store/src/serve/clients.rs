//! The socket of a client: what it sends is read, carried out and answered, turn by turn.

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
    /// Whether the socket may have more to read than was read.
    pub has_more: bool,
    /// Whether the client sends no more than what has come: then there is an end to be read.
    pub is_ending: bool,
    /// Whether it is among those whose turn comes.
    pub is_queued: bool,
    /// For how many turns that may not be told of yet it waits.
    pub held: usize,
}

/// As much is sent to a client before it is another's turn. [B]
const MOST_SENT: usize = 1 << 20;

/// How far what there was to send was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    All,
    /// As much as its socket takes for now.
    Some,
    /// As much as is sent at a time: it goes on at its next turn.
    Enough,
}

/// Why a client has gone, or is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// It was its own wish, or the network's.
    Ended,
    /// What it sends is not the TLS that it is to be.
    NotUnderstood(String),
}

impl Gone {
    /// What an error of a socket means.
    pub(super) fn of<S>(error: &std::io::Error, stream: &Stream<S>) -> Gone {
        match (error.kind(), stream) {
            (ErrorKind::InvalidData, Stream::Tls(_)) => Gone::NotUnderstood(error.to_string()),
            _ => Gone::Ended,
        }
    }
}

impl<S: Read + Write> Peer<S> {
    /// A client that has come.
    pub(super) fn new(stream: Stream<S>, client: Rc<Client>, node: &Node, follows_slots: bool) -> Peer<S> {
        let mut connection = Connection::new(client, node);
        connection.session.follows_slots = follows_slots;
        Peer { stream, connection, has_more: false, is_ending: false, is_queued: false, held: 0 }
    }

    /// Carries out what it asks for, as far as it goes.
    pub(super) fn work(&mut self, host: &mut Host) -> Result<Pause, Gone> {
        // What is left of the turn before.
        self.send(host)?;
        let mut pause = self.connection.turn(host);
        if pause == Pause::Receive && self.has_more && !self.ends_too_early() {
            self.receive(host)?;
            pause = self.connection.turn(host);
        }
        // It is told all that it has asked for before its end is read.
        Ok(if pause == Pause::Receive && self.ends_too_early() { Pause::Answer } else { pause })
    }

    /// Whether it sends no more, and waits for something.
    fn ends_too_early(&self) -> bool {
        self.is_ending && self.connection.waits()
    }

    /// Sends what there is to tell it. Whether it is to have another turn though its socket tells nothing new.
    pub(super) fn tell(&mut self, pause: Pause, host: &Host) -> Result<bool, Gone> {
        let sent = self.send(host)?;
        let all_sent = sent == Sent::All;
        match pause {
            _ if sent == Sent::Enough => Ok(true),
            Pause::Leave if all_sent => Err(Gone::Ended),
            Pause::Leave => Ok(false),
            Pause::Turn => Ok(true),
            // What it was sent may have made room for more.
            Pause::Send => Ok(all_sent),
            Pause::Receive => Ok(self.has_more),
            Pause::Answer => Ok(false),
        }
    }

    /// Whether it has had its time: to agree on keys, to say who it is, or to say anything; or is to go.
    pub(super) fn is_over(&self, node: &Node, now: Milliseconds) -> bool {
        let client = &self.connection.session.client;
        let is_late = || now.saturating_sub(client.since) > node.settings.time_to_authenticate;
        client.is_killed.get() || self.connection.is_overdue(node, now) || self.stream.is_opening() && is_late()
    }

    /// Reads what there is room for.
    fn receive(&mut self, host: &Host) -> Result<(), Gone> {
        let room = self.connection.requests.room();
        let asked = room.len();
        match self.stream.fill(room) {
            Ok(0) if self.connection.waits() => {
                self.is_ending = true;
                Ok(())
            }
            Ok(0) => Err(Gone::Ended),
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
            Err(error) => Err(Gone::of(&error, &self.stream)),
        }
    }

    /// Sends what it takes, as far as it may at a time.
    fn send(&mut self, host: &Host) -> Result<Sent, Gone> {
        let mut sent = 0;
        while sent < MOST_SENT {
            let unsent = self.connection.reply.unsent();
            let unsent = &unsent[..unsent.len().min(MOST_SENT)];
            // What was written may still have to go out.
            let outcome = if unsent.is_empty() {
                self.stream.flush().map(|()| None)
            } else {
                self.stream.write(unsent).map(Some)
            };
            match outcome {
                Ok(None) => return Ok(Sent::All),
                Ok(Some(0)) => return Err(Gone::Ended),
                Ok(Some(bytes)) => {
                    sent += bytes;
                    self.connection.reply.was_sent(bytes);
                    host.node().borrow_mut().counts.sent += bytes as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Sent::Some),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Gone::Ended),
            }
        }
        Ok(Sent::Enough)
    }
}

#[cfg(test)]
mod tests;
