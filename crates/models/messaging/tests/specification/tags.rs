//! Messages with tags, many in flight at once, on a network that loses, repeats, delays and damages datagrams: each is
//! received by a receive that it fits, in the order in which those of its sender and tag were sent; and none that waits
//! for its receive holds up another.

use std::collections::BTreeMap;

use crate::faults::Faulty;
use crate::faults::draws::{Draws, seeds};
use crate::faults::network::Faults;
use endpoint::{Endpoint, Error, Message, Needs, Program, Received, Result, Source, Tag, Tags, World, join, join_all};
use maquette_messaging::{Parameters, Probe, Push, Repeat, Reporting, Timing};
use quantities::{Duration, Rank};

const fn us(microseconds: u64) -> Duration {
    Duration::from_microseconds(microseconds)
}

/// How a rank receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// One after the other, each from a rank and with a tag, in an order unrelated to that of the sends.
    OneByOne,
    /// The same, but none waits for longer than this before another is tried.
    Impatient(Duration),
    /// All at once, each from a rank and with a tag.
    AtOnce,
    /// All at once, those with odd tags from any source.
    OddFromAnyone,
    /// All at once, each from a rank, with any tag.
    AnyTag,
    /// All at once, each from any source with any tag.
    Anything,
}

const WAYS: [Way; 6] =
    [Way::OneByOne, Way::Impatient(us(300)), Way::AtOnce, Way::OddFromAnyone, Way::AnyTag, Way::Anything];

/// A message that a rank sends, and its number among those with its receiver and tag.
#[derive(Clone, Copy, Debug)]
struct TaggedMessage {
    to: Rank,
    tag: Tag,
    number: u32,
    size: u64,
}

impl TaggedMessage {
    fn message(self, from: Rank) -> Message {
        let TaggedMessage { to, tag, number, size } = self;
        let seed = (u64::from(from.0) << 40) | (u64::from(to.0) << 32) | (u64::from(tag.0) << 16) | u64::from(number);
        let mut draws = Draws(seed);
        // The first bytes identify it, however short it is.
        let bytes =
            (0..size.max(8)).map(|place| if place < 8 { (seed >> (8 * place)) as u8 } else { draws.next() as u8 });
        Message::from(bytes.collect::<Vec<u8>>())
    }
}

/// What every rank sends, and how each receives.
struct Traffic {
    seed: u64,
    sends: Vec<Vec<TaggedMessage>>,
    ways: Vec<Way>,
}

impl Traffic {
    fn new(seed: u64, ranks: u32) -> Traffic {
        let mut draws = Draws(seed ^ 0x7a65);
        let (tags, most) = (1 + draws.below(5) as u32, [200, 3_000, 30_000][draws.below(3) as usize]);
        let mut sends = Vec::new();
        for from in 0..ranks {
            let mut numbers = BTreeMap::new();
            let count = draws.below(if ranks > 2 { 25 } else { 60 });
            let sent = (0..count).map(|_| {
                let to = Rank((from + 1 + draws.below(u64::from(ranks) - 1) as u32) % ranks);
                let tag = Tag(draws.below(u64::from(tags)) as u32);
                let number = numbers.entry((to, tag)).or_insert(0);
                *number += 1;
                TaggedMessage { to, tag, number: *number - 1, size: draws.below(most) }
            });
            sends.push(sent.collect());
        }
        let ways = (0..ranks).map(|_| WAYS[draws.below(WAYS.len() as u64) as usize]).collect();
        Traffic { seed, sends, ways }
    }

    /// The messages to a rank and their senders, in random order.
    fn to(&self, rank: Rank) -> Vec<(Rank, TaggedMessage)> {
        let of = |(from, sent): (u32, &Vec<TaggedMessage>)| {
            let to_rank = sent.iter().filter(|sent| sent.to == rank).map(move |sent| (Rank(from), *sent));
            to_rank.collect::<Vec<_>>()
        };
        let mut all: Vec<(Rank, TaggedMessage)> = (0..).zip(&self.sends).flat_map(of).collect();
        let mut draws = Draws(self.seed ^ u64::from(rank.0));
        for place in (1..all.len()).rev() {
            all.swap(place, draws.below(place as u64 + 1) as usize);
        }
        all
    }
}

