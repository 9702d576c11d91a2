//! What a server stores, and the operations on it.

use std::fmt;

use quantities::Bytes;

use super::message::{Body, Key};
use super::{Bucket, Hashed, KeyValue, Operation, OperationOutcome, ServerOutput, Table, ToClient, ToServer};

/// What a server stores, and the operations on it. How a file grows and shrinks, and how its keys are found, is
/// independent of this.
pub trait Contents: fmt::Debug {
    /// An entry of its table.
    type Entry: Hashed + Clone + fmt::Debug;
    /// An operation that a client asks for.
    type Operation: Clone + fmt::Debug;
    /// The outcome of an operation.
    type Outcome: Clone + fmt::Debug;
    /// What a scan returns for an entry.
    type Found: Clone + fmt::Debug;

    /// The table; none while the server is not in the file.
    fn table(&self) -> Option<&Table<Self::Entry>>;

    /// The same, mutable.
    fn table_mut(&mut self) -> Option<&mut Table<Self::Entry>>;

    /// The server joins the file with a table, whose entries arrive through [`Contents::arrive`].
    fn open(&mut self, table: Table<Self::Entry>);

    /// The server leaves the file; its table is empty.
    fn close(&mut self);

    /// Gives up the next bucket that leaves, as [`Table::ship`].
    fn ship(&mut self) -> Option<Bucket<Self::Entry>>;

    /// Takes in a bucket, as [`Table::arrive`].
    fn arrive(&mut self, bucket: Bucket<Self::Entry>);

    /// Carries out an operation on the key with hash C; none if the key's place is not in this table.
    fn apply(&mut self, c: u64, operation: Self::Operation) -> Option<Self::Outcome>;

    /// Whether an operation may add entries: the file does not begin to shrink after such an operation.
    fn stores(operation: &Self::Operation) -> bool;

    /// Whether an operation changes nothing, and may be carried out again if the request is repeated. Then its outcome
    /// is not remembered.
    fn may_repeat(_operation: &Self::Operation) -> bool {
        false
    }

    /// The size of an entry in a chunk. [B]
    fn size(entry: &Self::Entry) -> Bytes;

    /// What a scan returns for an entry; nothing if it no longer exists.
    fn found(&self, entry: &Self::Entry) -> Option<Self::Found>;

    /// Whether an entry is marked: a scan may count these entries alone.
    fn is_marked(_entry: &Self::Entry) -> bool {
        false
    }

    /// How many entries are marked.
    fn marked(&self) -> u64 {
        0
    }
}

/// Messages from servers to clients for such contents.
pub type ToClientOf<C> = ToClient<<C as Contents>::Outcome, <C as Contents>::Found>;
/// Messages between servers of such contents.
pub type ToServerOf<C> = ToServer<<C as Contents>::Entry, <C as Contents>::Operation, <C as Contents>::Outcome>;
/// The output of a server of such contents.
pub type OutputOf<C> = ServerOutput<ToClientOf<C>, ToServerOf<C>>;

/// Keys and their values: the contents used in simulations.
pub type Pairs = Option<Table<KeyValue<Key, Body>>>;

impl Contents for Pairs {
    type Entry = KeyValue<Key, Body>;
    type Operation = Operation;
    type Outcome = OperationOutcome;
    type Found = (Key, Body);

    fn table(&self) -> Option<&Table<Self::Entry>> {
        self.as_ref()
    }

    fn table_mut(&mut self) -> Option<&mut Table<Self::Entry>> {
        self.as_mut()
    }

    fn open(&mut self, table: Table<Self::Entry>) {
        *self = Some(table);
    }

    fn close(&mut self) {
        *self = None;
    }

    fn ship(&mut self) -> Option<Bucket<Self::Entry>> {
        self.as_mut().and_then(Table::ship)
    }

    fn arrive(&mut self, bucket: Bucket<Self::Entry>) {
        if let Some(table) = self {
            table.arrive(bucket);
        }
    }

    fn apply(&mut self, c: u64, operation: Operation) -> Option<OperationOutcome> {
        let table = self.as_mut()?;
        Some(match operation {
            Operation::Insert(key, body) => OperationOutcome::Is(table.insert(c, key, body).ok()?),
            Operation::Put(key, body) => OperationOutcome::Found(table.put(c, key, body).ok()?),
            Operation::Get(key) => OperationOutcome::Found(table.get(c, &key).cloned()),
            Operation::Remove(key) => OperationOutcome::Found(table.remove(c, &key)),
            Operation::Contains(key) => OperationOutcome::Is(table.get(c, &key).is_some()),
        })
    }

    fn stores(operation: &Operation) -> bool {
        matches!(operation, Operation::Insert(..) | Operation::Put(..))
    }

    fn size(entry: &Self::Entry) -> Bytes {
        Bytes((entry.key.len() as u64).saturating_add(entry.value.size().0))
    }

    fn found(&self, entry: &Self::Entry) -> Option<(Key, Body)> {
        Some((entry.key.clone(), entry.value.clone()))
    }
}
