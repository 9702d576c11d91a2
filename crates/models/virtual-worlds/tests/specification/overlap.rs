//! Several operations of a rank at once: in which order its processor serves them, how long they take, and which
//! combinators other than ours can be used.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake};

use endpoint::{Endpoint, Error, Message, Needs, Program, Result, World, join};
use machines::model::LogGp;
use maquette_virtual_worlds::answer::Activity;
use maquette_virtual_worlds::flit::world::{NetworkWorld, Options};
use maquette_virtual_worlds::loggp::Clock;
use quantities::{Bytes, Duration, Rank, Time};

const fn nanoseconds(count: u64) -> Duration {
    Duration::from_nanoseconds(count)
}

/// o = 7 ns, L = 100 ns, g = 5 ns, no cost per byte.
const MODEL: LogGp = LogGp {
    latency: nanoseconds(100),
    overhead: nanoseconds(7),
    gap: nanoseconds(5),
    gap_per_byte: Duration::ZERO,
    overhead_per_byte: Duration::ZERO,
    rendezvous: None,
};

/// Rank 0 computes for 50 ns and sends, in either order; rank 1 receives, and computes for 1 us meanwhile.
struct ComputeAndSend {
    send_first: bool,
}

impl Program for ComputeAndSend {
    /// When the computation was over, and when the message was sent or received. [ps]
    type Output = [u64; 2];
    const NEEDS: Needs = Needs::OVERLAP;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<[u64; 2]> {
        let me = endpoint.rank();
        let compute = async {
            endpoint.compute(nanoseconds(if me == Rank(0) { 50 } else { 1000 })).await;
            endpoint.now().picoseconds()
        };
        let communicate = async {
            if me == Rank(0) {
                endpoint.send(Rank(1), Message::of_size(Bytes(8))).await?;
            } else {
                endpoint.receive(Rank(0)).await?;
            }
            Ok(endpoint.now().picoseconds())
        };
        let (computed, communicated) = if self.send_first {
            let (communicated, computed) = join(communicate, compute).await;
            (computed, communicated)
        } else {
            join(compute, communicate).await
        };
        Ok([computed, communicated?])
    }
}

#[test]
fn a_processor_serves_operations_in_the_order_in_which_they_were_begun() {
    let run = |send_first| {
        let (results, _) = Clock::new(MODEL).run(2, &ComputeAndSend { send_first }).unwrap();
        results.into_iter().map(Result::unwrap).collect::<Vec<_>>()
    };
    // The message arrives after 50 + 7 + 100 ns, or after 7 + 100; its receiver takes it when it has computed, in 7 ns.
    assert_eq!(run(false), [[50_000, 57_000], [1_000_000, 1_007_000]]);
    assert_eq!(run(true), [[57_000, 7_000], [1_000_000, 1_007_000]]);
}

/// Polls a future only when it was woken, as the executors of other libraries do.
async fn only_when_woken<F: Future>(future: F) -> F::Output {
    struct Flag(AtomicBool);
    impl Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let flag = Arc::new(Flag(AtomicBool::new(true)));
    let waker = flag.clone().into();
    let mut future = pin!(future);
    poll_fn(|_| {
        let woken = flag.0.swap(false, Ordering::Relaxed);
        if woken { future.as_mut().poll(&mut Context::from_waker(&waker)) } else { Poll::Pending }
    })
    .await
}

#[test]
fn futures_that_wait_to_be_woken_are() {
    struct Woken;
    impl Program for Woken {
        type Output = ();
        const NEEDS: Needs = Needs::OVERLAP;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let partner = Rank(1 - endpoint.rank().0);
            for number in 0..10 {
                let sent = only_when_woken(endpoint.send(partner, Message::of_size(Bytes(number))));
                let received = only_when_woken(endpoint.receive(partner));
                let (sent, received) = join(sent, received).await;
                assert_eq!(received?.size(), Bytes(number));
                sent?;
            }
            Ok(())
        }
    }
    let machine = machines::load("parsytec-cc-16").unwrap();
    let (on_the_network, _) = NetworkWorld::new(&machine, Options::default()).run(2, &Woken).unwrap();
    let (without, _) = Clock::new(MODEL).run(2, &Woken).unwrap();
    assert_eq!([on_the_network, without], [[Ok(()), Ok(())], [Ok(()), Ok(())]]);
}

/// A future that no world can ever wake.
struct Never;

impl Future for Never {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

#[test]
fn a_rank_that_waits_for_something_other_than_its_endpoint_is_reported() {
    struct Waits;
    impl Program for Waits {
        type Output = ();
        const NEEDS: Needs = Needs::OVERLAP;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            if endpoint.rank() == Rank(1) {
                Never.await;
            }
            Ok(())
        }
    }
    let error = Clock::new(MODEL).run(2, &Waits).unwrap_err();
    let expected = "deadlock: rank 1 waits for something that is no operation of its endpoint";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_computation_that_overlaps_undeclared_is_the_ranks_error() {
    struct Undeclared;
    impl Program for Undeclared {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let work = nanoseconds(10);
            join(endpoint.compute(work), endpoint.compute(work)).await;
            Ok(())
        }
    }
    let machine = machines::load("booksim-mesh-8x8").unwrap();
    let (results, _) = NetworkWorld::new(&machine, Options::default()).run(1, &Undeclared).unwrap();
    assert_eq!(results, [Err(Error::Undeclared("OVERLAP"))]);
}

#[test]
fn the_timeline_has_every_operation_from_its_beginning_to_its_end() {
    let world = Clock::new(MODEL).with_timeline();
    let (_, answer) = world.run(2, &ComputeAndSend { send_first: false }).unwrap();
    let spans = answer.timeline.unwrap().spans;
    let spans: Vec<_> = spans.iter().map(|span| (span.rank.0, span.activity, span.start, span.end)).collect();
    let at = |nanoseconds: u64| Time::from_picoseconds(nanoseconds * 1000);
    let expected = [
        (0, Activity::Compute, at(0), at(50)),
        (0, Activity::Send, at(0), at(57)),
        (1, Activity::Compute, at(0), at(1000)),
        (1, Activity::Receive, at(0), at(1007)),
    ];
    assert_eq!(spans, expected);
}
