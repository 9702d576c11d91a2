//! The messages between clients and servers.

use endpoint::Message;
use serde::{Deserialize, Serialize};

use super::{Bucket, BucketRange, Extent, KeyValue, Span};

/// A key: any bytes.
pub type Key = Box<[u8]>;
/// What is stored under a key: any bytes, or only a size where a simulation needs no more.
pub type Body = Message;

/// An operation that a client asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Stores under a key that has no value yet; otherwise the old value stays.
    Insert(Key, Body),
    /// Stores under a key, replacing any old value.
    Put(Key, Body),
    /// Returns the value of a key.
    Get(Key),
    /// Removes the value of a key.
    Remove(Key),
    /// Asks whether a key has a value.
    Contains(Key),
}

impl Operation {
    /// Its key.
    pub const fn key(&self) -> &Key {
        match self {
            Operation::Insert(key, _)
            | Operation::Put(key, _)
            | Operation::Get(key)
            | Operation::Remove(key)
            | Operation::Contains(key) => key,
        }
    }
}

/// The outcome of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperationOutcome {
    /// For an insert, whether it was stored; for a containment, whether the key has a value.
    Is(bool),
    /// For a put, the old value; for a get, the value; for a remove, the removed value.
    Found(Option<Body>),
}

/// A request, as sent from a client to servers and between them. `O` is the type of its operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request<O = Operation> {
    /// The client that asks.
    pub client: u64,
    /// How many requests the client has made before this one. A repeated request has the same number.
    pub number: u64,
    /// C, the hash of the key.
    pub c: u64,
    /// The operation.
    pub operation: O,
    /// How often it has been forwarded.
    pub forwards: u32,
}

/// Messages from servers to clients. `R` is the outcome of a request, `F` what a scan finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToClient<R = OperationOutcome, F = (Key, Body)> {
    /// The reply to a request.
    Reply {
        /// The number of the request.
        number: u64,
        /// Its outcome.
        outcome: R,
        /// How often the request was forwarded.
        forwards: u32,
    },
    /// An image adjustment: server a of level j was asked for a key that is not its own, and forwarded the request.
    Adjust {
        /// a
        server: u32,
        /// j
        level: u32,
    },
    /// The client must repeat the request: it was forwarded as often as allowed.
    Again {
        /// The number of the request.
        number: u64,
    },
    /// The client must repeat the request: it reached a server that is not in the table.
    Gone {
        /// The number of the request.
        number: u64,
        /// That server; the table has at most the servers before it.
        server: u32,
    },
    /// The answer to a part of a scan.
    Scanned {
        /// The number of the client's scan.
        number: u64,
        /// The part that was asked for.
        part: ScanPart,
        /// The server's answer.
        answer: ScanAnswer<F>,
    },
}

/// A part of a scan: some of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScanPart {
    /// Keys of this span.
    pub span: Span,
    /// If given, only those in these local buckets: the other keys of the span are in other parts.
    pub buckets: Option<BucketRange>,
}

impl ScanPart {
    /// Whether it has the key C.
    pub fn contains(&self, c: u64) -> bool {
        self.span.contains(c) && self.buckets.is_none_or(|buckets| buckets.contains(c))
    }
}

/// A part of a scan, as sent from a client to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanRequest {
    /// The client that asks.
    pub client: u64,
    /// The number of the client's scan.
    pub number: u64,
    /// The keys to scan.
    pub part: ScanPart,
    /// What is to be found out about them.
    pub kind: ScanKind,
}

/// What a scan finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScanKind {
    /// The entries.
    Entries,
    /// How many entries there are.
    Count,
    /// How many of them are marked: [`Contents::is_marked`](super::Contents::is_marked).
    Marked,
    /// Which servers there are, and their levels. Nothing is read for that, so it waits for no keys that are moving. A
    /// server counts from the end of the split that creates it to the end of the merge that ends it.
    Levels,
}

impl ScanKind {
    /// All of them.
    pub const ALL: [ScanKind; 4] = [ScanKind::Entries, ScanKind::Count, ScanKind::Marked, ScanKind::Levels];
}

/// Keys that a server has left out of its answer to a part of a scan, since they are moving and it does not have them:
/// another server is to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The server to ask: the other one of the two between which they move.
    pub server: u32,
    /// Their local buckets.
    pub buckets: BucketRange,
}

/// A server's answer to a part of a scan. `F` is what it finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScanAnswer<F = (Key, Body)> {
    /// What the server has found, as far as it has read.
    Part {
        /// a
        server: u32,
        /// j
        level: u32,
        /// The last place of the span that it has read.
        last: u64,
        /// How many entries there are.
        count: u64,
        /// The entries, if requested.
        entries: Vec<F>,
        /// Keys up to that place that it has left out, if there may be any.
        left_out: Option<LeftOut>,
    },
    /// The span begins with keys that server a of level j does not have.
    Elsewhere {
        /// a
        server: u32,
        /// j
        level: u32,
    },
    /// The server is not in the table.
    Gone {
        /// That server.
        server: u32,
    },
}

/// What a server remembers of a client's last request, so that repeating it changes nothing. `R` is the type of an
/// outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied<R = OperationOutcome> {
    /// Its number. Earlier requests are over.
    pub number: u64,
    /// C, the hash of its key.
    pub c: u64,
    /// Its outcome; none if another server has it.
    pub outcome: Option<R>,
}

/// Messages between servers. `E` is the type of an entry, `O` that of an operation, and `R` that of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToServer<E = KeyValue<Key, Body>, O = Operation, R = OperationOutcome> {
    /// A request for a key that is not the sender's.
    Forward(Request<O>),
    /// The token: its holder may split next. The receiver is server n.
    Token(Extent),
    /// You are now a server of this level; your local buckets will follow.
    Open {
        /// Your level.
        level: u32,
        /// The extent of your local table.
        extent: Extent,
    },
    /// Some of the buckets, in order.
    Chunk {
        /// The buckets.
        buckets: Vec<Bucket<E>>,
        /// The last request of each client, with its outcome if its key is in these buckets.
        applied: Vec<(u64, Applied<R>)>,
        /// Whether they are the last.
        last: bool,
    },
    /// A chunk has arrived, or the first may come: send the next one.
    Received,
    /// The token goes back: the receiver, whose split created the last server of a file of this extent, takes that
    /// server over.
    Shrink(Extent),
    /// You are the last server, and I take over your table: keep its shape, but approach this many local buckets.
    Leave {
        /// How many local buckets the sender has; 0 if the receiver has enough.
        buckets: u32,
    },
    /// The size of a server that was asked to leave.
    Leaving {
        /// How many local buckets it has.
        buckets: u32,
        /// How many entries it has.
        entries: u64,
    },
    /// You stay: the two together are too large.
    Stay,
    /// The token is returned: the file does not shrink, since the merged server would be too large.
    Keep(Extent),
    /// From a moving server to itself at its new place: the rest of its state besides its table.
    Moved {
        /// The token, if it has it.
        token: Option<Extent>,
        /// The server that asked it to leave in the meantime, and how many local buckets that one has.
        leave: Option<(u32, u32)>,
    },
}
