//! The requests of clients, and their times.

use quantities::{Duration, splitmix64};

use crate::Key;

/// How often keys are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Popularity {
    /// All keys equally.
    #[default]
    Uniform,
    /// The first key twice as often as the second, three times as often as the third, and so on.
    Zipf,
}

impl Popularity {
    /// Both.
    pub const fn all() -> [Popularity; 2] {
        [Popularity::Uniform, Popularity::Zipf]
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Popularity::Uniform => "uniform",
            Popularity::Zipf => "zipf",
        }
    }

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Popularity::Uniform => "All keys are read alike",
            Popularity::Zipf => "The first key is read r times as often as the r-th",
        }
    }
}

quantities::written_by_name!(Popularity);

/// The requests of all clients together: N keys are inserted, and R times as many reads are made meanwhile.
///
/// Client k of c inserts the keys k, k + c, k + 2 c, ..., so that the first keys are inserted first. Between two
/// requests it waits for a random time of up to twice the period.
///
/// With [`Popularity::Zipf`], the r-th of the n keys inserted by then is read with probability 1 / (r H_n), where
/// H_n = 1 + 1/2 + ... + 1/n. Source: Zipf, "Human behavior and the principle of least effort", 1949.
#[derive(Clone, Debug)]
pub struct Workload {
    /// c, the number of clients.
    pub clients: u32,
    /// N, the number of keys.
    keys: u32,
    /// The probability that a request is a read, R / (1 + R). [of 2^64]
    reads: u64,
    period: Duration,
    /// H_1, H_2, ... for Zipf; empty if all keys are read equally.
    harmonic: Vec<f64>,
}

/// The next request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Inserts a key.
    Insert(Key),
    /// Reads a key.
    Read(Key),
}

/// Two to the power of 64.
const WHOLE: f64 = 18_446_744_073_709_551_616.0;

impl Workload {
    /// A workload of `clients` clients, with on average `reads` reads per insert and `period` between an answer and the
    /// next request.
    pub fn new(clients: u32, keys: u32, reads: f64, period: Duration, popularity: Popularity) -> Workload {
        let sums = (1..=keys).scan(0.0, |sum, rank| {
            *sum += 1.0 / f64::from(rank);
            Some(*sum)
        });
        let harmonic = if popularity == Popularity::Zipf { sums.collect() } else { Vec::new() };
        // The cast saturates.
        Workload { clients, keys, reads: (reads / (1.0 + reads) * WHOLE) as u64, period, harmonic }
    }

    /// The part of client k.
    pub const fn of_client(&self, k: u32, seed: u64) -> Draws<'_> {
        let state = splitmix64::mix64(seed ^ splitmix64::mix64((k as u64 + 1).wrapping_mul(splitmix64::GAMMA)));
        Draws { workload: self, state, asides: splitmix64::mix64(state), next: k }
    }
}

/// The remaining requests of a client.
#[derive(Clone, Debug)]
pub struct Draws<'a> {
    workload: &'a Workload,
    state: u64,
    /// The state for draws unrelated to keys and times, so that these do not depend on what else is drawn.
    asides: u64,
    /// The key that it inserts next.
    next: u32,
}

impl Draws<'_> {
    const fn below(&mut self, limit: u64) -> u64 {
        below(&mut self.state, limit)
    }

    /// One of `servers` servers.
    pub const fn server(&mut self, servers: u32) -> u32 {
        below(&mut self.asides, servers as u64) as u32
    }

    /// How long it waits before the next request.
    pub const fn pause(&mut self) -> Duration {
        Duration::from_picoseconds(self.below(self.workload.period.picoseconds().saturating_mul(2).saturating_add(1)))
    }

    /// Its next request; nothing once it has inserted its keys.
    pub fn ask(&mut self) -> Option<Ask> {
        let Workload { clients, keys, reads, .. } = *self.workload;
        if self.next >= keys {
            return None;
        }
        if splitmix64::draw(&mut self.state) < reads {
            return Some(Ask::Read(key(self.popular())));
        }
        let new = self.next;
        self.next = new.saturating_add(clients);
        Some(Ask::Insert(key(new)))
    }

    /// One of the keys already inserted, assuming that the other clients are as far as this one.
    fn popular(&mut self) -> u32 {
        let there = (self.next - self.next % self.workload.clients).max(1);
        let Some(most) = self.workload.harmonic.get(there as usize - 1) else { return self.below(there.into()) as u32 };
        let drawn = splitmix64::draw(&mut self.state) as f64 / WHOLE * most;
        let rank = self.workload.harmonic.partition_point(|sum| *sum <= drawn) as u32;
        rank.min(there - 1)
    }
}

/// A number below `limit`.
const fn below(state: &mut u64, limit: u64) -> u64 {
    ((splitmix64::draw(state) as u128 * limit as u128) >> 64) as u64
}

fn key(number: u32) -> Key {
    format!("key:{number:08}").into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(workload: &Workload, client: u32) -> Vec<Ask> {
        let mut draws = workload.of_client(client, 7);
        std::iter::from_fn(|| draws.ask()).collect()
    }

    #[test]
    fn every_key_is_inserted_once_and_as_much_is_read_as_asked_for() {
        let workload = Workload::new(3, 1_000, 4.0, Duration::ZERO, Popularity::Uniform);
        let (mut inserted, mut reads) = (Vec::new(), 0);
        for ask in (0..3).flat_map(|client| asks(&workload, client)) {
            match ask {
                Ask::Insert(key) => inserted.push(key),
                Ask::Read(_) => reads += 1,
            }
        }
        inserted.sort_unstable();
        assert!(inserted.iter().cloned().eq((0..1_000).map(key)));
        assert!((3_700..4_300).contains(&reads), "{reads}");
    }

    #[test]
    fn only_keys_are_read_that_are_there_and_the_first_as_often_as_zipf_says() {
        let workload = Workload::new(1, 5_000, 20.0, Duration::ZERO, Popularity::Zipf);
        let (mut there, mut reads, mut due) = (0, [0.0; 3], [0.0; 3]);
        for ask in asks(&workload, 0) {
            match ask {
                Ask::Insert(_) => there += 1,
                Ask::Read(read) => {
                    assert!(read < key(there.max(1)));
                    for rank in 0..3 {
                        reads[rank as usize] += f64::from(u8::from(read == key(rank)));
                        let all = workload.harmonic[there.max(1) as usize - 1];
                        due[rank as usize] += 1.0 / f64::from(rank + 1) / all;
                    }
                }
            }
        }
        assert!(reads.iter().zip(due).all(|(reads, due)| (0.95..1.05).contains(&(reads / due))), "{reads:?} {due:?}");
    }

    #[test]
    fn pauses_are_as_long_as_the_period_on_the_mean() {
        let workload = Workload::new(1, 1, 0.0, Duration::from_microseconds(10), Popularity::Uniform);
        let mut draws = workload.of_client(0, 1);
        let all: u64 = (0..10_000).map(|_| draws.pause().picoseconds()).sum();
        assert!((9_800_000..10_200_000).contains(&(all / 10_000)), "{all}");
    }
}
