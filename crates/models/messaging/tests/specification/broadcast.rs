//! Broadcasts, as the paper describes them: what goes over the wire, to whom, and when.

use crate::faults::network::{Faults, SentDatagram};
use crate::faults::{Ended, Faulty, Node};
use bytes::Bytes;
use endpoint::{Endpoint, Error, Message, Result};
use maquette_messaging::packet::{Body, Packet};
use maquette_messaging::{BroadcastProtocol, Destination, Losses, Parameters, Parity, Repeat};
use quantities::{Bytes as Size, Duration, Rank, Time};

const fn us(microseconds: u64) -> Duration {
    Duration::from_microseconds(microseconds)
}

const RECORDED: Faults = Faults { record: true, ..Faults::NONE };

fn bytes(size: usize) -> Bytes {
    (0..size).map(|place| (place * 7 / 3) as u8).collect()
}

/// Rank 0 broadcasts `message` after `work`; each of the others receives it after its `late`.
async fn broadcast(endpoint: Node, message: Message, late: impl Fn(Rank) -> Duration) -> Result<Message> {
    if endpoint.rank() == Rank(0) {
        endpoint.multicast(message.clone()).await?;
        return Ok(message);
    }
    endpoint.compute(late(endpoint.rank())).await;
    endpoint.receive_multicast(Rank(0)).await
}

fn run(world: Faulty, ranks: u32, message: &Message, late: impl Fn(Rank) -> Duration + Copy) -> Ended<Message> {
    let ended = world.run_ranks(ranks, |endpoint| broadcast(endpoint, message.clone(), late)).unwrap();
    for (rank, result) in ended.results.iter().enumerate() {
        assert_eq!(result.as_ref(), Ok(message), "rank {rank}");
    }
    ended
}

fn record(ended: &Ended<Message>) -> Vec<SentDatagram> {
    ended.network.borrow().record.clone().unwrap()
}

fn packet(sent: &SentDatagram) -> Packet {
    Packet::decode(&sent.datagram).unwrap()
}

/// The parts of messages that were sent: where each went, and its size. [B]
fn data(record: &[SentDatagram]) -> Vec<(Destination, u64)> {
    let parts = record.iter().filter(|sent| matches!(packet(sent).body, Body::Data(_)));
    parts.map(|sent| (sent.to, sent.datagram.payload().size().0)).collect()
}

fn reports(record: &[SentDatagram]) -> Vec<(Time, Rank)> {
    let reports = record.iter().filter(|sent| packet(sent).broadcast && matches!(packet(sent).body, Body::Report(_)));
    reports.map(|sent| (sent.at, sent.from)).collect()
}

#[test]
fn every_packet_is_sent_once_for_all_and_cut_at_the_bytes_to_push() {
    for (broadcast_protocol, sizes) in [
        (BroadcastProtocol::PushPull, vec![80, 780, 1_446, 1_446, 344]),
        (BroadcastProtocol::Simple, vec![1_434, 1_446, 1_216]),
    ] {
        let world =
            Faulty { faults: RECORDED, ..Faulty::perfect(Parameters { broadcast_protocol, ..Parameters::default() }) };
        let ended = run(world, 8, &Message::from(bytes(4_096)), |_| us(0));
        let expected: Vec<_> = sizes.into_iter().map(|size| (Destination::All, size)).collect();
        assert_eq!(data(&record(&ended)), expected, "{broadcast_protocol:?}");
    }
}

