//! What clients see: bytes in, bytes out.

use std::collections::BTreeSet;

use maquette_store::connection::{Connection, Pause};
use maquette_store::host::Host;
use maquette_store::node::{Node, Settings};

/// A node with some clients, and a clock that is set by hand. [ms]
pub struct World {
    pub host: Host,
    pub now: u64,
    pub clients: Vec<Connection>,
}

impl World {
    pub fn new(settings: Settings, clients: usize) -> World {
        let now = 1_700_000_000_000;
        let mut node = Node::new(settings, 6379, [1, 2, 3], now);
        let connect =
            |number: usize| Connection::new(node.connect(format!("localhost:{number}"), String::new(), now), &node);
        let clients = (0..clients).map(connect).collect();
        World { host: Host::alone(node), now, clients }
    }

    /// The reply to a client's line.
    pub fn say(&mut self, client: usize, line: &str) -> String {
        self.send(client, &format!("{line}\r\n"))
    }

    pub fn send(&mut self, client: usize, bytes: &str) -> String {
        let connection = &mut self.clients[client];
        connection.requests.feed(bytes.as_bytes());
        self.host.node().borrow_mut().now = self.now;
        while connection.turn(&mut self.host) == Pause::Turn {}
        let reply = String::from_utf8_lossy(connection.reply.unsent()).into_owned();
        connection.reply.was_sent(reply.len());
        reply
    }
}

#[test]
fn a_transaction_is_carried_out_as_a_unit() {
    let mut world = World::new(Settings::default(), 2);
    assert_eq!(world.say(0, "MULTI"), "+OK\r\n");
    assert_eq!(world.say(0, "SET a 1"), "+QUEUED\r\n");
    assert_eq!(world.say(0, "INCR a"), "+QUEUED\r\n");
    assert_eq!(world.say(0, "INCR a b"), "-ERR wrong number of arguments for 'incr' command\r\n");
    assert_eq!(world.say(0, "EXEC"), "-EXECABORT Transaction discarded because of previous errors.\r\n");
    assert_eq!(world.say(1, "GET a"), "$-1\r\n");
    let replies = world.send(0, "MULTI\r\nSET a x\r\nINCR a\r\nGET a\r\nEXEC\r\n");
    let due = "*3\r\n+OK\r\n-ERR value is not an integer or out of range\r\n$1\r\nx\r\n";
    assert_eq!(replies, format!("+OK\r\n{}{due}", "+QUEUED\r\n".repeat(3)));
    assert_eq!(world.say(0, "EXEC"), "-ERR EXEC without MULTI\r\n");
    assert_eq!(world.send(0, "MULTI\r\nMULTI\r\nWATCH a\r\nDISCARD\r\nDISCARD\r\n").matches("-ERR").count(), 3);
}

#[test]
fn a_transaction_fails_if_a_watched_key_has_changed() {
    let mut world = World::new(Settings::default(), 2);
    for change in ["SET a 2", "DEL a", "APPEND a x", "EXPIRE a 100", "FLUSHALL", "RENAME a b", "SET a 1 PX 5"] {
        world.say(0, "SET a 1");
        assert_eq!(world.say(0, "WATCH a"), "+OK\r\n");
        world.say(1, change);
        assert_eq!(world.send(0, "MULTI\r\nGET a\r\nEXEC\r\n"), "+OK\r\n+QUEUED\r\n*-1\r\n", "{change}");
        assert_eq!(world.send(0, "MULTI\r\nEXEC\r\n"), "+OK\r\n*0\r\n");
    }
    // Requests that do not change the key do not count, nor changes before UNWATCH, nor the removal of a missing key.
    world.send(0, "FLUSHALL\r\nSET a 1\r\nWATCH a b\r\n");
    world.send(1, "GET a\r\nDEL b\r\nSET c 1\r\n");
    assert_eq!(world.send(0, "MULTI\r\nEXEC\r\n"), "+OK\r\n*0\r\n");
    world.send(0, "WATCH a\r\nSET a 2\r\nUNWATCH\r\n");
    assert_eq!(world.send(0, "MULTI\r\nEXEC\r\n"), "+OK\r\n*0\r\n");
    // Expiry is a change.
    world.send(0, "SET a 1 PX 10\r\nWATCH a\r\n");
    world.now += 11;
    assert_eq!(world.send(0, "MULTI\r\nEXEC\r\n"), "+OK\r\n*-1\r\n");
}

