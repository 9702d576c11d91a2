//! What a server keeps, and what can be asked of it.

use std::fmt;

use quantities::Bytes;

use super::message::{Body, Key};
use super::{Bucket, Entry, Hashed, Operation, Outcome, ServerOutput, Table, ToClient, ToServer};

/// What a server keeps, and what can be asked of it. How a file grows and shrinks, and how its keys are found, hangs on none of that.
pub trait Contents: fmt::Debug {
    /// What its table is made of.
    type Entry: Hashed + Clone + fmt::Debug;
    /// What a client asks for.
    type Operation: Clone + fmt::Debug;
    /// How that went.
    type Outcome: Clone + fmt::Debug;
    /// What a scan gives of an entry.
    type Found: Clone + fmt::Debug;

    /// The table; none while the server is not in the file.
    fn table(&self) -> Option<&Table<Self::Entry>>;

    /// The same, to be changed.
    fn table_mut(&mut self) -> Option<&mut Table<Self::Entry>>;

    /// The server comes into the file with a table, whose entries come by [`Contents::arrive`].
    fn open(&mut self, table: Table<Self::Entry>);

    /// The server leaves the file; its table is empty.
    fn close(&mut self);

    /// Parts with the next bucket that leaves, as [`Table::ship`].
    fn ship(&mut self) -> Option<Bucket<Self::Entry>>;

    /// Takes in a bucket, as [`Table::arrive`].
    fn arrive(&mut self, bucket: Bucket<Self::Entry>);

    /// Does what is asked for with the key C; none where the key's place is not here.
    fn apply(&mut self, c: u64, operation: Self::Operation) -> Option<Self::Outcome>;

    /// Whether an operation may add entries: then it is no time for the file to shrink.
    fn stores(operation: &Self::Operation) -> bool;

    /// How much of a chunk an entry takes. [B]
    fn size(entry: &Self::Entry) -> Bytes;

    /// What a scan gives of an entry; nothing of one that is there no more.
    fn found(&self, entry: &Self::Entry) -> Option<Self::Found>;
}

/// What servers tell the clients of such contents.
pub type ToClientOf<C> = ToClient<<C as Contents>::Outcome, <C as Contents>::Found>;
/// What servers of such contents tell each other.
pub type ToServerOf<C> = ToServer<<C as Contents>::Entry, <C as Contents>::Operation, <C as Contents>::Outcome>;
/// What a server of such contents does.
pub type OutputOf<C> = ServerOutput<ToClientOf<C>, ToServerOf<C>>;

/// Keys with what is stored under them: what is simulated.
pub type Pairs = Option<Table<Entry<Key, Body>>>;

impl Contents for Pairs {
    type Entry = Entry<Key, Body>;
    type Operation = Operation;
    type Outcome = Outcome;
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

    fn apply(&mut self, c: u64, operation: Operation) -> Option<Outcome> {
        let table = self.as_mut()?;
        Some(match operation {
            Operation::Insert(key, body) => Outcome::Is(table.insert(c, key, body).ok()?),
            Operation::Put(key, body) => Outcome::Found(table.put(c, key, body).ok()?),
            Operation::Get(key) => Outcome::Found(table.get(c, &key).cloned()),
            Operation::Remove(key) => Outcome::Found(table.remove(c, &key)),
            Operation::Contains(key) => Outcome::Is(table.get(c, &key).is_some()),
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
