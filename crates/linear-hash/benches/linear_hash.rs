//! The speed of a server's table, compared with the hash table of the `hashbrown` crate: the same words, bodies of 64
//! bytes.
//!
//! Two lines for each number of words: inserts and lookups per second of both [1e6/s], the table's as a share of the
//! other's, and the longest single insert of each [us]. The times are the best of nine runs, and so are those of every
//! single insert, since other activity of the machine may take longer than an insert.

use hashbrown::{DefaultHashBuilder, HashMap};
use maquette_linear_hash::Table;
use std::hash::BuildHasher;
use std::hint::black_box;

const WORDS: [usize; 2] = [180_000, 1_000_000];
const RUNS: usize = 9;
/// The target for the share of the other's inserts and lookups per second.
const AIM: f64 = 0.6;
/// The longest time that an insert may take. [us]
const LONGEST: f64 = 50.0;

type Body = [u8; 64];

/// The measurements of one table. [s]
#[derive(Default)]
struct Measured {
    inserts: f64,
    lookups: f64,
    /// Every single insert.
    single: Vec<f64>,
}

impl Measured {
    /// Keeps the shorter times; if it has none yet, takes the other's.
    fn improve(&mut self, other: Measured) {
        if self.single.is_empty() {
            *self = other;
            return;
        }
        self.inserts = self.inserts.min(other.inserts);
        self.lookups = self.lookups.min(other.lookups);
        self.single.iter_mut().zip(other.single).for_each(|(best, time)| *best = best.min(time));
    }

    /// The longest single insert. [us]
    fn longest(&self) -> f64 {
        self.single.iter().fold(0.0, |longest, time| time.max(longest)) * 1e6
    }
}

fn main() {
    for count in WORDS {
        let words = words(count);
        let (mut ours, mut theirs) = (Measured::default(), Measured::default());
        for _ in 0..RUNS {
            ours.improve(measure_table(&words));
            theirs.improve(measure_hashbrown(&words));
        }
        let of = |name: &str, ours: f64, theirs: f64| {
            let rate = |seconds: f64| count as f64 / seconds / 1e6;
            let share = theirs / ours;
            let verdict = if share >= AIM { "reached" } else { "missed" };
            println!(
                "{name} words={count} table={:.2} hashbrown={:.2} share={share:.2} aim={AIM} {verdict}",
                rate(ours),
                rate(theirs)
            );
        };
        of("inserts", ours.inserts, theirs.inserts);
        of("lookups", ours.lookups, theirs.lookups);
        let (ours, theirs) = (ours.longest(), theirs.longest());
        let verdict = if ours < LONGEST { "reached" } else { "missed" };
        println!("longest_insert words={count} table={ours:.1} hashbrown={theirs:.1} aim={LONGEST} {verdict}");
    }
}

/// Different words of 2 to 16 letters, in random order.
fn words(count: usize) -> Vec<Box<[u8]>> {
    let mut state = 1_u64;
    let mut draw = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut words = std::collections::BTreeSet::new();
    let mut inserted = Vec::with_capacity(count);
    while inserted.len() < count {
        let length = 2 + (draw() % 8) + (draw() % 8);
        let word: Box<[u8]> = (0..length).map(|_| b'a' + (draw() % 26) as u8).collect();
        if words.insert(word.clone()) {
            inserted.push(word);
        }
    }
    inserted
}

/// Inserts all words, looks them all up in another order, and inserts them all into a second table, timing each insert.
fn measure_table(words: &[Box<[u8]>]) -> Measured {
    let hasher = DefaultHashBuilder::default();
    let body: Body = [7; 64];
    let keys = words.to_vec();
    let mut table = Table::new(0);
    let inserts = timed(|| {
        for key in keys {
            let _ = black_box(table.put(hasher.hash_one(&key), key, body));
        }
    });
    let lookups = timed(|| {
        for key in shuffled(words) {
            assert!(black_box(table.get(hasher.hash_one(key), key)).is_some());
        }
    });
    let mut again = Table::new(0);
    let single = single(words, |key| {
        let _ = black_box(again.put(hasher.hash_one(&key), key, body));
    });
    Measured { inserts, lookups, single }
}

fn measure_hashbrown(words: &[Box<[u8]>]) -> Measured {
    let body: Body = [7; 64];
    let keys = words.to_vec();
    let mut table = HashMap::<Box<[u8]>, Body>::new();
    let inserts = timed(|| {
        for key in keys {
            black_box(table.insert(key, body));
        }
    });
    let lookups = timed(|| {
        for key in shuffled(words) {
            assert!(black_box(table.get(key)).is_some());
        }
    });
    let mut again = HashMap::<Box<[u8]>, Body>::new();
    let single = single(words, |key| {
        black_box(again.insert(key, body));
    });
    Measured { inserts, lookups, single }
}

/// The words in an order different from that of insertion.
fn shuffled(words: &[Box<[u8]>]) -> impl Iterator<Item = &Box<[u8]>> {
    const STRIDE: usize = 7_919; // a prime that divides no number of words
    (0..words.len()).map(|number| &words[number * STRIDE % words.len()])
}

fn single(words: &[Box<[u8]>], mut insert: impl FnMut(Box<[u8]>)) -> Vec<f64> {
    let keys = words.to_vec();
    keys.into_iter().map(|key| timed(|| insert(key))).collect()
}

#[allow(clippy::disallowed_methods)] // a benchmark measures real time
fn timed(run: impl FnOnce()) -> f64 {
    let start = std::time::Instant::now();
    run();
    start.elapsed().as_secs_f64()
}
