//! What a world must do with tags.

use quantities::{Bytes, Rank};

use super::{Subject, patterned, run};
use crate::{Endpoint, Error, Needs, Program, Result, Source, Tag, Tags, join_all};

/// Messages with one tag arrive in the order they were sent, and none waits for those with another tag. A receive with
/// any tag does not take the messages of collectives.
pub fn a_tag_chooses_among_messages<W: Subject>(world: &W, ranks: u32) {
    struct Chooses;
    impl Program for Chooses {
        type Output = ();
        const NEEDS: Needs = Needs::OVERLAP;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            let of_collectives = [(5, Tag::OF_COLLECTIVES), (6, Tag::of_collective(9)), (7, Tag::of_collective(3))];
            let [first_of_all, one, other] = of_collectives;
            let sent = [first_of_all, one, other, (0, Tag(7)), (1, Tag(8)), (2, Tag(7)), (3, Tag(0)), (4, Tag(8))];
            if endpoint.rank() == first {
                // All at once: a send may wait for its receiver.
                let send = |(number, tag)| endpoint.send_tagged(last, tag, patterned(first, last, number, 90));
                join_all(sent.map(send)).await.into_iter().collect::<Result<()>>()?;
            } else if endpoint.rank() == last {
                let only = |tag| Tags::Only(Tag(tag));
                let of_collectives = [Tags::OfCollectives, Tags::Only(Tag::OF_COLLECTIVES), Tags::OfCollectives];
                let wanted = [only(8), only(7), Tags::Any, only(8), Tags::Any].into_iter().chain(of_collectives);
                let taken = [4, 3, 5, 7, 6, 1, 0, 2].map(|place: usize| sent[place]);
                for (tags, (number, tag)) in wanted.zip(taken) {
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

/// A receive from anyone takes only messages with the tag that it asks for; if it has a deadline, a message with
/// another tag does not count.
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

/// A message that is as long as its receive has room for, or shorter, is received; of a longer one the receive says
/// both ranks, the tag and the sizes. It is over then, like any other.
pub fn a_receive_has_room_for_what_it_says<W: Subject>(world: &W, ranks: u32) {
    struct HasRoom;
    impl Program for HasRoom {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let (first, last) = (Rank(0), Rank(endpoint.size() - 1));
            for (number, room) in [(0, 40), (1, 41), (2, 39), (3, 40)] {
                if endpoint.rank() == first {
                    endpoint.send_tagged(last, Tag(7), patterned(first, last, number, 40)).await?;
                } else if endpoint.rank() == last {
                    let received = endpoint.receive_within(Bytes(room), Source::Rank(first), Tags::Any, None).await;
                    let received = received.map(|received| received.message);
                    let too_long = format!(
                        "the message of rank 0 to rank {last} with tag 7 has 40 B, and its receive has room for 39 B; allowed is at most that"
                    );
                    let fits = Ok(patterned(first, last, number, 40));
                    assert_eq!(received, if room < 40 { Err(Error::Mismatch(too_long)) } else { fits });
                }
            }
            Ok(())
        }
    }
    run(world, ranks, &HasRoom);
}