#[test]
fn others_are_served_while_a_shared_large_value_is_copied() {
    let mut world = World::new(Settings::default(), 2);
    let value = "v".repeat(5 << 20);
    world.say(0, &format!("SET a {}", &value[..10]));
    world.send(0, &format!("*3\r\n$3\r\nSET\r\n$1\r\na\r\n${}\r\n{value}\r\n", value.len()));
    for (change, due) in [("APPEND b xy", 2), ("SETRANGE b 5242879 zzz", 2)] {
        assert_eq!(world.say(0, "COPY a b REPLACE"), ":1\r\n");
        world.clients[0].requests.feed(format!("{change}\r\n").as_bytes());
        let mut turns = 0;
        while world.clients[0].turn(&mut world.host) == Pause::Turn {
            assert_eq!(world.say(1, "STRLEN b"), ":5242880\r\n", "nothing has changed yet");
            turns += 1;
        }
        assert_eq!(turns, 4, "each turn copies a mebibyte, and the fifth changes the copy");
        let length = value.len() + due;
        assert_eq!(world.say(0, "PING"), format!(":{length}\r\n+PONG\r\n"));
        assert_eq!(world.send(1, "STRLEN a\r\nGETRANGE a -4 -1\r\n"), ":5242880\r\n$4\r\nvvvv\r\n");
        let end = if change.starts_with('A') { "vvxy" } else { "vzzz" };
        assert_eq!(world.say(1, "GETRANGE b -4 -1"), format!("$4\r\n{end}\r\n"));
        // Now nobody shares it.
        world.clients[0].requests.feed(b"APPEND b !\r\n");
        assert_eq!(world.clients[0].turn(&mut world.host), Pause::Receive);
        assert_eq!(world.say(0, "PING"), format!(":{}\r\n+PONG\r\n", length + 1));
    }
}

#[test]
fn others_are_served_while_the_shared_large_values_that_a_transaction_changes_are_copied() {
    let mut world = World::new(Settings::default(), 2);
    let value = "v".repeat(5 << 20);
    world.send(0, &format!("*3\r\n$3\r\nSET\r\n$1\r\na\r\n${}\r\n{value}\r\n", value.len()));
    assert_eq!(world.say(0, "COPY a b"), ":1\r\n");
    let queued = "MULTI\r\nAPPEND a xy\r\nGET c\r\nSETRANGE b 0 zzz\r\nAPPEND a !\r\n";
    assert_eq!(world.send(0, queued), "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n");
    world.clients[0].requests.feed(b"EXEC\r\n");
    let mut turns = 0;
    while world.clients[0].turn(&mut world.host) == Pause::Turn {
        assert_eq!(
            world.send(1, "STRLEN a\r\nGETRANGE b 0 2\r\n"),
            ":5242880\r\n$3\r\nvvv\r\n",
            "nothing has changed yet"
        );
        turns += 1;
    }
    assert_eq!(turns, 9, "each turn copies a mebibyte, and the tenth carries out the transaction");
    let due = "*4\r\n:5242882\r\n$-1\r\n:5242880\r\n:5242883\r\n+PONG\r\n";
    assert_eq!(world.say(0, "PING"), due);
    assert_eq!(world.send(1, "GETRANGE a -4 -1\r\nGETRANGE b 0 3\r\n"), "$4\r\nvxy!\r\n$4\r\nzzzv\r\n");
}

