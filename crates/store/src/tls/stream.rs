//! A socket that is plain or speaks TLS: either way, plain bytes are read and written.
//!
//! An edge-triggered socket must be read until nothing is left. With TLS there is more to look at than the socket: data
//! that has arrived may be decrypted and not read yet ([`Stream::may_have_more`]), and data that was written may be
//! encrypted and not sent yet ([`Write::flush`] would block then).

use std::io::{self, ErrorKind, Read, Write};
use std::net::IpAddr;

use rustls::Connection;

use super::{Acceptor, Connector};

/// How much is encrypted at most before the socket has accepted it. [B]
const MOST_UNSENT: usize = 64 << 10;
/// How often a socket is read in vain before it is others' turn.
const MOST_READS: usize = 64;

/// A socket, plain or with TLS.
#[derive(Debug)]
pub enum Stream<S> {
    /// Without TLS.
    Plain(S),
    /// With TLS.
    Tls(Box<Tls<S>>),
}

/// TLS on a socket.
#[derive(Debug)]
pub struct Tls<S> {
    connection: Connection,
    socket: S,
    /// Whether the last read of the socket returned less than was asked for.
    is_drained: bool,
    /// Whether the other side has announced that nothing follows.
    has_ended: bool,
    /// Why nothing can be read any more.
    failure: Option<String>,
}

impl<S: Read + Write> Stream<S> {
    /// The side that was called.
    ///
    /// # Errors
    /// That TLS can't be begun.
    pub fn accepted(socket: S, acceptor: Option<&Acceptor>) -> io::Result<Stream<S>> {
        let Some(acceptor) = acceptor else { return Ok(Stream::Plain(socket)) };
        Ok(Stream::of(acceptor.connection().map_err(io::Error::other)?.into(), socket))
    }

    /// The side that has called an address.
    ///
    /// # Errors
    /// That TLS can't be begun.
    pub fn connected(socket: S, connector: Option<&Connector>, to: IpAddr) -> io::Result<Stream<S>> {
        let Some(connector) = connector else { return Ok(Stream::Plain(socket)) };
        Ok(Stream::of(connector.connection(to).map_err(io::Error::other)?.into(), socket))
    }

    fn of(mut connection: Connection, socket: S) -> Stream<S> {
        connection.set_buffer_limit(Some(MOST_UNSENT));
        Stream::Tls(Box::new(Tls { connection, socket, is_drained: false, has_ended: false, failure: None }))
    }

    /// The socket.
    pub const fn socket(&self) -> &S {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(tls) => &tls.socket,
        }
    }

    /// Whether the handshake is still under way.
    pub fn is_opening(&self) -> bool {
        matches!(self, Stream::Tls(tls) if tls.connection.is_handshaking())
    }

    /// Whether there may be more to read after `read` of `asked` bytes were read.
    #[inline]
    pub fn may_have_more(&self, read: usize, asked: usize) -> bool {
        match self {
            Stream::Plain(_) => read == asked,
            Stream::Tls(tls) => read == asked || !tls.is_drained || tls.has_ended,
        }
    }

    /// Fills `room` from a nonblocking socket: if it reads less, nothing is left, unless there [may be
    /// more](Stream::may_have_more).
    ///
    /// # Errors
    /// As [`Read::read`], if nothing was read; otherwise the next call returns the error.
    #[inline]
    pub fn fill(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(room),
            Stream::Tls(tls) => tls.fill(room),
        }
    }

    /// Completes the handshake on a blocking socket.
    ///
    /// # Errors
    /// The socket's, or that the handshake fails.
    pub fn open(&mut self) -> io::Result<()> {
        let Stream::Tls(tls) = self else { return Ok(()) };
        while tls.connection.is_handshaking() {
            tls.send()?;
            if tls.connection.is_handshaking() && tls.receive()? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    /// Tells the other side that nothing follows, if possible.
    pub fn close(&mut self) {
        if let Stream::Tls(tls) = self {
            tls.connection.send_close_notify();
            // If this fails, the other side has gone, or is not reading.
            let _ = tls.send();
        }
    }
}

impl<S: Read + Write> Read for Stream<S> {
    #[inline]
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(room),
            Stream::Tls(tls) => tls.read(room),
        }
    }
}

impl<S: Read + Write> Write for Stream<S> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.write(bytes),
            Stream::Tls(tls) => tls.write(bytes),
        }
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.flush(),
            Stream::Tls(tls) => tls.send(),
        }
    }
}

impl<S: Read + Write> Tls<S> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        for _ in 0..MOST_READS {
            match self.connection.reader().read(room) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.receive()?,
                outcome => return outcome,
            };
        }
        Err(ErrorKind::Interrupted.into())
    }

    fn fill(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut filled = self.read(room)?;
        while filled > 0 && filled < room.len() && !self.is_drained {
            match self.read(&mut room[filled..]) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) => {
                    self.is_drained = error.kind() == ErrorKind::WouldBlock;
                    break;
                }
            }
        }
        Ok(filled)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send()?;
        if self.connection.is_handshaking() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let taken = self.connection.writer().write(bytes)?;
        unless_blocked(self.send())?;
        Ok(taken)
    }

    /// Reads what the socket has, as far as there is room for it. Returns the number of bytes.
    fn receive(&mut self) -> io::Result<usize> {
        if let Some(failure) = &self.failure {
            return Err(io::Error::new(ErrorKind::InvalidData, failure.clone()));
        }
        let (was_opening, mut observed) =
            (self.connection.is_handshaking(), Observed { socket: &mut self.socket, is_drained: false });
        let bytes = self.connection.read_tls(&mut observed);
        self.is_drained = observed.is_drained;
        let bytes = bytes?;
        match self.connection.process_new_packets() {
            Ok(state) => self.has_ended = state.peer_has_closed(),
            Err(cause) => {
                // An alert says why. If it can't be sent, the connection ends all the same.
                let _ = self.send();
                self.is_drained = false;
                let failure = explained(&cause, was_opening);
                self.failure = Some(failure.clone());
                return Err(io::Error::new(ErrorKind::InvalidData, failure));
            }
        }
        unless_blocked(self.send())?;
        Ok(bytes)
    }

    /// Sends the encrypted data.
    fn send(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut self.socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }
}

/// Ignores that the socket would block: the rest is sent later.
fn unless_blocked(outcome: io::Result<()>) -> io::Result<()> {
    outcome.or_else(|error| if error.kind() == ErrorKind::WouldBlock { Ok(()) } else { Err(error) })
}

/// Why nothing can be read any more, in words.
fn explained(cause: &rustls::Error, was_opening: bool) -> String {
    match cause {
        rustls::Error::InvalidMessage(_) if was_opening => "what came is not TLS".to_owned(),
        rustls::Error::NoCertificatesPresented => "no certificate was shown, but one is required".to_owned(),
        cause => format!("TLS: {cause}"),
    }
}

/// A socket that notes whether a read returned less than was asked for.
struct Observed<'a, S> {
    socket: &'a mut S,
    is_drained: bool,
}

impl<S: Read> Read for Observed<'_, S> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let bytes = self.socket.read(room)?;
        // At the end of file nothing is read; the caller has to see that.
        self.is_drained = bytes > 0 && bytes < room.len();
        Ok(bytes)
    }
}
