//! Reads any bytes as messages of an LH*LH table, one after the other, and gives them to a server, a client and a scan
//! that are in the middle of something. What is read is written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use linear_hash::{Body, Client, Envelope, Growth, Key, Operation, OperationOutcome, Scan, ScanKind, Server};
use quantities::{Bytes, Duration, Time};

const GROWTH: Growth =
    Growth { capacity: 10, sensitivity: 0.8, shrink: Some(0.4), apart: false, most_servers: 8, chunk: 4 };

/// Each message begins with its length and with whom it is from.
fn messages(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let mut messages = Vec::new();
    while let [length, from, rest @ ..] = bytes {
        let (message, after) = rest.split_at(rest.len().min((*length).into()));
        messages.push((u32::from(from % 8), message));
        bytes = after;
    }
    messages
}

fuzz_target!(|bytes: &[u8]| {
    let (mut server, mut client, mut outputs) = (Server::new(0, GROWTH), Client::new(0, Duration::ZERO), Vec::new());
    client.ask::<OperationOutcome>(Time::ZERO, 5, Operation::Get(Key::from(*b"a")));
    let (mut scan, _) =
        Scan::begin::<(Key, Body)>((0, 0), client.image(), ScanKind::Entries, Duration::ZERO, Time::ZERO);
    for (from, message) in messages(bytes) {
        let size = Bytes(message.len() as u64);
        let Ok(envelope) = Envelope::decode(&endpoint::Message::beginning_with(message.to_vec(), size)) else {
            continue;
        };
        let written = envelope.encode().expect("what was read is written");
        assert_eq!(Envelope::decode(&written).as_ref(), Ok(&envelope));
        match envelope {
            Envelope::Request(request) => server.request(request, &mut outputs),
            Envelope::Scan(request) => server.scan(request, &mut outputs),
            Envelope::ToServer(message) => server.take(from, message, &mut outputs),
            Envelope::ToClient(message) => {
                client.take(Time::ZERO, message.clone());
                scan.take(Time::ZERO, message);
            }
            Envelope::Goodbye | Envelope::Over(_) | Envelope::Next => {}
            Envelope::Moved { .. } | Envelope::MapRequest | Envelope::Map { .. } | Envelope::Grown(_) => {}
        }
    }
});
