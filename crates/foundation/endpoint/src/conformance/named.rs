//! What every world must do with messages between named ranks.

use quantities::{Bytes, Duration, Rank, Time};

use super::{LONG, Subject, is_deadlock, patterned, run};
use crate::{Endpoint, Error, Message, Program, Result};

/// Ranks know who they are, and their results come in order of rank.
pub fn results_come_in_order_of_rank<W: Subject>(world: &W, ranks: u32) {
    struct WhoAmI;
    impl Program for WhoAmI {
        type Output = (Rank, u32);
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Self::Output> {
            Ok((endpoint.rank(), endpoint.size()))
        }
    }
    for (rank, output) in run(world, ranks, &WhoAmI) {
        assert_eq!(output, (rank, ranks));
    }
}

/// Every rank begins at the beginning of time.
pub fn time_begins_at_zero<W: Subject>(world: &W, ranks: u32) {
    struct WhatTimeIsIt;
    impl Program for WhatTimeIsIt {
        type Output = Time;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Time> {
            Ok(endpoint.now())
        }
    }
    assert!(run(world, ranks, &WhatTimeIsIt).into_iter().all(|(_, time)| time == Time::ZERO));
}

/// Computes for several durations; outputs how long each should have taken, and took. [ps]
struct Compute;

impl Program for Compute {
    type Output = Vec<(u64, u64)>;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<(u64, u64)>> {
        let mut took = Vec::new();
        for picoseconds in [0, 1, 999, u64::from(endpoint.rank().0), 1_000_000_007] {
            let before = endpoint.now();
            endpoint.compute(Duration::from_picoseconds(picoseconds)).await;
            took.push((picoseconds, endpoint.now().picoseconds() - before.picoseconds()));
        }
        Ok(took)
    }
}

/// `compute` advances `now` by at least the work.
pub fn computing_takes_at_least_its_time<W: Subject>(world: &W, ranks: u32) {
    for (work, took) in run(world, ranks, &Compute).into_iter().flat_map(|(_, took)| took) {
        assert!(took >= work, "{work} ps of work took {took} ps");
    }
}

/// `compute` advances `now` by exactly the work, and by nothing for no work.
pub fn computing_takes_exactly_its_time<W: Subject>(world: &W, ranks: u32) {
    for (work, took) in run(world, ranks, &Compute).into_iter().flat_map(|(_, took)| took) {
        assert_eq!(took, work);
    }
}

/// A wait ends at its time, and at once if that time has passed.
pub fn waiting_ends_at_its_time<W: Subject>(world: &W, ranks: u32) {
    struct Wait;
    impl Program for Wait {
        type Output = [Time; 2];
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<[Time; 2]> {
            let time = Time::ZERO + LONG * u64::from(endpoint.rank().0 + 1);
            endpoint.sleep_until(time).await;
            let woken = endpoint.now();
            endpoint.sleep_until(Time::ZERO + LONG).await;
            Ok([woken, endpoint.now()])
        }
    }
    for (Rank(rank), times) in run(world, ranks, &Wait) {
        assert_eq!(times, [Time::ZERO + LONG * u64::from(rank + 1); 2]);
    }
}

/// Every rank exchanges with every other, whatever their number.
pub fn every_rank_reaches_every_other<W: Subject>(world: &W, ranks: u32) {
    for (rank, received) in run(world, ranks, &PairwiseExchange) {
        let expected: Vec<Rank> = (0..ranks).map(Rank).filter(|&other| other != rank).collect();
        assert_eq!(received.iter().map(|&(from, _)| from).collect::<Vec<_>>(), expected, "rank {rank}");
    }
}

/// Every pair exchanges a message both ways, the lower rank first, so that no send needs a buffer.
struct PairwiseExchange;

impl Program for PairwiseExchange {
    /// Each sender that this rank received from, and when it had the message.
    type Output = Vec<(Rank, Time)>;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Self::Output> {
        let me = endpoint.rank();
        let mut received = Vec::new();
        for partner in (0..endpoint.size()).map(Rank).filter(|&partner| partner != me) {
            let mine = patterned(me, partner, 0, 40);
            if me < partner {
                endpoint.send(partner, mine).await?;
            }
            assert_eq!(endpoint.receive(partner).await?, patterned(partner, me, 0, 40));
            received.push((partner, endpoint.now()));
            if me > partner {
                endpoint.send(partner, patterned(me, partner, 0, 40)).await?;
            }
        }
        Ok(received)
    }
}

