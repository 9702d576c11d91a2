//! What a world must do with several operations of one rank at once.

use quantities::{Bytes, Duration, Rank, Time};

use super::{LONG, Subject, is_deadlock, patterned, run};
use crate::{
    Endpoint, Error, First, Message, Needs, Program, Result, Source, Tag, Tags, first_of, join, join_all, wait_all,
};

/// Round a ring, every rank sends to the next and at once receives from the one before, whatever sends wait for.
pub fn sends_and_receives_pass_each_other<W: Subject>(world: &W, ranks: u32) {
    struct Ring;
    impl Program for Ring {
        type Output = ();
        const NEEDS: Needs = Needs::OVERLAP;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (me, size) = (endpoint.rank(), endpoint.size());
            let (next, previous) = (Rank((me.0 + 1) % size), Rank((me.0 + size - 1) % size));
            for number in 0..3 {
                let mine = patterned(me, next, number, 5_000);
                let (sent, received) = join(endpoint.send(next, mine), endpoint.receive(previous)).await;
                assert_eq!(received?, patterned(previous, me, number, 5_000));
                sent?;
            }
            Ok(())
        }
    }
    run(world, ranks, &Ring);
}

/// Rank 0 sends to all others and receives from all of them, everything at once.
pub fn many_operations_are_under_way_at_once<W: Subject>(world: &W, ranks: u32) {
    struct All;
    impl Program for All {
        type Output = ();
        const NEEDS: Needs = Needs::OVERLAP;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let me = endpoint.rank();
            if me != Rank(0) {
                endpoint.send(Rank(0), patterned(me, Rank(0), 0, 700)).await?;
                assert_eq!(endpoint.receive(Rank(0)).await?, patterned(Rank(0), me, 0, 700));
                return Ok(());
            }
            let others = || (1..endpoint.size()).rev().map(Rank);
            let receives = wait_all(others().map(|other| endpoint.receive(other)));
            let sends = wait_all(others().map(|other| endpoint.send(other, patterned(me, other, 0, 700))));
            let (received, sent) = join(receives, sends).await;
            for (other, message) in others().zip(received) {
                assert_eq!(message?, patterned(other, me, 0, 700), "from rank {other}");
            }
            sent.into_iter().collect()
        }
    }
    run(world, ranks, &All);
}

/// A rank computes while it waits for a time.
pub fn waiting_takes_no_processor<W: Subject>(world: &W, ranks: u32) {
    struct Both;
    impl Program for Both {
        type Output = Time;
        const NEEDS: Needs = Needs::OVERLAP;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Time> {
            join(endpoint.sleep_until(Time::ZERO + LONG), endpoint.compute(LONG)).await;
            Ok(endpoint.now())
        }
    }
    // A real clock goes on between the operations.
    let side_by_side = Time::ZERO + LONG..Time::ZERO + LONG * 2;
    assert!(run(world, ranks, &Both).into_iter().all(|(_, end)| side_by_side.contains(&end)));
}

/// A message travels while its receiver computes, and computations of one rank run one after the other.
pub fn communication_goes_on_behind_computing<W: Subject>(world: &W, ranks: u32) {
    struct Behind;
    impl Program for Behind {
        type Output = ();
        const NEEDS: Needs = Needs::OVERLAP;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            let began = endpoint.now();
            if endpoint.rank() == first {
                endpoint.compute(LONG).await;
                endpoint.send(last, patterned(first, last, 0, 64)).await?;
            } else if endpoint.rank() == last {
                let ((), (), received) =
                    crate::join!(endpoint.compute(LONG), endpoint.compute(LONG), endpoint.receive(first)).await;
                assert_eq!(received?, patterned(first, last, 0, 64));
                let took = endpoint.now().since(began);
                assert!(took >= LONG + LONG, "two computations of {LONG} each took {took} together");
                assert!(took < LONG + LONG + LONG, "the message came in {took}: it waited for the computations");
            }
            Ok(())
        }
    }
    run(world, ranks, &Behind);
}

