//! `maquette store bench`.

use std::net::SocketAddr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration as WallDuration, Instant};

use ::store::client::{Counts, Error, Options, Pool};
use ::store::resp::Value;
use clap::Args;
use formats::interrupt;
use hdrhistogram::Histogram;
use quantities::splitmix64::Draws;
use quantities::{Bytes, Duration};
use report::terminal::{Side, columns};
use serde_json::{Value as Json, json};

use super::access::Access;
use super::address;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::quantity::seconds;
use crate::{CommandOutput, json};

/// How many keys are stored at a time before a test, or deleted at a time at the end.
const AT_A_TIME: u64 = 512;
/// How often the display is updated and Ctrl-C is checked.
const LOOK: WallDuration = WallDuration::from_millis(50);
/// The longest time that is recorded exactly. [ns]
const LONGEST: u64 = 60_000_000_000;
/// The number of places in the same bytes at which values begin.
const VALUES: u64 = 4_096;
/// The largest value and the most clients, keys and pending requests allowed.
const LARGEST_VALUE: Bytes = Bytes(64 << 20);
const MOST_CLIENTS: u64 = 10_000;
const MOST_KEYS: u64 = 1 << 40;
const MOST_PIPELINED: u64 = 100_000;

/// Measure the throughput and latency of a store or a pool
///
/// Clients write, read, and mix both, each with its own connections; they ask each member directly for the keys that it
/// has. Every reply is checked: a key has the same value whenever it is stored. Keys begin with `bench:`; they are
/// stored beforehand and deleted at the end.
///
/// A latency is the time from sending a batch of requests to the last of its replies. The exit status is 1 if a reply
/// was wrong.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  maquette store bench 127.0.0.1:6379 --clients 8 --pipeline 16")]
pub(super) struct Arguments {
    /// A member of the pool, with its port for clients.
    #[arg(value_name = "HOST:PORT", default_value = "127.0.0.1:6379")]
    member: String,
    /// The number of clients, each on a thread of its own.
    #[arg(long, value_name = "N", default_value_t = 8)]
    clients: u64,
    /// The number of requests that a client sends at a time.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pipeline: u64,
    /// The number of requests in each test, by all clients together.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    requests: u64,
    /// Run each test for this time instead, in seconds or with a unit.
    #[arg(long, value_name = "S", conflicts_with = "requests", value_parser = seconds)]
    duration: Option<Duration>,
    /// The size of values.
    #[arg(long, value_name = "BYTES", default_value = "64B")]
    value_size: Bytes,
    /// The number of keys.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    keys: u64,
    /// The share of reads in the mixed test.
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    mix: f64,
    /// The seed of the order of keys.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    access: Access,
}

/// The stored values: that of a key is a slice of the same bytes, chosen by its number.
struct Records {
    bytes: Vec<u8>,
    size: usize,
    keys: u64,
}

impl Records {
    fn new(seed: u64, size: Bytes, keys: u64) -> Records {
        let mut draws = Draws(!seed);
        let length = size.0 + VALUES;
        let bytes = (0..length.div_ceil(8)).flat_map(|_| draws.next().to_le_bytes()).collect();
        Records { bytes, size: size.0 as usize, keys }
    }

    fn key(number: u64) -> String {
        format!("bench:{number:012}")
    }

    fn value(&self, number: u64) -> &[u8] {
        let start = (number % VALUES) as usize;
        &self.bytes[start..start + self.size]
    }
}

/// One of the tests.
#[derive(Clone, Copy)]
struct Test {
    name: &'static str,
    /// The share of reads.
    reads: f64,
}

/// The result of a test.
struct Found {
    test: Test,
    requests: u64,
    wrong: u64,
    elapsed: WallDuration,
    /// [ns]
    times: Histogram<u64>,
    counts: Counts,
}

/// The result of one client.
struct Part {
    requests: u64,
    wrong: u64,
    times: Histogram<u64>,
    ended: Instant,
    counts: Counts,
}

