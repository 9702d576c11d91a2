//! Large values over real sockets: they are shared and not copied, and yet no client sees a change that came after its
//! reply.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linear_hash::Growth;
use maquette_store::journal::disk::{Data, Fsync};
use maquette_store::journal::frame::{FILE_HEADER, Frames, Next};
use maquette_store::large::LARGE;
use maquette_store::link::Secret;
use maquette_store::member::{Durability, Policy, Role};
use maquette_store::node::Settings;
use maquette_store::serve::{Pool, Server};
use quantities::Duration as SimulatedDuration;

/// More than two sockets and the system's buffers between them hold. [B]
const LENGTH: usize = 48 << 20;
/// The longest that a client waits for anything.
const LONGEST: Duration = Duration::from_secs(60);

/// A store that listens on the loopback interface, and ends with the test.
struct Store {
    address: SocketAddr,
    /// Where clients that follow slots connect, and where other members do.
    followers: SocketAddr,
    members: SocketAddr,
    ends: Arc<AtomicBool>,
    serves: Option<JoinHandle<()>>,
}

impl Store {
    fn start() -> Store {
        Store::member(1, Vec::new(), u64::MAX)
    }

    /// A store that keeps its data in this directory.
    fn kept_in(directory: &Path) -> Store {
        Store::serving(1, Some(kept(directory, Data::LEAST_LOGS)), Vec::new(), u64::MAX)
    }

    /// A member with this number that joins others; its servers split when they have most of `capacity` records.
    fn member(number: u64, join: Vec<SocketAddr>, capacity: u64) -> Store {
        Store::serving(number, None, join, capacity)
    }

    fn serving(number: u64, data: Option<Data>, join: Vec<SocketAddr>, capacity: u64) -> Store {
        Store::at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), number, data, join, capacity)
    }

    /// A member that others find at this address.
    fn at(members: SocketAddr, number: u64, data: Option<Data>, join: Vec<SocketAddr>, capacity: u64) -> Store {
        let (sender, receiver) = channel();
        let ends = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&ends);
        let serves = thread::spawn(move || {
            let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let pool = Pool { members, join, data, ..pool(nowhere, capacity) };
            let mut server = Server::listen(&[nowhere], Settings::default(), pool, [number; 3]).unwrap();
            sender.send((server.addresses()[0], server.own().clients, server.own().address)).unwrap();
            server.serve(|| is_over.load(Ordering::Relaxed)).unwrap();
        });
        let (address, followers, members) = receiver.recv_timeout(LONGEST).unwrap();
        Store { address, followers, members, ends, serves: Some(serves) }
    }

    fn connect(&self) -> Client {
        Client::of(self.address)
    }
}

/// Data that is kept in this directory; a snapshot is made when logs are as large as `least_logs`. [B]
fn kept(directory: &Path, least_logs: u64) -> Data {
    Data { directory: directory.to_owned(), fsync: Fsync::EverySecond, least_logs, has_parity: false }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        let ended = self.serves.take().map(JoinHandle::join);
        assert!(thread::panicking() || ended.is_some_and(|ended| ended.is_ok()));
    }
}

/// How a member takes part in a pool.
fn pool(nowhere: SocketAddr, capacity: u64) -> Pool {
    let growth = Growth { capacity, sensitivity: 0.8, shrink: None, apart: false, most_servers: 16, chunk: 4 };
    Pool {
        members: nowhere,
        followers: nowhere,
        announced: None,
        join: Vec::new(),
        secret: Secret::of(b""),
        tls: None,
        policy: Policy {
            growth,
            servers_each: 1,
            patience: SimulatedDuration::from_microseconds(1_000),
            durability: Durability::default(),
        },
        data: None,
        role: Role::Data,
        parity: None,
        random: || Ok([7; 32]),
    }
}

struct Client(TcpStream);

