//! Clients' sockets: their requests are read, executed and answered, turn by turn.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::rc::Rc;

use mio::net::TcpStream;

use super::group::Turn;
use super::listeners::Listeners;
use crate::bucket::Bucket;
use crate::connection::{Connection, Pause};
use crate::host::Host;
use crate::member::{Answer, Ticket};
use crate::node::{Client, Node};
use crate::record::Milliseconds;
use crate::tls::Stream;

/// All clients that are connected, by their tokens.
#[derive(Default)]
pub(super) struct Clients {
    pub sockets: BTreeMap<usize, ClientSocket<TcpStream>>,
    /// The sockets that have their turn though they report nothing new, listeners included.
    pub queue: VecDeque<usize>,
    /// The client that waits for each ticket.
    tickets: BTreeMap<Ticket, usize>,
    /// The clients that wait for a snapshot.
    pub savers: Vec<usize>,
}

impl Clients {
    /// Accepts a client. One for which there is no room is told so.
    pub(super) fn accept(
        &mut self,
        listeners: &mut Listeners,
        (mut stream, address): (TcpStream, SocketAddr),
        follows_slots: bool,
        node: &mut Node,
        now: Milliseconds,
    ) {
        if self.sockets.len() >= node.settings.most_clients {
            node.counts.rejected += 1;
            if listeners.acceptor.is_none() {
                let _ = stream.write(b"-ERR max number of clients reached\r\n");
            }
            return;
        }
        let local = stream.local_addr().map(|local| local.to_string()).unwrap_or_default();
        let ready = stream.set_nodelay(true).and_then(|()| listeners.register(stream));
        if let Ok((token, stream)) = ready {
            let client = node.connect(address.to_string(), local, now);
            self.sockets.insert(token, ClientSocket::new(stream, client, node, follows_slots));
        }
    }

    /// A client's socket has something to read, which may be its end, or room to send. Returns whether there is such a
    /// client.
    pub(super) fn wake(&mut self, token: usize, is_readable: bool, is_ending: bool) -> bool {
        let Some(socket) = self.sockets.get_mut(&token) else { return false };
        socket.is_ending |= is_ending;
        self.mark(token, is_readable || is_ending);
        true
    }

    /// Queues a client for its turn.
    pub(super) fn mark(&mut self, token: usize, has_more: bool) {
        let Some(socket) = self.sockets.get_mut(&token) else { return };
        socket.has_more |= has_more;
        if !socket.is_queued {
            socket.is_queued = true;
            self.queue.push_back(token);
        }
    }

    /// A client's turn: executes its requests. None, if it goes on once it has its outstanding replies.
    pub(super) fn work(&mut self, token: usize, host: &mut Host) -> Option<Result<Pause, Disconnection>> {
        let socket = self.sockets.get_mut(&token)?;
        socket.is_queued = false;
        if socket.held > 0 {
            return None;
        }
        let outcome = socket.work(host);
        if socket.connection.waits_for_snapshot() {
            self.savers.push(token);
        }
        self.note_tickets(token);
        Some(outcome)
    }

    fn note_tickets(&mut self, token: usize) {
        let Some(socket) = self.sockets.get_mut(&token) else { return };
        self.tickets.extend(socket.connection.take_begun().into_iter().map(|ticket| (ticket, token)));
    }

    /// Holds a client's replies back until their effects are stored.
    pub(super) fn hold(&mut self, token: usize, pause: Pause, turn: &mut Turn) {
        if let Some(socket) = self.sockets.get_mut(&token) {
            socket.held += 1;
            turn.clients.push((token, pause));
        }
    }

    /// The effects behind replies that were held back are stored. Returns whether none of this client's are held back
    /// any more.
    pub(super) fn release(&mut self, token: usize) -> bool {
        let Some(socket) = self.sockets.get_mut(&token) else { return false };
        socket.held -= 1;
        socket.held == 0
    }

    /// Passes an answer on to the client that waits for it, and returns its token, if it is still connected.
    pub(super) fn answer(&mut self, ticket: Ticket, answer: Answer<Bucket>, host: &mut Host) -> Option<usize> {
        let goes_on = matches!(answer, Answer::Found(_));
        let token = if goes_on { *self.tickets.get(&ticket)? } else { self.tickets.remove(&ticket)? };
        self.sockets.get_mut(&token)?.connection.answered(host, ticket, answer);
        self.note_tickets(token);
        Some(token)
    }

    /// Gives up requests that have waited for others for longer than this.
    pub(super) fn give_up(&mut self, host: &mut Host, longest: Milliseconds) {
        for token in self.tokens(|_| true) {
            let Some(socket) = self.sockets.get_mut(&token) else { continue };
            let tickets = socket.connection.gives_up(host, longest);
            if !tickets.is_empty() {
                self.mark(token, false);
            }
            for ticket in tickets {
                self.tickets.remove(&ticket);
            }
        }
    }

    /// The tokens of clients for which something holds.
    pub(super) fn tokens(&self, holds: impl Fn(&ClientSocket<TcpStream>) -> bool) -> Vec<usize> {
        self.sockets.iter().filter(|(_, socket)| holds(socket)).map(|(token, _)| *token).collect()
    }

    /// The address that a client is connected from.
    pub(super) fn address(&self, token: usize) -> String {
        let socket = self.sockets.get(&token);
        socket.map_or_else(String::new, |socket| socket.connection.session.client.address.clone())
    }

    /// Disconnects a client.
    pub(super) fn end(&mut self, token: usize, host: &mut Host) {
        let Some(mut socket) = self.sockets.remove(&token) else { return };
        socket.stream.close();
        for ticket in socket.connection.end(host) {
            self.tickets.remove(&ticket);
        }
    }
}

/// A client's socket.
pub(super) struct ClientSocket<S> {
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

impl<S: Read + Write> ClientSocket<S> {
    /// A client that has just connected.
    pub(super) fn new(stream: Stream<S>, client: Rc<Client>, node: &Node, follows_slots: bool) -> ClientSocket<S> {
        let mut connection = Connection::new(client, node);
        connection.session.follows_slots = follows_slots;
        ClientSocket { stream, connection, has_more: false, is_ending: false, is_queued: false, held: 0 }
    }

    /// Executes its requests, as far as possible now.
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
