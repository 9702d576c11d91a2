//! A message that claims to be larger than allowed costs its receiver nothing.

use endpoint::{Message, Source, Tags};
use maquette_messaging::packet::{Body, Data, Label, Opening, Packet, Part};
use maquette_messaging::sequence::FIRST;
use maquette_messaging::{Awaited, Engine, Parameters};
use quantities::{Rank, Time};

/// The first packet of a message of `size` bytes, from rank 1 to rank 0.
fn opening(size: u64, broadcast: bool) -> Packet {
    let opening = Opening { size, content: Some(size), pushed: 4, label: Label::default() };
    let number = FIRST as u32;
    let payload = Message::from(vec![7; 4]);
    let body = Body::Data(Data { sequence: number, message: number, part: Part::Opening(opening), payload });
    Packet { session: 0, source: Rank(1), broadcast, answer: true, body }
}

#[test]
fn nothing_is_stored_of_a_message_that_is_too_large() {
    for broadcast in [true, false] {
        for (size, is_taken) in [(1_000, true), (1_001, false), (1 << 47, false)] {
            let parameters = Parameters { largest: 1_000, ..Parameters::default() };
            let mut engine = Engine::new(Rank(0), 2, parameters).unwrap();
            let what = if broadcast {
                Awaited::BroadcastOf(Rank(1))
            } else {
                Awaited::Message(Source::Rank(Rank(1)), Tags::Any)
            };
            engine.post(Time::ZERO, what).unwrap();
            engine.take(Time::ZERO, &opening(size, broadcast).encode());
            assert_eq!((engine.counts().taken, engine.counts().foreign), if is_taken { (1, 0) } else { (0, 1) });
            assert_eq!(engine.drain(Time::ZERO).is_empty(), !is_taken, "it is answered");
        }
    }
}
