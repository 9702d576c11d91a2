//! Requests of clients of the store, from whatever bytes, cut into pieces; and what is carried out of them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use store::connection::{Connection, Pause};
use store::host::Host;
use store::node::{Node, Settings};
use store::resp::Limits;

/// The most turns that a piece is given. A piece holds fewer requests.
const TURNS: usize = 10_000;

fuzz_target!(|bytes: &[u8]| {
    let Some((&piece, bytes)) = bytes.split_first() else { return };
    let limits = Limits { argument: 1 << 20, ..Limits::default() };
    let settings = Settings { limits, most_memory: Some(64 << 20), ..Settings::default() };
    let mut node = Node::new(settings, 6379, [1; 3], 0);
    let client = node.connect("fuzzer".to_owned(), String::new(), 0);
    let mut connection = Connection::new(client, &node);
    let mut host = Host::alone(node);
    for piece in bytes.chunks(usize::from(piece).max(1)) {
        connection.requests.feed(piece);
        host.node().borrow_mut().now += 1;
        for _ in 0..TURNS {
            let pause = connection.turn(&mut host);
            connection.reply.was_sent(connection.reply.unsent().len());
            match pause {
                Pause::Turn | Pause::Send => {}
                Pause::Receive | Pause::Answer => break,
                Pause::Leave | Pause::Refuse => return,
            }
        }
        let now = host.node().borrow().now;
        host.buckets().for_each(|bucket| {
            bucket.sweep(now, 100);
        });
    }
});
