//! What a world must do with tags.

use quantities::Rank;

use super::{Subject, patterned, run};
use crate::{Endpoint, Error, Needs, Program, Result, Source, Tag, Tags, join_all};

/// Messages with one tag arrive in the order they were sent, and none waits for those with another tag. A receive with any tag does not
/// take the messages of collectives.
pub fn a_tag_chooses_among_messages<W: Subject>(world: &W, ranks: u32) {
    struct Chooses;
    impl Program for Chooses {
        type Output = ();
        const NEEDS: Needs = Needs::OVERLAP;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            let of_collective = (5, Tag::OF_COLLECTIVES);
            let sent = [of_collective, (0, Tag(7)), (1, Tag(8)), (2, Tag(7)), (3, Tag(0)), (4, Tag(8))];
            if endpoint.rank() == first {
                // All at once: a send may wait for its receiver.
                let send = |(number, tag)| endpoint.send_tagged(last, tag, patterned(first, last, number, 90));
                join_all(sent.map(send)).await.into_iter().collect::<Result<()>>()?;
            } else if endpoint.rank() == last {
                let only = |tag| Tags::Only(Tag(tag));
                let wanted = [only(8), only(7), Tags::Any, only(8), Tags::Any, Tags::Only(Tag::OF_COLLECTIVES)];
                let taken = [2, 1, 3, 5, 4, 0].map(|place: usize| sent[place]);
                for (tags, (number, tag)) in wanted.into_iter().zip(taken) {
                    let received = endpoint.receive_matching(Source::Rank(first), tags, None).await?;
                    assert_eq!((received.from, received.tag), (first, tag), "message {number}");
                    assert_eq!(received.message, patterned(first, last, number, 90), "message {number}");
                }
            }
            Ok(())
        }
    }
    run(world, ranks, &Chooses);
}

/// A receive from anyone takes only messages with the tag that it asks for; if it has a deadline, a message with another tag does not count.
pub fn a_tag_chooses_among_senders<W: Subject>(world: &W, ranks: u32) {
    struct FromAnyone;
    impl Program for FromAnyone {
        type Output = ();
        const NEEDS: Needs = Needs::ANY_SOURCE;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (me, last) = (endpoint.rank(), Rank(endpoint.size() - 1));
            if me != last {
                return endpoint.send_tagged(last, Tag(me.0), patterned(me, last, 0, 30)).await;
            }
            for from in (0..last.0).rev().map(Rank) {
                let received = endpoint.receive_matching(Source::Any, Tags::Only(Tag(from.0)), None).await?;
                assert_eq!((received.from, received.message), (from, patterned(from, last, 0, 30)));
            }
            let now = endpoint.now();
            let late = endpoint.receive_matching(Source::Rank(Rank(0)), Tags::Any, Some(now)).await;
            assert_eq!(late.err(), Some(Error::Deadline(now)));
            Ok(())
        }
    }
    run(world, ranks, &FromAnyone);
}
