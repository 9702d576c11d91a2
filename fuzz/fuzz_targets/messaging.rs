//! Reads any bytes as datagrams that come to a rank in the middle of its work, with checksums that are right and pauses
//! between them: the rank goes on, and comes to rest.

#![no_main]

use endpoint::{Source, Tag, Tags};
use libfuzzer_sys::fuzz_target;
use messaging::{Awaited, Datagram, Engine, Parameters, Parity, Posted, Repeat};
use quantities::{Duration, Rank, Time};

/// Where the checksum of a datagram is.
const CHECKSUM: std::ops::Range<usize> = 8..12;

/// What the rank always waits for.
const WAITS_FOR: [Awaited; 4] = [
    Awaited::Message(Source::Rank(Rank(0)), Tags::Any),
    Awaited::BroadcastOf(Rank(2)),
    Awaited::Message(Source::Any, Tags::Only(Tag(3))),
    Awaited::Message(Source::Any, Tags::Any),
];

fn engine(repeat: Repeat) -> (Engine, [Posted; 4]) {
    let mut engine = Engine::new(Rank(1), 4, Parameters { repeat, ..Parameters::default() }).expect("it fits");
    for to in [0, 2, 3] {
        engine.send(Rank(to), Tag(to), vec![1; 5_000].into()).expect("all are there");
    }
    engine.multicast(vec![2; 50_000].into()).expect("all are there");
    let posted = WAITS_FOR.map(|what| engine.post(Time::ZERO, what).expect("it is there"));
    engine.drain(Time::ZERO);
    (engine, posted)
}

fuzz_target!(|input: (u8, Vec<(u16, Vec<u8>)>)| {
    let (way, datagrams) = input;
    let ways = [
        Repeat::GoBackN,
        Repeat::Selective,
        Repeat::Parity(Parity { packets: 1, parity: 1, blocks: 4 }),
        Repeat::Parity(Parity { packets: 4, parity: 3, blocks: 2 }),
    ];
    let (mut engine, mut posted) = engine(ways[usize::from(way % 4)]);
    let mut now = Time::ZERO;
    for (pause, mut bytes) in datagrams {
        now += Duration::from_microseconds(u64::from(pause));
        if let Some(place) = bytes.get_mut(CHECKSUM) {
            place.fill(0);
            let sum = crc32c::crc32c(&bytes);
            bytes[CHECKSUM].copy_from_slice(&sum.to_be_bytes());
        }
        if let Ok(datagram) = Datagram::from_bytes(&bytes.into()) {
            engine.take(now, &datagram);
        }
        engine.wake(now);
        for (what, posted) in WAITS_FOR.into_iter().zip(&mut posted) {
            if !matches!(engine.received(now, *posted), Ok(None)) {
                *posted = engine.post(now, what).expect("it is there");
            }
        }
        assert!(engine.drain(now).len() < 1_000);
        assert!(engine.deadline().is_none_or(|deadline| deadline > now), "it would never rest");
    }
});
