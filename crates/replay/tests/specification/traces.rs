//! Traces of MPI programs: what a replay takes, that every collective comes to its end in every communicator, and what
//! is no trace.

use endpoint::{Endpoint, Error, Message as Sent, Program, Result, Tag, World};
use machines::model::LogGp;
use maquette_replay::trace::{Algorithms, ComputeScale, RankCalls, Replay, Trace, TraceError};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank, Time};
use trace_format::{Call, Collective, CollectiveKind, Message, Transfer};
use virtual_worlds::answer::Answer;
use virtual_worlds::flit::world::{NetworkWorld, Options};
use virtual_worlds::loggp::Clock;

/// The machine of these tests, and of those that share it.
pub const MODEL: LogGp = LogGp {
    latency: Duration::from_nanoseconds(2_500),
    overhead: Duration::from_nanoseconds(1_500),
    gap: Duration::from_nanoseconds(1_000),
    gap_per_byte: Duration::from_nanoseconds(6),
    overhead_per_byte: Duration::ZERO,
    rendezvous: None,
};

fn to(partner: u32, bytes: u64) -> Message {
    Message { partner: Some(partner), tag: Some(5), communicator: 0, bytes }
}

fn collective(kind: CollectiveKind, communicator: u32, counts: Vec<u64>) -> Box<Collective> {
    Box::new(Collective { kind, communicator, root: 0, bytes: 1000, counts: counts.into() })
}

/// Computes for so many microseconds before each call; at the end nothing is left.
fn trace_of(ranks: Vec<Vec<(u64, Call)>>) -> std::result::Result<Trace, TraceError> {
    let ranks = (0..).zip(ranks).map(|(rank, calls): (u32, _)| {
        let timed = |(microseconds, call)| (Duration::from_nanoseconds(1000 * microseconds), call);
        let end = (Duration::ZERO, Call::Finalize(0));
        RankCalls { file: format!("rank-{rank}"), calls: calls.into_iter().map(timed).chain([end]).collect() }
    });
    Trace::new(ranks.collect())
}

fn replayed(trace: &Trace, scale: f64) -> Result<Answer> {
    let replay = Replay::new(trace, Algorithms::default(), ComputeScale::new(scale).unwrap());
    let (ends, answer) = Clock::new(MODEL).run(trace.size(), &replay)?;
    ends.into_iter().collect::<Result<Vec<Duration>>>()?;
    Ok(answer)
}

/// The same calls as an async function.
struct ByHand;

impl Program for ByHand {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let message = || Sent::of_size(Bytes(4096));
        if endpoint.rank() == Rank(0) {
            endpoint.compute(Duration::from_nanoseconds(20_000)).await;
            endpoint.send_tagged(Rank(1), Tag(0), message()).await?;
            endpoint.receive(Rank(1)).await?;
        } else {
            endpoint.receive(Rank(0)).await?;
            endpoint.compute(Duration::from_nanoseconds(7_000)).await;
            endpoint.send_tagged(Rank(0), Tag(0), message()).await?;
        }
        Ok(())
    }
}

#[test]
fn a_replay_takes_as_long_as_the_program_does() {
    let trace = trace_of(vec![
        vec![(20, Call::Send(to(1, 4096))), (0, Call::Receive(to(1, 4096)))],
        vec![(0, Call::Receive(to(0, 4096))), (7, Call::Send(to(0, 4096)))],
    ]);
    let answer = replayed(&trace.unwrap(), 1.0).unwrap();
    let (_, by_hand) = Clock::new(MODEL).run(2, &ByHand).unwrap();
    assert_eq!((answer.finish, answer.messages), (by_hand.finish, by_hand.messages));
}

#[test]
fn computing_is_scaled_and_messages_are_not() {
    let ranks = || vec![vec![(20, Call::Send(to(1, 1)))], vec![(0, Call::Receive(to(0, 1)))]];
    let trace = trace_of(ranks()).unwrap();
    let ends = [0.0, 0.5, 1.0, 3.0].map(|scale| replayed(&trace, scale).unwrap().finish[1]);
    let o_l_o = Time::ZERO + Duration::from_nanoseconds(1_500 + 2_500 + 1_500);
    assert_eq!(ends, [0, 10_000, 20_000, 60_000].map(|work| o_l_o + Duration::from_nanoseconds(work)));
}

