//! Traces of other tools: valid ones are read, and invalid ones refused.

use endpoint::World;
use maquette_replay::trace::{
    Algorithms, ComputeScale, RankCalls, Replay, Trace, TraceError, dumpi, liballprof, simgrid,
};
use proptest::prelude::*;
use quantities::{Duration, Time};
use trace_format::{Call, CollectiveKind, Message};
use virtual_worlds::answer::Answer;
use virtual_worlds::loggp::Clock;

use crate::traces::MODEL;

fn replayed(ranks: Vec<RankCalls>) -> (Trace, Answer) {
    let trace = Trace::new(ranks).unwrap();
    let replay = Replay::new(&trace, Algorithms::default(), ComputeScale::SAME);
    let (ends, answer) = Clock::new(MODEL).run(trace.size(), &replay).unwrap();
    assert!(ends.iter().all(Result::is_ok));
    (trace, answer)
}

fn of_simgrid(text: &str) -> Result<Vec<RankCalls>, TraceError> {
    let read = simgrid::read("t.txt", text, None, 1e9)?;
    Ok(read.into_iter().map(|(_, calls)| calls).collect())
}

const SIMGRID: &str = "\
0 init
1 init
0 compute 2e4
0 isend 1 7 1024 6
0 wait 0 1 7
1 irecv 0 7 1024 6
1 waitall
0 allReduce 4 1e3 0
1 allReduce 4 1e3 0
0 alltoallv 3 1 2 3 1 2 2 2
1 alltoallv 5 2 3 5 2 3 2 2
1 isend 0 3 64
0 recv 1 3 64 6
0 finalize
1 finalize
";

#[test]
fn a_time_independent_trace_is_what_its_lines_say() {
    let ranks = of_simgrid(SIMGRID).unwrap();
    let first: Vec<&str> = ranks[0].calls.iter().map(|(_, call)| call.name()).collect();
    let names = ["MPI_Isend", "MPI_Wait", "MPI_Allreduce", "MPI_Alltoallv", "MPI_Recv", "MPI_Finalize"];
    assert_eq!(first, names);
    // The second rank waits at its end for what it began last.
    let second: Vec<&str> = ranks[1].calls.iter().map(|(_, call)| call.name()).collect();
    let names = ["MPI_Irecv", "MPI_Wait", "MPI_Allreduce", "MPI_Alltoallv", "MPI_Isend", "MPI_Wait", "MPI_Finalize"];
    assert_eq!(second, names);
    let message = Message { partner: Some(1), tag: Some(7), communicator: 0, bytes: 1024 };
    assert_eq!(ranks[0].calls[0], (Duration::from_nanoseconds(20_000), Call::BeginSend(0, message)));
    let Call::Collective(sum) = &ranks[0].calls[2].1 else { panic!("no collective") };
    assert_eq!((sum.kind, sum.bytes), (CollectiveKind::AllReduce, 32));
    // A thousand additions of one nanosecond each.
    assert_eq!(ranks[0].calls[3].0, Duration::from_nanoseconds(1_000));
    let Call::Collective(exchange) = &ranks[0].calls[3].1 else { panic!("no collective") };
    assert_eq!(*exchange.counts, [1, 2, 1, 2]);
    let (trace, answer) = replayed(ranks);
    assert_eq!((trace.messages(), answer.messages, answer.unreceived.len()), (2, 6, 0));
}

#[test]
fn mistakes_in_a_time_independent_trace_are_reported() {
    let error_of = |text: &str| of_simgrid(text).unwrap_err();
    let unknown = error_of("0 init\n0 alreduce 4 0");
    assert_eq!(unknown.to_string(), "t.txt:2: found `alreduce`, which is not an action of a trace");
    assert_eq!(unknown.hint.as_deref(), Some("did you mean `allreduce`?"));
    assert_eq!(error_of("zero init").to_string(), "t.txt:1: field 1: found `zero`; allowed is the rank, a number");
    assert_eq!(error_of("0 send 1 7").to_string(), "t.txt:1: field 5: found nothing; allowed is the size");
    assert_eq!(error_of("0 send 1 7 8 99").to_string(), "t.txt:1: field 6: found datatype 99; allowed is 0 to 59");
    assert_eq!(
        error_of("0 bcast -4").to_string(),
        "t.txt:1: field 3: found `-4`; allowed is the size, which is not negative"
    );
    assert_eq!(
        error_of("1 allgatherv 4 8\n").to_string(),
        "t.txt:1: field 5: found nothing; allowed is the count for a rank"
    );
}