/// Every datagram's payload is a slice of the message that the program passed in, at its place in memory.
#[test]
fn no_byte_is_copied_on_the_sending_side_however_many_receivers() {
    let content = bytes(100_000);
    let lies_in = content.as_ptr_range();
    let faults = Faults { loss: 10, ..RECORDED };
    let world = Faulty { faults, ..Faulty::perfect(Parameters::default()) };
    let ended = run(world, 8, &Message::from(content), |_| us(0));
    let (mut parts, mut copied) = (0, 0);
    for sent in record(&ended).iter().filter(|sent| matches!(packet(sent).body, Body::Data(_))) {
        let payload = sent.datagram.payload().content().unwrap().as_ptr_range();
        parts += 1;
        copied += u32::from(!lies_in.contains(&payload.start) || !lies_in.contains(&payload.end.wrapping_sub(1)));
    }
    assert!(parts > 100_000 / 1_446);
    assert_eq!(copied, 0);
}

#[test]
fn resends_go_to_those_that_lost_and_to_nobody_else() {
    for repeat in [Repeat::GoBackN, Repeat::Selective] {
        let faults = Faults { loss: 20, only_to: Some(Rank(3)), ..RECORDED };
        let world = Faulty { faults, seed: 5, parameters: Parameters { repeat, ..Parameters::default() } };
        let ended = run(world, 8, &Message::from(bytes(200_000)), |_| us(0));
        let data = data(&record(&ended));
        let (all, others): (Vec<_>, Vec<_>) = data.iter().partition(|(to, _)| *to == Destination::All);
        assert_eq!(all.iter().map(|(_, size)| size).sum::<u64>(), 200_000, "each part once for all");
        assert!(others.iter().all(|(to, _)| *to == Destination::One(Rank(3))), "{others:?}");
        assert!(others.len() > 20, "{}", others.len());
    }
}

/// Blocks of 32 packets, so that a message of 400 kB fills eight.
const PARITY: Repeat = Repeat::Parity(Parity { packets: 32, parity: 16, blocks: 4 });

#[test]
fn a_parity_packet_repairs_a_different_loss_at_every_receiver() {
    let faults = Faults { loss: 5, ..RECORDED };
    let parameters = Parameters {
        repeat: PARITY,
        window: 64,
        broadcast_protocol: BroadcastProtocol::Simple,
        ..Parameters::default()
    };
    let ended = run(Faulty { faults, seed: 5, parameters }, 8, &Message::from(bytes(400_000)), |_| us(0));
    let record = record(&ended);
    let of_all = record.iter().filter(|sent| sent.to == Destination::All && sent.from == Rank(0));
    let (parts, parity): (Vec<_>, Vec<_>) = of_all.partition(|sent| matches!(packet(sent).body, Body::Data(_)));
    let alone = record.iter().filter(|sent| sent.to != Destination::All && matches!(packet(sent).body, Body::Data(_)));
    assert_eq!(parts.len(), 278, "each part once for all");
    assert!(parity.iter().all(|sent| sent.datagram.size() <= parameters.datagram));
    // Seven receivers lose 98 packets of it together, each 14 on average.
    assert!((20..60).contains(&parity.len()), "{}", parity.len());
    assert!(alone.count() < 40, "only from the last block, which is not full");
}

#[test]
fn with_parity_receivers_report_seldom_and_one_after_the_other() {
    let faults = Faults { loss: 1, byte_time: 80_000, queue: 64 << 10, ..RECORDED };
    let world = Faulty { faults, seed: 3, parameters: Parameters::for_bulk() };
    let ended = run(world, 8, &Message::from(bytes(1_000_000)), |_| us(0));
    let reports = reports(&record(&ended));
    // Of 694 packets, every 32; and a few at the end.
    assert!((7 * 20..7 * 28).contains(&reports.len()), "{}", reports.len());
    let middle: Vec<Time> = reports.iter().map(|(at, _)| *at).filter(|at| *at < Time::ZERO + us(80_000)).collect();
    assert!(middle.is_sorted_by(|one, other| *one + us(100) < *other), "{middle:?}");
}

