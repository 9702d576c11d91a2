//! The encoding of LH*LH messages: a message decodes to what was encoded, has the size of all its bodies, and any
//! foreign message is at worst an error.

use endpoint::Message;
use maquette_linear_hash::{
    Applied, BucketRange, Client, ClientOutput, EncodingError, Envelope, Extent, Growth, Key, KeyValue, LeftOut,
    Operation, OperationOutcome, Request, Scan, ScanAnswer, ScanKind, ScanOutput, ScanPart, ScanRequest, Server, Span,
    ToClient, ToServer,
};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Time};

const GROWTH: Growth =
    Growth { capacity: 10, sensitivity: 0.8, shrink: Some(0.4), apart: false, most_servers: 8, chunk: 4 };

fn key() -> impl Strategy<Value = Key> {
    prop::collection::vec(any::<u8>(), 0..20).prop_map(Key::from)
}

fn body() -> impl Strategy<Value = Message> {
    let content = prop::collection::vec(any::<u8>(), 0..20);
    prop_oneof![
        (0_u64..1 << 40).prop_map(|size| Message::of_size(Bytes(size))),
        content.clone().prop_map(Message::from),
        (content, 0_u64..100).prop_map(|(content, size)| Message::beginning_with(content, Bytes(size))),
    ]
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (key(), body()).prop_map(|(key, body)| Operation::Insert(key, body)),
        (key(), body()).prop_map(|(key, body)| Operation::Put(key, body)),
        key().prop_map(Operation::Get),
        key().prop_map(Operation::Remove),
        key().prop_map(Operation::Contains),
    ]
}

fn outcome() -> impl Strategy<Value = OperationOutcome> {
    prop_oneof![
        any::<bool>().prop_map(OperationOutcome::Is),
        prop::option::of(body()).prop_map(OperationOutcome::Found)
    ]
}

fn request() -> impl Strategy<Value = Request> {
    (any::<u64>(), any::<u64>(), any::<u64>(), operation(), 0..=2_u32)
        .prop_map(|(client, number, c, operation, forwards)| Request { client, number, c, operation, forwards })
}

fn extent() -> impl Strategy<Value = Extent> {
    (1..=Extent::MOST_BUCKETS).prop_map(Extent::of)
}

fn chunk() -> impl Strategy<Value = ToServer> {
    let entry = (any::<u64>(), key(), body()).prop_map(|(c, key, value)| KeyValue { c, key, value });
    let buckets = prop::collection::vec(prop::collection::vec(entry, 0..4), 0..4);
    let record = (any::<u64>(), any::<u64>(), prop::option::of(outcome())).prop_map(|(number, c, outcome)| Applied {
        number,
        c,
        outcome,
    });
    (buckets, prop::collection::vec((any::<u64>(), record), 0..4), any::<bool>())
        .prop_map(|(buckets, applied, last)| ToServer::Chunk { buckets, applied, last })
}

fn bucket_range() -> impl Strategy<Value = BucketRange> {
    (0..=31_u32, extent(), any::<[u32; 2]>()).prop_map(|(level, extent, mut ends)| {
        ends = ends.map(|end| end % (extent.buckets() + 1));
        ends.sort_unstable();
        BucketRange { level, extent, first: ends[0], end: ends[1] }
    })
}

/// A part, and a place in it.
fn scan_part() -> impl Strategy<Value = (ScanPart, u64)> {
    (any::<[u64; 3]>(), prop::option::of(bucket_range())).prop_map(|(mut places, buckets)| {
        places.sort_unstable();
        (ScanPart { span: Span { first: places[0], last: places[2] }, buckets }, places[1])
    })
}

fn scan_answer() -> impl Strategy<Value = (ScanPart, ScanAnswer)> {
    let (server, level) = (0..1_u32 << 31, 0..=31_u32);
    let entries = prop::collection::vec((key(), body()), 0..4);
    let left_out = (server.clone(), bucket_range()).prop_map(|(server, buckets)| LeftOut { server, buckets });
    let answer = (server.clone(), level.clone(), 0..1_u64 << 48, entries, prop::option::of(left_out));
    prop_oneof![
        (answer, scan_part()).prop_map(|((server, level, count, entries, left_out), (part, last))| {
            (part, ScanAnswer::Part { server, level, last, count, entries, left_out })
        }),
        (server.clone(), level, scan_part())
            .prop_map(|(server, level, (part, _))| (part, ScanAnswer::Elsewhere { server, level })),
        (server, scan_part()).prop_map(|(server, (part, _))| (part, ScanAnswer::Gone { server })),
    ]
}