/// Sending to a rank out of range, or receiving from one, is an error that the program gets and can survive.
pub fn a_rank_that_does_not_exist_is_an_error<W: Subject>(world: &W, ranks: u32) {
    struct OutOfRange;
    impl Program for OutOfRange {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            for rank in [endpoint.size(), u32::MAX].map(Rank) {
                let expected = Error::NoSuchRank { rank, size: endpoint.size() };
                let sent = endpoint.send(rank, Message::of_size(Bytes(8))).await;
                assert_eq!(sent.as_ref().err(), Some(&expected), "a send to rank {rank}");
                assert_eq!(endpoint.receive(rank).await.err(), Some(expected), "a receive from rank {rank}");
            }
            Ok(())
        }
    }
    run(world, ranks, &OutOfRange);
}

/// A rank that sends to itself, or receives from itself, gets an error: a world whose sends wait for the receiver could
/// never carry such a message, so none does.
pub fn a_message_to_oneself_is_an_error<W: Subject>(world: &W, ranks: u32) {
    struct ToItself;
    impl Program for ToItself {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let me = endpoint.rank();
            assert_eq!(endpoint.send(me, Message::of_size(Bytes(8))).await.err(), Some(Error::ToItself(me)));
            assert_eq!(endpoint.receive(me).await.err(), Some(Error::ToItself(me)));
            let both = endpoint.sendrecv(me, Message::of_size(Bytes(8)), me).await;
            assert_eq!(both.err(), Some(Error::ToItself(me)));
            Ok(())
        }
    }
    run(world, ranks, &ToItself);
}

/// Round a ring, every rank sends to the next and receives from the one before, whatever a send waits for and however
/// long the message is; a program need not declare this.
pub fn a_send_and_a_receive_pass_each_other<W: Subject>(world: &W, ranks: u32) {
    struct Ring;
    impl Program for Ring {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (me, size) = (endpoint.rank(), endpoint.size());
            let (next, previous) = (Rank((me.0 + 1) % size), Rank((me.0 + size - 1) % size));
            for (number, length) in (0..).zip([5_000, 0, 40_000, 64]) {
                let received = endpoint.sendrecv(next, patterned(me, next, number, length), previous).await?;
                assert_eq!(received, patterned(previous, me, number, length));
            }
            Ok(())
        }
    }
    run(world, ranks, &Ring);
}

/// Messages from one sender arrive in the order they were sent; a short one never overtakes a long one.
pub fn one_senders_messages_come_in_order<W: Subject>(world: &W, ranks: u32) {
    struct Numbered;
    impl Program for Numbered {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            for number in 0..20 {
                let length = [700, 1, 0, 130, 64][number as usize % 5];
                if endpoint.rank() == first {
                    endpoint.send(last, patterned(first, last, number, length)).await?;
                } else if endpoint.rank() == last {
                    let expected = patterned(first, last, number, length);
                    assert_eq!(endpoint.receive(first).await?, expected, "message {number}");
                }
            }
            Ok(())
        }
    }
    run(world, ranks, &Numbered);
}

/// Real bytes arrive as they were sent, none or many of them; a message that is only a size keeps it.
pub fn bytes_arrive_undamaged<W: Subject>(world: &W, ranks: u32) {
    struct Undamaged;
    impl Program for Undamaged {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            for length in [0, 1, 2, 127, 128, 129, 2048, 100_000] {
                let real = patterned(first, last, 0, length);
                let size_only = Message::of_size(Bytes(length as u64));
                if endpoint.rank() == first {
                    endpoint.send(last, real).await?;
                    endpoint.send(last, size_only).await?;
                } else if endpoint.rank() == last {
                    assert_eq!(endpoint.receive(first).await?, real, "{length} bytes");
                    assert_eq!(endpoint.receive(first).await?, size_only, "a size of {length}");
                }
            }
            Ok(())
        }
    }
    run(world, ranks, &Undamaged);
}

/// All ranks send to one, which takes the messages in an order of its own.
pub fn many_senders_reach_one_receiver<W: Subject>(world: &W, ranks: u32) {
    struct ManyToOne;
    impl Program for ManyToOne {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let me = endpoint.rank();
            for number in 0..3 {
                if me > Rank(0) {
                    endpoint.send(Rank(0), patterned(me, Rank(0), number, 300)).await?;
                }
            }
            if me == Rank(0) {
                for from in (1..endpoint.size()).rev().map(Rank) {
                    for number in 0..3 {
                        assert_eq!(endpoint.receive(from).await?, patterned(from, me, number, 300));
                    }
                }
            }
            Ok(())
        }
    }
    run(world, ranks, &ManyToOne);
}