#[test]
fn an_unauthenticated_client_may_only_authenticate() {
    let mut world = World::new(Settings { password: Some(b"secret".to_vec()), ..Settings::default() }, 1);
    assert_eq!(world.say(0, "GET a"), "-NOAUTH Authentication required.\r\n");
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    for attempt in ["AUTH secre", "AUTH secret2", "AUTH other secret", "AUTH \"\"", "HELLO 3 AUTH default x"] {
        assert_eq!(world.say(0, attempt), wrong, "{attempt}");
    }
    assert!(world.say(0, "HELLO 3").starts_with("-NOAUTH HELLO must be called"));
    assert!(world.say(0, "HELLO 3 AUTH default secret").starts_with("%7\r\n"));
    assert_eq!(world.say(0, "GET a"), "_\r\n");
    assert_eq!(world.say(0, "RESET"), "+RESET\r\n");
    assert_eq!(world.say(0, "GET a"), "-NOAUTH Authentication required.\r\n");
    assert_eq!(world.send(0, "*1\r\n$16385\r\n"), "-ERR Protocol error: unauthenticated bulk length\r\n");
}

#[test]
fn keys_expire_to_the_millisecond() {
    let mut world = World::new(Settings::default(), 1);
    world.say(0, "SET a 1 PX 100");
    world.now += 99;
    assert_eq!(world.send(0, "GET a\r\nPTTL a\r\nTTL a\r\n"), "$1\r\n1\r\n:1\r\n:0\r\n");
    world.now += 1;
    assert_eq!(world.send(0, "GET a\r\nTTL a\r\nEXISTS a\r\nDBSIZE\r\n"), "$-1\r\n:-2\r\n:0\r\n:0\r\n");
    world.send(0, "SET a 1 PX 100\r\n");
    world.now += 100;
    assert_eq!(world.send(0, "INCR a\r\nTTL a\r\n"), ":1\r\n:-1\r\n");
}

