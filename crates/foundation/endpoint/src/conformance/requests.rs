//! What every world with requests must do.

use quantities::{Bytes, Duration, Rank};

use super::{LONG, Subject, run};
use crate::{
    Endpoint, Error, Event, Message, Needs, Operation, Outcome, Program, Report, Request, Result, Source, StartStatus,
    Tag, Tags,
};

/// Checks everything that a world whose ranks can begin requests must do. `make` makes a world for at least the given
/// number of ranks.
pub fn requests_world<W: Subject>(make: impl Fn(u32) -> W) {
    requests_bring_each_message_once(&make(4), 4);
    computations_behind_requests_take_their_time(&make(2));
    a_program_that_announces_no_requests_has_none(&make(2));
    a_rank_without_requests_waits_for_none(&make(1));
    a_request_that_nothing_ends_is_a_deadlock(&make(2));
}

fn send(number: u32, to: u32, tag: u32) -> Request {
    Request::new(number, Operation::Send { to: Rank(to), tag: Tag(tag), message: Message::from(vec![tag as u8; 40]) })
}

fn receive(number: u32, from: Source, tags: Tags) -> Request {
    Request::new(number, Operation::Receive { from, tags, deadline: None })
}

/// Waits until `count` requests are over: their numbers, and the sender and tag of the messages that they received.
async fn all<E: Endpoint>(endpoint: &E, count: usize) -> Result<Vec<(u32, Option<(Rank, Tag)>)>> {
    let mut over = Vec::new();
    while over.len() < count {
        let Report { number, event, .. } = endpoint.wait_any().await?;
        match event {
            Event::Started => {}
            Event::Completed(Ok(Outcome::Received(received, _))) => {
                assert!(received.message.content().is_none_or(|content| content[..] == [received.tag.0 as u8; 40]));
                over.push((number, Some((received.from, received.tag))));
            }
            Event::Completed(outcome) => {
                outcome?;
                over.push((number, None));
            }
        }
    }
    over.sort_by_key(|&(number, _)| number);
    Ok(over)
}

/// Every rank sends two messages to every other one and receives them in the opposite order of tags, and then one from
/// anyone.
struct ToAll;

impl Program for ToAll {
    const NEEDS: Needs = Needs::REQUESTS.and(Needs::ANY_SOURCE);
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let (me, size) = (endpoint.rank().0, endpoint.size());
        let others = || (0..size).filter(|&other| other != me);
        let mut expected = Vec::new();
        for other in others() {
            for tag in [2, 1] {
                endpoint.start(receive(4 * other + tag, Source::Rank(Rank(other)), Tags::Only(Tag(tag))))?;
                expected.push((4 * other + tag, Some((Rank(other), Tag(tag)))));
            }
        }
        for (number, other) in (100..).zip(others()) {
            endpoint.start(send(number, other, 1))?;
            endpoint.start(send(number + 50, other, 2))?;
            expected.extend([(number, None), (number + 50, None)]);
        }
        expected.sort_by_key(|&(number, _)| number);
        assert_eq!(all(endpoint, expected.len()).await?, expected);
        // Numbers can be used again.
        endpoint.start(receive(1, Source::Any, Tags::Any))?;
        endpoint.start(send(2, (me + 1) % size, 7))?;
        let from = Rank((me + size - 1) % size);
        assert_eq!(all(endpoint, 2).await?, [(1, Some((from, Tag(7)))), (2, None)]);
        Ok(())
    }
}

/// Requests receive what others have sent, each message once, whatever the order in which the receives were posted.
pub fn requests_bring_each_message_once<W: Subject>(world: &W, ranks: u32) {
    run(world, ranks, &ToAll);
}

/// Computes twice behind a posted receive; the message travels meanwhile.
struct ComputesBehind;

impl Program for ComputesBehind {
    const NEEDS: Needs = Needs::REQUESTS;
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let (start, partner) = (endpoint.now(), 1 - endpoint.rank().0);
        let begun = endpoint.start(receive(0, Source::Rank(Rank(partner)), Tags::Any))?;
        assert!(matches!(begun, StartStatus::Started | StartStatus::Later));
        for number in [1, 2] {
            endpoint.start(Request::new(number, Operation::Compute(LONG)))?;
        }
        endpoint.start(send(3, partner, 0))?;
        let mut ends = Vec::new();
        while ends.len() < 4 {
            let report = endpoint.wait_any().await?;
            if let Event::Completed(outcome) = report.event {
                outcome?;
                assert!(report.at >= endpoint.now());
                ends.push((report.number, report.at));
            }
        }
        ends.sort_by_key(|&(number, _)| number);
        // One processor computes one thing after the other.
        assert!(ends[1].1 >= start + LONG && ends[2].1 >= ends[1].1 + LONG, "{ends:?}");
        Ok(())
    }
}

/// Computations that are requests take their time, one after the other on one processor.
pub fn computations_behind_requests_take_their_time<W: Subject>(world: &W) {
    run(world, 2, &ComputesBehind);
}

/// Begins a request without having declared so.
struct Unannounced;

impl Program for Unannounced {
    const NEEDS: Needs = Needs::OVERLAP;
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let compute = Request::new(0, Operation::Compute(Duration::ZERO));
        assert_eq!(endpoint.start(compute), Err(Error::Undeclared("REQUESTS")));
        Ok(())
    }
}

/// A program that begins requests without having declared so gets an error.
pub fn a_program_that_announces_no_requests_has_none<W: Subject>(world: &W) {
    run(world, 2, &Unannounced);
}

/// Waits for a request without having begun one.
struct WaitsForNone;

impl Program for WaitsForNone {
    const NEEDS: Needs = Needs::REQUESTS;
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        assert!(matches!(endpoint.wait_any().await, Err(Error::Unfit(_))));
        let too_high = Request::new(Request::MOST + 1, Operation::Compute(Duration::ZERO));
        assert!(matches!(endpoint.start(too_high), Err(Error::Unfit(_))));
        let no_such_rank = Operation::Send { to: Rank(9), tag: Tag(0), message: Message::of_size(Bytes(1)) };
        assert_eq!(endpoint.start(Request::new(0, no_such_rank)), Err(Error::NoSuchRank { rank: Rank(9), size: 1 }));
        Ok(())
    }
}

/// Waiting for a request when none is under way is an error, and so is an invalid request.
pub fn a_rank_without_requests_waits_for_none<W: Subject>(world: &W) {
    run(world, 1, &WaitsForNone);
}

/// Receives a message that nobody sends.
struct ReceivesNothing;

impl Program for ReceivesNothing {
    const NEEDS: Needs = Needs::REQUESTS;
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        endpoint.start(receive(0, Source::Rank(Rank(1 - endpoint.rank().0)), Tags::Any))?;
        endpoint.wait_any().await.map(drop)
    }
}

/// Ranks whose requests never end are a deadlock.
pub fn a_request_that_nothing_ends_is_a_deadlock<W: Subject>(world: &W) {
    match world.run_locally(2, &ReceivesNothing) {
        Err(Error::Deadlock(report)) => assert!(report.contains("rank 0 waits for its requests"), "{report}"),
        Err(other) => panic!("expected a deadlock, found {other}"),
        Ok(_) => panic!("expected a deadlock, and it came to an end"),
    }
}