/// Neither a rank's own time nor a message runs backward: no message is received before its send began.
pub fn time_never_runs_backward<W: Subject>(world: &W, ranks: u32) {
    struct Clocks;
    impl Program for Clocks {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (me, size) = (endpoint.rank().0, endpoint.size());
            let (next, previous) = (Rank((me + 1) % size), Rank((me + size - 1) % size));
            let mut last = endpoint.now();
            for round in 0..10 {
                endpoint.compute(Duration::from_nanoseconds(u64::from((me * 7 + round) % 5))).await;
                assert!(endpoint.now() >= last);
                last = endpoint.now();
                if me > 0 {
                    let message = endpoint.receive(previous).await?;
                    let content = message.content().expect("it was sent with its bytes");
                    let sent = u64::from_le_bytes(content[..8].try_into().expect("eight bytes"));
                    assert!(endpoint.now().picoseconds() >= sent, "received at {:?}, sent at {sent}", endpoint.now());
                }
                assert!(endpoint.now() >= last);
                last = endpoint.now();
                if me + 1 < size {
                    endpoint.send(next, Message::from(last.picoseconds().to_le_bytes().to_vec())).await?;
                }
                assert!(endpoint.now() >= last);
                last = endpoint.now();
            }
            Ok(())
        }
    }
    run(world, ranks, &Clocks);
}

/// A rank that ends with an error leaves the others alone.
pub fn one_ranks_error_is_its_own<W: Subject>(world: &W, ranks: u32) {
    struct Fails;
    impl Program for Fails {
        type Output = Rank;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Rank> {
            if endpoint.rank() == Rank(1) {
                return Err(Error::Unfit("by intent".to_owned()));
            }
            endpoint.compute(Duration::from_nanoseconds(5)).await;
            Ok(endpoint.rank())
        }
    }
    let results = world.run_locally(ranks, &Fails).expect("the world itself has no error");
    for (rank, result) in results {
        let expected = if rank == Rank(1) { Err(Error::Unfit("by intent".to_owned())) } else { Ok(rank) };
        assert_eq!(result, expected);
    }
}

/// Results are checked, and a rank whose result is wrong ends with an error.
pub fn what_ranks_end_with_is_checked<W: Subject>(world: &W, ranks: u32) {
    struct AllZero;
    impl Program for AllZero {
        type Output = Rank;
        async fn run<E: Endpoint>(&self, _: &E) -> Result<Rank> {
            Ok(Rank(0))
        }
        fn check(&self, rank: Rank, output: &Rank) -> Result<()> {
            if rank == *output { Ok(()) } else { Err(Error::Unfit(format!("{rank} is not {output}"))) }
        }
    }
    for (rank, result) in world.run_locally(ranks, &AllZero).expect("the world itself has no error") {
        let expected = if rank > Rank(0) { Err(Error::Unfit(format!("{rank} is not 0"))) } else { Ok(rank) };
        assert_eq!(result, expected);
    }
}

/// Receiving a message that nobody sends ends the run, and the error names who waits for whom.
pub fn a_message_that_never_comes_is_a_deadlock<W: Subject>(world: &W, ranks: u32) {
    struct Waits;
    impl Program for Waits {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            if endpoint.rank() == Rank(1) {
                endpoint.compute(Duration::from_nanoseconds(3)).await;
                endpoint.receive(Rank(0)).await?;
            }
            Ok(())
        }
    }
    is_deadlock(world.run_locally(ranks, &Waits), &["rank 1 waits for a message from rank 0"]);
}

/// Ranks that all wait for the next one are a deadlock, and the error names them.
pub fn a_ring_of_receives_is_a_deadlock<W: Subject>(world: &W, ranks: u32) {
    struct Ring;
    impl Program for Ring {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let next = Rank((endpoint.rank().0 + 1) % endpoint.size());
            endpoint.receive(next).await?;
            endpoint.send(next, Message::of_size(Bytes(1))).await
        }
    }
    is_deadlock(
        world.run_locally(ranks, &Ring),
        &["rank 0 waits for a message from rank 1", &format!("rank {} waits for a message from rank 0", ranks - 1)],
    );
}

/// The same program on the same world gives the same results at the same times.
pub fn two_runs_are_the_same<W: Subject>(make: &impl Fn(u32) -> W, ranks: u32) {
    let world = make(ranks);
    let first = run(&world, ranks, &PairwiseExchange);
    assert_eq!(first, run(&world, ranks, &PairwiseExchange), "the same world again");
    assert_eq!(first, run(&make(ranks), ranks, &PairwiseExchange), "another world of the same kind");
}
