//! How full the servers are while a file grows and shrinks, when every message arrives at once.

use endpoint::Message;
use maquette_linear_hash::{Growth, Key, Operation, OperationOutcome};

use super::file::{File, uniform};

fn insert(key: Key) -> Operation {
    Operation::Insert(key, Message::default())
}

fn growth() -> Growth {
    Growth { capacity: 500, sensitivity: 0.8, shrink: None, apart: false, most_servers: 300, chunk: 64 }
}

/// The file grows, keeps its size while a third is removed and stored again, and shrinks to one server as everything is
/// removed.
#[test]
fn a_file_grows_and_shrinks_and_does_neither_in_between() {
    let growth = Growth { shrink: Some(0.3), ..growth() };
    let mut file = File::new(growth, uniform);
    let keys = 20_000;
    (0..keys).for_each(|key| drop(file.request(key, insert)));
    let (size, splits) = (file.size(), file.splits());
    assert!((45..=55).contains(&size), "{size} servers");
    for _ in 0..3 {
        (0..keys / 3).for_each(|key| drop(file.request(key, Operation::Remove)));
        (0..keys / 3).for_each(|key| drop(file.request(key, insert)));
        assert!(file.size() == size && file.splits() == splits);
    }
    for key in 0..keys {
        drop(file.request(key, Operation::Remove));
        assert!(file.size() == 1 || file.load(growth) > 0.2, "{} servers for {}", file.size(), file.entries());
    }
    assert_eq!((file.size(), file.entries()), (1, 0));
    (0..keys).for_each(|key| drop(file.request(key, insert)));
    assert!(file.size().abs_diff(size) <= 3);
}

/// After every split on the way up and every merge on the way down, the key that caused it is removed and stored again
/// for a while: no further change follows, though the least share is half of the threshold, the most that it may be.
#[test]
fn a_file_at_a_boundary_does_not_go_back_and_forth() {
    let growth = Growth { capacity: 50, shrink: Some(0.4), most_servers: 40, ..growth() };
    let mut file = File::new(growth, uniform);
    let mut changes = 0;
    let there_and_back = |file: &mut File, key, there: bool| {
        for _ in 0..100 {
            drop(if there { file.request(key, Operation::Remove) } else { file.request(key, insert) });
            drop(if there { file.request(key, insert) } else { file.request(key, Operation::Remove) });
        }
    };
    for (key, there) in (0..1_500).map(|key| (key, true)).chain((0..1_500).rev().map(|key| (key, false))) {
        drop(if there { file.request(key, insert) } else { file.request(key, Operation::Remove) });
        let now = file.splits() + file.merges();
        if now > changes {
            there_and_back(&mut file, key, there);
            let further = file.splits() + file.merges() - now;
            assert!(further <= 1, "{further} splits and merges at {} entries", file.entries());
            changes = file.splits() + file.merges();
        }
    }
    assert_eq!((file.size(), file.entries()), (1, 0));
    assert!(file.merges() > 30 && file.splits() == file.merges());
}

/// Bodies of several MiB, one larger than a whole chunk should be, are shipped undamaged. A chunk of few
/// entries may still be as large as 16 MiB plus a local bucket.
#[test]
fn bodies_larger_than_a_chunk_are_split_off_and_taken_over() {
    let body = |key: u64| Message::from(vec![key as u8; (3 << 20) + key as usize]);
    for chunk in [1, 1_000] {
        let growth = Growth { capacity: 20, shrink: Some(0.4), chunk, ..growth() };
        let mut file = File::new(growth, uniform);
        for key in 0..60 {
            assert_eq!(file.request(key, |it| Operation::Insert(it, body(key))), OperationOutcome::Is(true));
        }
        assert!(file.size() >= 4, "{}", file.size());
        for key in 0..60 {
            assert_eq!(file.request(key, Operation::Get), OperationOutcome::Found(Some(body(key))));
        }
        for key in 0..60 {
            assert_eq!(file.request(key, Operation::Remove), OperationOutcome::Found(Some(body(key))));
        }
        assert!(file.size() == 1 && file.merges() >= 3);
        let largest_bucket = 8 * (4 << 20);
        assert!(file.largest_chunk < (16 << 20) + largest_bucket, "{} B", file.largest_chunk);
    }
}

/// A file does not shrink unless it is configured to.
#[test]
fn a_file_keeps_its_servers_by_default() {
    let mut file = File::new(growth(), uniform);
    (0..5_000).for_each(|key| drop(file.request(key, insert)));
    let size = file.size();
    (0..5_000).for_each(|key| drop(file.request(key, Operation::Remove)));
    assert_eq!((file.size(), file.entries()), (size, 0));
}

/// The share of their capacity that the servers use, averaged over all inserts from two servers on; and the fewest
/// inserts in which three splits begin.
fn grown(growth: Growth, keys: u64, hash: fn(u64) -> u64) -> (f64, u64) {
    let mut file = File::new(growth, hash);
    let (mut loads, mut splits) = (Vec::new(), Vec::new());
    for key in 0..keys {
        drop(file.request(key, insert));
        let new = file.splits() - splits.len() as u64;
        splits.extend((0..new).map(|_| key));
        if file.size() >= 2 && key.is_multiple_of(16) {
            loads.push(file.load(growth));
        }
    }
    let three = splits.windows(3).map(|three| three[2] - three[0]);
    (loads.iter().sum::<f64>() / loads.len() as f64, three.min().unwrap())
}

/// Hashes in which some values of the lowest four bits are frequent and some rare, as if derived from the last letter
/// of a word.
fn skewed(key: u64) -> u64 {
    const LOWEST: [u64; 16] = [0, 0, 0, 0, 8, 8, 4, 12, 2, 1, 3, 5, 6, 9, 10, 15];
    let mixed = uniform(key);
    mixed << 4 | LOWEST[(mixed >> 40 & 15) as usize]
}

/// Eleven servers, as in the paper: with its threshold at most three quarters full, fuller if splits are spaced out.
#[test]
fn servers_are_as_full_as_the_threshold_says() {
    let growth = Growth { capacity: 1_800, most_servers: 11, ..growth() };
    let (load, _) = grown(growth, 15_840, uniform);
    assert!((0.65..0.78).contains(&load), "{load}");
    let (load, _) = grown(Growth { apart: true, ..growth }, 15_840, uniform);
    assert!((0.80..0.95).contains(&load), "{load}");
}

/// Several servers split after one insert, unless splits are spaced out.
#[test]
fn splits_that_are_kept_apart_do_not_follow_upon_each_other() {
    let (_, cascade) = grown(growth(), 40_000, skewed);
    let (_, apart) = grown(Growth { apart: true, ..growth() }, 40_000, skewed);
    assert!(cascade == 0 && apart > 400, "three splits in {cascade} inserts, and in {apart}");
}
