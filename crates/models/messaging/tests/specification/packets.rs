//! What is encoded as a packet decodes to the same packet, and nothing else does.

use bytes::Bytes;
use endpoint::{Message, Tag};
use maquette_messaging::packet::{
    Body, Data, Held, LARGEST_MESSAGE, Label, Opening, Packet, Parity, Part, ReceiverReport,
};
use maquette_messaging::{Datagram, Unreadable};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use quantities::{Bytes as Size, Rank};

/// A payload of bytes, of a size, or of both.
fn payload() -> impl Strategy<Value = Message> {
    (vec(any::<u8>(), 0..1500), 0_u64..1500).prop_map(|(bytes, more)| match (bytes.len() as u64, more) {
        (0, size) => Message::of_size(Size(size)),
        (seen, more) => Message::beginning_with(bytes, Size(seen + more)),
    })
}

fn part(payload: &Message) -> impl Strategy<Value = Part> + use<> {
    let size = payload.size().0;
    let opening = (size..=LARGEST_MESSAGE, option::of(0..=LARGEST_MESSAGE), any::<u32>(), any::<u32>());
    let opening = opening.prop_map(|(size, content, pushed, label)| {
        let content = content.map(|content| content.min(size));
        let label = Label::with_tag(Tag(label));
        Part::Opening(Opening { size, content, pushed: pushed.min(size as u32), label })
    });
    prop_oneof![opening, (0..=LARGEST_MESSAGE - size).prop_map(Part::From)]
}

fn data() -> impl Strategy<Value = Body> {
    let parts = payload().prop_flat_map(|payload| (part(&payload), Just(payload)));
    let data = |(sequence, message, (part, payload))| Body::Data(Data { sequence, message, part, payload });
    (any::<u32>(), any::<u32>(), parts).prop_map(data)
}

fn report() -> impl Strategy<Value = Body> {
    let pull = option::of((any::<u32>(), 0..=LARGEST_MESSAGE));
    let flags = any::<[bool; 5]>();
    let held = (any::<u32>(), any::<u16>(), any::<u16>()).prop_map(|(first, count, next)| Held { first, count, next });
    let incomplete = vec(any::<u32>(), 0..5);
    let has = (vec(any::<u8>(), 0..100), vec(held, 0..5), incomplete);
    (any::<u32>(), has, any::<u32>(), pull, flags).prop_map(
        |(expected, (bitmap, held, incomplete), complete, pull, [missing, no_room, answers, ended, knows])| {
            let bitmap = Bytes::from(bitmap);
            // Only one of the two is written.
            let incomplete = if held.is_empty() { incomplete } else { Vec::new() };
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
    let parity = |(first, number, symbol)| Body::Parity(Parity { first, number, symbol });
    (any::<u32>(), any::<u16>(), payload()).prop_map(parity)
}

/// Acknowledgers have two bytes, where tags have four.
fn of_broadcast(mut body: Body) -> Body {
    if let Body::Data(Data { part: Part::Opening(opening), .. }) = &mut body {
        opening.label = Label::acknowledged_by(Rank(opening.label.tag().0 % 65_536));
    }
    body
}

prop_compose! {
    fn packet()(
        session: u32,
        source in 0_u32..65_536,
        broadcast: bool,
        answer: bool,
        body in prop_oneof![data(), report(), parity(), Just(Body::Dropped), Just(Body::Question)],
    ) -> Packet {
        // A parity packet never asks for an answer.
        let answer = answer && !matches!(body, Body::Parity(_));
        let body = if broadcast { of_broadcast(body) } else { body };
        Packet { session, source: Rank(source), broadcast, answer, body }
    }
}

proptest! {
    #[test]
    fn a_packet_is_read_as_it_was_written(packet in packet()) {
        let datagram = packet.encode();
        prop_assert_eq!(Packet::decode(&datagram), Ok(packet.clone()));
        let whole = datagram.to_bytes();
        prop_assert_eq!(whole.len(), datagram.size());
        let arrived = Datagram::from_bytes(&whole).unwrap();
        prop_assert_eq!(arrived.header(), datagram.header());
        prop_assert_eq!(Packet::decode(&arrived), Ok(packet));
    }

    #[test]
    fn a_flipped_bit_is_noticed(packet in packet(), place: prop::sample::Index, bit in 0_u8..8) {
        let datagram = packet.encode();
        let mut bytes = datagram.to_bytes().to_vec();
        let place = place.index(bytes.len() - datagram.payload().unseen().0 as usize);
        bytes[place] ^= 1_u8 << bit;
        prop_assert!(Datagram::from_bytes(&bytes.into()).and_then(|datagram| Packet::decode(&datagram)).is_err());
    }

    #[test]
    fn any_bytes_at_all_are_a_packet_or_an_error(bytes in vec(any::<u8>(), 0..200), first in 0xA0_u8..0xA8) {
        let mut bytes = bytes;
        let _ = Datagram::from_bytes(&bytes.clone().into()).and_then(|datagram| Packet::decode(&datagram));
        bytes.insert(0, first);
        let _ = Datagram::from_bytes(&bytes.into()).and_then(|datagram| Packet::decode(&datagram));
    }
}

/// The format on the wire.
#[test]
fn a_fragment_is_these_bytes() {
    let data = Data { sequence: 7, message: 2, part: Part::From(0x01_0203), payload: Message::from(&b"abc"[..]) };
    let packet =
        Packet { session: 0xCAFE_F00D, source: Rank(258), broadcast: true, answer: false, body: Body::Data(data) };
    let bytes = packet.encode().to_bytes();
    let (head, rest) = (&bytes[..8], &bytes[12..]);
    assert_eq!(head, [0xA2, 1, 1, 2, 0xCA, 0xFE, 0xF0, 0x0D]);
    assert_eq!(rest, [0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 1, 2, 3, b'a', b'b', b'c']);
    let without_checksum = [head, &[0; 4], rest].concat();
    assert_eq!(bytes[8..12], crc32c::crc32c(&without_checksum).to_be_bytes());
}

/// The kind of another layer is no packet, even with a correct checksum.
#[test]
fn a_sealed_datagram_is_no_packet() {
    for length in 12..60 {
        let mut bytes = vec![0; length];
        bytes[0] = 0xAF;
        let sum = crc32c::crc32c(&bytes);
        bytes[8..12].copy_from_slice(&sum.to_be_bytes());
        let read = Datagram::from_bytes(&bytes.into()).and_then(|datagram| Packet::decode(&datagram));
        assert_eq!(read, Err(Unreadable::Header), "{length}");
    }
}

#[test]
fn fields_that_contradict_each_other_are_errors() {
    let read = |part, payload| {
        let body = Body::Data(Data { sequence: 0, message: 0, part, payload });
        Packet::decode(&Packet { session: 0, source: Rank(0), broadcast: false, answer: false, body }.encode())
    };
    let opening = Opening { size: 10, content: Some(10), pushed: 10, label: Label::default() };
    let of_size = |size| Message::of_size(Size(size));
    assert!(read(Part::Opening(opening), of_size(10)).is_ok());
    for (part, payload) in [
        (Part::Opening(opening), of_size(11)),
        (Part::Opening(Opening { content: Some(11), ..opening }), of_size(10)),
        (Part::Opening(Opening { pushed: 11, ..opening }), of_size(10)),
        (Part::From(LARGEST_MESSAGE - 1), of_size(2)),
    ] {
        assert_eq!(read(part, payload), Err(Unreadable::Field));
    }
}
