//! Checks that the numbers in messages are within the limits that clients and servers rely on, before a foreign message
//! is processed.

use super::extent::MOST_LEVELS;
use super::server::MOST_FORWARDS;
use super::{
    BucketRange, EncodingError, Extent, LeftOut, Request, ScanAnswer, ScanPart, ScanRequest, ToClient, ToServer,
};

/// The most entries that a server may report.
const MOST_ENTRIES: u64 = 1 << 48;

impl<O> Request<O> {
    /// Checks that a server can take it.
    ///
    /// # Errors
    /// [`EncodingError::Beyond`]
    pub fn check(&self) -> Result<(), EncodingError> {
        at_most("forwards", self.forwards, MOST_FORWARDS)
    }
}

impl ScanRequest {
    /// Checks that a server can take it.
    ///
    /// # Errors
    /// [`EncodingError::Beyond`]
    pub fn check(&self) -> Result<(), EncodingError> {
        check_part(&self.part)
    }
}

impl<E, O, R> ToServer<E, O, R> {
    /// Checks that a server can take it.
    ///
    /// # Errors
    /// [`EncodingError::Beyond`]
    pub fn check(&self) -> Result<(), EncodingError> {
        match *self {
            ToServer::Forward(ref request) => request.check(),
            ToServer::Open { level, .. } => at_most("a level", level, MOST_LEVELS + 1),
            ToServer::Leave { buckets } => at_most("buckets", buckets, Extent::MOST_BUCKETS),
            ToServer::Moved { leave: Some((server, buckets)), .. } => {
                at_most("a server", server, Extent::MOST_BUCKETS)?;
                at_most("buckets", buckets, Extent::MOST_BUCKETS)
            }
            ToServer::Leaving { buckets, entries } => {
                at_most("buckets", buckets, Extent::MOST_BUCKETS)?;
                at_most("entries", entries, MOST_ENTRIES)
            }
            ToServer::Token(_) | ToServer::Shrink(_) | ToServer::Keep(_) | ToServer::Moved { leave: None, .. } => {
                Ok(())
            }
            ToServer::Chunk { .. } | ToServer::Received | ToServer::Stay => Ok(()),
        }
    }
}

impl<R, F> ToClient<R, F> {
    /// Checks that a client can take it.
    ///
    /// # Errors
    /// [`EncodingError::Beyond`]
    pub fn check(&self) -> Result<(), EncodingError> {
        match *self {
            ToClient::Adjust { server, level } => check_server(server, level),
            ToClient::Scanned { ref part, ref answer, .. } => {
                check_part(part)?;
                check_answer(part, answer)
            }
            ToClient::Gone { server, .. } => at_most("a server", server, Extent::MOST_BUCKETS),
            ToClient::Reply { .. } | ToClient::Again { .. } => Ok(()),
        }
    }
}

fn check_part(part: &ScanPart) -> Result<(), EncodingError> {
    at_most("the first place", part.span.first, part.span.last)?;
    part.buckets.as_ref().map_or(Ok(()), check_buckets)
}

fn check_buckets(buckets: &BucketRange) -> Result<(), EncodingError> {
    at_most("a level", buckets.level, MOST_LEVELS + 1)?;
    at_most("the first bucket", buckets.first, buckets.end)?;
    at_most("buckets", buckets.end, buckets.extent.buckets())
}

fn check_server(server: u32, level: u32) -> Result<(), EncodingError> {
    at_most("a level", level, MOST_LEVELS + 1)?;
    at_most("a server", server, Extent::MOST_BUCKETS)
}

fn check_answer<F>(part: &ScanPart, answer: &ScanAnswer<F>) -> Result<(), EncodingError> {
    match *answer {
        ScanAnswer::Part { server, level, last, count, left_out, .. } => {
            at_most("the first place", part.span.first, last)?;
            at_most("the last place", last, part.span.last)?;
            at_most("entries", count, MOST_ENTRIES)?;
            if let Some(LeftOut { server, buckets }) = left_out {
                at_most("a server", server, Extent::MOST_BUCKETS)?;
                check_buckets(&buckets)?;
            }
            check_server(server, level)
        }
        ScanAnswer::Elsewhere { server, level } => check_server(server, level),
        ScanAnswer::Gone { server } => at_most("a server", server, Extent::MOST_BUCKETS),
    }
}

/// Checks that a number is not above its limit.
///
/// # Errors
/// [`EncodingError::Beyond`]
pub fn at_most(what: &'static str, found: impl Into<u64>, most: impl Into<u64>) -> Result<(), EncodingError> {
    match (found.into(), most.into()) {
        (found, most) if found > most => Err(EncodingError::Beyond { what, found, most }),
        _ => Ok(()),
    }
}
