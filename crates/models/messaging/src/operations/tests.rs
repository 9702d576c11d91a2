//! What a rank does costs as much as has something to do, however much else waits.

use endpoint::{Source, Tags};
use quantities::Bytes;

use super::*;
use crate::{Datagram, Destination, Parameters};

/// Two ranks on a network that takes no time.
struct Pair {
    engines: [Engine; 2],
    operations: [Operations; 2],
    now: Time,
}

impl Pair {
    /// Rank 0 sends `count` messages with these tags, and rank 1 receives them with those; all begin at once.
    fn new(count: u32, sent: impl Fn(u32) -> u32, received: impl Fn(u32) -> Tags) -> Pair {
        let engine = |rank| Engine::new(Rank(rank), 2, Parameters::default()).unwrap();
        let mut pair = Pair {
            engines: [engine(0), engine(1)],
            operations: [Operations::new(), Operations::new()],
            now: Time::ZERO,
        };
        for number in 0..count {
            let (tag, message) = (Tag(sent(number)), Message::of_size(Bytes(8)));
            let send = Operation::Send { to: Rank(1), tag, message };
            pair.operations[0].begin(pair.now, NewOperation::new(number, send));
            let receive = Operation::Receive { from: Source::Rank(Rank(0)), tags: received(number), deadline: None };
            pair.operations[1].begin(pair.now, NewOperation::new(number, receive));
        }
        pair
    }

    /// A round of one rank: takes what has arrived and returns what it sends.
    fn round(&mut self, rank: usize, arrived: &[Datagram]) -> Vec<(Destination, Datagram)> {
        let (engine, operations) = (&mut self.engines[rank], &mut self.operations[rank]);
        operations.post(self.now, engine);
        arrived.iter().for_each(|datagram| engine.take(self.now, datagram));
        engine.wake(self.now);
        operations.advance(self.now, engine);
        let sent = engine.drain(self.now);
        operations.settle(self.now, engine);
        sent
    }

    /// Runs until all operations are over: how many of each rank were over, and how often one advanced.
    fn run(&mut self) -> ([u32; 2], u64) {
        let (mut over, mut arrived) = ([0; 2], [Vec::new(), Vec::new()]);
        while self.operations.iter().any(|operations| !operations.is_empty()) {
            self.now += Duration::from_microseconds(10);
            for rank in 0..2 {
                let taken = std::mem::take(&mut arrived[rank]);
                let sent = self.round(rank, &taken);
                arrived[1 - rank].extend(sent.into_iter().map(|(_, datagram)| datagram));
                over[rank] += std::iter::from_fn(|| self.operations[rank].take_event()).count() as u32;
            }
        }
        (over, self.operations.iter().map(|operations| operations.advanced).sum())
    }
}

#[test]
fn operations_advance_a_few_times_each_however_many_there_are_and_in_any_order_of_tags() {
    type TagOf = fn(u32) -> u32;
    const ANY: fn(u32) -> Tags = |_| Tags::Any;
    for count in [300, 600, 1_200] {
        let backwards = move |number: u32| Tags::Only(Tag(count - 1 - number));
        let (one, each): (TagOf, TagOf) = (|_| 7, |number| number);
        let mut pairs = [
            ("one tag", Pair::new(count, one, |_| Tags::Only(Tag(7)))),
            ("a tag each", Pair::new(count, each, |number| Tags::Only(Tag(number)))),
            ("backwards", Pair::new(count, each, backwards)),
            ("any tag", Pair::new(count, each, ANY)),
        ];
        for (order, pair) in &mut pairs {
            let (over, advanced) = pair.run();
            assert_eq!(over, [count; 2], "{order}");
            assert!(advanced <= 6 * u64::from(count), "{order}: {count} sends and receives advanced {advanced} times");
        }
    }
}
