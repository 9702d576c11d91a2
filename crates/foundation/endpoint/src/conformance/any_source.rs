//! What a world must do when ranks receive from any source.

use quantities::{Bytes, Duration, Rank, Time};

use super::{LONG, Subject, is_deadlock, patterned, run};
use crate::{Endpoint, Error, Message, Needs, Program, Result};

/// Rank 0 takes the messages of all others as they arrive.
struct Gather;

impl Program for Gather {
    const NEEDS: Needs = Needs::ANY_SOURCE;
    /// The sender of each message, and when rank 0 had it.
    type Output = Vec<(Rank, Time)>;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Self::Output> {
        let me = endpoint.rank();
        let mut taken = Vec::new();
        if me > Rank(0) {
            endpoint.compute(Duration::from_nanoseconds(u64::from(me.0 % 3) * 10)).await;
            endpoint.send(Rank(0), patterned(me, Rank(0), 0, 64)).await?;
            return Ok(taken);
        }
        for _ in 1..endpoint.size() {
            let (from, message) = endpoint.receive_any(None).await?;
            assert_eq!(message, patterned(from, me, 0, 64));
            taken.push((from, endpoint.now()));
        }
        Ok(taken)
    }
}

/// Receiving from anyone returns every message once, in an order in which time does not run backward.
pub fn a_message_from_anyone_is_taken_once<W: Subject>(world: &W, ranks: u32) {
    let taken = run(world, ranks, &Gather).into_iter().find(|&(rank, _)| rank == Rank(0));
    let Some((_, taken)) = taken else { return };
    assert!(taken.is_sorted_by_key(|&(_, when)| when), "{taken:?}");
    let mut senders: Vec<Rank> = taken.into_iter().map(|(from, _)| from).collect();
    senders.sort();
    assert_eq!(senders, (1..ranks).map(Rank).collect::<Vec<_>>());
}

/// The same program on the same world takes the messages in the same order at the same times.
pub fn two_runs_from_anyone_are_the_same<W: Subject>(make: &impl Fn(u32) -> W, ranks: u32) {
    let world = make(ranks);
    let first = run(&world, ranks, &Gather);
    assert_eq!(first, run(&world, ranks, &Gather), "the same world again");
    assert_eq!(first, run(&make(ranks), ranks, &Gather), "another world of the same kind");
}

/// When nothing arrives, the wait ends at the deadline and not before it.
pub fn a_deadline_passes<W: Subject>(world: &W, ranks: u32) {
    struct Waits;
    impl Program for Waits {
        const NEEDS: Needs = Needs::ANY_SOURCE;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            for wait in [0, 1, 5_000].map(Duration::from_picoseconds) {
                let deadline = endpoint.now() + wait;
                assert_eq!(endpoint.receive_any(Some(deadline)).await.err(), Some(Error::Deadline(deadline)));
                assert!(endpoint.now() >= deadline, "back at {:?}, before {deadline:?}", endpoint.now());
            }
            Ok(())
        }
    }
    run(world, ranks, &Waits);
}

/// A message that arrives in time ends the wait, and the program goes on before the deadline.
pub fn a_message_before_the_deadline_is_taken<W: Subject>(world: &W, ranks: u32) {
    struct InTime;
    impl Program for InTime {
        const NEEDS: Needs = Needs::ANY_SOURCE;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            if endpoint.rank() == first {
                endpoint.send(last, patterned(first, last, 0, 16)).await?;
            } else if endpoint.rank() == last {
                let deadline = endpoint.now() + LONG;
                assert_eq!(endpoint.receive_any(Some(deadline)).await?, (first, patterned(first, last, 0, 16)));
                assert!(endpoint.now() < deadline);
            }
            Ok(())
        }
    }
    run(world, ranks, &InTime);
}

/// A message that has already arrived is returned even when the deadline is now or past.
pub fn a_message_that_is_there_beats_a_deadline_that_has_passed<W: Subject>(world: &W, ranks: u32) {
    struct Late;
    impl Program for Late {
        const NEEDS: Needs = Needs::ANY_SOURCE;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            if endpoint.rank() == first {
                endpoint.send(last, patterned(first, last, 0, 16)).await?;
                endpoint.send(last, patterned(first, last, 1, 16)).await?;
            } else if endpoint.rank() == last {
                endpoint.compute(LONG).await;
                let (_, message) = endpoint.receive_any(Some(endpoint.now())).await?;
                assert_eq!(message, patterned(first, last, 0, 16));
                endpoint.compute(LONG).await;
                let (_, message) = endpoint.receive_any(Some(Time::ZERO)).await?;
                assert_eq!(message, patterned(first, last, 1, 16));
            }
            Ok(())
        }
    }
    run(world, ranks, &Late);
}

/// Receives from a named rank and from anyone together take each sender's messages in order.
pub fn order_holds_between_named_and_any<W: Subject>(world: &W, ranks: u32) {
    struct Mixed;
    impl Program for Mixed {
        const NEEDS: Needs = Needs::ANY_SOURCE;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (me, last) = (endpoint.rank(), Rank(endpoint.size() - 1));
            if me != last {
                for number in 0..4 {
                    endpoint.send(last, patterned(me, last, number, 100)).await?;
                }
                return Ok(());
            }
            let mut next = vec![0; endpoint.size() as usize];
            for turn in 0..4 * last.0 {
                // Every other message is asked for by name, from the first rank that has one left.
                let unfinished = next[..last.0 as usize].iter().position(|&number| number < 4);
                let named = Rank(unfinished.expect("a rank has a message left") as u32);
                let (from, message) = if turn % 2 == 0 {
                    (named, endpoint.receive(named).await?)
                } else {
                    endpoint.receive_any(None).await?
                };
                assert_eq!(message, patterned(from, last, next[from.0 as usize], 100), "from rank {from}");
                next[from.0 as usize] += 1;
            }
            Ok(())
        }
    }
    run(world, ranks, &Mixed);
}

/// Waiting for anyone without a deadline when nobody sends is a deadlock, and the error names who waits.
pub fn waiting_for_anyone_for_ever_is_a_deadlock<W: Subject>(world: &W, ranks: u32) {
    struct Waits;
    impl Program for Waits {
        const NEEDS: Needs = Needs::ANY_SOURCE;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            if endpoint.rank() == Rank(1) {
                endpoint.receive_any(None).await?;
                endpoint.send(Rank(0), Message::of_size(Bytes(1))).await?;
            }
            Ok(())
        }
    }
    is_deadlock(world.run_locally(ranks, &Waits), &["rank 1 waits for a message from anyone"]);
}

/// A program that receives from anyone without having declared so gets an error, and can go on.
pub fn receiving_from_anyone_must_be_declared<W: Subject>(world: &W, ranks: u32) {
    struct Undeclared;
    impl Program for Undeclared {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            for deadline in [None, Some(Time::ZERO)] {
                assert_eq!(endpoint.receive_any(deadline).await.err(), Some(Error::Undeclared("ANY_SOURCE")));
            }
            Ok(())
        }
    }
    run(world, ranks, &Undeclared);
}
