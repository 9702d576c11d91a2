//! What arbitrary datagrams do to a rank: those of strangers nothing, and contradictory ones of a rank in the session
//! no harm.

use bytes::Bytes;
use endpoint::{Message, Source, Tag, Tags};
use maquette_messaging::packet::{
    Body, Data, Held, LARGEST_MESSAGE, Label, Opening, Packet, Parity, Part, ReceiverReport,
};
use maquette_messaging::sequence::FIRST;
use maquette_messaging::{Awaited, BroadcastProtocol, Datagram, Engine, Parameters, Posted, Repeat};
use proptest::collection::vec;
use proptest::prelude::*;
use quantities::{Bytes as Size, Duration, Rank, Time};

const SESSION: u32 = 7;
const RANKS: u32 = 4;

fn at(microseconds: u64) -> Time {
    Time::ZERO + Duration::from_microseconds(microseconds)
}

/// Rank 1, in the middle of exchanges with all others.
fn engine(repeat: Repeat, simple: bool) -> (Engine, [(Awaited, Posted); 4]) {
    let broadcast_protocol = if simple { BroadcastProtocol::Simple } else { BroadcastProtocol::PushPull };
    let parameters =
        Parameters { session: SESSION, repeat, broadcast_protocol, pushed_buffer: 2_000, ..Parameters::default() };
    let mut engine = Engine::new(Rank(1), RANKS, parameters).unwrap();
    for to in [0, 2, 3] {
        engine.send(Rank(to), Tag(to), Message::from(vec![1; 5_000])).unwrap();
    }
    engine.multicast(Message::from(vec![2; 50_000])).unwrap();
    let posted = WAITS_FOR.map(|what| (what, engine.post(at(0), what).unwrap()));
    engine.drain(at(1));
    (engine, posted)
}

/// What rank 1 always waits for.
const WAITS_FOR: [Awaited; 4] = [
    Awaited::Message(Source::Rank(Rank(0)), Tags::Any),
    Awaited::BroadcastOf(Rank(2)),
    Awaited::Message(Source::Any, Tags::Only(Tag(3))),
    Awaited::Message(Source::Any, Tags::Any),
];

/// Receives what has arrived, and waits for more.
fn receive(engine: &mut Engine, now: Time, posted: &mut [(Awaited, Posted)]) {
    for (what, posted) in posted {
        if !matches!(engine.received(now, *posted), Ok(None)) {
            *posted = engine.post(now, *what).unwrap();
        }
    }
}

fn repeat() -> impl Strategy<Value = Repeat> {
    let parity = maquette_messaging::Parity { packets: 8, parity: 4, blocks: 3 };
    prop_oneof![Just(Repeat::GoBackN), Just(Repeat::Selective), Just(Repeat::Parity(parity))]
}

/// Numbers near those that are in use, and any others.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![4 => (0_u32..40).prop_map(|more| (FIRST as u32).wrapping_add(more)), 1 => any::<u32>()]
}

fn length() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0_u64..6_000, 1 => 0..=LARGEST_MESSAGE]
}

fn data() -> impl Strategy<Value = Body> {
    let opening =
        (length(), prop::option::of(length()), length(), 0..RANKS).prop_map(|(size, content, pushed, rank)| {
            let content = content.map(|content| content.min(size));
            let pushed = u32::try_from(pushed.min(size)).unwrap_or(u32::MAX);
            Part::Opening(Opening { size, content, pushed, label: Label::acknowledged_by(Rank(rank)) })
        });
    let part = prop_oneof![1 => opening, 2 => length().prop_map(Part::From)];
    let payload = (vec(any::<u8>(), 0..100), 0_u64..2_000);
    (number(), number(), part, payload).prop_map(|(sequence, message, part, (bytes, more))| {
        let size = Size(bytes.len() as u64 + more);
        Body::Data(Data { sequence, message, part, payload: Message::beginning_with(bytes, size) })
    })
}