#[test]
fn every_action_of_simgrid_that_takes_time_is_read() {
    let bytes_of = |line: &str| {
        let ranks = of_simgrid(&format!("0 init\n0 {line}\n")).unwrap_or_else(|error| panic!("{error}"));
        match &ranks[0].calls[0].1 {
            Call::Collective(it) => (it.kind.name(), it.bytes),
            Call::Send(message) | Call::Receive(message) => ("message", message.bytes),
            other => (if let Call::Wait(_) = other { "wait" } else { "other" }, 0),
        }
    };
    assert_eq!(bytes_of("scan 4 1e3 0"), ("MPI_Scan", 32));
    assert_eq!(bytes_of("exscan 4 0 1"), ("MPI_Exscan", 16));
    // A receive of -1 takes what comes.
    assert_eq!(bytes_of("recv 0 7 -1 6"), ("message", u64::MAX));
    assert_eq!(bytes_of("Ssend 0 7 10 6"), ("message", 10));
    for (datatype, bytes) in
        [(-1, 0), (25, 8), (26, 16), (27, 32), (33, 8), (49, 16), (50, 32), (55, 0), (57, 1), (59, 8)]
    {
        assert_eq!(bytes_of(&format!("send 0 7 1 {datatype}")).1, bytes, "{datatype}");
    }
    let text =
        "0 init\n1 init\n0 sendRecv 3 1 5 1 0 1\n1 sendRecv 5 0 3 0 1 0\n0 sendRecv 8 1 4 -666 6 6\n1 recv 0 0 8 6\n";
    let ranks = of_simgrid(text).unwrap();
    let Call::SendReceive(both) = &ranks[0].calls[0].1 else { panic!("no exchange") };
    assert_eq!(
        (both.send.bytes, both.send.partner, both.receive.bytes, both.receive.partner),
        (24, Some(1), 20, Some(1))
    );
    // From no process nothing comes.
    assert_eq!(ranks[0].calls[1].1.name(), "MPI_Send");
    let (trace, _) = replayed(ranks);
    assert_eq!(trace.messages(), 3);
}

#[test]
fn no_number_of_simgrid_is_changed_in_silence() {
    for (line, error) in [
        ("compute nan", "field 3: found `nan`; allowed is the number of operations, from 0 to what takes 106 days"),
        ("compute inf", "field 3: found `inf`; allowed is the number of operations"),
        ("compute -1", "field 3: found `-1`; allowed is the number of operations"),
        ("compute 1e30", "field 3: found `1e30`; allowed is the number of operations"),
        ("sleep -0.5", "field 3: found `-0.5`; allowed is the time in seconds"),
        ("send 1 7 -5", "field 5: found `-5`; allowed is the size, which is not negative"),
        ("isend 1 7 nan", "field 5: found `nan`; allowed is the size"),
        ("recv 1 7 -5", "field 5: found `-5`; allowed is the size"),
        ("allreduce 4 nan 0", "field 4: found `nan`; allowed is the number of operations"),
        ("sendRecv 4 1 -2 1", "field 5: found `-2`; allowed is the size"),
        (
            "waitAny 2",
            "found `waitany`, which no replay can follow: it does not say which of the requests was completed",
        ),
        ("ibcast 4 0 0", "found `ibcast`, which no replay can follow: it begins a collective"),
        ("Win_fence 0", "found `win_fence`, which no replay can follow: it is one-sided communication"),
    ] {
        let message = of_simgrid(&format!("0 init\n1 init\n0 {line}\n")).unwrap_err().to_string();
        assert!(message.starts_with(&format!("t.txt:3: {error}")), "{message}");
    }
}

#[test]
fn a_trace_in_which_nothing_happens_is_refused() {
    let error_of = |text: &str| Trace::new(of_simgrid(text).unwrap()).unwrap_err().to_string();
    assert_eq!(error_of("# nothing\n"), "the trace: empty: found no rank; allowed is 1 or more");
    let idle = "0 init\n1 init\n0 finalize\n1 finalize\n";
    assert!(error_of(idle).starts_with("t.txt: empty: found 2 ranks that make no call and compute nothing"));
    assert!(Trace::new(of_simgrid("0 init\n1 init\n1 compute 5\n").unwrap()).is_ok());
}