/// Losses in the middle are repaired even if the messages carry no bytes, or not all.
#[test]
fn parity_repairs_what_is_only_a_size() {
    for message in [Message::of_size(Size(400_000)), Message::beginning_with(bytes(200_000), Size(400_000))] {
        let faults = Faults { loss: 10, ..RECORDED };
        let parameters = Parameters { repeat: PARITY, ..Parameters::default() };
        let ended = run(Faulty { faults, seed: 7, parameters }, 4, &message, |_| us(0));
        let parity = |sent: &&SentDatagram| matches!(packet(sent).body, Body::Parity(_));
        let record = record(&ended);
        let (of_a_part, symbols): (Vec<_>, Vec<_>) =
            (data(&record), record.iter().filter(parity).map(|sent| sent.datagram.size()).collect());
        assert!(of_a_part.len() > 270 && symbols.len() > 20, "{}", symbols.len());
        assert!(symbols.iter().all(|&size| (1_400..=1_472).contains(&size)), "as large as what it repairs");
    }
}

#[test]
fn the_broadcast_waits_for_those_that_lost_unless_they_keep_what_comes_early() {
    for (repeat, continues) in [(Repeat::GoBackN, false), (Repeat::Selective, true), (PARITY, true)] {
        let faults = Faults { loss: 5, only_to: Some(Rank(3)), ..RECORDED };
        let parameters = Parameters { repeat, window: 64, ..Parameters::default() };
        let ended = run(Faulty { faults, seed: 5, parameters }, 8, &Message::from(bytes(400_000)), |_| us(0));
        // Between a part that is sent again and the next report from its receiver.
        let (mut waits, mut meanwhile) = (false, 0);
        for sent in record(&ended) {
            match (packet(&sent).body, sent.to) {
                (Body::Data(_), Destination::One(_)) | (Body::Parity(_), _) => waits = true,
                (Body::Data(_), Destination::All) => meanwhile += u32::from(waits),
                (Body::Report(_), _) if sent.from == Rank(3) => waits = false,
                _ => {}
            }
        }
        assert_eq!(meanwhile > 0, continues, "{repeat:?}: {meanwhile}");
    }
}

#[test]
fn one_receiver_acknowledges_what_is_pushed_and_the_others_a_little_later() {
    for broadcast_packets in [None, Some(1)] {
        let parameters = Parameters { broadcast_packets, ..Parameters::default() };
        let world = Faulty { faults: RECORDED, ..Faulty::perfect(parameters) };
        let delay = parameters.reporting.delay;
        let program = async |endpoint: Node| {
            let message = broadcast(endpoint.clone(), Message::from(bytes(256)), |_| us(0)).await?;
            endpoint.compute(us(10_000)).await;
            Ok(message)
        };
        let ended = world.run_ranks(8, program).unwrap();
        let mut reports = reports(&record(&ended));
        // If each packet is reported, the acknowledger reports the first packet, too.
        reports.dedup_by_key(|(_, rank)| *rank);
        let (soon, late): (Vec<_>, Vec<_>) = reports.iter().partition(|(at, _)| *at < Time::ZERO + delay);
        assert_eq!(soon.len(), 1, "{soon:?}");
        let mut ranks: Vec<u32> = late.iter().chain(&soon).map(|(_, rank)| rank.0).collect();
        ranks.sort_unstable();
        assert_eq!(ranks, [1, 2, 3, 4, 5, 6, 7], "every receiver reports once that it has it");
        let times: Vec<Time> = late.iter().map(|(at, _)| *at).collect();
        assert!(times.is_sorted_by(|one, other| one < other), "and no two at once: {times:?}");
    }
}

#[test]
fn every_receiver_reports_at_once_what_is_pulled_if_asked_to() {
    let parameters = Parameters { broadcast_packets: Some(1), ..Parameters::default() };
    let world = Faulty { faults: RECORDED, ..Faulty::perfect(parameters) };
    let ended = run(world, 8, &Message::from(bytes(4_096)), |_| us(0));
    let reports = reports(&record(&ended));
    let soon =
        |rank: Rank| reports.iter().any(|(at, from)| *from == rank && *at < Time::ZERO + parameters.reporting.delay);
    assert!((1..8).map(Rank).all(soon), "{reports:?}");
}