/// On nodes whose interfaces send and receive by themselves.
#[test]
fn what_was_begun_goes_on_while_the_rank_computes() {
    let machine = machines::load("booksim-mesh-8x8").unwrap();
    let end = |before_wait: u64, after_wait: u64| {
        let rank = |partner| {
            vec![
                (0, Call::BeginReceive(0, to(partner, 60_000))),
                (0, Call::BeginSend(1, to(partner, 60_000))),
                (0, Call::BeginCollective(2, collective(CollectiveKind::AllReduce, 0, vec![]))),
                (before_wait, Call::Wait([0, 1, 2].into())),
                (after_wait, Call::Collective(collective(CollectiveKind::Barrier, 0, vec![]))),
            ]
        };
        let trace = trace_of(vec![rank(1), rank(0)]).unwrap();
        let replay = Replay::new(&trace, Algorithms::default(), ComputeScale::SAME);
        let (_, answer) = NetworkWorld::new(&machine, Options::default()).run(2, &replay).unwrap();
        answer.finish[0].since(Time::ZERO)
    };
    let [alone, hidden, after] = [end(0, 0), end(1_000, 0), end(0, 1_000)].map(Duration::picoseconds);
    let work = 1_000_000_000;
    assert_eq!(after, alone + work);
    assert!(hidden < work + alone / 5, "{hidden} ps with {alone} ps of messages");
}

/// Messages of a rank to itself, a probe, a receive from anyone, and a sendrecv.
#[test]
fn the_other_calls_come_to_their_end() {
    let anyone = Message { partner: None, tag: None, ..to(0, 64) };
    let trace = trace_of(vec![
        vec![
            (0, Call::BeginReceive(0, to(0, 8))),
            (0, Call::Send(to(0, 8))),
            (0, Call::Wait([0].into())),
            (0, Call::Probe(to(1, 0))),
            (0, Call::Receive(to(1, 64))),
            (0, Call::BeginReceive(1, anyone)),
            (0, Call::Matched(1, 1, 9)),
            (0, Call::Wait([1].into())),
            (0, Call::SendReceive(Box::new(Transfer { send: to(1, 8), receive: to(1, 8) }))),
        ],
        vec![
            (5, Call::Send(to(0, 64))),
            (0, Call::BeginSend(0, Message { tag: Some(9), ..to(0, 64) })),
            (0, Call::Free(0)),
            (0, Call::SendReceive(Box::new(Transfer { send: to(0, 8), receive: to(0, 8) }))),
        ],
    ]);
    let trace = trace.unwrap();
    let answer = replayed(&trace, 1.0).unwrap();
    assert_eq!((answer.messages, trace.messages(), answer.unreceived.len()), (4, 5, 0));
}

/// What was cancelled takes no message from the receive that got it.
#[test]
fn a_receive_that_was_cancelled_gets_nothing() {
    let anyone = Message { partner: None, tag: None, ..to(0, 64) };
    let receiver = vec![
        (0, Call::BeginReceive(0, anyone)),
        (0, Call::BeginReceive(1, to(1, 64))),
        (0, Call::Cancelled(0)),
        (0, Call::Wait([1].into())),
    ];
    let trace = trace_of(vec![receiver, vec![(0, Call::Send(to(0, 64)))]]).unwrap();
    let answer = replayed(&trace, 1.0).unwrap();
    assert_eq!((answer.messages, answer.unreceived.len()), (1, 0));
    let of_a_send = vec![(0, Call::BeginSend(0, to(1, 8))), (0, Call::Cancelled(0))];
    let refused = trace_of(vec![of_a_send, vec![]]).unwrap_err().to_string();
    assert!(refused.ends_with("MPI_Cancel: found request 0, which is no receive"), "{refused}");
}

/// A call of every kind by a rank of a communicator of `size`, each also begun and waited for later, all of them under
/// way at once.
fn every_collective(communicator: u32, size: u32, is_root: bool) -> Vec<(u64, Call)> {
    let call = |&kind: &CollectiveKind| collective(kind, communicator, vec![1000; kind.counts(size, is_root)]);
    let blocking = CollectiveKind::ALL.iter().map(|kind| (1, Call::Collective(call(kind))));
    let begun = (0..).zip(CollectiveKind::ALL).map(|(request, kind)| (0, Call::BeginCollective(request, call(kind))));
    let all = (0..CollectiveKind::ALL.len() as u32).collect();
    blocking.chain(begun).chain([(3, Call::Wait(all))]).collect()
}