/// Where a rank states what it sends and what it has room for, both must be the same.
#[test]
fn a_collective_with_room_for_another_size_than_is_sent_is_an_error_in_every_format() {
    let wrong = "found 40 B to send and room for 44 B; allowed is the same size at both ends";
    for action in ["allgather 40 44", "alltoall 40 44", "gather 40 44 0", "scatter 40 44 0"] {
        assert_eq!(
            of_simgrid(&format!("0 {action}")).unwrap_err().to_string(),
            format!("t.txt:1: {wrong}"),
            "{action}"
        );
        assert!(of_simgrid(&format!("0 {}", action.replace("40 44", "44 44"))).is_ok(), "{action}");
    }
    // The root alone states both.
    assert!(of_simgrid("0 gather 40 0 1\n1 gather 40 40 1\n").is_ok());
    let of_liballprof = |call: &str| {
        let text = format!("MPI_Init:-:0:0:1\n{call}\nMPI_Finalize:9\n");
        liballprof::read("r.txt", &text, 0, 2).map_err(|error| error.to_string())
    };
    for (name, root) in [("MPI_Allgather", ""), ("MPI_Alltoall", ""), ("MPI_Gather", "0:"), ("MPI_Scatter", "0:")] {
        let call = |send: u32| format!("{name}:2:7:{send}:10,4,4:8:11:10,4,4:{root}44000000,0,2:3");
        assert_eq!(of_liballprof(&call(10)).unwrap_err(), format!("r.txt:2: {wrong}"), "{name}");
        // In place.
        assert!(of_liballprof(&call(0)).is_ok() && of_liballprof(&call(11)).is_ok(), "{name}");
    }
    let world = "MPI_Comm comm=2 (MPI_COMM_WORLD)";
    for name in ["MPI_Allgather", "MPI_Alltoall", "MPI_Gather", "MPI_Scatter"] {
        let of_dumpi = |count: u32, datatype: &str| {
            let (count, datatype) = (format!("int sendcount={count}"), format!("MPI_Datatype sendtype={datatype}"));
            let arguments =
                [&*count, &datatype, "int recvcount=11", "MPI_Datatype recvtype=11 (MPI_INT)", "int root=0", world];
            let text =
                [printed("MPI_Init", 0, &[]), printed(name, 20, &arguments), printed("MPI_Finalize", 50, &[])].concat();
            dumpi::read("d.txt", &text, 0, 2).map_err(|error| error.to_string())
        };
        assert_eq!(of_dumpi(10, "11 (MPI_INT)").unwrap_err(), format!("d.txt:4: {name}: {wrong}"));
        assert!(of_dumpi(11, "11 (MPI_INT)").is_ok() && of_dumpi(0, "0 (MPI_DATATYPE_NULL)").is_ok(), "{name}");
    }
}

/// The trace of rank `me` of two ranks that exchange messages and sum a number.
fn of_liballprof(me: u32) -> String {
    let other = 1 - me;
    format!(
        "# htor's PMPI Tracer\n\
         MPI_Init:-:140737:140736:1000\n\
         MPI_Comm_rank:1001:44000000,{me},2:140735:1002\n\
         MPI_Irecv:1100:14744192:4500:11,8,8:{other}:76:44000000,{me},2:14118576:1101\n\
         MPI_Isend:1111:14781072:4500:11,8,8:{other}:76:44000000,{me},2:14118584:1113\n\
         MPI_Waitall:1113:2:14118576:0:1300\n\
         MPI_Allreduce:1400:1:2:1:11,8,8:3:44000000,{me},2:1450\n\
         MPI_Allgatherv:1450:1:5:10,4,4:2:33:5,5:44:0,5:10,4,4:44000000,{me},2:1500\n\
         MPI_Finalize:1600\n"
    )
}

