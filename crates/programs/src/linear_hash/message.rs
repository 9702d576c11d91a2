//! What clients and servers tell each other.

use endpoint::Message;
use serde::{Deserialize, Serialize};

use super::{Bucket, Entry, Extent, Span};

/// A key: any bytes.
pub type Key = Box<[u8]>;
/// What is stored under a key: any bytes, or only a size where a simulation needs no more.
pub type Body = Message;

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Store under a key that has nothing yet; what is there stays otherwise.
    Insert(Key, Body),
    /// Store under a key, whatever was there.
    Put(Key, Body),
    /// What is stored under a key.
    Get(Key),
    /// Take out what is stored under a key.
    Remove(Key),
    /// Whether something is stored under a key.
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

/// How an operation went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Of an insert: whether it was stored. Of a containment: whether it is there.
    Is(bool),
    /// Of a put, what was there before; of a get, what is there; of a remove, what was taken out.
    Found(Option<Body>),
}

/// A request, as it goes from a client to servers and between them. `O` is what is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request<O = Operation> {
    /// Who asks.
    pub client: u64,
    /// How many requests the client has made before this one. A request that is sent again has the same number.
    pub number: u64,
    /// C, the hash of the key.
    pub c: u64,
    /// What is asked for.
    pub operation: O,
    /// How often it was sent on.
    pub forwards: u32,
}

/// What servers tell clients. `R` is how a request went, `F` what a scan finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToClient<R = Outcome, F = (Key, Body)> {
    /// What came of a request.
    Reply {
        /// Which request.
        number: u64,
        /// How it went.
        outcome: R,
        /// How often the request was sent on.
        forwards: u32,
    },
    /// An image adjustment: server a of level j was asked for what is not its own, and sent it on.
    Adjust {
        /// a
        server: u32,
        /// j
        level: u32,
    },
    /// The request is to be sent again: it was sent on as often as one may be.
    Again {
        /// Which request.
        number: u64,
    },
    /// The request is to be sent again: it came to a server that is not in the table.
    Gone {
        /// Which request.
        number: u64,
        /// The server, of which the table has at most those before it.
        server: u32,
    },
    /// What came of a part of a scan.
    Scanned {
        /// Which of the client's scans.
        number: u64,
        /// Which part of it was asked for.
        span: Span,
        /// What the server says.
        answer: ScanAnswer<F>,
    },
}

/// A part of a scan, as it goes from a client to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanRequest {
    /// Who asks.
    pub client: u64,
    /// Which of the client's scans.
    pub number: u64,
    /// For which keys.
    pub span: Span,
    /// Whether only their number is asked for.
    pub counting: bool,
}

/// What a server says to a part of a scan. `F` is what it finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScanAnswer<F = (Key, Body)> {
    /// These, as far as the server has read.
    Part {
        /// a
        server: u32,
        /// j
        level: u32,
        /// The last place of the span that it has read.
        last: u64,
        /// How many there are.
        count: u64,
        /// The entries, if they were asked for.
        entries: Vec<F>,
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
        /// Which server.
        server: u32,
    },
}

/// What a server remembers of a client's last request, so that the same request once more changes nothing. `R` is how one goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied<R = Outcome> {
    /// Its number. Those before it are over.
    pub number: u64,
    /// C, the hash of its key.
    pub c: u64,
    /// How it went; none, when another server knows.
    pub outcome: Option<R>,
}

/// What servers tell each other. `E` is what a table is made of, `O` what is asked for, and `R` how that goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToServer<E = Entry<Key, Body>, O = Operation, R = Outcome> {
    /// A request that is not the sender's.
    Forward(Request<O>),
    /// The token: who has it may split next. The receiver is server n.
    Token(Extent),
    /// You are server of this level now; your local buckets will come.
    Open {
        /// Your level.
        level: u32,
        /// The extent of your local table.
        extent: Extent,
    },
    /// Some of the buckets, in their order.
    Chunk {
        /// The buckets.
        buckets: Vec<Bucket<E>>,
        /// The last request of each client, with how it went where its key is in these buckets.
        applied: Vec<(u64, Applied<R>)>,
        /// Whether they are the last.
        last: bool,
    },
    /// A chunk has come, or may come for the first time: the next one may.
    Received,
    /// The token walks back: the receiver, from which the last server of a file of this extent came, takes it over.
    Shrink(Extent),
    /// You are the last server, and I take over your table: keep its shape, but come nearer to so many local buckets.
    Leave {
        /// How many local buckets the sender has; 0, if the receiver's are enough.
        buckets: u32,
    },
    /// What a server has that is asked to leave.
    Leaving {
        /// So many local buckets.
        buckets: u32,
        /// So many entries.
        entries: u64,
    },
    /// You stay: both together are too large.
    Stay,
    /// The token comes back: the file does not shrink, since what would be merged is too large.
    Keep(Extent),
    /// From a server that moves to itself where it is from now on: this is all that there was beside its table.
    Moved {
        /// The token, if it has it.
        token: Option<Extent>,
        /// The server that it was asked to leave for meanwhile, and how many local buckets that one has.
        leave: Option<(u32, u32)>,
    },
}
