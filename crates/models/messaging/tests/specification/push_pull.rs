//! Push-pull messages, as the paper describes them: what goes over the wire, and what waits where.

use crate::faults::network::{Faults, SentDatagram};
use crate::faults::{Faulty, Node};
use endpoint::{Endpoint, Message, Result};
use maquette_messaging::packet::{Body, Packet, Part, ReceiverReport};
use maquette_messaging::{Parameters, Push};
use quantities::{Bytes, Duration, Rank, Time};

const fn us(microseconds: u64) -> Duration {
    Duration::from_microseconds(microseconds)
}

fn message(size: usize) -> Message {
    Message::from((0..size).map(|place| (place * 13 / 5) as u8).collect::<Vec<u8>>())
}

fn recorded(parameters: Parameters) -> Faulty {
    Faulty { faults: Faults { record: true, ..Faults::default() }, ..Faulty::perfect(parameters) }
}

/// Rank 0 sends a message of this size after `early`; rank 1 receives it after `late`.
fn sent(parameters: Parameters, size: usize, early: Duration, late: Duration) -> Vec<SentDatagram> {
    let program = |endpoint: Node| async move {
        if endpoint.rank() == Rank(0) {
            endpoint.compute(early).await;
            endpoint.send(Rank(1), message(size)).await?;
        } else {
            endpoint.compute(late).await;
            assert!(endpoint.receive(Rank(0)).await? == message(size));
        }
        Ok(())
    };
    let ended = recorded(parameters).run_ranks(2, program).unwrap();
    assert!(ended.results.iter().all(Result::is_ok));
    ended.network.borrow_mut().record.take().unwrap()
}

fn body(sent: &SentDatagram) -> Body {
    Packet::decode(&sent.datagram).unwrap().body
}

/// The parts that were sent before this time: where each began, and its size. [B]
fn parts(sent: &[SentDatagram], before: Time) -> Vec<(u64, u64)> {
    let data = sent.iter().filter(|sent| sent.at < before).filter_map(|sent| match body(sent) {
        Body::Data(data) => Some(data),
        _ => None,
    });
    data.map(|data| (if let Part::From(offset) = data.part { offset } else { 0 }, data.payload.size().0)).collect()
}

fn reports(sent: &[SentDatagram]) -> Vec<(Time, ReceiverReport)> {
    let report = |sent: &SentDatagram| match body(sent) {
        Body::Report(report) => Some((sent.at, report)),
        _ => None,
    };
    sent.iter().filter_map(report).collect()
}

#[test]
fn a_short_message_is_pushed_and_waits_for_its_receive() {
    let late = us(5_000);
    let sent = sent(Parameters::default(), 256, us(0), late);
    assert_eq!(parts(&sent, Time::ZERO + late), [(0, 80), (80, 176)]);
    assert_eq!(parts(&sent, Time::NEVER).len(), 2);
    assert!(reports(&sent).iter().all(|(_, report)| report.pull.is_none()));
}

#[test]
fn the_rest_of_a_long_message_is_pulled_when_there_is_a_place_for_it() {
    let late = us(5_000);
    let sent = sent(Parameters::default(), 4_096, us(0), late);
    assert_eq!(parts(&sent, Time::ZERO + late), [(0, 80), (80, 780)]);
    assert_eq!(parts(&sent, Time::NEVER)[2..], [(860, 1_446), (2_306, 1_446), (3_752, 344)]);
}

/// Push-and-acknowledge overlapping: the pull leaves when the opening has arrived, not when the whole push has.
#[test]
fn if_the_receive_is_posted_first_the_pull_crosses_the_push() {
    let parameters = Parameters { push: Push { first: 80, second: 60_000 }, window: 4, ..Parameters::default() };
    let sent = sent(parameters, 100_000, us(1_000), us(0));
    let (pulled, _) = *reports(&sent).iter().find(|(_, report)| report.pull.is_some()).unwrap();
    assert!(parts(&sent, pulled).len() <= 5, "{:?}", parts(&sent, pulled));
    let all: u64 = parts(&sent, Time::NEVER).iter().map(|(_, size)| size).sum();
    assert_eq!(all, 100_000, "each byte goes once");
}

#[test]
fn what_does_not_fit_into_the_pushed_buffer_is_pulled_from_its_beginning() {
    let late = us(5_000);
    let sent = sent(Parameters { pushed_buffer: 500, ..Parameters::default() }, 860, us(0), late);
    assert_eq!(parts(&sent, Time::ZERO + late), [(0, 80), (80, 780)]);
    assert_eq!(parts(&sent, Time::NEVER)[2..], [(0, 860)]);
    assert!(reports(&sent).iter().any(|(_, report)| report.pull.is_some_and(|(_, offset)| offset == 0)));
}

/// However many messages a rank sends, the receiver keeps no more than the pushed buffer holds, and the source keeps
/// the rest.
#[test]
fn messages_that_nobody_receives_take_bounded_room_even_empty_ones() {
    for size in [0, 64] {
        let parameters = Parameters { pushed_buffer: 64 * 20, send_queue: 8, ..Parameters::default() };
        let program = |endpoint: Node| async move {
            let mut sent_by_then = 0;
            if endpoint.rank() == Rank(0) {
                for _ in 0..200 {
                    endpoint.send(Rank(1), message(size)).await?;
                    sent_by_then += u32::from(endpoint.now() < Time::ZERO + us(50_000));
                }
            } else {
                endpoint.compute(us(50_000)).await;
                for _ in 0..200 {
                    assert!(endpoint.receive_any(None).await? == (Rank(0), message(size)));
                }
            }
            Ok(sent_by_then)
        };
        let ended = Faulty::perfect(parameters).run_ranks(2, program).unwrap();
        assert_eq!(ended.results[0], Ok(28), "20 in the pushed buffer, 8 in the send queue");
        assert!(ended.results[1].is_ok());
    }
}

#[test]
fn many_ranks_send_a_long_message_to_one_at_once() {
    let program = |endpoint: Node| async move {
        if endpoint.rank() > Rank(0) {
            return endpoint.send(Rank(0), message(30_000 + endpoint.rank().0 as usize)).await;
        }
        let mut sizes = Vec::new();
        for _ in 1..endpoint.size() {
            let (from, received) = endpoint.receive_any(None).await?;
            assert!(received == message(30_000 + from.0 as usize));
            sizes.push(received.size());
        }
        sizes.sort();
        assert_eq!(sizes, (1..endpoint.size()).map(|rank| Bytes(30_000 + u64::from(rank))).collect::<Vec<_>>());
        Ok(())
    };
    let faults = Faults { loss: 5, delay: 100, ..Faults::default() };
    let ended = Faulty { faults, ..Faulty::perfect(Parameters::default()) }.run_ranks(100, program).unwrap();
    assert!(ended.results.iter().all(Result::is_ok));
}

#[test]
fn a_message_of_many_megabytes_arrives() {
    let parameters = Parameters { window: 64, ..Parameters::default() };
    let sent = sent(parameters, 20_000_000, us(0), us(0));
    assert_eq!(parts(&sent, Time::NEVER).iter().map(|(_, size)| size).sum::<u64>(), 20_000_000);
}