/// Of two receives that a message matches, the one that began first takes it.
pub fn messages_meet_receives_in_the_order_they_began<W: Subject>(world: &W, ranks: u32) {
    struct InOrder;
    impl Program for InOrder {
        type Output = ();
        const NEEDS: Needs = Needs::OVERLAP;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            if endpoint.rank() == first {
                for number in 0..2 {
                    endpoint.send(last, patterned(first, last, number, 40)).await?;
                }
            } else if endpoint.rank() == last {
                let (one, other) = join(endpoint.receive(first), endpoint.receive(first)).await;
                assert_eq!([one?, other?], [0, 1].map(|number| patterned(first, last, number, 40)));
            }
            Ok(())
        }
    }
    run(world, ranks, &InOrder);
}

/// Dropping a future that has begun leaves its operation under way: the message that it receives is lost.
pub fn what_a_dropped_future_began_goes_on<W: Subject>(world: &W, ranks: u32) {
    struct Dropped;
    impl Program for Dropped {
        type Output = ();
        const NEEDS: Needs = Needs::OVERLAP;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            let (one, other) = (Tag(1), Tag(2));
            if endpoint.rank() == first {
                for (number, tag) in [(0, other), (1, one), (2, one)] {
                    endpoint.compute(Duration::from_microseconds(1)).await;
                    endpoint.send_tagged(last, tag, patterned(first, last, number, 40)).await?;
                }
            } else if endpoint.rank() == last {
                let receive = |tag| endpoint.receive_matching(Source::Rank(first), Tags::Only(tag), None);
                let quicker = match first_of(receive(one), receive(other)).await {
                    First::One(_) => panic!("the message of the other one was sent first"),
                    First::Other(received) => received?,
                };
                assert_eq!((quicker.tag, quicker.message), (other, patterned(first, last, 0, 40)));
                // The first of its messages went to the receive that nobody waits for any more.
                assert_eq!(receive(one).await?.message, patterned(first, last, 2, 40));
            }
            Ok(())
        }
    }
    run(world, ranks, &Dropped);
}

/// A program whose operations overlap without having declared so gets an error.
pub fn overlapping_must_be_declared<W: Subject>(world: &W, ranks: u32) {
    struct Undeclared;
    impl Program for Undeclared {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            if endpoint.rank() == last {
                endpoint.compute(Duration::from_microseconds(1)).await;
                endpoint.send(first, patterned(last, first, 0, 40)).await?;
            } else if endpoint.rank() == first {
                let (one, other) = join(endpoint.receive(last), endpoint.receive(last)).await;
                assert_eq!(one?, patterned(last, first, 0, 40));
                assert_eq!(other.err(), Some(Error::Undeclared("OVERLAP")));
            }
            Ok(())
        }
    }
    run(world, ranks, &Undeclared);
}

/// A rank with several receives that wait for ever is a deadlock, which names all of them, each once.
pub fn receives_that_wait_for_ever_are_a_deadlock<W: Subject>(world: &W, ranks: u32) {
    struct Waits;
    impl Program for Waits {
        type Output = ();
        const NEEDS: Needs = Needs::OVERLAP;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            if endpoint.rank() == Rank(1) {
                let others = (0..endpoint.size()).map(Rank).filter(|&other| other != Rank(1));
                let twice = others.flat_map(|other| [other, other]).map(|other| endpoint.receive(other));
                join_all(twice).await.into_iter().collect::<Result<Vec<Message>>>()?;
                endpoint.send(Rank(0), Message::of_size(Bytes(1))).await?;
            }
            Ok(())
        }
    }
    let others: Vec<String> =
        (0..ranks).filter(|&other| other != 1).map(|other| format!("a message from rank {other}")).collect();
    let all = match &others[..] {
        [before @ .., last] if !before.is_empty() => format!("{} and for {last}", before.join(", for ")),
        others => others.concat(),
    };
    is_deadlock(world.run_locally(ranks, &Waits), &[&format!("rank 1 waits for {all}")]);
}