/// The shared state of a test's clients.
struct Course<'a> {
    arguments: &'a Arguments,
    member: SocketAddr,
    records: &'a Records,
    options: &'a Options,
    test: Test,
    begins: Barrier,
    /// Requests that clients have taken.
    taken: AtomicU64,
    is_over: AtomicBool,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        self.check()?;
        let options = self.access.options(Options::default().patience)?;
        let records = Records::new(self.seed, self.value_size, self.keys);
        let member = address(&self.member)?;
        let mut pool = Pool::open(&[member], options.clone())?;
        let bar = Bar::new();
        self.of_all_keys(&mut pool, &bar, Some(&records))?;
        let tests = [("set", 0.0), ("get", 1.0), ("mix", self.mix)].map(|(name, reads)| Test { name, reads });
        let mut found = Vec::new();
        for test in tests {
            found.push(self.run(member, &records, &options, test, &bar)?);
        }
        self.of_all_keys(&mut pool, &bar, None)?;
        drop(bar);
        let wrong: u64 = found.iter().map(|found| found.wrong).sum();
        let text = if as_json { self.json(&found) } else { self.text(&found) };
        Ok(CommandOutput { text, status: i32::from(wrong > 0) })
    }

    fn check(&self) -> Result<(), Failure> {
        for (name, found, most) in [
            ("--clients", self.clients, MOST_CLIENTS),
            ("--pipeline", self.pipeline, MOST_PIPELINED),
            ("--requests", self.requests, u64::MAX),
            ("--keys", self.keys, MOST_KEYS),
        ] {
            if found == 0 || found > most {
                return Err(Failure::argument(name, found, format!("1 to {most}")));
            }
        }
        if self.value_size > LARGEST_VALUE {
            return Err(Failure::argument("--value-size", self.value_size, format!("at most {LARGEST_VALUE}")));
        }
        if !(0.0..=1.0).contains(&self.mix) {
            return Err(Failure::argument("--mix", self.mix, "0 to 1"));
        }
        Ok(())
    }

    /// Stores all keys, or deletes them, many at a time.
    fn of_all_keys(&self, pool: &mut Pool, bar: &Bar, stored: Option<&Records>) -> Result<(), Failure> {
        let what = if stored.is_some() { "storing keys" } else { "deleting keys" };
        for first in (0..self.keys).step_by(AT_A_TIME as usize) {
            if interrupt::requested() {
                return Err(Failure::Interrupted);
            }
            bar.show(first as f64 / self.keys as f64, what.to_owned());
            let mut pipeline = pool.pipeline();
            for number in first..self.keys.min(first + AT_A_TIME) {
                let key = Records::key(number);
                match stored {
                    Some(records) => pipeline.ask(&[b"SET", key.as_bytes(), records.value(number)]),
                    None => pipeline.ask(&[b"DEL", key.as_bytes()]),
                };
            }
            for answer in pipeline.execute()? {
                answer?;
            }
        }
        Ok(())
    }

    fn run(
        &self,
        member: SocketAddr,
        records: &Records,
        options: &Options,
        test: Test,
        bar: &Bar,
    ) -> Result<Found, Failure> {
        let course = Course {
            arguments: self,
            member,
            records,
            options,
            test,
            begins: Barrier::new(self.clients as usize + 1),
            taken: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        };
        thread::scope(|scope| {
            let course = &course;
            let clients: Vec<_> = (0..self.clients).map(|client| scope.spawn(move || course.client(client))).collect();
            course.begins.wait();
            let began = clock();
            while !clients.iter().all(thread::ScopedJoinHandle::is_finished) {
                thread::sleep(LOOK);
                let elapsed = clock().duration_since(began);
                if self.length().is_some_and(|length| elapsed >= length) || interrupt::requested() {
                    course.is_over.store(true, Ordering::Relaxed);
                }
                bar.show(course.share(elapsed), test.name.to_owned());
            }
            let parts: Result<Vec<Part>, Error> =
                clients.into_iter().map(|client| client.join().unwrap_or(Err(Error::Interrupted))).collect();
            let parts = parts?;
            if interrupt::requested() { Err(Failure::Interrupted) } else { Ok(Found::of(test, began, parts)) }
        })
    }

    fn length(&self) -> Option<WallDuration> {
        self.duration.map(|length| WallDuration::from_nanos(length.picoseconds() / 1_000))
    }

    fn json(&self, found: &[Found]) -> String {
        json(&json!({
            "clients": self.clients,
            "pipeline": self.pipeline,
            "value_bytes": self.value_size.0,
            "keys": self.keys,
            "mix": self.mix,
            "seed": self.seed,
            "tests": found.iter().map(Found::json).collect::<Vec<Json>>(),
        }))
    }

    fn text(&self, found: &[Found]) -> String {
        let Arguments { clients, pipeline, value_size, keys, .. } = self;
        let head = ["test", "requests", "requests/s", "p50 ms", "p95 ms", "p99 ms", "p99.9 ms", "max ms", "MOVED"];
        let head = head.into_iter().chain(["adjusted", "again", "wrong"]).map(str::to_owned);
        let head: Vec<String> = head.collect();
        let rows: Vec<[String; 12]> = head.try_into().into_iter().chain(found.iter().map(Found::row)).collect();
        let mut sides = [Side::Right; 12];
        sides[0] = Side::Left;
        format!(
            "clients {clients}, pipeline {pipeline}, values of {value_size}, keys {keys}, reads in mix {}\n{}",
            self.mix,
            columns(sides, &rows)
        )
    }
}

