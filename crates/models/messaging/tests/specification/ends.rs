//! How sessions end: with a goodbye, or because a rank is gone.

use crate::faults::network::{Faults, SentDatagram};
use crate::faults::{Faulty, Node};
use endpoint::{Endpoint, Error, Message};
use maquette_messaging::{Destination, Parameters};
use quantities::{Bytes, Duration, Rank, Time};

const fn us(microseconds: u64) -> Duration {
    Duration::from_microseconds(microseconds)
}

#[test]
fn all_ranks_say_goodbye_once_everything_has_arrived() {
    for seed in 0..100 {
        // Of the ranks that leave at once, the last may miss the others' farewell.
        let faults = Faults { loss: 25, delay: 200, leave: seed % 2 == 1, ..Faults::default() };
        let world = Faulty { parameters: Parameters::default(), faults, seed };
        let program = |endpoint: Node| async move {
            let next = Rank((endpoint.rank().0 + 1) % endpoint.size());
            endpoint.send(next, Message::of_size(Bytes(10_000))).await?;
            endpoint.multicast(Message::of_size(Bytes(500))).await?;
            if endpoint.rank() != Rank(3) {
                let before = Rank((endpoint.rank().0 + endpoint.size() - 1) % endpoint.size());
                endpoint.receive(before).await?;
            } else {
                endpoint.receive_any(None).await?;
            }
            let ended = endpoint.end().await;
            ended.map(|()| endpoint.now())
        };
        let ended = world.run_ranks(5, program).unwrap();
        for (rank, result) in ended.results.iter().enumerate() {
            let at = result.clone().unwrap_or_else(|error| panic!("seed {seed}, rank {rank}: {error}"));
            assert!(at < Time::ZERO + us(5_000_000), "seed {seed}, rank {rank}: {at}");
        }
    }
}

/// Rank 0 broadcasts to the others, which do not communicate with each other.
#[test]
fn in_a_star_only_the_source_says_goodbye_to_all() {
    for seed in 0..50 {
        let faults = Faults { loss: 25, delay: 200, leave: true, record: true, ..Faults::default() };
        let world = Faulty { parameters: Parameters::default(), faults, seed };
        let program = |endpoint: Node| async move {
            if endpoint.rank() == Rank(0) {
                endpoint.multicast(Message::of_size(Bytes(20_000))).await?;
                endpoint.flush().await?;
                assert!(endpoint.engine().is_quiet());
                endpoint.multicast(Message::of_size(Bytes(500))).await?;
                return endpoint.end().await;
            }
            for size in [20_000, 500] {
                assert_eq!(endpoint.receive_multicast(Rank(0)).await?.size(), Bytes(size));
            }
            endpoint.end_with(&[Rank(0)]).await
        };
        let ended = world.run_ranks(8, program).unwrap();
        assert_eq!(ended.results, vec![Ok(()); 8], "seed {seed}");
        let record = ended.network.borrow().record.clone().unwrap();
        let among_receivers = |sent: &SentDatagram| sent.from != Rank(0) && sent.to != Destination::One(Rank(0));
        assert!(!record.iter().any(among_receivers), "seed {seed}");
    }
}

#[test]
fn nothing_goes_to_a_rank_that_has_ended_and_nothing_more_comes_from_it() {
    let program = |endpoint: Node| async move {
        if endpoint.rank() == Rank(1) {
            endpoint.send(Rank(0), Message::from(&b"last words"[..])).await?;
            return endpoint.end().await.map(|()| Vec::new());
        }
        endpoint.compute(us(100_000)).await;
        let results = vec![
            endpoint.receive(Rank(1)).await.map(|message| message.size().0),
            endpoint.receive(Rank(1)).await.map(|message| message.size().0),
            endpoint.receive_any(None).await.map(|(_, message)| message.size().0),
            endpoint.send(Rank(1), Message::default()).await.map(|()| 0),
        ];
        endpoint.end().await.map(|()| results)
    };
    let ended = Faulty::perfect(Parameters::default()).run_ranks(2, program).unwrap();
    let lost = || Err(Error::Lost(Rank(1)));
    assert_eq!(ended.results, [Ok(vec![Ok(10), lost(), lost(), lost()]), Ok(vec![])]);
}

/// Rank 1 is gone after a millisecond.
fn without_rank_1(
    patience: Duration,
    program: impl AsyncFn(Node) -> endpoint::Result<()>,
) -> (endpoint::Result<()>, Time) {
    let faults = Faults { dies: Some((Rank(1), Time::ZERO + us(1_000))), ..Faults::default() };
    let world = Faulty { parameters: Parameters { patience, ..Parameters::default() }, faults, seed: 0 };
    let program = &program;
    let ended = world
        .run_ranks(2, |endpoint: Node| async move {
            endpoint.compute(us(2_000)).await;
            let result = program(endpoint.clone()).await;
            Ok((result, endpoint.now()))
        })
        .unwrap();
    ended.results.into_iter().next().unwrap().unwrap()
}

#[test]
fn a_rank_that_is_gone_is_an_error_after_the_stated_time() {
    let patience = us(3_000_000);
    let receives = without_rank_1(patience, async |endpoint| endpoint.receive(Rank(1)).await.map(drop));
    let sends = without_rank_1(patience, async |endpoint| {
        endpoint.send(Rank(1), Message::of_size(Bytes(100_000))).await?;
        endpoint.end().await
    });
    let broadcasts = without_rank_1(patience, async |endpoint| {
        endpoint.multicast(Message::of_size(Bytes(100_000))).await?;
        endpoint.end().await
    });
    let ends = without_rank_1(patience, async |endpoint| endpoint.end().await);
    assert_eq!(ends.0, Ok(()), "it missed nothing");
    assert!(ends.1 < Time::ZERO + us(2_000) + patience + us(1_000));
    for (result, at) in [receives, sends, broadcasts] {
        assert_eq!(result, Err(Error::Lost(Rank(1))));
        let waited = at.since(Time::ZERO + us(2_000));
        assert!(waited >= patience && waited < patience + us(1_000), "{waited}");
    }
}

/// Rank 1 sends to rank 2 once it has the broadcast from rank 0, and rank 2 receives the broadcast afterwards.
fn one_after_the_other(size: u64) -> endpoint::Result<Vec<endpoint::Result<()>>> {
    let program = move |endpoint: Node| async move {
        match endpoint.rank() {
            Rank(0) => endpoint.multicast(Message::of_size(Bytes(size))).await?,
            Rank(1) => {
                endpoint.receive_multicast(Rank(0)).await?;
                endpoint.send(Rank(2), Message::default()).await?;
            }
            _ => {
                endpoint.receive(Rank(1)).await?;
                endpoint.receive_multicast(Rank(0)).await?;
            }
        }
        Ok(())
    };
    Ok(Faulty::perfect(Parameters::default()).run_ranks(3, program)?.results)
}

#[test]
fn a_receiver_that_waits_for_another_holds_up_a_long_broadcast_and_that_is_reported() {
    assert_eq!(one_after_the_other(800), Ok(vec![Ok(()), Ok(()), Ok(())]), "a short one waits in its pushed buffer");
    let Err(Error::Deadlock(text)) = one_after_the_other(100_000) else { panic!("it ends") };
    assert_eq!(text, "rank 1 waits for a message from rank 0, rank 2 waits for a message from rank 1");
}