#[test]
fn a_trace_of_liballprof_is_what_its_lines_say() {
    let ranks: Vec<RankCalls> = (0..2).map(|me| liballprof::read("rank", &of_liballprof(me), me, 2).unwrap()).collect();
    let first: Vec<(u64, &str)> =
        ranks[0].calls.iter().map(|(computed, call)| (computed.picoseconds() / 1_000_000, call.name())).collect();
    let expected = [
        // From the end of MPI_Init: the time of MPI_Comm_rank counts as computing.
        (100, "MPI_Irecv"),
        (10, "MPI_Isend"),
        (0, "MPI_Wait"),
        (100, "MPI_Allreduce"),
        (0, "MPI_Allgatherv"),
        (100, "MPI_Finalize"),
    ];
    assert_eq!(first, expected);
    let (trace, answer) = replayed(ranks);
    assert_eq!((trace.messages(), trace.collectives(), answer.messages), (2, 2, 2 + 2 + 2));
    assert_eq!(trace.elapsed(), Some(Duration::from_nanoseconds(600_000)));
    assert!(answer.finish[0] > Time::ZERO + Duration::from_nanoseconds(310_000));
}

#[test]
fn mistakes_in_a_trace_of_liballprof_are_reported() {
    let error_of = |line: &str| {
        liballprof::read("r.txt", &format!("MPI_Init:-:0:0:10\n{line}\nMPI_Finalize:99\n"), 0, 2).unwrap_err()
    };
    let unknown = error_of("MPI_Alreduce:20:1:2:1:11,8,8:3:0,0,2:30");
    assert_eq!(unknown.to_string(), "r.txt:2: found `MPI_Alreduce`, which a replay of this format cannot follow");
    assert_eq!(unknown.hint.as_deref(), Some("did you mean `MPI_Allreduce`?"));
    assert_eq!(
        error_of("MPI_Barrier:20:4400,0,1024:30").to_string(),
        "r.txt:2: field 3: found a communicator of 1024 of 2 ranks; allowed is one of all, as the format does not say which they are"
    );
    assert_eq!(
        error_of("MPI_Send:20:1:8:11:1:0:0,0,2:30").to_string(),
        "r.txt:2: field 5: found `11`; allowed is a datatype, its size and extent"
    );
    assert_eq!(
        error_of("MPI_Send:soon:1").to_string(),
        "r.txt:2: field 2: found `soon`; allowed is the time of the call, a number"
    );
    let cut = liballprof::read("r.txt", "MPI_Init:-:0:0:10\nMPI_Barrier:20:0,0,2:30\n", 0, 2).unwrap_err();
    assert_eq!(cut.to_string(), "r.txt:2: cut short: found the end of the file, where MPI_Finalize is allowed");
}

/// A call as printed by dumpi2ascii, at `at` microseconds.
fn printed(name: &str, at: u64, arguments: &[&str]) -> String {
    let time = |at: u64| format!("walltime 8153.{at:06}000, cputime 0.004400000 seconds in thread 0.");
    format!("{name} entering at {}\n{}\n{name} returning at {}\n", time(at), arguments.join("\n"), time(at + 10))
}

/// The trace of rank `me` of two ranks that exchange messages, one from anyone, and sum a number.
fn of_dumpi(me: u32) -> String {
    let (other, world) = (1 - me, "MPI_Comm comm=2 (MPI_COMM_WORLD)");
    let dest = format!("int dest={other}");
    let message = [
        "int count=4500",
        "MPI_Datatype datatype=12 (MPI_DOUBLE)",
        &dest,
        "int tag=7",
        world,
        "MPI_Request request=[6]",
    ];
    let from_anyone = [
        "int count=4500",
        "MPI_Datatype datatype=12 (MPI_DOUBLE)",
        "int source=-1 (MPI_ANY_SOURCE)",
        "int tag=-1 (MPI_ANY_TAG)",
        world,
        "MPI_Request request=[5]",
    ];
    let statuses = format!(
        "MPI_Status statuses[2]=[{{bytes=36000, cancelled=0, source={other}, tag=7, error=0}}, {{bytes=0, cancelled=0, source=0, tag=0, error=0}}]"
    );
    [
        printed("MPI_Init", 0, &["int argc=1", "string argv[1]=<IGNORED>"]),
        printed("MPI_Comm_rank", 20, &[world, "int rank=0"]),
        printed("MPI_Irecv", 110, &from_anyone),
        printed("MPI_Isend", 120, &message),
        printed(
            "MPI_Send",
            130,
            &["int count=1", "MPI_Datatype datatype=12 (MPI_DOUBLE)", "int dest=-2", "int tag=7", world],
        ),
        printed("MPI_Test", 140, &["MPI_Request request=[6]", "int flag=0", "MPI_Status status=<IGNORED>"]),
        printed("MPI_Waitall", 150, &["int count=2", "MPI_Request requests[2]=[5, 6]", &statuses]),
        printed(
            "MPI_Comm_dup",
            160,
            &["MPI_Comm oldcomm=2 (MPI_COMM_WORLD)", "MPI_Comm newcomm=4 (user-defined-comm)"],
        ),
        printed(
            "MPI_Allreduce",
            170,
            &[
                "int count=2",
                "MPI_Datatype datatype=12 (MPI_DOUBLE)",
                "MPI_Op op=3 (MPI_SUM)",
                "MPI_Comm comm=4 (user-defined-comm)",
            ],
        ),
        printed("MPI_Finalize", 280, &[]),
    ]
    .concat()
}