fn envelope() -> impl Strategy<Value = Envelope> {
    prop_oneof![
        request().prop_map(Envelope::Request),
        request().prop_map(|request| Envelope::ToServer(ToServer::Forward(request))),
        extent().prop_map(|file| Envelope::ToServer(ToServer::Token(file))),
        (0..=31_u32, extent()).prop_map(|(level, extent)| Envelope::ToServer(ToServer::Open { level, extent })),
        chunk().prop_map(Envelope::ToServer),
        Just(Envelope::ToServer(ToServer::Received)),
        extent().prop_map(|file| Envelope::ToServer(ToServer::Shrink(file))),
        (0..1_u32 << 31).prop_map(|buckets| Envelope::ToServer(ToServer::Leave { buckets })),
        (0..1_u32 << 31, 0..1_u64 << 48)
            .prop_map(|(buckets, entries)| Envelope::ToServer(ToServer::Leaving { buckets, entries })),
        Just(Envelope::ToServer(ToServer::Stay)),
        extent().prop_map(|file| Envelope::ToServer(ToServer::Keep(file))),
        (any::<Option<u32>>(), any::<Option<(u32, u32)>>()).prop_map(|(token, leave)| {
            let (token, leave) = (token.map(Extent::of), leave.map(|(to, buckets)| (to >> 1, buckets >> 1)));
            Envelope::ToServer(ToServer::Moved { token, leave })
        }),
        (any::<u64>(), outcome(), any::<u32>()).prop_map(|(number, outcome, forwards)| {
            Envelope::ToClient(ToClient::Reply { number, outcome, forwards })
        }),
        (0..1_u32 << 31, 0..=31_u32).prop_map(|(server, level)| Envelope::ToClient(ToClient::Adjust { server, level })),
        any::<u64>().prop_map(|number| Envelope::ToClient(ToClient::Again { number })),
        (any::<u64>(), any::<u64>(), scan_part(), prop::sample::select(&ScanKind::ALL)).prop_map(
            |(client, number, (part, _), kind)| { Envelope::Scan(ScanRequest { client, number, part, kind }) }
        ),
        (any::<u64>(), scan_answer())
            .prop_map(|(number, (part, answer))| { Envelope::ToClient(ToClient::Scanned { number, part, answer }) }),
        Just(Envelope::Goodbye),
        Just(Envelope::Next),
        extent().prop_map(Envelope::Over),
        (any::<u64>(), 0..1_u32 << 31).prop_map(|(number, server)| Envelope::Moved { number, server }),
        Just(Envelope::MapRequest),
        (extent(), 0_u64..1 << 40).prop_map(|(file, size)| Envelope::Map { file, size }),
        extent().prop_map(Envelope::Grown),
    ]
}

/// A server, a client and a scan with work under way.
struct Ends {
    server: Server,
    client: Client,
    scan: Scan,
}

impl Ends {
    fn new() -> Ends {
        let mut client = Client::new(0, Duration::ZERO);
        let _: ClientOutput = client.ask(Time::ZERO, 5, Operation::Get(Key::from(&b"a"[..])));
        let (scan, _): (Scan, Vec<ScanOutput>) =
            Scan::begin((0, 0), client.image(), ScanKind::Entries, Duration::ZERO, Time::ZERO);
        Ends { server: Server::new(0, GROWTH), client, scan }
    }

