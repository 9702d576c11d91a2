//! A client that asks one thing after another, and waits for each reply.

use std::io::{self, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::resp::Value;

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody can be asked there.
    #[error("can't reach {address}: {cause}")]
    Unreachable {
        /// Where.
        address: SocketAddr,
        /// Why not.
        cause: io::Error,
    },
    /// The connection broke, or what came was no reply.
    #[error("{address} does not answer as a store does: {cause}")]
    Broken {
        /// Where.
        address: SocketAddr,
        /// What happened.
        cause: io::Error,
    },
    /// It was refused.
    #[error("{address} refuses: {message}")]
    Refused {
        /// Who refuses.
        address: SocketAddr,
        /// As it says it.
        message: String,
    },
}

/// A client of one member.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

impl Client {
    /// Connects, and gives the password, if there is one. Nothing takes longer than `patience`, neither this nor any reply.
    ///
    /// # Errors
    /// [`Error`]
    pub fn open(address: SocketAddr, password: Option<&[u8]>, patience: Duration) -> Result<Client, Error> {
        let stream = TcpStream::connect_timeout(&address, patience).and_then(|stream| {
            stream.set_read_timeout(Some(patience))?;
            stream.set_write_timeout(Some(patience))?;
            stream.set_nodelay(true)?;
            Ok(stream)
        });
        let stream = stream.map_err(|cause| Error::Unreachable { address, cause })?;
        let mut client = Client { address, stream: BufReader::new(stream) };
        if let Some(password) = password {
            client.ask(&[b"AUTH", password])?;
        }
        Ok(client)
    }

    /// Asks something, and waits for the reply.
    ///
    /// # Errors
    /// [`Error::Broken`], [`Error::Refused`]
    pub fn ask(&mut self, words: &[&[u8]]) -> Result<Value, Error> {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            request.extend_from_slice(word);
            request.extend_from_slice(b"\r\n");
        }
        let reply = self.stream.get_mut().write_all(&request).and_then(|()| Value::read(&mut self.stream));
        let address = self.address;
        match reply.map_err(|cause| Error::Broken { address, cause })? {
            Value::Error(message) => Err(Error::Refused { address, message }),
            value => Ok(value),
        }
    }
}