impl Course<'_> {
    /// One client, from its connections to its last reply.
    fn client(&self, number: u64) -> Result<Part, Error> {
        let pool = Pool::open(&[self.member], self.options.clone());
        // The others wait for this one, even if it has failed.
        self.begins.wait();
        let part = pool.and_then(|pool| self.ask(pool, number));
        if part.is_err() {
            self.is_over.store(true, Ordering::Relaxed);
        }
        part
    }

    fn ask(&self, mut pool: Pool, number: u64) -> Result<Part, Error> {
        let mut draws = Draws(self.arguments.seed);
        (0..=number).for_each(|_| draws = Draws(draws.next()));
        let (mut times, mut requests, mut wrong) = (histogram(), 0, 0);
        while !self.is_over.load(Ordering::Relaxed) {
            let count = self.take();
            if count == 0 {
                break;
            }
            let mut pipeline = pool.pipeline();
            let asked: Vec<(u64, bool)> = (0..count).map(|_| self.draw(&mut draws)).collect();
            for &(number, reads) in &asked {
                let key = Records::key(number);
                match reads {
                    true => pipeline.ask(&[b"GET", key.as_bytes()]),
                    false => pipeline.ask(&[b"SET", key.as_bytes(), self.records.value(number)]),
                };
            }
            let began = clock();
            let answers = pipeline.execute()?;
            times.saturating_record_n(clock().duration_since(began).as_nanos() as u64, count);
            requests += count;
            for (&(number, reads), answer) in asked.iter().zip(answers) {
                let due = if reads { self.records.value(number) } else { b"OK" };
                wrong += u64::from(!matches!(answer?, Value::Text(text) if text == due));
            }
        }
        Ok(Part { requests, wrong, times, ended: clock(), counts: pool.counts() })
    }

    /// A key, and whether it is read.
    fn draw(&self, draws: &mut Draws) -> (u64, bool) {
        let number = draws.below(self.records.keys);
        (number, draws.share() < self.test.reads)
    }

    /// Takes as many requests as are sent together, or as are left.
    fn take(&self) -> u64 {
        let Arguments { pipeline, requests, .. } = *self.arguments;
        let before = self.taken.fetch_add(pipeline, Ordering::Relaxed);
        if self.arguments.duration.is_some() { pipeline } else { requests.saturating_sub(before).min(pipeline) }
    }

    /// How much of the test is over.
    fn share(&self, elapsed: WallDuration) -> f64 {
        match self.arguments.length() {
            Some(length) => elapsed.as_secs_f64() / length.as_secs_f64().max(f64::MIN_POSITIVE),
            None => self.taken.load(Ordering::Relaxed) as f64 / self.arguments.requests as f64,
        }
    }
}

impl Found {
    fn of(test: Test, began: Instant, parts: Vec<Part>) -> Found {
        let ended = parts.iter().map(|part| part.ended).max().unwrap_or(began);
        let elapsed = ended.duration_since(began);
        let mut found = Found { test, requests: 0, wrong: 0, elapsed, times: histogram(), counts: Counts::default() };
        for part in parts {
            found.requests += part.requests;
            found.wrong += part.wrong;
            // All have the same bounds.
            let _ = found.times.add(&part.times);
            found.counts = sum(found.counts, part.counts);
        }
        found
    }

    fn per_second(&self) -> f64 {
        self.requests as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Percentiles. [ns]
    fn percentiles(&self) -> [(&'static str, u64); 5] {
        let at = |share: f64| self.times.value_at_quantile(share);
        [("p50", at(0.5)), ("p95", at(0.95)), ("p99", at(0.99)), ("p99.9", at(0.999)), ("max", self.times.max())]
    }

    fn json(&self) -> Json {
        let Counts { moved, adjustments, delays, maps, .. } = self.counts;
        let mut latency = serde_json::Map::new();
        for (name, nanoseconds) in self.percentiles() {
            latency.insert(name.to_owned(), json!(nanoseconds as f64 / 1e3));
        }
        json!({
            "test": self.test.name,
            "requests": self.requests,
            "seconds": self.elapsed.as_secs_f64(),
            "requests_per_second": self.per_second(),
            "latency_us": latency,
            "moved": moved,
            "adjustments": adjustments,
            "delays": delays,
            "maps": maps,
            "wrong": self.wrong,
        })
    }

    fn row(&self) -> [String; 12] {
        let [p50, p95, p99, p999, max] = self.percentiles().map(|(_, time)| format!("{:.3}", time as f64 / 1e6));
        let Counts { moved, adjustments, delays, .. } = self.counts;
        let [requests, moved, adjustments, delays, wrong] =
            [self.requests, moved, adjustments, delays, self.wrong].map(|count| count.to_string());
        let per_second = format!("{:.0}", self.per_second());
        let name = self.test.name.to_owned();
        [name, requests, per_second, p50, p95, p99, p999, max, moved, adjustments, delays, wrong]
    }
}

/// Times to three digits.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, 3).unwrap_or_else(|_| unreachable!("these bounds are some"))
}

fn sum(a: Counts, b: Counts) -> Counts {
    Counts {
        sent: a.sent + b.sent,
        moved: a.moved + b.moved,
        adjustments: a.adjustments + b.adjustments,
        delays: a.delays + b.delays,
        maps: a.maps + b.maps,
        connections: a.connections + b.connections,
    }
}

#[allow(clippy::disallowed_methods)] // what is measured is time
fn clock() -> Instant {
    Instant::now()
}