    /// Takes a decoded message, as if from another server or client.
    fn take(&mut self, from: u32, envelope: Envelope) {
        let mut outputs = Vec::new();
        match envelope {
            Envelope::Request(request) => self.server.request(request, &mut outputs),
            Envelope::Scan(request) => self.server.scan(request, &mut outputs),
            Envelope::ToServer(message) => self.server.take(from, message, &mut outputs),
            Envelope::ToClient(message) => {
                self.client.take(Time::ZERO, message.clone());
                self.scan.take(Time::ZERO, message);
            }
            Envelope::Goodbye | Envelope::Over(_) | Envelope::Next => {}
            Envelope::Moved { .. } | Envelope::MapRequest | Envelope::Map { .. } | Envelope::Grown(_) => {}
        }
    }
}

fn take(envelope: Envelope) {
    Ends::new().take(1, envelope);
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(envelope in envelope()) {
        let message = envelope.encode().unwrap();
        prop_assert_eq!(Envelope::decode(&message), Ok(envelope.clone()));
        take(envelope);
    }

    /// Even if they make no sense together.
    #[test]
    fn any_messages_are_taken_one_after_the_other(
        envelopes in prop::collection::vec((0_u32..4, envelope()), 0..40),
        server_begins_without_a_table in any::<bool>(),
    ) {
        let mut ends = Ends::new();
        if server_begins_without_a_table {
            ends.server = Server::new(1, GROWTH);
        }
        for (from, envelope) in envelopes {
            ends.take(from, envelope);
        }
    }

    #[test]
    fn bytes_of_a_stranger_are_an_error_at_worst(bytes in prop::collection::vec(any::<u8>(), 0..200), unseen in 0_u64..3) {
        let size = Bytes(bytes.len() as u64 + unseen);
        if let Ok(envelope) = Envelope::decode(&Message::beginning_with(bytes, size)) {
            take(envelope);
        }
    }

    #[test]
    fn a_message_with_other_bytes_here_and_there_is_an_error_at_worst(
        envelope in envelope(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let message = envelope.encode().unwrap();
        let mut bytes = message.content().unwrap().to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let shorter = bytes[..cut.index(bytes.len())].to_vec();
        for bytes in [bytes, shorter] {
            let size = Bytes(bytes.len() as u64 + message.unseen().0);
            if let Ok(envelope) = Envelope::decode(&Message::beginning_with(bytes, size)) {
                take(envelope);
            }
        }
    }
}

#[test]
fn a_body_that_is_only_a_size_travels_as_so_many_bytes() {
    let insert = |body| {
        let operation = Operation::Insert(Key::from(&b"aardappel"[..]), Message::of_size(Bytes(body)));
        Envelope::Request(Request { client: 4, number: 180_000, c: u64::MAX, operation, forwards: 0 })
    };
    let (empty, large) = (insert(0).encode().unwrap(), insert(8_192).encode().unwrap());
    assert_eq!(empty.size(), Bytes(29));
    // One more byte to encode its size.
    assert_eq!(large.size(), Bytes(29 + 8_192 + 1));
    assert_eq!(large.unseen(), Bytes(8_192));
}

#[test]
fn what_cannot_be_is_not_read() {
    let decoded = |envelope: Envelope| Envelope::decode(&envelope.encode().unwrap());
    let open = Envelope::ToServer(ToServer::Open { level: 32, extent: Extent::default() });
    assert_eq!(decoded(open), Err(EncodingError::Beyond { what: "a level", found: 32, most: 31 }));
    let adjust = Envelope::ToClient(ToClient::Adjust { server: u32::MAX, level: 3 });
    let most = Extent::MOST_BUCKETS.into();
    assert_eq!(decoded(adjust), Err(EncodingError::Beyond { what: "a server", found: u32::MAX.into(), most }));
    let operation = Operation::Get(Key::from(&b"a"[..]));
    let request = Request { client: 0, number: 0, c: 0, operation, forwards: 3 };
    assert_eq!(
        decoded(Envelope::ToServer(ToServer::Forward(request))),
        Err(EncodingError::Beyond { what: "forwards", found: 3, most: 2 })
    );
    assert_eq!(Envelope::decode(&Message::of_size(Bytes(7))), Err(EncodingError::Size(Bytes(7))));
    let more = [Envelope::Goodbye.encode().unwrap().content().unwrap().as_ref(), &[0]].concat();
    assert!(Envelope::decode(&Message::from(more)).unwrap_err().to_string().contains("1 bytes follow it"));
}