/// What a receive asks for in order to get a message from `from` with `tag`.
fn asked(way: Way, from: Rank, tag: Tag) -> (Source, Tags) {
    match way {
        Way::OddFromAnyone if tag.0 % 2 == 1 => (Source::Any, Tags::Only(tag)),
        Way::OneByOne | Way::Impatient(_) | Way::AtOnce | Way::OddFromAnyone => (Source::Rank(from), Tags::Only(tag)),
        Way::AnyTag => (Source::Rank(from), Tags::Any),
        Way::Anything => (Source::Any, Tags::Any),
    }
}

/// All messages to a rank, in the order in which its receives were begun.
async fn receive_all<E: Endpoint>(endpoint: &E, way: Way, all: &[(Rank, TaggedMessage)]) -> Result<Vec<Received>> {
    let receives = all.iter().map(|(from, sent)| asked(way, *from, sent.tag));
    let mut received = Vec::new();
    match way {
        Way::OneByOne => {
            for (from, tags) in receives {
                received.push(endpoint.receive_matching(from, tags, None).await?);
            }
        }
        Way::Impatient(patience) => {
            let mut left: Vec<(Source, Tags)> = receives.collect();
            while !left.is_empty() {
                let (from, tags) = left.remove(0);
                match endpoint.receive_matching(from, tags, Some(endpoint.now() + patience)).await {
                    Err(Error::Deadline(_)) => left.push((from, tags)),
                    ended => received.push(ended?),
                }
            }
        }
        _ => {
            let begun = receives.map(|(from, tags)| endpoint.receive_matching(from, tags, None));
            received = join_all(begun).await.into_iter().collect::<Result<_>>()?;
        }
    }
    Ok(received)
}

impl Program for Traffic {
    type Output = ();
    const NEEDS: Needs = Needs::ANY_SOURCE.and(Needs::OVERLAP);

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let me = endpoint.rank();
        let (way, all) = (self.ways[me.0 as usize], self.to(me));
        let sends =
            self.sends[me.0 as usize].iter().map(|sent| endpoint.send_tagged(sent.to, sent.tag, sent.message(me)));
        let (received, sent) = join(receive_all(endpoint, way, &all), join_all(sends)).await;
        sent.into_iter().collect::<Result<()>>()?;
        let mut numbers: BTreeMap<(Rank, Tag), u32> = BTreeMap::new();
        for Received { from, tag, message } in received? {
            let number = numbers.entry((from, tag)).or_default();
            let sent = self.sends[from.0 as usize].iter();
            let sent = sent.filter(|sent| (sent.to, sent.tag) == (me, tag)).find(|sent| sent.number == *number);
            let expected = sent.map(|sent| sent.message(from));
            assert_eq!(Some(message), expected, "{way:?}: message {number} from rank {from} with tag {tag:?}");
            *number += 1;
        }
        assert_eq!(numbers.values().sum::<u32>() as usize, all.len());
        Ok(())
    }
}

fn parameters(draws: &mut Draws) -> Parameters {
    let window = 1 + draws.below(24) as u32;
    Parameters {
        datagram: if draws.percent(50) { 1_472 } else { 80 + draws.below(600) as usize },
        window,
        repeat: if draws.percent(50) { Repeat::GoBackN } else { Repeat::Selective },
        push: Push { first: draws.below(200) as u32, second: draws.below(2_000) as u32 },
        pushed_buffer: draws.below(6_000),
        send_queue: 1 + draws.below(6) as usize,
        batch: if draws.percent(50) { usize::MAX } else { 1 + draws.below(20) as usize },
        timing: Timing { first: us(2_000), least: us(100), most: us(100_000) },
        reporting: Reporting { packets: 1 + draws.below(u64::from(window)), delay: us(draws.below(1_000)) },
        probe: if draws.percent(50) { Probe::WithPacket } else { Probe::Alone },
        ..Parameters::default()
    }
}

