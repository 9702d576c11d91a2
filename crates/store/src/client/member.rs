//! A client that sends one request after another, and waits for each reply.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::request::encode;
use super::{Error, Options};
use crate::resp::{Replies, Value};
use crate::tls::Stream;

/// How much is read at a time. [B]
const READ: usize = 16 << 10;

/// A client of one member.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    patience: Duration,
    stream: Stream<TcpStream>,
    replies: Replies,
}

impl Client {
    /// Connects, and gives the password, if there is one. Neither this nor any reply takes longer than the patience.
    ///
    /// # Errors
    /// [`Error`]
    pub fn open(address: SocketAddr, options: &Options) -> Result<Client, Error> {
        let patience = options.patience;
        let stream = TcpStream::connect_timeout(&address, patience).and_then(|stream| {
            stream.set_read_timeout(Some(patience))?;
            stream.set_write_timeout(Some(patience))?;
            stream.set_nodelay(true)?;
            Ok(stream)
        });
        let stream = stream.map_err(|cause| Error::Unreachable { address, cause })?;
        let opened = Stream::connected(stream, options.tls.as_ref(), address.ip()).and_then(|mut stream| {
            stream.open()?;
            Ok(stream)
        });
        let stream = opened.map_err(|cause| Error::Broken { address, cause })?;
        let mut client = Client { address, patience, stream, replies: Replies::default() };
        if let Some(password) = &options.password {
            client.ask(&[b"AUTH", password])?;
        }
        Ok(client)
    }

    /// Sends a request, and waits for the reply.
    ///
    /// # Errors
    /// [`Error::Broken`], [`Error::Silent`], [`Error::Refused`]
    pub fn ask(&mut self, arguments: &[&[u8]]) -> Result<Value, Error> {
        let mut request = Vec::new();
        encode(arguments.iter().copied(), &mut request);
        let reply = self.stream.write_all(&request).and_then(|()| self.stream.flush()).and_then(|()| self.reply());
        let address = self.address;
        let failed = |cause: io::Error| match cause.kind() {
            // Which of the two a read that waited too long ends with depends on the system.
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                Error::Silent { address, command: name_of(arguments), patience: self.patience }
            }
            _ => Error::Broken { address, cause },
        };
        match reply.map_err(failed)? {
            Value::Error(message) => Err(Error::Refused { address, message }),
            value => Ok(value),
        }
    }

    fn reply(&mut self) -> io::Result<Value> {
        let mut bytes = [0; READ];
        loop {
            if let Some(value) = self.replies.next_reply()? {
                return Ok(value);
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.replies.feed(&bytes[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The name of a command, with that of its subcommand.
fn name_of(arguments: &[&[u8]]) -> String {
    let has_subcommands = arguments.first().is_some_and(|name| name.eq_ignore_ascii_case(b"CLUSTER"));
    let names = arguments.iter().take(if has_subcommands { 2 } else { 1 });
    names.map(|name| String::from_utf8_lossy(name)).collect::<Vec<_>>().join(" ")
}