fn report() -> impl Strategy<Value = Body> {
    let pull = prop::option::of((number(), length()));
    let held = (number(), 0_u16..70, 0_u16..100).prop_map(|(first, count, next)| Held { first, count, next });
    let has = (vec(any::<u8>(), 0..40), vec(held, 0..3), vec(number(), 0..3));
    (number(), has, number(), pull, any::<[bool; 5]>()).prop_map(
        |(expected, (bitmap, held, incomplete), complete, pull, [missing, no_room, answers, ended, knows])| {
            let bitmap = Bytes::from(bitmap);
            Body::Report(ReceiverReport {
                expected,
                bitmap,
                held,
                complete,
                incomplete,
                pull,
                missing,
                no_room,
                answers,
                ended,
                knows,
            })
        },
    )
}

fn parity() -> impl Strategy<Value = Body> {
    let symbol = (0_usize..4).prop_flat_map(|length| vec(any::<u8>(), [30, 30, 31, 0][length]));
    (prop_oneof![Just(0), Just(8), number()], 0_u16..70, symbol).prop_map(|(more, number, symbol)| {
        let first = (FIRST as u32).wrapping_add(more);
        Body::Parity(Parity { first, number, symbol: Message::from(symbol) })
    })
}

prop_compose! {
    fn packet()(
        source in 0..RANKS + 1,
        broadcast: bool,
        answer: bool,
        body in prop_oneof![20 => data(), 20 => report(), 10 => parity(), 1 => Just(Body::Dropped), 5 => Just(Body::Question)],
    ) -> Packet {
        let answer = answer && !matches!(body, Body::Parity(_));
        Packet { session: SESSION, source: Rank(source), broadcast, answer, body }
    }
}

/// Everything visible of a rank, except how many strange datagrams arrived.
fn seen(engine: &Engine) -> String {
    format!("{engine:?}").replace(&format!("foreign: {}", engine.counts().foreign), "foreign")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the others of its session send, a rank continues.
    #[test]
    fn no_packet_makes_an_engine_panic(
        packets in vec((packet(), 0_u64..20_000), 1..60),
        repeat in repeat(),
        simple: bool,
        ends: bool,
    ) {
        let ((mut engine, mut posted), mut now) = (engine(repeat, simple), 1);
        if ends {
            engine.end(at(1));
        }
        for (packet, pause) in packets {
            now += pause;
            engine.take(at(now), &packet.encode());
            engine.wake(at(now));
            receive(&mut engine, at(now), &mut posted);
            let drained = engine.drain(at(now));
            prop_assert!(drained.len() < 1_000, "{} datagrams at once", drained.len());
            prop_assert!(engine.deadline().is_none_or(|deadline| deadline > at(now)), "it would never rest");
        }
    }

    #[test]
    fn a_datagram_of_a_stranger_changes_nothing(
        packet in packet(), session: u32, repeat in repeat(), garbage in vec(any::<u8>(), 0..60), flip: prop::sample::Index,
    ) {
        prop_assume!(session != SESSION);
        let (mut engine, _) = engine(repeat, false);
        let before = seen(&engine);
        engine.take(at(5), &Packet { session, ..packet.clone() }.encode());
        let mut damaged = packet.encode().to_bytes().to_vec();
        let covered = damaged.len() - packet.encode().payload().unseen().0 as usize;
        damaged[flip.index(covered)] ^= 1_u8 << (session % 8);
        for bytes in [garbage, damaged] {
            if let Ok(datagram) = Datagram::from_bytes(&bytes.into()) {
                engine.take(at(5), &datagram);
            }
        }
        let no_such_rank = Packet { source: Rank(RANKS), ..packet.clone() };
        let itself = Packet { source: Rank(1), ..packet };
        engine.take(at(5), &no_such_rank.encode());
        engine.take(at(5), &itself.encode());
        prop_assert_eq!(seen(&engine), before);
    }
}
