//! The entries of logs and snapshots.

use std::borrow::Cow;

use linear_hash::{Applied, Control, Growth, Shape, ToServerOf};
use serde::{Deserialize, Serialize, Serializer};

use crate::bucket::Bucket;
use crate::contents::EncodedReply;
use crate::large::MaybeShared;
use crate::member::{Begun, Identity, Peer, Sequenced, Standing, Taken};
use crate::record::{Milliseconds, Record};

/// A change of a record, whatever command was the reason.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Effect<'a> {
    /// A value is stored under a key.
    Set {
        /// The key.
        #[serde(borrow, serialize_with = "as_bytes")]
        key: &'a [u8],
        /// The value.
        #[serde(borrow)]
        value: MaybeShared<'a>,
        /// When it expires.
        expiry: Option<Milliseconds>,
    },
    /// A value, which is empty if there was none, is resized, and a part of it is written.
    Write {
        /// The key.
        #[serde(borrow, serialize_with = "as_bytes")]
        key: &'a [u8],
        /// How long the value becomes. [B]
        length: u64,
        /// Where the part begins. [B]
        at: u64,
        /// The part.
        #[serde(borrow, serialize_with = "as_bytes")]
        part: &'a [u8],
    },
    /// A record expires at another time, or never.
    Expire {
        /// The key.
        #[serde(borrow, serialize_with = "as_bytes")]
        key: &'a [u8],
        /// When.
        expiry: Option<Milliseconds>,
    },
    /// A record is removed.
    Remove(#[serde(borrow, serialize_with = "as_bytes")] &'a [u8]),
    /// All records are removed.
    Clear,
    /// The large value of a key is stored under another key, too.
    Copy {
        /// The key.
        #[serde(borrow, serialize_with = "as_bytes")]
        from: &'a [u8],
        /// The other key.
        #[serde(borrow, serialize_with = "as_bytes")]
        to: &'a [u8],
        /// When the other key expires.
        expiry: Option<Milliseconds>,
    },
}

/// Encodes bytes as a whole, and not one by one: the encoding is the same.
pub(crate) fn as_bytes<S: Serializer>(bytes: &&[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

/// A run of a member, from its start to its end, whatever ended it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// How many runs there were, including this one.
    pub number: u64,
    /// The member's identity and addresses.
    pub own: Peer,
    /// When its servers split and merge.
    pub growth: Growth,
    /// The most servers that it hosts.
    pub servers_each: u32,
}

/// An entry of a log or of a snapshot.
#[derive(Serialize, Deserialize)]
pub enum JournalEntry<'a> {
    /// A run begins.
    Run(Cow<'a, Run>),
    /// The member founds a pool.
    Founds,
    /// What it knows of the pool.
    Standing(Cow<'a, Standing>),
    /// A change of a record of a server.
    Effect(u32, #[serde(borrow)] Effect<'a>),
    /// A server has answered a client's request.
    Answer(u32, u64, Cow<'a, Applied<EncodedReply>>),
    /// A server takes a message.
    Taking(Taken, Option<Cow<'a, ToServerOf<Bucket>>>),
    /// A server has begun something by itself.
    Beginning(Begun),
    /// Another member has acknowledged all messages up to this one.
    Acknowledged(Identity, u64),
    /// Of a snapshot: a server.
    Server(u32, Control<EncodedReply>, Option<Shape>),
    /// Of a snapshot: a record of a server.
    Record(u32, Cow<'a, Record>),
    /// Of a snapshot: how many sequenced messages were sent to another member, and received from it.
    Sequences(Identity, u64, u64),
    /// Of a snapshot: a message that another member has not acknowledged yet.
    Unacknowledged(Identity, Sequenced<Bucket>),
    /// Of a snapshot: a message from one server of the member to another that has not been taken yet.
    Message(u32, u32, Cow<'a, ToServerOf<Bucket>>),
    /// Of a snapshot: its end.
    End,
    /// A large value is arriving, from a client or from another member, or a message with such values: its number in
    /// this log, and its next part.
    Part(u64, #[serde(borrow, serialize_with = "as_bytes")] &'a [u8]),
    /// A large value, all parts of which are in this log, is stored: its server, its key, its number, and when it
    /// expires, if at all.
    Arrived(u32, #[serde(borrow, serialize_with = "as_bytes")] &'a [u8], u64, Option<Milliseconds>),
    /// A server takes a message of another member, all parts of which are in this log, under this number.
    TakingArrived(Taken, u64),
}