#[test]
fn a_trace_of_dumpi_is_what_its_lines_say() {
    let ranks = dumpi::complete((0..2).map(|me| dumpi::read("rank", &of_dumpi(me), me, 2).unwrap()).collect()).unwrap();
    let first: Vec<(u64, &str)> =
        ranks[0].calls.iter().map(|(computed, call)| (computed.picoseconds() / 1_000_000, call.name())).collect();
    // From the end of MPI_Init; a send to no process, a test that finds nothing and a duplicate don't count as calls.
    let expected = [(100, "MPI_Irecv"), (0, "MPI_Isend"), (0, "MPI_Wait"), (0, "MPI_Allreduce"), (100, "MPI_Finalize")];
    assert_eq!(first, expected);
    let matched = Message { partner: Some(1), tag: Some(7), communicator: 0, bytes: 36_000 };
    assert_eq!(ranks[0].calls[0].1, Call::BeginReceive(0, matched));
    let (trace, answer) = replayed(ranks);
    assert_eq!((trace.messages(), trace.collectives(), answer.messages), (2, 1, 2 + 2));
    assert_eq!(trace.elapsed(), Some(Duration::from_nanoseconds(270_000)));
}

#[test]
fn mistakes_in_a_trace_of_dumpi_are_reported() {
    let error_of = |name: &str, arguments: &[&str]| {
        let text =
            [printed("MPI_Init", 0, &[]), printed(name, 20, arguments), printed("MPI_Finalize", 50, &[])].concat();
        dumpi::read("d.txt", &text, 0, 2).unwrap_err()
    };
    let unknown = error_of("MPI_Isned", &[]);
    assert_eq!(unknown.to_string(), "d.txt:4: MPI_Isned: found a call that is not of MPI");
    assert_eq!(unknown.hint.as_deref(), Some("did you mean `MPI_Isend`?"));
    assert_eq!(
        error_of("MPI_Win_create", &[]).to_string(),
        "d.txt:4: MPI_Win_create: found a call that a replay cannot follow"
    );
    assert_eq!(error_of("MPI_Wait", &[]).to_string(), "d.txt:4: MPI_Wait: found no request; allowed is one");
    assert_eq!(
        error_of("MPI_Barrier", &["MPI_Comm comm=9 (user-defined-comm)"]).to_string(),
        "d.txt:4: MPI_Barrier: found communicator `user-defined-comm`; allowed is one of all ranks, or one made by a call from which its members follow: MPI_Comm_dup, MPI_Comm_split, MPI_Comm_create, or MPI_Cart_create without reordering"
    );
    assert_eq!(
        error_of(
            "MPI_Bcast",
            &[
                "int count=1",
                "MPI_Datatype datatype=40 (user-defined-datatype)",
                "int root=0",
                "MPI_Comm comm=2 (MPI_COMM_WORLD)"
            ]
        )
        .to_string(),
        "d.txt:4: MPI_Bcast: found datatype `user-defined-datatype`; allowed is one that every library has, as the text does not say how large others are"
    );
    let cut = dumpi::read("d.txt", &printed("MPI_Init", 0, &[]), 0, 2).unwrap_err();
    assert_eq!(cut.to_string(), "d.txt:3: cut short: found the end of the file, where MPI_Finalize is allowed");
}