#[test]
fn every_collective_ends_in_every_communicator() {
    for size in 1..=9_u32 {
        let ranks = (0..size).map(|rank| {
            // The even ranks backwards, the odd ones forwards; and all once more, as MPI_Comm_dup makes it.
            let mut half: Vec<u32> = (0..size).filter(|other| other % 2 == rank % 2).collect();
            if rank % 2 == 0 {
                half.reverse();
            }
            let (of_half, is_first) = (half.len() as u32, half[0] == rank);
            let mut calls = every_collective(0, size, rank == 0);
            calls.push((0, Call::Communicator(2, half.into())));
            calls.push((0, Call::Communicator(3, (0..size).collect())));
            calls.extend(every_collective(2, of_half, is_first));
            calls.extend(every_collective(3, size, rank == 0));
            calls
        });
        let trace = trace_of(ranks.collect()).unwrap();
        assert_eq!(trace.collectives() as usize, 2 * CollectiveKind::ALL.len() * if size == 1 { 3 } else { 4 });
        let answer = replayed(&trace, 1.0).unwrap_or_else(|error| panic!("{size} ranks: {error}"));
        assert!(answer.unreceived.is_empty(), "{size} ranks: {:?}", answer.unreceived);
    }
}

/// Two communicators of the same ranks, and two tags, are kept apart whatever comes first.
#[test]
fn messages_meet_in_their_communicator_and_by_their_tag() {
    let message = |communicator, tag| Message { communicator, tag: Some(tag), ..to(0, 8) };
    let dup = || (0, Call::Communicator(7, [0, 1].into()));
    let of = |partner, message: Message| Message { partner: Some(partner), ..message };
    let kinds = [message(7, 2), message(0, 1), message(0, 2), message(7, 1)];
    let sends = kinds.map(|it| (1, Call::Send(of(1, it))));
    let mut receives: Vec<_> = kinds.map(|it| (0, Call::Receive(of(0, it)))).into();
    receives.reverse();
    let sender = [dup()].into_iter().chain(sends).collect();
    let receiver = [dup()].into_iter().chain(receives).collect();
    assert_eq!(replayed(&trace_of(vec![sender, receiver]).unwrap(), 1.0).unwrap().messages, 4);
}

#[test]
fn a_deadlock_names_the_calls_that_wait() {
    let trace = trace_of(vec![vec![(0, Call::Receive(to(1, 8)))], vec![(0, Call::Receive(to(0, 8)))]]).unwrap();
    let Err(Error::Deadlock(report)) = replayed(&trace, 1.0) else { panic!("it came to an end") };
    assert!(report.contains("rank 0 (call 1, MPI_Recv)"), "{report}");
}

#[test]
fn what_is_not_a_trace_is_an_error() {
    let error_of = |ranks| trace_of(ranks).unwrap_err().to_string();
    let one = |calls: Vec<Call>| vec![calls.into_iter().map(|call| (0, call)).collect(), vec![]];
    assert_eq!(
        error_of(one(vec![Call::Send(to(2, 8))])),
        "rank-0: call 1, MPI_Send: found partner 2; allowed is 0 to 1"
    );
    assert_eq!(
        error_of(one(vec![Call::Send(Message { communicator: 9, ..to(1, 8) })])),
        "rank-0: call 1, MPI_Send: found communicator 9, which the rank has not made"
    );
    assert_eq!(
        error_of(one(vec![Call::Send(to(1, 8)), Call::BeginReceive(0, to(1, 8))])),
        "rank-0: call 2, MPI_Irecv: found request 0, which is never waited for; allowed is one that ends"
    );
    assert_eq!(
        error_of(one(vec![Call::Wait([3].into())])),
        "rank-0: call 1, MPI_Wait: found request 3, which is not under way; allowed is one that was begun"
    );
    assert_eq!(
        error_of(one(vec![Call::BeginSend(0, to(1, 8)), Call::BeginSend(0, to(1, 8))])),
        "rank-0: call 2, MPI_Isend: found request 0, which is under way since call 1"
    );
    assert_eq!(
        error_of(one(vec![Call::Collective(collective(CollectiveKind::AllToAllv, 0, vec![1; 3]))])),
        "rank-0: call 1, MPI_Alltoallv: found 3 counts; allowed are 4 among 2 ranks"
    );
    assert_eq!(
        error_of(one(vec![Call::Unsupported("MPI_Win_create".into())])),
        "rank-0: call 1, MPI_Win_create: found a call that a replay cannot follow"
    );
    assert_eq!(
        error_of(one(vec![Call::Communicator(2, [0, 1].into())])),
        "rank-0: found a communicator of 2 ranks that 1 of them make; allowed is one that all make"
    );
    assert_eq!(
        error_of(one(vec![Call::Communicator(2, [0, 4].into())])),
        "rank-0: call 1, a new communicator: found rank 4 in the group; allowed are 0 to 1"
    );
    assert_eq!(
        error_of(one(vec![Call::Finalize(0)])),
        "rank-0: call 2, MPI_Finalize: found a call after MPI_Finalize; allowed is none"
    );
    let cut = Trace::new(vec![RankCalls { file: "a".to_owned(), calls: vec![(Duration::ZERO, Call::Free(0))] }]);
    assert_eq!(
        cut.unwrap_err().to_string(),
        "a: call 1, MPI_Request_free: found request 0, which is not under way; allowed is one that was begun"
    );
    let cut = Trace::new(vec![RankCalls { file: "a".to_owned(), calls: vec![] }]);
    assert_eq!(cut.unwrap_err().to_string(), "a: cut short: rank 0 made 0 calls, and no MPI_Finalize");
}