fn world(seed: u64) -> (Faulty, u32) {
    let mut draws = Draws(seed ^ 0x7a9);
    let ranks = 2 + draws.below(3) as u32;
    let faults = Faults {
        loss: draws.below(25),
        repeated: draws.below(20),
        delay: draws.below(500),
        damaged: draws.below(5),
        strange: draws.below(10),
        ..Faults::default()
    };
    (Faulty { parameters: parameters(&mut draws), faults, seed }, ranks)
}

/// `SEEDS=100000 cargo test --release -p maquette-messaging --test specification tags`; `SEED=n` runs one.
#[test]
fn every_receive_has_the_message_that_it_asks_for() {
    for seed in seeds(100) {
        let (world, ranks) = world(seed);
        let again = format!("again: SEED={seed} cargo test -p maquette-messaging --test specification tags");
        let ended = world.run(ranks, &Traffic::new(seed, ranks)).unwrap_or_else(|error| panic!("{error}\n{again}"));
        for (rank, result) in ended.0.into_iter().enumerate() {
            result.unwrap_or_else(|error| panic!("rank {rank} ended with: {error}\n{again}"));
        }
    }
}

/// A long message that nobody has received yet, and short ones with another tag behind it, many more than the send
/// queue holds.
struct PastALongOne;

impl Program for PastALongOne {
    type Output = u64;
    const NEEDS: Needs = Needs::OVERLAP;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<u64> {
        let (long, short) = (Tag(1), Tag(2));
        let bytes = |length: usize, number: u32| Message::from(vec![number as u8; length]);
        if endpoint.rank() == Rank(0) {
            let shorts = async {
                for number in 0..500 {
                    endpoint.send_tagged(Rank(1), short, bytes(2_000, number)).await?;
                }
                Ok::<(), Error>(())
            };
            let (one, others) = join(endpoint.send_tagged(Rank(1), long, bytes(100_000, 7)), shorts).await;
            return one.and(others).map(|()| 0);
        }
        let receive = |tag| endpoint.receive_matching(Source::Rank(Rank(0)), Tags::Only(tag), None);
        for number in 0..500 {
            assert_eq!(receive(short).await?.message, bytes(2_000, number));
        }
        assert_eq!(receive(long).await?.message, bytes(100_000, 7));
        Ok(500)
    }
}

#[test]
fn a_message_that_nobody_receives_holds_up_none_with_another_tag() {
    for (seed, loss) in [(1, 0), (2, 10)] {
        let faults = Faults { loss, delay: 100, ..Faults::default() };
        for repeat in [Repeat::GoBackN, Repeat::Selective] {
            let world = Faulty { parameters: Parameters { repeat, ..Parameters::default() }, faults, seed };
            let (received, ()) = world.run(2, &PastALongOne).unwrap();
            assert_eq!(received, [Ok(0), Ok(500)]);
        }
    }
}

/// Rank 1 waits for a tag that no message has, while one with another tag has arrived that nobody receives.
struct AnotherTag;

impl Program for AnotherTag {
    type Output = ();
    const NEEDS: Needs = Needs::OVERLAP;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        if endpoint.rank() == Rank(0) {
            return endpoint.send_tagged(Rank(1), Tag(1), Message::from(vec![1; 50_000])).await;
        }
        endpoint.receive_matching(Source::Rank(Rank(0)), Tags::Only(Tag(2)), None).await.map(drop)
    }
}

#[test]
fn a_tag_that_no_message_has_is_a_deadlock() {
    let Err(Error::Deadlock(text)) = Faulty::perfect(Parameters::default()).run(2, &AnotherTag) else {
        panic!("it ends")
    };
    assert_eq!(text, "rank 1 waits for a message with tag 2 from rank 0");
}