impl Client {
    fn of(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONGEST)).unwrap();
        stream.set_write_timeout(Some(LONGEST)).unwrap();
        Client(stream)
    }

    fn send(&mut self, request: &[&[u8]]) {
        self.0.write_all(&written(request)).unwrap();
    }

    fn receives(&mut self, due: &[u8], what: &str) {
        let mut found = vec![0; due.len()];
        self.0.read_exact(&mut found).unwrap();
        assert!(found == due, "{what}: other bytes than were due");
    }

    fn receives_value(&mut self, due: &[u8], what: &str) {
        self.receives(&bulk(due), what);
    }

    fn says(&mut self, request: &[&[u8]], due: &[u8]) {
        self.send(request);
        self.receives(due, &String::from_utf8_lossy(request[0]));
    }
}

/// A request as it is sent.
fn written(request: &[&[u8]]) -> Vec<u8> {
    let header = format!("*{}\r\n", request.len()).into_bytes();
    header.into_iter().chain(request.iter().flat_map(|argument| bulk(argument))).collect()
}

fn bulk(value: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat()
}

/// A value that looks different at every offset.
fn value(seed: u64, length: usize) -> Vec<u8> {
    let blocks = 0..(length as u64).div_ceil(8);
    let mut bytes: Vec<u8> =
        blocks.flat_map(|block| (block + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect();
    bytes.truncate(length);
    bytes
}

#[test]
fn a_value_that_is_being_read_does_not_change_for_its_reader() {
    let store = Store::start();
    let (mut reader, mut writer) = (store.connect(), store.connect());
    let first = value(1, LENGTH);
    writer.says(&[b"SET", b"a", &first], b"+OK\r\n");
    // Each reply is begun, and waits for its reader while the value changes.
    let begin = |reader: &mut Client, due: &[u8]| {
        reader.send(&[b"GET", b"a"]);
        reader.receives(&bulk(due)[..20], "the beginning");
    };
    let end = |reader: &mut Client, due: &[u8], what: &str| reader.receives(&bulk(due)[20..], what);

    begin(&mut reader, &first);
    let second = [&first[..], b"more"].concat();
    writer.says(&[b"APPEND", b"a", b"more"], format!(":{}\r\n", second.len()).as_bytes());
    end(&mut reader, &first, "before APPEND");

    begin(&mut reader, &second);
    let mut third = second.clone();
    third[LENGTH - 5..LENGTH].copy_from_slice(b"other");
    let offset = (LENGTH - 5).to_string();
    writer.says(&[b"SETRANGE", b"a", offset.as_bytes(), b"other"], format!(":{}\r\n", third.len()).as_bytes());
    end(&mut reader, &second, "before SETRANGE");

    begin(&mut reader, &third);
    writer.says(&[b"EXPIREAT", b"a", b"99999999999"], b":1\r\n");
    writer.says(&[b"COPY", b"a", b"b"], b":1\r\n");
    writer.says(&[b"APPEND", b"b", b"!"], format!(":{}\r\n", third.len() + 1).as_bytes());
    writer.says(&[b"RENAME", b"a", b"c"], b"+OK\r\n");
    writer.says(&[b"SET", b"a", b"small"], b"+OK\r\n");
    end(&mut reader, &third, "before EXPIREAT, COPY, RENAME and SET");

    writer.send(&[b"GET", b"b"]);
    writer.receives_value(&[&third[..], b"!"].concat(), "the copy");
    writer.send(&[b"GET", b"c"]);
    writer.receives_value(&third, "under its new name");
    writer.says(&[b"EXPIRETIME", b"c"], b":99999999999\r\n");
    writer.says(&[b"PERSIST", b"c"], b":1\r\n");

    reader.send(&[b"GETDEL", b"c"]);
    writer.says(&[b"GET", b"a"], b"$5\r\nsmall\r\n");
    reader.receives_value(&third, "before it was removed");
    writer.says(&[b"EXISTS", b"c"], b":0\r\n");
}

#[test]
fn large_arguments_are_stored_by_every_command_that_stores_values() {
    let store = Store::start();
    let mut client = store.connect();
    let values: Vec<Vec<u8>> = (0..6).map(|seed| value(seed, LARGE + seed as usize)).collect();
    client.says(&[b"MSET", b"a", &values[0], b"b", b"small", b"c", &values[1]], b"+OK\r\n");
    client.says(&[b"SETEX", b"d", b"1000", &values[2]], b"+OK\r\n");
    client.says(&[b"SETNX", b"e", &values[3]], b":1\r\n");
    client.says(&[b"APPEND", b"f", &values[4]], format!(":{}\r\n", values[4].len()).as_bytes());
    client.send(&[b"GETSET", b"a", &values[5]]);
    client.receives_value(&values[0], "GETSET");
    client.says(&[b"APPEND", b"b", &values[0]], format!(":{}\r\n", 5 + values[0].len()).as_bytes());
    client.says(&[b"MULTI"], b"+OK\r\n");
    client.says(&[b"SET", b"g", &values[1], b"PX", b"1000000"], b"+QUEUED\r\n");
    client.says(&[b"GET", b"g"], b"+QUEUED\r\n");
    client.send(&[b"EXEC"]);
    client.receives(&[b"*2\r\n+OK\r\n", &bulk(&values[1])[..]].concat(), "EXEC");
    let long = [b"small", &values[0][..]].concat();
    let all = [&values[5], &long, &values[1], &values[2], &values[3], &values[4], &values[1]];
    client.send(&[b"MGET", b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"none"]);
    let due: Vec<u8> = all.iter().flat_map(|value| bulk(value)).collect();
    client.receives(&[b"*8\r\n", &due[..], b"$-1\r\n"].concat(), "MGET");
    client.send(&[b"GETRANGE", b"a", b"1", b"-2"]);
    client.receives_value(&values[5][1..values[5].len() - 1], "GETRANGE");
    client.send(&[b"ECHO", &values[0]]);
    client.receives_value(&values[0], "ECHO");
}

#[test]
fn requests_that_follow_a_large_one_at_once_are_carried_out_in_order() {
    let store = Store::start();
    let mut client = store.connect();
    let (first, second) = (value(1, 3 * LARGE), value(2, LARGE));
    let set = |value: &[u8]| [b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n", &bulk(value)[..]].concat();
    let requests = [&set(&first)[..], b"GET a\r\nPING\r\n", &set(&second), b"GET a\r\nSTRLEN a\r\n"].concat();
    let mut writes = client.0.try_clone().unwrap();
    let sends = thread::spawn(move || writes.write_all(&requests).unwrap());
    client.receives(&[b"+OK\r\n", &bulk(&first)[..], b"+PONG\r\n+OK\r\n", &bulk(&second)].concat(), "in order");
    client.receives(b":1048576\r\n", "STRLEN");
    sends.join().unwrap();
}

/// The first line of the reply to STRLEN.
fn length_of(client: &mut Client, key: &[u8]) -> Vec<u8> {
    client.send(&[b"STRLEN", key]);
    let mut reply = Vec::new();
    while !reply.ends_with(b"\r\n") {
        let mut byte = [0];
        client.0.read_exact(&mut byte).unwrap();
        reply.push(byte[0]);
    }
    reply
}

/// Whether another member has the key than the one that this client, which follows slots, asks.
fn has_moved(follower: &mut Client, key: &[u8]) -> bool {
    length_of(follower, key).starts_with(b"-MOVED")
}

#[test]
fn large_values_are_the_same_whatever_member_is_asked_and_wherever_they_move() {
    let first = Store::member(1, Vec::new(), 10);
    let second = Store::member(2, vec![first.members], 10);
    let mut clients = [first.connect(), second.connect()];
    let mut values: Vec<Vec<u8>> = (0..24).map(|seed| value(seed, LARGE / 2 * (1 + seed as usize % 4))).collect();
    let key = |number: usize| format!("key:{number}").into_bytes();
    for (number, value) in values.iter().enumerate() {
        clients[0].says(&[b"SET", &key(number), value], b"+OK\r\n");
    }
    let mut follower = Client::of(first.followers);
    assert!((0..300_000).any(|asked| has_moved(&mut follower, &key(asked % values.len()))), "no server was split");
    for (number, value) in values.iter_mut().enumerate() {
        for client in &mut clients {
            client.send(&[b"GET", &key(number)]);
            client.receives_value(value, "after the split");
        }
        value.extend(b"more");
        clients[number % 2].says(&[b"APPEND", &key(number), b"more"], format!(":{}\r\n", value.len()).as_bytes());
        let other = &mut clients[(number + 1) % 2];
        other.send(&[b"GETEX", &key(number), b"EX", b"100000"]);
        other.receives_value(value, "after APPEND");
        value.reverse();
        other.says(&[b"SET", &key(number), value], b"+OK\r\n");
    }
    let all: Vec<Vec<u8>> = (0..values.len()).map(key).collect();
    let request: Vec<&[u8]> = [&b"MGET"[..]].into_iter().chain(all.iter().map(|key| &key[..])).collect();
    let due: Vec<u8> = values.iter().flat_map(|value| bulk(value)).collect();
    for client in &mut clients {
        client.send(&request);
        client.receives(&[b"*24\r\n", &due[..]].concat(), "MGET");
    }
}

/// The logs in a directory.
fn log_files(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).unwrap().map(|file| file.unwrap().path());
    let number = |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix("log.")?.parse::<u64>().ok();
    files.filter(|path| number(path).is_some()).collect()
}

/// Their size. [B]
fn logs(directory: &Path) -> u64 {
    log_files(directory).iter().map(|path| path.metadata().unwrap().len()).sum()
}

/// An empty directory of this process.
fn empty(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("maquette-large-values-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    directory
}

/// The lengths of the frames in the logs of a directory: each is what was written at once. [B]
fn frames(directory: &Path) -> Vec<usize> {
    let of_log = |path: PathBuf| {
        let mut log = File::open(&path).unwrap();
        let (at, length) = (log.seek(SeekFrom::Start(FILE_HEADER as u64)).unwrap(), log.metadata().unwrap().len());
        let mut frames = Frames::new(log, at, length);
        std::iter::from_fn(move || (frames.next_frame().unwrap() == Next::Frame).then_some(frames.content.len()))
    };
    log_files(directory).into_iter().flat_map(of_log).collect()
}

#[test]
fn large_values_that_another_member_passes_on_are_kept_a_part_at_a_time() {
    let directories = ["first", "second"].map(empty);
    // All logs stay.
    let data = directories.each_ref().map(|directory| Some(Data { has_parity: true, ..kept(directory, u64::MAX) }));
    let [of_first, of_second] = data.clone();
    let first = Store::serving(1, of_first, Vec::new(), u64::MAX);
    let second = Store::serving(2, of_second, vec![first.members], u64::MAX);
    let (mut client, mut other) = (second.connect(), first.connect());
    let values: Vec<Vec<u8>> = (0..6).map(|seed| value(seed, (9 << 20) + seed as usize)).collect();

    client.send(&[b"SET", b"a", &values[0]]);
    // Another log begins while a value is being written.
    assert!((0..300_000).any(|_| {
        other.says(&[b"PING"], b"+PONG\r\n");
        logs(&directories[0]) >= 1 << 20
    }));
    other.says(&[b"SAVE"], b"+OK\r\n");
    client.receives(b"+OK\r\n", "SET");
    client.says(&[b"MSET", b"b", &values[1], b"c", b"small", b"d", &values[2]], b"+OK\r\n");
    client.says(&[b"MULTI"], b"+OK\r\n");
    client.says(&[b"SET", b"e", &values[3]], b"+QUEUED\r\n");
    client.says(&[b"SET", b"f{e}", &values[4], b"PXAT", b"99999999999000"], b"+QUEUED\r\n");
    client.says(&[b"EXEC"], b"*2\r\n+OK\r\n+OK\r\n");
    client.says(&[b"SET", b"a", &values[5], b"NX"], b"$-1\r\n");
    // What was passed on is where it belongs, and is written no longer than a part at a time.
    let due =
        [(&b"a"[..], &values[0]), (b"b", &values[1]), (b"d", &values[2]), (b"e", &values[3]), (b"f{e}", &values[4])];
    for (key, value) in due {
        other.send(&[b"GET", key]);
        other.receives_value(value, &String::from_utf8_lossy(key));
    }
    let longest = frames(&directories[0]).into_iter().max().unwrap();
    assert!((1 << 20..(1 << 20) + 1_000).contains(&longest), "{longest} bytes were written at once");
    drop((client, other, second, first));

    for start in 0..2 {
        let first = Store::serving(1, data[0].clone(), Vec::new(), u64::MAX);
        let mut client = first.connect();
        for (key, value) in due {
            client.send(&[b"GET", key]);
            client.receives_value(value, &format!("{} after start {start}", String::from_utf8_lossy(key)));
        }
        client.says(&[b"MGET", b"c", b"none"], b"*2\r\n$5\r\nsmall\r\n$-1\r\n");
        client.says(&[b"EXPIRETIME", b"f{e}"], b":99999999999\r\n");
        // The second start reads everything from a snapshot.
        client.says(&[b"SAVE"], b"+OK\r\n");
    }
    directories.iter().for_each(|directory| fs::remove_dir_all(directory).unwrap());
}

#[test]
fn large_values_that_move_to_another_member_are_kept_a_part_at_a_time() {
    let directories = ["splits", "new"].map(empty);
    // All logs stay.
    let data = directories.each_ref().map(|directory| Some(Data { has_parity: true, ..kept(directory, u64::MAX) }));
    let start = |addresses: [SocketAddr; 2]| {
        let [of_first, of_second] = data.clone();
        let first = Store::at(addresses[0], 1, of_first, Vec::new(), 10);
        let second = Store::at(addresses[1], 2, of_second, vec![first.members], 10);
        (first, second)
    };
    let (first, second) = start([SocketAddr::from((Ipv4Addr::LOCALHOST, 0)); 2]);
    let addresses = [first.members, second.members];
    let key = |number: usize| format!("key:{number}").into_bytes();
    let values: Vec<Vec<u8>> = (0..24).map(|seed| value(seed, if seed % 3 == 0 { 5 << 20 } else { 100 })).collect();
    // Both are in the pool before the first server is full.
    second.connect().says(&[b"SET", b"other", b"value"], b"+OK\r\n");
    let mut client = first.connect();
    for (number, value) in values.iter().enumerate() {
        client.says(&[b"SET", &key(number), value], b"+OK\r\n");
    }
    let mut follower = Client::of(first.followers);
    let have_moved = |follower: &mut Client| (0..24).filter(|number| has_moved(follower, &key(*number))).count();
    assert!((0..100_000).any(|_| have_moved(&mut follower) > 6), "half of the keys move");
    let mut other = second.connect();
    for (number, value) in values.iter().enumerate() {
        other.send(&[b"GET", &key(number)]);
        other.receives_value(value, "after the split");
    }
    let written = frames(&directories[1]);
    let longest = written.into_iter().max().unwrap();
    assert!((1 << 20..(1 << 20) + 10_000).contains(&longest), "{longest} bytes were written at once");
    drop((client, other, follower, second, first));

    let (first, second) = start(addresses);
    for client in [&mut first.connect(), &mut second.connect()] {
        // Until the two have met, keys of the other one can't be reached.
        let mut can_be_read =
            (0..24).map(|number| (0..1_000).any(|_| length_of(client, &key(number)).starts_with(b":")));
        assert!(can_be_read.all(|can| can));
        for (number, value) in values.iter().enumerate() {
            client.send(&[b"GET", &key(number)]);
            client.receives_value(value, "after a start");
        }
    }
    drop((second, first));
    directories.iter().for_each(|directory| fs::remove_dir_all(directory).unwrap());
}

#[test]
fn few_parts_are_kept_of_a_value_that_arrives_a_few_bytes_at_a_time() {
    let directory = empty("slow");
    // A log of half a value would be replaced by a snapshot.
    let store =
        Store::serving(1, Some(Data { has_parity: true, ..kept(&directory, LARGE as u64 / 2) }), Vec::new(), 10);
    let (mut client, mut other) = (store.connect(), store.connect());
    let slow = value(1, LARGE + 5);
    for piece in written(&[b"SET", b"a", &slow]).chunks(2_000) {
        assert_eq!(log_files(&directory).len(), 1, "no other log is written while a value arrives");
        client.0.write_all(piece).unwrap();
        // It has arrived when the loop takes the next request.
        other.says(&[b"PING"], b"+PONG\r\n");
    }
    client.receives(b"+OK\r\n", "SET");
    let written = frames(&directory).len();
    assert!(written < 30, "{written} writes, of 64 KiB on average");
    assert!((0..300_000).any(|_| {
        other.says(&[b"PING"], b"+PONG\r\n");
        log_files(&directory).len() > 1
    }));
    drop(store);
    let store = Store::kept_in(&directory);
    let mut client = store.connect();
    client.send(&[b"GET", b"a"]);
    client.receives_value(&slow, "after a start");
    drop(store);
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn large_values_are_kept_a_part_at_a_time_and_are_there_after_a_start() {
    let directory = empty("client");
    let store = Store::kept_in(&directory);
    let (mut client, mut other) = (store.connect(), store.connect());
    let values: Vec<Vec<u8>> = (0..5).map(|seed| value(seed, 12 << 20)).collect();
    let is_written = |other: &mut Client, least: u64| {
        // Each turn of the loop may write more.
        assert!((0..300_000).any(|_| {
            other.says(&[b"PING"], b"+PONG\r\n");
            logs(&directory) >= least
        }));
    };

    // What has arrived of a value is written before the rest comes, and no more than once.
    let request = written(&[b"SET", b"a", &values[0]]);
    let (first, rest) = request.split_at(10 << 20);
    client.0.write_all(first).unwrap();
    is_written(&mut other, 9 << 20);
    client.0.write_all(rest).unwrap();
    client.receives(b"+OK\r\n", "SET");
    assert!(logs(&directory) < 13 << 20, "it was written twice");

    // Another log is begun while a value arrives: all of that value is written to the new log.
    let request = written(&[b"SET", b"b", &values[1]]);
    let (first, rest) = request.split_at(6 << 20);
    client.0.write_all(first).unwrap();
    is_written(&mut other, 17 << 20);
    other.says(&[b"SAVE"], b"+OK\r\n");
    client.0.write_all(rest).unwrap();
    client.receives(b"+OK\r\n", "SET");

    // A client disconnects in the middle of a value, and a value is refused.
    let mut gone = store.connect();
    gone.0.write_all(&written(&[b"SET", b"b", &values[2]])[..8 << 20]).unwrap();
    drop(gone);
    client.says(&[b"SET", b"b", &values[2], b"NX"], b"$-1\r\n");

    client.says(&[b"COPY", b"a", b"c"], b":1\r\n");
    client.says(&[b"APPEND", b"a", b"more"], format!(":{}\r\n", values[0].len() + 4).as_bytes());
    client.says(&[b"RENAME", b"b", b"d"], b"+OK\r\n");
    client.says(&[b"EXPIREAT", b"d", b"99999999999"], b":1\r\n");
    client.says(&[b"MSET", b"e", &values[3], b"f", &values[4]], b"+OK\r\n");
    // Two clients have sent values at the same time.
    assert!(frames(&directory).iter().all(|length| *length < (2 << 20) + 1_000));
    drop(store);

    let longer = [&values[0][..], b"more"].concat();
    let due = [(b"a", &longer), (b"c", &values[0]), (b"d", &values[1]), (b"e", &values[3]), (b"f", &values[4])];
    for start in 0..2 {
        let store = Store::kept_in(&directory);
        let mut client = store.connect();
        for (key, value) in due {
            client.send(&[b"GET", key]);
            client.receives_value(value, &format!("{} after start {start}", char::from(key[0])));
        }
        client.says(&[b"EXISTS", b"b"], b":0\r\n");
        client.says(&[b"EXPIRETIME", b"d"], b":99999999999\r\n");
        // The second start reads everything from a snapshot.
        client.says(&[b"SAVE"], b"+OK\r\n");
    }
    fs::remove_dir_all(&directory).unwrap();
}
