//! A bucket as the contents of an LH*LH server: the requests of other members, and the records that move when servers
//! split and merge.

use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use linear_hash::{Bucket as LocalBucket, Contents, EntryPlace, Table, h};
use quantities::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bucket::Bucket;
use crate::commands::{Context, Flag, Invocation, apply, lacks_room};
use crate::connection::Session;
use crate::host::keys_of;
use crate::large::encoding::serialize_pieces;
use crate::large::{MaybeShared, Pieces, SharedValue};
use crate::node::{Client, Node};
use crate::record::Record;
use crate::resp::{OwnedArguments, Reply, Version};
use crate::slot::{SLOT_BITS, c_of};

/// What a member asks of the server that has the keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// To execute a request, in the version of RESP that its client speaks.
    Request(Version, OwnedArguments),
    /// To execute these requests as one transaction.
    Transaction(Version, Vec<OwnedArguments>),
    /// To remove all its records, and to say its level.
    Clear,
    /// To issue stamps of these keys, which a client watches.
    Watch(OwnedArguments),
    /// To execute these requests as one transaction, if no watched key has changed.
    Guarded(Version, Vec<Watched>, Vec<OwnedArguments>),
}

impl Operation {
    /// The requests in it.
    pub(crate) fn requests(&self) -> &[OwnedArguments] {
        match self {
            Operation::Request(_, request) => std::slice::from_ref(request),
            Operation::Transaction(_, requests) | Operation::Guarded(_, _, requests) => requests,
            Operation::Clear | Operation::Watch(_) => &[],
        }
    }

    fn requests_mut(&mut self) -> &mut [OwnedArguments] {
        match self {
            Operation::Request(_, request) => std::slice::from_mut(request),
            Operation::Transaction(_, requests) | Operation::Guarded(_, _, requests) => requests,
            Operation::Clear | Operation::Watch(_) => &mut [],
        }
    }

    /// The memory that its requests take. [B]
    pub(crate) fn size(&self) -> usize {
        self.requests().iter().map(OwnedArguments::size).sum()
    }

    /// The large values that its requests bring.
    pub(crate) fn large_values(&self) -> impl Iterator<Item = &SharedValue> {
        self.requests().iter().flat_map(OwnedArguments::large)
    }

    /// The same, mutable.
    pub(crate) fn large_values_mut(&mut self) -> impl Iterator<Item = &mut SharedValue> {
        self.requests_mut().iter_mut().flat_map(OwnedArguments::large_mut)
    }
}

/// A key that a client watches on another member, and the stamp that it was given.
pub type Watched = (Box<[u8]>, u64);

/// The reply of the server, as it goes to the client. Members encode it as a whole, and not byte by byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedReply(Pieces);

impl Deref for EncodedReply {
    type Target = Pieces;

    fn deref(&self) -> &Pieces {
        &self.0
    }
}

impl From<Vec<u8>> for EncodedReply {
    fn from(bytes: Vec<u8>) -> EncodedReply {
        EncodedReply(bytes.into())
    }
}

impl From<Reply> for EncodedReply {
    fn from(reply: Reply) -> EncodedReply {
        EncodedReply(reply.into_pieces())
    }
}

impl Serialize for EncodedReply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_pieces(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for EncodedReply {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EncodedReply, D::Error> {
        MaybeShared::deserialize(deserializer).map(|bytes| match bytes {
            MaybeShared::Shared(value) => EncodedReply(value.into()),
            MaybeShared::Borrowed(bytes) => bytes.to_vec().into(),
        })
    }
}

/// What a bucket needs to execute requests of other members: the node that it is on, and a session that belongs to no
/// client.
pub struct RemoteSession {
    node: Rc<RefCell<Node>>,
    session: Session,
}

impl RemoteSession {
    /// A remote of this node.
    pub fn of(node: &Rc<RefCell<Node>>) -> RemoteSession {
        let mut session = Session::new(Rc::new(Client::default()), &node.borrow());
        // The client has authenticated with its own member.
        session.is_authenticated = true;
        RemoteSession { node: Rc::clone(node), session }
    }
}

impl fmt::Debug for RemoteSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RemoteSession")
    }
}

impl Bucket {
    /// The error if some keys are not on this server, which has the key of hash C; none, if all are.
    pub(crate) fn refuses<'a>(&self, c: u64, mut keys: impl Iterator<Item = &'a [u8]>) -> Option<&'static str> {
        let table = self.table()?;
        let is_on_this_server = |key: &[u8]| {
            let own = c_of(key);
            h(table.level(), own) == h(table.level(), c) && table.place(own) == EntryPlace::Held
        };
        let elsewhere = keys.find(|key| !is_on_this_server(key))?;
        let is_same_slot = h(SLOT_BITS, c_of(elsewhere)) == h(SLOT_BITS, c);
        Some(if is_same_slot { "TRYAGAIN Multiple keys request during rehashing of slot" } else { CROSS_SLOT })
    }

    fn execute(&mut self, version: Version, requests: &[OwnedArguments], is_transaction: bool) -> EncodedReply {
        let mut reply = Reply::of(version);
        let Some(mut remote) = self.remote.take() else { return EncodedReply::default() };
        {
            let node = &mut *remote.node.borrow_mut();
            let now = node.now;
            let mut context = Context { bucket: self, node, session: &mut remote.session, reply: &mut reply, now };
            match if is_transaction { lacks_room(&mut context, requests) } else { Ok(()) } {
                Err(failure) => context.reply.error(&failure.to_string()),
                Ok(()) => {
                    if is_transaction {
                        context.reply.array(requests.len());
                    }
                    requests.iter().for_each(|request| apply(&mut context, request));
                }
            }
        }
        self.remote = Some(remote);
        reply.into()
    }

    /// Stamps of keys, as [`read_stamps`] reads them, if all keys are on this server.
    fn give_stamps(&mut self, c: u64, keys: &OwnedArguments) -> EncodedReply {
        if let Some(refusal) = self.refuses(c, keys.borrowed().from(0)) {
            return error(refusal);
        }
        let Some(node) = self.remote.as_ref().map(|remote| Rc::clone(&remote.node)) else {
            return EncodedReply::default();
        };
        let node = &mut *node.borrow_mut();
        let (now, mut outcome) = (node.now, STAMPS.to_vec());
        for key in keys.borrowed().from(0) {
            outcome.extend(self.stamp(key, now, || node.draw()).to_le_bytes());
        }
        outcome.into()
    }

    fn are_as_stamped(&mut self, watched: &[Watched]) -> bool {
        let now = self.remote.as_ref().map_or(0, |remote| remote.node.borrow().now);
        watched.iter().all(|(key, stamp)| self.is_as_stamped(key, *stamp, now))
    }
}

