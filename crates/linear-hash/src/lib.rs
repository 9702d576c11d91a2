//! LH*LH: a hash table distributed over servers, which grows and shrinks by one server at a time.
//!
//! | symbol | |
//! |---|---|
//! | C | a key, by its hash |
//! | h_i | the hash function of level i, C mod 2^i |
//! | i, n | how far a table has grown: 2^i + n buckets, those before n and from 2^i on already split |
//! | i', n' | a client's belief about i and n: its image |
//! | a, j | a server's number, and its level: it has the keys with h_j(C) = a |
//!
//! Source: Pimentel and Hertzberger, "Evaluation of LH*LH for a multicomputer architecture", Euro-Par 1999, after
//! Litwin, Neimat and Schneider, "LH*: a scalable, distributed data structure", ACM Transactions on Database Systems
//! 21(4), 1996.

mod bucket_range;
mod buckets;
pub mod build;
mod check;
mod client;
mod client_loop;
mod contents;
mod encoding;
mod extent;
pub mod growing;
mod growth;
mod image;
mod kept;
mod key_hash;
mod message;
mod moving;
mod overflow_tree;
mod phase;
mod program;
mod reorganisation;
mod scan;
mod scanned;
mod segments;
mod server;
mod span;
mod table;
mod tags;
mod words;

pub use bucket_range::BucketRange;
pub use buckets::{Bucket, FETCHED_AT_ONCE, Hashed, KeyValue, Keyed};
pub use check::at_most;
pub use client::{Client, ClientCounts, ClientOutput};
pub use contents::{Contents, OutputOf, Pairs, ToClientOf, ToServerOf};
pub use encoding::{EncodingError, Envelope};
pub use extent::{Extent, Split, h};
pub use growth::{Bounds, Growth};
pub use image::{Image, forward};
pub use kept::{Control, Pace};
pub use key_hash::KeyHash;
pub use message::{
    Applied, Body, Key, LeftOut, Operation, OperationOutcome, Request, ScanAnswer, ScanKind, ScanPart, ScanRequest,
    ToClient, ToServer,
};
pub use phase::{ClientPhase, Phase, ServerPhase};
pub use program::{ClientEnd, Insert, LinearHash, RankEnd, ServerEnd};
pub use scan::{Scan, ScanOutput};
pub use server::{Server, ServerCounts, ServerOutput};
pub use span::Span;
pub use table::{EntryPlace, Shape, Table};
pub use words::random_words;