#[test]
fn nothing_is_pulled_before_the_acknowledger_receives() {
    let world = Faulty { faults: RECORDED, ..Faulty::perfect(Parameters::default()) };
    let late = us(50_000);
    // The first acknowledger of three receivers.
    let first = Rank(1 + u32::try_from(((1_u64 << 32) - 32) % 3).unwrap());
    let ended = run(world, 4, &Message::from(bytes(100_000)), move |rank| if rank == first { late } else { us(0) });
    let pushed = record(&ended).iter().filter(|sent| sent.at < Time::ZERO + late).cloned().collect::<Vec<_>>();
    assert_eq!(data(&pushed).iter().map(|(_, size)| size).collect::<Vec<_>>(), [&80, &780]);
}

#[test]
fn a_broadcast_goes_no_further_than_the_window_beyond_the_slowest() {
    for broadcast_protocol in [BroadcastProtocol::PushPull, BroadcastProtocol::Simple] {
        let parameters = Parameters { broadcast_protocol, ..Parameters::default() };
        let world = Faulty { faults: RECORDED, ..Faulty::perfect(parameters) };
        let late = us(300_000);
        let ended =
            run(world, 4, &Message::from(bytes(300_000)), move |rank| if rank == Rank(2) { late } else { us(0) });
        let before: Vec<SentDatagram> = record(&ended).into_iter().filter(|sent| sent.at < Time::ZERO + late).collect();
        let parts = data(&before).iter().filter(|(to, _)| *to == Destination::All).count();
        assert!(parts <= 2 + parameters.window as usize, "{broadcast_protocol:?}: {parts} while rank 2 takes none");
    }
}

/// Rank 2 computes when it should receive.
fn too_slow(losses: Losses) -> Ended<Vec<Message>> {
    let slowest = Some(us(100_000));
    let parameters =
        Parameters { losses, slowest, broadcast_protocol: BroadcastProtocol::Simple, ..Parameters::default() };
    let program = |endpoint: Node| async move {
        let mut received = Vec::new();
        for number in 0..3_u8 {
            let message = Message::beginning_with(vec![number], Size(100_000));
            if endpoint.rank() == Rank(0) {
                endpoint.multicast(message).await?;
                endpoint.compute(us(1_000_000)).await;
            } else {
                endpoint.compute(us(if endpoint.rank() == Rank(2) { 2_000_000 } else { 0 })).await;
                received.push(endpoint.receive_multicast(Rank(0)).await?);
            }
        }
        Ok(received)
    };
    Faulty::perfect(parameters).run_ranks(4, program).unwrap()
}

#[test]
fn a_receiver_that_is_too_slow_is_left_behind_where_that_is_allowed() {
    let ended = too_slow(Losses::GoOn);
    let numbers = |result: &Result<Vec<Message>>| {
        let first = |message: &Message| message.content().unwrap()[0];
        result.as_ref().map(|messages| messages.iter().map(first).collect::<Vec<u8>>()).map_err(Clone::clone)
    };
    let results: Vec<_> = ended.results.iter().map(numbers).collect();
    assert_eq!(results, [Ok(vec![]), Ok(vec![0, 1, 2]), Err(Error::Lost(Rank(0))), Ok(vec![0, 1, 2])]);
    assert_eq!(ended.ranks[0].engine().left_behind().to_vec(), [Rank(2)]);
}

#[test]
fn a_receiver_that_is_too_slow_fails_the_broadcast_otherwise() {
    let ended = too_slow(Losses::Fail);
    assert_eq!(ended.results[0], Err(Error::Lost(Rank(2))));
    assert!(ended.results[1..].iter().all(|result| *result == Err(Error::Lost(Rank(0)))), "{:?}", ended.results);
}