/// The prefix of stamps: no error begins with it.
const STAMPS: &[u8] = b"+";

/// The stamps that a server has issued; none, if it has refused.
pub(crate) fn read_stamps(outcome: &[u8]) -> Option<impl Iterator<Item = u64>> {
    let (stamps, _) = outcome.strip_prefix(STAMPS)?.as_chunks::<8>();
    Some(stamps.iter().map(|stamp| u64::from_le_bytes(*stamp)))
}

fn error(text: &str) -> EncodedReply {
    let mut reply = Reply::default();
    reply.error(text);
    reply.into()
}

/// The error for keys that must be on one server but are on several.
pub(crate) const CROSS_SLOT: &str = "CROSSSLOT Keys in request don't hash to the same slot";

impl Contents for Bucket {
    type Entry = Record;
    type Operation = Operation;
    type Outcome = EncodedReply;
    type Found = Vec<u8>;

    fn table(&self) -> Option<&Table<Record>> {
        self.is_open.then_some(&self.table)
    }

    fn table_mut(&mut self) -> Option<&mut Table<Record>> {
        self.is_open.then_some(&mut self.table)
    }

    fn open(&mut self, table: Table<Record>) {
        self.table = table;
        self.is_open = true;
    }

    fn close(&mut self) {
        self.table = Table::new(0);
        self.is_open = false;
    }

    fn ship(&mut self) -> Option<LocalBucket<Record>> {
        let records = self.table.ship()?;
        records.iter().for_each(|record| self.removed(record));
        Some(records)
    }

    fn arrive(&mut self, records: LocalBucket<Record>) {
        self.may_have_changed();
        records.iter().for_each(|record| self.arrives(record));
        self.table.arrive(records);
    }

    fn apply(&mut self, c: u64, operation: Operation) -> Option<EncodedReply> {
        let (version, requests, is_transaction) = match operation {
            Operation::Request(version, request) => (version, vec![request], false),
            Operation::Transaction(version, requests) => (version, requests, true),
            Operation::Clear => {
                // Records that are on their way would arrive after it; the client asks again.
                let level = self.table().filter(|table| table.is_whole())?.level();
                self.clear();
                return Some(level.to_string().into_bytes().into());
            }
            Operation::Watch(keys) => return Some(self.give_stamps(c, &keys)),
            Operation::Guarded(version, watched, requests) => {
                let keys = watched.iter().map(|(key, _)| &**key).chain(requests.iter().flat_map(keys_of));
                if let Some(refusal) = self.refuses(c, keys) {
                    return Some(error(refusal));
                }
                if !self.are_as_stamped(&watched) {
                    let mut reply = Reply::of(version);
                    reply.null_array();
                    return Some(reply.into());
                }
                (version, requests, true)
            }
        };
        if let Some(refusal) = self.refuses(c, requests.iter().flat_map(keys_of)) {
            return Some(error(refusal));
        }
        Some(self.execute(version, &requests, is_transaction))
    }

    fn stores(operation: &Operation) -> bool {
        let stores = |request: &OwnedArguments| Invocation::of(request.borrowed()).has(Flag::NeedsRoom);
        match operation {
            Operation::Request(_, request) => stores(request),
            Operation::Transaction(_, requests) | Operation::Guarded(_, _, requests) => requests.iter().any(stores),
            Operation::Clear | Operation::Watch(_) => false,
        }
    }

    // A value that was read may be large.
    fn may_repeat(operation: &Operation) -> bool {
        let reads = |request: &OwnedArguments| !Invocation::of(request.borrowed()).has(Flag::Write);
        match operation {
            Operation::Request(_, request) => reads(request),
            Operation::Transaction(_, requests) => requests.iter().all(reads),
            // What is watched is given a stamp, which is valid once.
            Operation::Guarded(..) | Operation::Watch(_) | Operation::Clear => false,
        }
    }

    fn size(record: &Record) -> Bytes {
        Bytes((record.key().len() + record.value_length()) as u64)
    }

    // Records that expire.
    fn is_marked(record: &Record) -> bool {
        record.expiry().is_some()
    }

    fn marked(&self) -> u64 {
        self.expiring()
    }

    fn found(&self, record: &Record) -> Option<Vec<u8>> {
        let now = self.remote.as_ref().map_or(0, |remote| remote.node.borrow().now);
        (!record.is_over(now)).then(|| record.key().to_vec())
    }
}