/// Four ranks split by the parity of their rank, with keys that reverse the order; the last takes no part in the second
/// split.
fn split(me: u32) -> String {
    let world = "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)";
    let new = "MPI_Comm newcomm=4 (user-defined-comm)";
    let (colour, key) = (format!("int color={}", me % 2), format!("int key={}", 10 - me));
    let within =
        ["int count=1", "MPI_Datatype datatype=12 (MPI_DOUBLE)", "int tag=7", "MPI_Comm comm=4 (user-defined-comm)"];
    // In its communicator the lower rank comes second.
    let (name, partner) = if me < 2 { ("MPI_Send", "int dest=0") } else { ("MPI_Recv", "int source=1") };
    let last = if me == 3 { "MPI_Comm newcomm=1 (MPI_COMM_NULL)" } else { "MPI_Comm newcomm=5 (user-defined-comm)" };
    let second = format!("int color={}", if me == 3 { -1 } else { 0 });
    let mut calls = vec![
        printed("MPI_Init", 0, &[]),
        printed("MPI_Comm_split", 20, &[world, &colour, &key, new]),
        printed(name, 40, &[within[0], within[1], partner, within[2], within[3]]),
        printed("MPI_Comm_split", 60, &[world, &second, "int key=0", last]),
    ];
    if me != 3 {
        calls.push(printed("MPI_Barrier", 80, &["MPI_Comm comm=5 (user-defined-comm)"]));
    }
    calls.push(printed("MPI_Finalize", 100, &[]));
    calls.concat()
}

#[test]
fn the_ranks_of_a_split_communicator_of_dumpi_follow_from_colours_and_keys() {
    let read = |me: u32| dumpi::read(&format!("{me}"), &split(me), me, 4).unwrap();
    let ranks = dumpi::complete((0..4).map(read).collect()).unwrap();
    let made: Vec<Vec<u32>> = ranks
        .iter()
        .flat_map(|rank| &rank.calls)
        .filter_map(|(_, call)| if let Call::Communicator(_, members) = call { Some(members.to_vec()) } else { None })
        .collect();
    assert_eq!(made, [vec![2, 0], vec![0, 1, 2], vec![3, 1], vec![0, 1, 2], vec![2, 0], vec![0, 1, 2], vec![3, 1]]);
    let (trace, _) = replayed(ranks);
    assert_eq!((trace.messages(), trace.collectives()), (2, 2 + 1));
    // Without one of them, the others can't be completed.
    let text = split(3).replace("MPI_Comm_split", "MPI_Comm_rank");
    let text = text
        .replace("newcomm=4 (user-defined-comm)", "newcomm=4")
        .replace("comm=4 (user-defined-comm)", "comm=2 (MPI_COMM_WORLD)");
    let alone = (0..3).map(read).chain([dumpi::read("3", &text, 3, 4).unwrap()]).collect();
    let error = dumpi::complete(alone).unwrap_err().to_string();
    assert_eq!(
        error,
        "0:4: MPI_Comm_split: found a call that not all ranks of its communicator make; allowed is one that all make"
    );
}

#[test]
fn the_ranks_of_other_communicators_of_dumpi_follow_from_groups() {
    let of_rank = |me: u32| {
        let new = if me == 1 { "MPI_Comm newcomm=4 (user-defined-comm)" } else { "MPI_Comm newcomm=1 (MPI_COMM_NULL)" };
        let grid = if me < 2 { "MPI_Comm newcomm=5 (user-defined-comm)" } else { "MPI_Comm newcomm=1 (MPI_COMM_NULL)" };
        let world = "MPI_Comm oldcomm=2 (MPI_COMM_WORLD)";
        let text = [
            printed("MPI_Init", 0, &[]),
            printed(
                "MPI_Comm_group",
                10,
                &["MPI_Comm comm=2 (MPI_COMM_WORLD)", "MPI_Group group=3 (user-defined-group)"],
            ),
            printed(
                "MPI_Group_excl",
                20,
                &["MPI_Group group=3 (x)", "int count=1", "int ranks[1]=[2]", "MPI_Group newgroup=4 (x)"],
            ),
            printed(
                "MPI_Group_incl",
                30,
                &["MPI_Group group=4 (x)", "int count=1", "int ranks[1]=[1]", "MPI_Group newgroup=5 (x)"],
            ),
            printed("MPI_Comm_create", 40, &[world, "MPI_Group group=5 (x)", new]),
            printed(
                "MPI_Cart_create",
                60,
                &[world, "int ndim=1", "int dims[1]=[2]", "int periods[1]=[0]", "int reorder=0", grid],
            ),
            printed("MPI_Finalize", 100, &[]),
        ];
        dumpi::read("r", &text.concat(), me, 3).unwrap()
    };
    let ranks = dumpi::complete((0..3).map(of_rank).collect()).unwrap();
    let made = |rank: usize| -> Vec<Vec<u32>> {
        let calls = ranks[rank].calls.iter();
        calls
            .filter_map(|(_, call)| if let Call::Communicator(_, of) = call { Some(of.to_vec()) } else { None })
            .collect()
    };
    assert_eq!((made(0), made(1), made(2)), (vec![vec![0, 1]], vec![vec![1], vec![0, 1]], vec![]));
    assert!(Trace::new(ranks).is_ok());
}

