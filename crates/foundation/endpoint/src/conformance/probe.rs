//! What a world must do when ranks ask for messages before they receive them.

use quantities::{Bytes, Duration, Rank, Time};

use super::{LONG, Subject, is_deadlock, patterned, run};
use crate::{Endpoint, Error, Needs, Program, Received, Result, Source, Tag, Tags, join};

/// The lengths of the messages that are probed: short ones, and one that is announced, pulled or cut into packets where
/// a world does any of that. [B]
const LENGTHS: [usize; 3] = [0, 16, 70_000];

/// How long a probe has to wait for a message.
const SHORT: Duration = Duration::from_microseconds(50);

/// Checks what a probe has found.
fn check(found: &Received, from: Rank, tag: Tag, length: usize) {
    assert_eq!((found.from, found.tag, found.message.size()), (from, tag, Bytes(length as u64)));
    assert_eq!(found.message.content(), None);
}

/// A probe says what there is to receive, as often as it is asked, and the receive takes it after that. It waits until
/// there is something.
pub fn a_probe_finds_a_message_and_leaves_it<W: Subject>(world: &W, ranks: u32) {
    struct Probes;
    impl Program for Probes {
        const NEEDS: Needs = Needs::ANY_SOURCE;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            for (number, length) in (0..).zip(LENGTHS) {
                if endpoint.rank() == first {
                    endpoint.compute(SHORT).await;
                    endpoint.send_tagged(last, Tag(number), patterned(first, last, number, length)).await?;
                } else if endpoint.rank() == last {
                    for from in [Source::Any, Source::Rank(first)] {
                        for tags in [Tags::Any, Tags::Only(Tag(number))] {
                            check(&endpoint.probe(from, tags, None).await?, first, Tag(number), length);
                        }
                    }
                    let found = endpoint.probe(Source::Any, Tags::Any, Some(Time::ZERO)).await?;
                    check(&found, first, Tag(number), length);
                    assert_eq!(endpoint.receive(first).await?, patterned(first, last, number, length));
                }
            }
            Ok(())
        }
    }
    run(world, ranks, &Probes);
}

/// Where there is nothing to receive, a probe ends at its deadline.
pub fn a_probe_ends_at_its_deadline<W: Subject>(world: &W, ranks: u32) {
    struct Late;
    impl Program for Late {
        const NEEDS: Needs = Needs::ANY_SOURCE;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            if endpoint.rank() == first {
                endpoint.send_tagged(last, Tag(1), patterned(first, last, 0, 16)).await?;
            } else if endpoint.rank() == last {
                let deadline = endpoint.now() + LONG;
                let late = endpoint.probe(Source::Rank(first), Tags::Only(Tag(2)), Some(deadline)).await;
                assert_eq!(late.err(), Some(Error::Deadline(deadline)));
                assert!(endpoint.now() >= deadline);
                check(&endpoint.probe(Source::Any, Tags::Any, None).await?, first, Tag(1), 16);
                endpoint.receive(first).await?;
            }
            Ok(())
        }
    }
    run(world, ranks, &Late);
}

/// A probe for a message that never comes is a deadlock.
pub fn probing_for_ever_is_a_deadlock<W: Subject>(world: &W, ranks: u32) {
    struct ForEver;
    impl Program for ForEver {
        const NEEDS: Needs = Needs::ANY_SOURCE;
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            endpoint.probe(Source::Any, Tags::Only(Tag(3)), None).await.map(drop)
        }
    }
    is_deadlock(world.run_locally(ranks, &ForEver), &["with tag 3 from anyone"]);
}

/// A program that does not declare that it probes can't.
pub fn probing_must_be_declared<W: Subject>(world: &W, ranks: u32) {
    struct Undeclared;
    impl Program for Undeclared {
        type Output = Option<Error>;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Option<Error>> {
            let other = Rank(u32::from(endpoint.rank() == Rank(0)));
            Ok(endpoint.probe(Source::Rank(other), Tags::Any, None).await.err())
        }
    }
    for (_, error) in run(world, ranks, &Undeclared) {
        assert_eq!(error, Some(Error::Undeclared("ANY_SOURCE")));
    }
}

/// A probe finds what no receive under way takes, whichever began first: as MPI has it, where messages for which a
/// receive is posted are never unexpected.
pub fn a_probe_finds_what_no_receive_takes<W: Subject>(world: &W, ranks: u32) {
    struct Beside;
    impl Program for Beside {
        const NEEDS: Needs = Needs::ANY_SOURCE.and(Needs::OVERLAP);
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            let message = |number| patterned(first, last, number, 64);
            if endpoint.rank() == first {
                for number in [0, 2] {
                    // Once the other rank waits.
                    endpoint.receive(last).await?;
                    let one = endpoint.send_tagged(last, Tag(number), message(number));
                    let other = endpoint.send_tagged(last, Tag(number + 1), message(number + 1));
                    let (one, other) = join(one, other).await;
                    one.and(other)?;
                }
            } else if endpoint.rank() == last {
                let receive = || endpoint.receive(first);
                let probe = || endpoint.probe(Source::Rank(first), Tags::Any, None);
                let now = || endpoint.send_tagged(first, Tag(4), message(4));
                let ((received, found), sent) = join(join(receive(), probe()), now()).await;
                sent?;
                assert_eq!(received?, message(0));
                check(&found?, first, Tag(1), 64);
                assert_eq!(receive().await?, message(1));
                let ((found, received), sent) = join(join(probe(), receive()), now()).await;
                sent?;
                assert_eq!(received?, message(2));
                check(&found?, first, Tag(3), 64);
                assert_eq!(receive().await?, message(3));
            }
            Ok(())
        }
    }
    run(world, ranks, &Beside);
}
