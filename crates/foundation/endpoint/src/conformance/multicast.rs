//! What a world whose endpoints broadcast in hardware must do.

use quantities::Rank;

use super::{Subject, is_deadlock, patterned, run};
use crate::{Endpoint, Error, Needs, Program, Result};

/// Every rank in turn broadcasts messages of several sizes; all others receive them undamaged and in order.
pub fn broadcasts_reach_everyone_in_order<W: Subject>(world: &W, ranks: u32) {
    struct InTurn;
    impl Program for InTurn {
        const NEEDS: Needs = Needs::MULTICAST;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            for root in (0..endpoint.size()).map(Rank) {
                for (number, length) in (0u32..).zip([0, 1, 3000, 20]) {
                    let message = patterned(root, root, number, length);
                    if endpoint.rank() == root {
                        endpoint.multicast(message).await?;
                    } else {
                        assert_eq!(
                            endpoint.receive_multicast(root).await?,
                            message,
                            "broadcast {number} of rank {root}"
                        );
                    }
                }
            }
            Ok(())
        }
    }
    run(world, ranks, &InTurn);
}

/// Broadcasts and messages to one rank are kept apart: each receive takes its own kind.
pub fn broadcasts_and_messages_are_kept_apart<W: Subject>(world: &W, ranks: u32) {
    struct Both;
    impl Program for Both {
        const NEEDS: Needs = Needs::MULTICAST;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            let (to_all, to_one) = (patterned(first, first, 1, 40), patterned(first, last, 2, 30));
            if endpoint.rank() == first {
                endpoint.multicast(to_all).await?;
                return endpoint.send(last, to_one).await;
            }
            if endpoint.rank() == last {
                assert_eq!(endpoint.receive(first).await?, to_one, "the message");
            }
            assert_eq!(endpoint.receive_multicast(first).await?, to_all, "the broadcast");
            Ok(())
        }
    }
    run(world, ranks, &Both);
}

/// A broadcast from a rank that does not exist, or from oneself, cannot be received.
pub fn broadcasts_of_nobody_are_errors<W: Subject>(world: &W, ranks: u32) {
    struct Wrong;
    impl Program for Wrong {
        const NEEDS: Needs = Needs::MULTICAST;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (no_such_rank, size) = (Rank(endpoint.size()), endpoint.size());
            assert_eq!(
                endpoint.receive_multicast(no_such_rank).await,
                Err(Error::NoSuchRank { rank: no_such_rank, size })
            );
            assert_eq!(endpoint.receive_multicast(endpoint.rank()).await, Err(Error::ToItself(endpoint.rank())));
            Ok(())
        }
    }
    run(world, ranks, &Wrong);
}

/// A broadcast that never comes ends the run, and the error names who waits for whom.
pub fn a_broadcast_that_never_comes_is_a_deadlock<W: Subject>(world: &W, ranks: u32) {
    struct Never;
    impl Program for Never {
        const NEEDS: Needs = Needs::MULTICAST;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            if endpoint.rank() == Rank(1) {
                endpoint.receive_multicast(Rank(0)).await?;
            }
            Ok(())
        }
    }
    is_deadlock(world.run_locally(ranks, &Never), &["rank 1"]);
}

/// A program that broadcasts in hardware without having declared so gets an error, and can go on.
pub fn broadcasting_must_be_declared<W: Subject>(world: &W, ranks: u32) {
    struct Undeclared;
    impl Program for Undeclared {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let undeclared = Error::Undeclared("MULTICAST");
            assert_eq!(endpoint.multicast(patterned(Rank(0), Rank(0), 0, 8)).await.err(), Some(undeclared.clone()));
            assert_eq!(endpoint.receive_multicast(Rank(0)).await.err(), Some(undeclared));
            Ok(())
        }
    }
    run(world, ranks, &Undeclared);
}
