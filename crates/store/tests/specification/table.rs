//! Invariants of a whole pool's table when nothing is in flight.

use std::collections::{BTreeMap, BTreeSet};

use maquette_store::bucket::Bucket;
use maquette_store::member::Member;

use crate::persistence::KEYS;

/// Checks that every server is in one place and at rest, that one has the token, and that every key is where it
/// belongs, once. Returns the number of servers, and the values.
pub fn table_of<'a>(members: impl Iterator<Item = &'a Member<Bucket>>) -> (usize, BTreeMap<u64, Vec<u8>>) {
    let (mut servers, mut tokens, mut values) = (BTreeSet::new(), 0, BTreeMap::new());
    for (number, server) in members.flat_map(Member::servers) {
        assert!(servers.insert(number), "server {number} is in two places");
        assert!(server.is_steady(), "server {number} never ends what it has begun");
        tokens += usize::from(server.token().is_some());
        for record in server.table().into_iter().flat_map(|table| table.entries()) {
            let key: u64 = String::from_utf8_lossy(record.key()).parse().unwrap();
            assert_eq!(values.insert(key, record.value().to_vec()), None, "key {key} is in two places");
        }
    }
    assert!(servers.iter().copied().eq(0..servers.len() as u32), "{servers:?}");
    assert_eq!(tokens, 1, "there is one token");
    (servers.len(), values)
}

/// Checks that every key has the value that its clients were told, or one of two if a client never got its reply.
pub fn check_values(
    values: &BTreeMap<u64, Vec<u8>>,
    model: &BTreeMap<u64, Vec<u8>>,
    unknown: &BTreeMap<u64, [Option<Vec<u8>>; 2]>,
) {
    for key in 0..KEYS {
        let (value, due) = (values.get(&key), unknown.get(&key));
        match due {
            Some(either) => assert!(either.iter().any(|one| one.as_ref() == value), "{key}: {value:?}, {due:?}"),
            None => assert_eq!(value, model.get(&key), "of key {key}"),
        }
    }
}
