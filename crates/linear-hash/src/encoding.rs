//! Encodes what clients and servers tell each other as messages of an endpoint, and decodes it.

use endpoint::Message;
use quantities::{Bytes, Rank};
use serde::{Deserialize, Serialize};

use super::check::at_most;
use super::message::Body;
use super::{Applied, Extent, Operation, OperationOutcome, Request, ScanAnswer, ScanRequest, ToClient, ToServer};

/// The longest message that is read. [B]
const LONGEST: usize = 1 << 30;
/// A message up to this length is encoded on the stack, without repeated allocation. [B]
const SHORT: usize = 128;

/// Everything that clients and servers send each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Envelope {
    /// From a client to a server.
    Request(Request),
    /// From a client to a server: part of a scan.
    Scan(ScanRequest),
    /// From a server to another.
    ToServer(ToServer),
    /// From a server to a client.
    ToClient(ToClient),
    /// From a client to a server: it makes no more requests, or none before it gets [`Envelope::Next`].
    Goodbye,
    /// From the server with the token to all others: all clients have said goodbye, and the file no longer changes.
    Over(Extent),
    /// From a server to a client: this server has nothing under way any more.
    Next,
    /// From a server to a client that follows redirections itself: the request is not for this server.
    Moved {
        /// The number of the request.
        number: u64,
        /// The server that has its key, as far as the sender knows.
        server: u32,
    },
    /// From a client to a server: a request for the map of the whole file.
    MapRequest,
    /// From a server to a client: the map of the whole file.
    Map {
        /// How far it has grown.
        file: Extent,
        /// Its length when all ranges of slots are written out. [B]
        size: u64,
    },
    /// From a server that has split to another: how far the file has grown as a result.
    Grown(Extent),
}

/// Why a message is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// It has no bytes, or too many.
    #[error("a message of {0} without bytes, or with more than {LONGEST}")]
    Size(Bytes),
    /// Its bytes are not a message of the table.
    #[error("bytes that are not a message of the table: {0}")]
    Garbled(String),
    /// It contains an impossible number.
    #[error("a message of the table with {what} of {found}; allowed is at most {most}")]
    Beyond {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        found: u64,
        /// Its limit.
        most: u64,
    },
}

impl EncodingError {
    /// The error for a program that received such a message.
    pub fn from_rank(self, from: Rank) -> endpoint::Error {
        endpoint::Error::Unfit(format!("rank {from} sent {self}"))
    }
}

impl Envelope {
    /// The message that carries it: real bytes, followed by those parts of its bodies that are only a size.
    ///
    /// # Errors
    /// [`EncodingError::Garbled`] when it can't be encoded.
    pub fn encode(&self) -> Result<Message, EncodingError> {
        let content = self.written().map_err(|error| EncodingError::Garbled(error.to_string()))?;
        let size = (content.len() as u64).saturating_add(self.unseen());
        Ok(Message::beginning_with(content, Bytes(size)))
    }

    fn written(&self) -> postcard::Result<bytes::Bytes> {
        let mut room = [0; SHORT];
        match postcard::to_slice(self, &mut room) {
            Ok(content) => Ok(bytes::Bytes::copy_from_slice(content)),
            Err(postcard::Error::SerializeBufferFull) => postcard::to_stdvec(self).map(bytes::Bytes::from),
            Err(error) => Err(error),
        }
    }

    /// Decodes a message. Whatever its bytes are, the result can safely be given to a client or a server.
    ///
    /// # Errors
    /// [`EncodingError`]
    pub fn decode(message: &Message) -> Result<Envelope, EncodingError> {
        let content = message.content().filter(|content| content.len() <= LONGEST);
        let content = content.ok_or(EncodingError::Size(message.size()))?;
        let (envelope, rest): (Envelope, &[u8]) =
            postcard::take_from_bytes(content).map_err(|error| EncodingError::Garbled(error.to_string()))?;
        if !rest.is_empty() {
            return Err(EncodingError::Garbled(format!("{} bytes follow it", rest.len())));
        }
        envelope.check()?;
        match (envelope.unseen(), message.unseen().0) {
            (declared, there) if declared == there => Ok(envelope),
            (declared, there) => {
                Err(EncodingError::Garbled(format!("bodies without bytes are {declared} B of it, but {there} B came")))
            }
        }
    }

    /// How much of the bodies in it is only a size. [B]
    fn unseen(&self) -> u64 {
        match self {
            Envelope::Request(request) | Envelope::ToServer(ToServer::Forward(request)) => {
                of_operation(&request.operation)
            }
            Envelope::ToServer(ToServer::Chunk { buckets, applied, .. }) => {
                let entries = buckets.iter().flatten().map(|entry| of_body(&entry.value));
                let outcomes =
                    applied.iter().map(|(_, Applied { outcome, .. })| outcome.as_ref().map_or(0, of_outcome));
                entries.chain(outcomes).fold(0, u64::saturating_add)
            }
            Envelope::ToClient(ToClient::Reply { outcome, .. }) => of_outcome(outcome),
            Envelope::ToClient(ToClient::Scanned { answer: ScanAnswer::Part { entries, .. }, .. }) => {
                entries.iter().map(|(_, body)| of_body(body)).fold(0, u64::saturating_add)
            }
            Envelope::ToServer(
                ToServer::Token(_) | ToServer::Open { .. } | ToServer::Received | ToServer::Shrink(_),
            )
            | Envelope::ToServer(
                ToServer::Leave { .. }
                | ToServer::Leaving { .. }
                | ToServer::Stay
                | ToServer::Keep(_)
                | ToServer::Moved { .. },
            )
            | Envelope::ToClient(ToClient::Adjust { .. } | ToClient::Again { .. } | ToClient::Gone { .. })
            | Envelope::ToClient(ToClient::Scanned { .. })
            | Envelope::Scan(_)
            | Envelope::Goodbye
            | Envelope::Over(_)
            | Envelope::Next
            | Envelope::Moved { .. }
            | Envelope::MapRequest
            | Envelope::Grown(_) => 0,
            Envelope::Map { size, .. } => *size,
        }
    }

    /// Checks that its numbers are within the limits that clients and servers rely on.
    fn check(&self) -> Result<(), EncodingError> {
        match self {
            Envelope::Request(request) => request.check(),
            Envelope::ToServer(message) => message.check(),
            Envelope::Scan(request) => request.check(),
            Envelope::ToClient(message) => message.check(),
            Envelope::Moved { server, .. } => at_most("a server", *server, Extent::MOST_BUCKETS),
            Envelope::Goodbye | Envelope::Over(_) | Envelope::Next => Ok(()),
            Envelope::MapRequest | Envelope::Map { .. } | Envelope::Grown(_) => Ok(()),
        }
    }
}

fn of_body(body: &Body) -> u64 {
    body.unseen().0
}

fn of_operation(operation: &Operation) -> u64 {
    match operation {
        Operation::Insert(_, body) | Operation::Put(_, body) => of_body(body),
        Operation::Get(_) | Operation::Remove(_) | Operation::Contains(_) => 0,
    }
}

fn of_outcome(outcome: &OperationOutcome) -> u64 {
    match outcome {
        OperationOutcome::Is(_) => 0,
        OperationOutcome::Found(body) => body.as_ref().map_or(0, of_body),
    }
}