#[test]
fn ranks_that_disagree_on_collectives_are_an_error() {
    let error_of = |one: Vec<CollectiveKind>, other: Vec<CollectiveKind>| {
        let calls =
            |kinds: Vec<_>| kinds.into_iter().map(|kind| (0, Call::Collective(collective(kind, 0, vec![])))).collect();
        trace_of(vec![calls(one), calls(other)]).unwrap_err().to_string()
    };
    use CollectiveKind::{AllReduce, Barrier, Broadcast};
    assert_eq!(
        error_of(vec![Barrier, Broadcast], vec![Barrier, AllReduce]),
        "rank-1: call 2, MPI_Allreduce: found MPI_Allreduce with 1000 B as collective 2 of its communicator; \
         allowed is MPI_Bcast of root 0 with 1000 B, as at rank 0"
    );
    assert_eq!(
        error_of(vec![Barrier], vec![Barrier, Barrier]),
        "rank-1: call 2, MPI_Barrier: found collective 2 of its communicator; allowed are 1, as rank 0 calls no more"
    );
    assert_eq!(
        error_of(vec![Barrier, Barrier], vec![Barrier]),
        "rank-1: call 2, MPI_Finalize: found 1 collectives of a communicator; allowed are 2, as at rank 0"
    );
    assert_eq!(
        error_of(vec![Barrier], vec![]),
        "rank-0: found collectives that 1 ranks of a communicator call; allowed are those that all 2 call"
    );
}

/// MPI calls a message truncated that is longer than its receive allows; a shorter one fits.
#[test]
fn a_receive_without_room_for_its_message_is_an_error_that_names_ranks_tag_and_sizes() {
    let error_of = |sends: Vec<Call>, receives: Vec<Call>| {
        let timed = |calls: Vec<Call>| calls.into_iter().map(|call| (0, call)).collect();
        let error = replayed(&trace_of(vec![timed(sends), timed(receives)]).unwrap(), 1.0).unwrap_err();
        let Error::Mismatch(problem) = error else { panic!("{error}") };
        problem
    };
    let expected = "the message of rank 0 to rank 1 with tag 5 has 1000 B, and its receive has room for 500 B; allowed is at most that";
    let sends = || vec![Call::Send(Message { tag: Some(9), ..to(1, 8) }), Call::Send(to(1, 1000))];
    let first = || Call::Receive(Message { tag: Some(9), ..to(0, 8) });
    let blocking = error_of(sends(), vec![first(), Call::Receive(to(0, 500))]);
    assert_eq!(blocking, format!("rank-1: call 2, MPI_Recv: {expected}"));
    let begun = error_of(sends(), vec![Call::BeginReceive(0, to(0, 500)), first(), Call::Wait([0].into())]);
    assert_eq!(begun, format!("rank-1: call 3, MPI_Wait: {expected}"));
    let probed = error_of(sends(), vec![first(), Call::Probe(to(0, 0)), Call::Receive(to(0, 500))]);
    assert_eq!(probed, format!("rank-1: call 3, MPI_Recv: {expected}"));
    let from_anyone = Message { partner: None, tag: None, ..to(0, 999) };
    let any = error_of(sends(), vec![Call::Receive(from_anyone), Call::Receive(from_anyone)]);
    assert_eq!(any, format!("rank-1: call 2, MPI_Recv: {}", expected.replace("500", "999")));
    let to_itself = error_of(vec![], vec![Call::Send(to(1, 1000)), Call::Receive(to(1, 500))]);
    assert_eq!(to_itself, format!("rank-1: call 2, MPI_Recv: {}", expected.replace("rank 0 to", "rank 1 to")));
    let fits = trace_of(vec![vec![(0, Call::Send(to(1, 500)))], vec![(0, Call::Receive(to(0, 1000)))]]).unwrap();
    assert_eq!(replayed(&fits, 1.0).unwrap().messages, 1);
}