#[test]
fn dumpi_tells_the_sizes_of_datatypes_and_no_call_that_matters_is_left_out() {
    let of = |name: &str, arguments: &[&str]| {
        let text = [
            printed("MPI_Init", 0, &[]),
            printed(name, 20, arguments),
            printed("MPI_Finalize", 50, &[]),
            "Datatype 12 (MPI_DOUBLE) has size 8\nDatatype 28 (user-defined-datatype) has size 24\n".to_owned(),
        ];
        dumpi::complete(vec![dumpi::read("d.txt", &text.concat(), 0, 1)?])
    };
    let world = "MPI_Comm comm=2 (MPI_COMM_WORLD)";
    let datatype = "MPI_Datatype datatype=28 (user-defined-datatype)";
    let calls = of("MPI_Send", &["int count=2", datatype, "int dest=0", "int tag=1", world]).unwrap();
    assert_eq!(calls[0].calls[0].1, Call::Send(Message { partner: Some(0), tag: Some(1), communicator: 0, bytes: 48 }));
    let replace = ["int count=2", datatype, "int dest=0", "int sendtag=1", "int source=0", "int recvtag=1", world];
    assert_eq!(of("MPI_Sendrecv_replace", &replace).unwrap()[0].calls[0].1.name(), "MPI_Sendrecv");
    for name in [
        "MPI_Put",
        "MPI_Win_fence",
        "MPI_Comm_spawn",
        "MPI_Comm_accept",
        "MPI_Intercomm_create",
        "MPI_Cancel",
        "MPI_Alltoallw",
    ] {
        let message = of(name, &[]).unwrap_err().to_string();
        assert_eq!(message, format!("d.txt:4: {name}: found a call that a replay cannot follow"));
    }
    for name in [
        "MPI_Type_commit",
        "MPI_Wtime",
        "MPI_Comm_rank",
        "MPI_File_write",
        "MPI_Comm_set_attr",
        "MPI_Comm_create_keyval",
    ] {
        assert!(of(name, &[]).is_ok(), "{name}");
    }
    let negative =
        of("MPI_Send", &["int count=-2", datatype, "int dest=0", "int tag=1", world]).unwrap_err().to_string();
    assert_eq!(negative, "d.txt:4: MPI_Send: found count `-2`; allowed is 0 or more");
}

proptest! {
    /// Any words, in any order, are read or refused; a trace that is read can be checked.
    #[test]
    fn no_words_make_the_readers_fail_otherwise(words in prop::collection::vec(prop::sample::select(vec![
        "0", "1", "7", "-1", "1e300", "nan", "MPI_Init", "MPI_Isend", "MPI_Waitall", "MPI_Alltoallv", "MPI_Gatherv", ":", ":", ":", "\n", "\n", " ",
        "11,8,8", "0,0,2", "1,2", " isend ", " waitall ", " alltoallv ", " scatterv ", " compute ", "init", "x", " entering at walltime 1.5,", " returning at walltime 2.5,", "MPI_Request request=[3]", "int dest=1",
        "MPI_Comm comm=2 (MPI_COMM_WORLD)", "int count=1", "MPI_Datatype datatype=3 (MPI_INT)",
    ]), 0..60)) {
        let text = words.concat();
        for size in [None, Some(2)] {
            if let Ok(ranks) = simgrid::read("t", &text, size, 1e9) {
                let _ = Trace::new(ranks.into_iter().map(|(_, calls)| calls).collect());
            }
        }
        if let Ok(ranks) = dumpi::read("t", &text, 0, 1).and_then(|rank| dumpi::complete(vec![rank])) {
            let _ = Trace::new(ranks);
        }
        if let Ok(calls) = liballprof::read("t", &text, 0, 2) {
            let _ = Trace::new(vec![calls]);
        }
    }
}
