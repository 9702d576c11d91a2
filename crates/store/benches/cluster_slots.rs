//! What clients that ask for the whole map cost a member: how long a reply to CLUSTER SLOTS is, and how long the member
//! is busy with it, beside a GET. `maquette run linear-hash-growth` reckons with these figures.
//!
//! A line for each number of servers, each with a member of its own: bytes, and bytes a server; the least time of nine
//! runs [us], and that time a server [ns]. The last line is of a GET and of a SET of 64 bytes. Bytes in, bytes out,
//! without sockets.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use linear_hash::{Extent, Growth, Split, ToClient};
use maquette_store::connection::Connection;
use maquette_store::host::Host;
use maquette_store::member::{Durability, Identity, Message, Output, Peer, Placement, Policy, Role};
use maquette_store::node::{Node, Settings};
use quantities::Duration;

const SERVERS: [u32; 4] = [10, 100, 500, 1_000];
const RUNS: usize = 9;
/// Requests of a run.
const MAPS: u32 = 100;
const RECORDS: u32 = 100_000;

fn peer(number: u32) -> Peer {
    let [high, low] = (number as u16).to_be_bytes();
    let address = Ipv4Addr::new(10, 0, high, low);
    Peer {
        identity: Identity(0x9e37_79b9_u32.wrapping_mul(number + 1)),
        address: SocketAddr::from((address, 17_001)),
        clients: SocketAddr::from((address, 27_001)),
        role: Role::Data,
        life: 0,
    }
}

/// A member that has just been told who has which of so many servers.
fn member_of(servers: u32) -> Host {
    let growth =
        Growth { capacity: 1_000, sensitivity: 0.8, shrink: None, apart: false, most_servers: servers, chunk: 100 };
    let policy = Policy {
        growth,
        servers_each: 1,
        patience: Duration::from_microseconds(500),
        durability: Durability::default(),
    };
    let mut placement = Placement::default();
    (0..servers).for_each(|server| placement.learn(server, peer(server).identity));
    let (own, first) = (peer(servers - 1), peer(0));
    // What was asked of all servers less than 100 ms ago is not asked again: the time is that early.
    let mut host = Host::new(Node::new(Settings::default(), 6379, [1, 2, 3], 50), own, policy, false);
    host.with_member(|member, now, outputs| {
        let welcome = Message::Welcome((0..servers - 1).map(peer).collect(), placement, Vec::new());
        member.receive(now, first.identity, welcome, outputs);
    });
    // It asks for a key, and hears how far the file has grown.
    let mut connection = connect(&host);
    connection.requests.feed(b"GET key\r\n");
    connection.turn(&mut host);
    let asked = host.take_outputs().into_iter().find_map(|output| match output {
        Output::Send(_, Message::Request(_, request)) => Some(request.client),
        _ => None,
    });
    let client = asked.expect("it has no server of its own");
    let Split { from, level, .. } = Extent::of(servers).last_split().expect("there are several servers");
    let message = ToClient::Adjust { server: from, level };
    host.with_member(|member, now, outputs| {
        member.receive(now, first.identity, Message::ToClient { server: None, client, message }, outputs);
    });
    host
}

fn connect(host: &Host) -> Connection {
    let client = host.node().borrow_mut().connect("localhost:1".to_owned(), String::new(), 50);
    Connection::new(client, &host.node().borrow())
}

/// Has requests carried out; gives how many bytes came back.
fn ask(connection: &mut Connection, host: &mut Host, request: &[u8]) -> usize {
    connection.requests.feed(request);
    connection.turn(host);
    let replied = connection.reply.unsent().len();
    connection.reply.was_sent(replied);
    host.take_outputs();
    replied
}

/// The least time of a run. [s]
fn least(mut run: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        #[allow(clippy::disallowed_methods)] // it measures
        let began = Instant::now();
        run();
        least = least.min(began.elapsed().as_secs_f64());
    }
    least
}

fn maps(servers: u32) {
    let mut host = member_of(servers);
    let mut connection = connect(&host);
    let request = b"*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n";
    let bytes = ask(&mut connection, &mut host, request);
    let all = format!("*{servers}\r\n").into_bytes();
    connection.requests.feed(request);
    connection.turn(&mut host);
    assert!(connection.reply.unsent().starts_with(&all), "there is a range for each server");
    connection.reply.was_sent(bytes);
    let run = || (0..MAPS).for_each(|_| assert_eq!(ask(&mut connection, &mut host, request), bytes));
    let time = least(run) / f64::from(MAPS);
    let (each, each_bytes) = (time * 1e9 / f64::from(servers), bytes as f64 / f64::from(servers));
    println!(
        "CLUSTER SLOTS {servers:5} servers {bytes:7} B {each_bytes:6.1} B each {:8.2} us {each:6.1} ns each",
        time * 1e6
    );
}

fn main() {
    SERVERS.into_iter().for_each(maps);
    let mut host = Host::alone(Node::new(Settings::default(), 6379, [1, 2, 3], 50));
    let mut connection = connect(&host);
    let of_each = |of: &dyn Fn(u32) -> String| -> Vec<String> {
        (0..RECORDS).map(|number| of(number.wrapping_mul(7_919) % RECORDS)).collect()
    };
    let sets = of_each(&|key| format!("*3\r\n$3\r\nSET\r\n$12\r\nkey:{key:08}\r\n$64\r\n{}\r\n", "v".repeat(64)));
    let gets = of_each(&|key| format!("*2\r\n$3\r\nGET\r\n$12\r\nkey:{key:08}\r\n"));
    let [set, get] = [sets, gets].map(|requests| {
        let run = || {
            for request in &requests {
                assert!(ask(&mut connection, &mut host, request.as_bytes()) > 0);
            }
        };
        least(run) / f64::from(RECORDS) * 1e9
    });
    println!("SET {set:.0} ns, GET {get:.0} ns");
}