#[test]
fn collectives_whose_ends_state_different_sizes_are_an_error() {
    use CollectiveKind::{AllGatherv, AllToAllv, Gatherv, ReduceScatter, Scatterv};
    let trace = |kind, bytes: [u64; 2], counts: [&[u64]; 2]| {
        let call = |rank: usize| Collective { bytes: bytes[rank], ..*collective(kind, 0, counts[rank].to_vec()) };
        trace_of([0, 1].map(|rank| vec![(0, Call::Collective(Box::new(call(rank))))]).into())
    };
    let error_of = |kind, bytes, counts| trace(kind, bytes, counts).unwrap_err().to_string();
    assert_eq!(
        error_of(AllToAllv, [0, 0], [&[8, 40, 8, 24], &[24, 8, 44, 8]]),
        "rank-1: call 1, MPI_Alltoallv: found room for 44 B at rank 1 for what rank 0 sends, which are 40 B (its call 1); allowed is the \
         same size at both ends"
    );
    assert_eq!(
        error_of(Gatherv, [8, 40], [&[8, 44], &[]]),
        "rank-0: call 1, MPI_Gatherv: found room for 44 B at rank 0 for what rank 1 sends, which are 40 B (its call 1); allowed is the \
         same size at both ends"
    );
    assert_eq!(
        error_of(Scatterv, [8, 44], [&[8, 40], &[]]),
        "rank-1: call 1, MPI_Scatterv: found room for 44 B at rank 1 for what rank 0 sends, which are 40 B (its call 1); allowed is the \
         same size at both ends"
    );
    assert_eq!(
        error_of(AllGatherv, [40, 40], [&[40, 44], &[40, 44]]),
        "rank-0: call 1, MPI_Allgatherv: found room for 44 B at rank 0 for what rank 1 sends, which are 40 B (its call 1); allowed is the \
         same size at both ends"
    );
    assert_eq!(
        error_of(ReduceScatter, [84, 84], [&[40, 44], &[44, 40]]),
        "rank-1: call 1, MPI_Reduce_scatter: found 44 B for the part of rank 0 at rank 1; allowed are 40 B, as at rank 0"
    );
    let agree: [(_, _, [&[u64]; 2]); 4] = [
        (AllToAllv, [0, 0], [&[8, 40, 8, 24], &[24, 8, 40, 8]]),
        (Gatherv, [0, 44], [&[8, 44], &[]]),
        (Scatterv, [0, 44], [&[8, 44], &[]]),
        (AllGatherv, [40, 44], [&[40, 44], &[40, 44]]),
    ];
    for (kind, bytes, counts) in agree {
        assert!(trace(kind, bytes, counts).is_ok(), "{kind:?}");
    }
}

fn any_call() -> impl Strategy<Value = Call> {
    let message = (0..4_u32, 0..3_u32, 0..3_u32).prop_map(|(partner, tag, communicator)| Message {
        communicator,
        tag: Some(tag),
        ..to(partner, 8)
    });
    let kinds = prop::sample::select(CollectiveKind::ALL);
    let collective = (kinds, 0..3_u32, 0..7_usize).prop_map(|(kind, it, counts)| collective(kind, it, vec![1; counts]));
    prop_oneof![
        message.clone().prop_map(Call::Send),
        message.clone().prop_map(Call::Receive),
        (0..3_u32, message.clone()).prop_map(|(request, message)| Call::BeginSend(request, message)),
        (0..3_u32, message.clone()).prop_map(|(request, message)| Call::BeginReceive(request, message)),
        message.prop_map(Call::Probe),
        prop::collection::vec(0..3_u32, 0..3).prop_map(|requests| Call::Wait(requests.into())),
        (0..3_u32).prop_map(Call::Free),
        (0..3_u32).prop_map(Call::Cancelled),
        (0..3_u32, 0..3_u32, 0..3_u32).prop_map(|(request, source, tag)| Call::Matched(request, source, tag)),
        (0..3_u32, collective.clone()).prop_map(|(request, collective)| Call::BeginCollective(request, collective)),
        collective.prop_map(Call::Collective),
        (0..4_u32, prop::collection::vec(0..4_u32, 0..3))
            .prop_map(|(it, members)| Call::Communicator(it, members.into())),
    ]
}

proptest! {
    /// Whatever ranks call, it is refused, or replayed to an end or a deadlock.
    #[test]
    fn no_calls_make_a_replay_fail_otherwise(ranks in prop::collection::vec(prop::collection::vec((0..3_u64, any_call()), 0..6), 1..4)) {
        if let Ok(trace) = trace_of(ranks) {
            let _ = replayed(&trace, 1.0);
        }
    }
}