#[test]
fn values_beyond_the_memory_are_refused_or_evict_others() {
    let mut world = World::new(Settings { most_memory: Some(200_000), ..Settings::default() }, 1);
    let fill = |world: &mut World| -> Vec<String> {
        let value = "x".repeat(200);
        (0..2_000).map(|number| world.say(0, &format!("SET {number} {value}"))).collect()
    };
    let replies = fill(&mut world);
    assert_eq!(replies[1_999], "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    assert_eq!(world.say(0, "GET 0").len(), 208);
    assert_eq!(
        world.send(0, "DEL 0\r\nFLUSHALL\r\nCONFIG SET maxmemory-policy allkeys-lru\r\n"),
        ":1\r\n+OK\r\n+OK\r\n"
    );
    assert!(fill(&mut world).iter().all(|reply| reply == "+OK\r\n"));
    let bucket = world.host.buckets().next().unwrap();
    assert!(bucket.memory() < 201_000 && bucket.counts.evicted > 1_000);
}

#[test]
fn a_memory_of_0_is_no_bound() {
    let mut world = World::new(Settings { most_memory: Some(0), ..Settings::default() }, 1);
    assert_eq!(world.say(0, "SET a 1"), "+OK\r\n");
    assert_eq!(world.say(0, "CONFIG GET maxmemory"), "*2\r\n$9\r\nmaxmemory\r\n$1\r\n0\r\n");
}

#[test]
fn replies_to_a_client_that_does_not_read_are_bounded() {
    let mut world = World::new(Settings::default(), 1);
    world.send(0, &format!("SET a {}\r\n", "x".repeat(60_000)));
    let connection = &mut world.clients[0];
    connection.requests.feed("GET a\r\n".repeat(1_000).as_bytes());
    assert_eq!(connection.turn(&mut world.host), Pause::Send);
    assert!(connection.reply.unsent().len() < 1_200_000);
}

#[test]
fn clients_know_of_each_other() {
    let mut world = World::new(Settings::default(), 2);
    assert_eq!(world.send(0, "CLIENT SETNAME one\r\nCLIENT GETNAME\r\n"), "+OK\r\n$3\r\none\r\n");
    let list = world.say(1, "CLIENT LIST");
    assert!(list.contains("id=1 addr=localhost:0") && list.contains("name=one") && list.contains("id=2"), "{list}");
    assert_eq!(world.say(1, "CLIENT KILL ID 1"), ":1\r\n");
    assert_eq!(world.say(1, "CLIENT KILL 9.9.9.9:1"), "-ERR No such client\r\n");
    assert_eq!(world.clients[0].turn(&mut world.host), Pause::Leave);
    let replies =
        world.send(1, "CLIENT REPLY OFF\r\nGET a\r\nCLIENT REPLY ON\r\nCLIENT REPLY SKIP\r\nGET a\r\nPING\r\n");
    assert_eq!(replies, "+OK\r\n+PONG\r\n");
}

/// What a browser sends for a page that wants a store on the same computer to carry out its body.
const OF_A_BROWSER: &str =
    "POST / HTTP/1.1\r\nHost: 127.0.0.1:6379\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nFLUSHALL\r\n";

#[test]
fn nothing_of_an_http_request_is_carried_out() {
    let password = Some(b"secret".to_vec());
    let of_hosts = OF_A_BROWSER.replacen("POST", "PUT", 1);
    let as_array = "*1\r\n$4\r\npost\r\n*1\r\n$8\r\nFLUSHALL\r\n".to_owned();
    for (number, request) in
        [OF_A_BROWSER.to_owned(), OF_A_BROWSER.to_lowercase(), of_hosts, as_array].iter().enumerate()
    {
        let mut world = World::new(Settings::default(), 2);
        world.say(1, "SET precious 1");
        world.send(0, &format!("SET other 1\r\n{request}"));
        assert_eq!(world.clients[0].turn(&mut world.host), Pause::Refuse, "{number}");
        // Whatever it sends later.
        world.send(0, "FLUSHALL\r\n");
        assert_eq!(world.clients[0].turn(&mut world.host), Pause::Refuse, "{number}");
        assert_eq!(world.say(1, "GET precious"), "$1\r\n1\r\n", "{number}");
        assert!(world.say(1, "INFO stats").contains("refused_http_requests:1\r\n"));
    }
    // Before it authenticates, and even if the body holds the password.
    let mut world = World::new(Settings { password, ..Settings::default() }, 1);
    world.send(0, &OF_A_BROWSER.replace("FLUSHALL", "AUTH secret\r\nFLUSHALL"));
    assert_eq!(world.clients[0].turn(&mut world.host), Pause::Refuse);
    assert!(!world.clients[0].session.is_authenticated);
}

#[test]
fn a_key_may_be_named_as_a_line_of_http() {
    let mut world = World::new(Settings::default(), 1);
    let replies = world.send(0, "SET POST 1\r\nGET Host:\r\nGET POST\r\n");
    assert_eq!(replies, "+OK\r\n$-1\r\n$1\r\n1\r\n");
}

#[test]
fn asking_whether_a_key_is_there_is_no_use_of_it() {
    let mut world = World::new(Settings::default(), 1);
    world.say(0, "SET a 1");
    world.now += 5_000;
    for (request, idle) in [("EXISTS a", 5), ("TYPE a", 5), ("OBJECT ENCODING a", 5), ("TOUCH a", 0)] {
        world.say(0, request);
        assert_eq!(world.say(0, "OBJECT IDLETIME a"), format!(":{idle}\r\n"), "{request}");
    }
    let stats = world.say(0, "INFO stats");
    assert!(stats.contains("keyspace_hits:3\r\nkeyspace_misses:0\r\n"), "{stats}");
}

#[test]
fn a_snapshot_is_not_made_in_a_transaction() {
    let mut world = World::new(Settings::default(), 1);
    let replies = world.send(0, "MULTI\r\nSET a 1\r\nSAVE\r\nEXEC\r\nGET a\r\n");
    let due = "+OK\r\n+QUEUED\r\n-ERR Command not allowed inside a transaction\r\n\
               -EXECABORT Transaction discarded because of previous errors.\r\n$-1\r\n";
    assert_eq!(replies, due);
    assert!(world.say(0, "SAVE").starts_with("-ERR nothing is kept on disk"));
}

#[test]
fn a_scan_finds_all_keys_that_stay_while_the_table_grows_and_shrinks() {
    for count in [1, 10, 37] {
        let mut world = World::new(Settings::default(), 1);
        let mset = |prefix: &str| -> String { (0..1_500).map(|number| format!(" {prefix}{number} x")).collect() };
        let del = |prefix: &str| -> String { (0..1_500).map(|number| format!(" {prefix}{number}")).collect() };
        world.say(0, &format!("MSET{}", mset("stays")));
        let (mut cursor, mut found, mut steps) = ("0".to_owned(), BTreeSet::new(), 0);
        while steps == 0 || cursor != "0" {
            let reply = world.say(0, &format!("SCAN {cursor} COUNT {count}"));
            let mut lines = reply.split("\r\n");
            cursor = lines.nth(2).unwrap().to_owned();
            assert!(cursor.parse::<u64>().unwrap() < 1 << 53, "{cursor}");
            found.extend(lines.skip(1).filter(|line| line.starts_with("stays")).map(str::to_owned));
            match steps % 8 {
                0 => world.say(0, &format!("MSET{}", mset("goes"))),
                2 => world.say(0, &format!("MSET{}", mset("leaves"))),
                4 => world.say(0, &format!("DEL{}", del("goes"))),
                6 => world.say(0, &format!("DEL{}", del("leaves"))),
                _ => String::new(),
            };
            steps += 1;
        }
        assert_eq!(found.len(), 1_500, "{count} at a time");
    }
}

#[test]
fn a_transaction_for_which_there_is_no_room_is_not_begun() {
    let mut world = World::new(Settings::default(), 2);
    world.send(0, "SET a 1\r\nWATCH a\r\nMULTI\r\nSET b 1\r\nGET a\r\n");
    world.say(1, "CONFIG SET maxmemory 1");
    let due =
        "-EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'.\r\n";
    assert_eq!(world.say(0, "EXEC"), due);
    assert_eq!(
        world.send(0, "EXEC\r\nMULTI\r\nGET a\r\nEXEC\r\n"),
        "-ERR EXEC without MULTI\r\n+OK\r\n+QUEUED\r\n*1\r\n$1\r\n1\r\n"
    );
}

#[test]
fn a_setting_that_is_given_twice_is_refused() {
    let mut world = World::new(Settings::default(), 1);
    for (request, why) in [
        ("maxmemory 1 MAXMEMORY 2", "(possibly related to argument 'MAXMEMORY') - duplicate parameter"),
        ("maxmemory x maxmemory 2", "(possibly related to argument 'maxmemory') - duplicate parameter"),
        ("maxmemory x", "(possibly related to argument 'maxmemory') - argument must be a memory value"),
        ("timeout 1 databases 2", "(possibly related to argument 'databases') - can't set immutable config"),
    ] {
        assert_eq!(world.say(0, &format!("CONFIG SET {request}")), format!("-ERR CONFIG SET failed {why}\r\n"));
    }
    assert_eq!(world.say(0, "CONFIG GET timeout"), "*2\r\n$7\r\ntimeout\r\n$1\r\n0\r\n");
    assert_eq!(world.send(0, "CONFIG SET maxmemory 10mb proto-max-bulk-len 2MB\r\n"), "+OK\r\n");
    let due = "*4\r\n$9\r\nmaxmemory\r\n$8\r\n10485760\r\n$18\r\nproto-max-bulk-len\r\n$7\r\n2097152\r\n";
    assert_eq!(world.say(0, "CONFIG GET maxmemory proto-max-bulk-len"), due);
}
