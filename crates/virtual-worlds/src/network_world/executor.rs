//! Runs ranks as futures: each is polled when the operation that it waits for is over, and nobody else wakes it.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use endpoint::{AnySource, Endpoint, Error, Message, Multicast, Result, WaitsFor, check_partner, deadlock};
use machines::model::FlitNetwork;
use quantities::{Duration, Rank, Time};

use super::{NetworkWorld, Run, answer, fits};
use crate::answer::{Activity, MessageRecord, Span, Timeline};
use crate::network::{Engine, stuck};
use crate::nodes::{ANY, Nodes, Outcome, Wanted};
use crate::stop::Stop;

/// As many packets are described one by one when the network is stuck.
const PACKETS_DESCRIBED: usize = 8;

/// What the ranks of a run share.
struct Shared<E> {
    nodes: Nodes<E>,
    /// For each rank, the outcome of the operation that it waits for, once it is over.
    outcomes: Vec<Option<Outcome>>,
    /// For each rank, what it waits for.
    waiting: Vec<WaitsFor>,
    timeline: Option<Timeline>,
}

/// One rank's endpoint.
pub(super) struct Here<'a, E> {
    shared: &'a RefCell<Shared<E>>,
    rank: Rank,
    size: u32,
}

impl<E: Engine> Here<'_, E> {
    fn check(&self, other: Rank) -> Result<()> {
        check_partner(self.rank, other, self.size())
    }

    /// Waits for the operation that was just started, and notes it in the timeline.
    async fn outcome(&self, activity: Activity, waits_for: WaitsFor) -> Outcome {
        let start = {
            let mut shared = self.shared.borrow_mut();
            shared.waiting[self.rank.0 as usize] = waits_for;
            shared.nodes.now()
        };
        let outcome = poll_fn(|_| match self.shared.borrow_mut().outcomes[self.rank.0 as usize].take() {
            Some(outcome) => Poll::Ready(outcome),
            None => Poll::Pending,
        })
        .await;
        let shared = &mut *self.shared.borrow_mut();
        let end = shared.nodes.now();
        if let Some(timeline) = &mut shared.timeline {
            timeline.spans.push(Span { rank: self.rank, activity, start, end });
            if let Outcome::Received(from, message, sent) = &outcome {
                let record =
                    MessageRecord { from: *from, to: self.rank, size: message.size(), sent: *sent, received: end };
                timeline.messages.push(record);
            }
        }
        outcome
    }

    async fn received(&self, wanted: Wanted, deadline: Option<Time>, waits_for: WaitsFor) -> Result<(Rank, Message)> {
        {
            let nodes = &mut self.shared.borrow_mut().nodes;
            nodes.receive(self.rank, 0, wanted, 0);
            if let Some(deadline) = deadline
                && nodes.unmet(self.rank).next().is_some()
            {
                nodes.set_deadline(self.rank, deadline);
            }
        }
        match self.outcome(Activity::Receive, waits_for).await {
            Outcome::Received(from, message, _) => Ok((from, message)),
            Outcome::Started | Outcome::Over | Outcome::Late => Err(Error::Deadline(self.now())),
        }
    }
}

impl<E: Engine> Endpoint for Here<'_, E> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn now(&self) -> Time {
        self.shared.borrow().nodes.now()
    }

    async fn send(&self, to: Rank, message: Message) -> Result<()> {
        self.check(to)?;
        fits(message.size())?;
        self.shared.borrow_mut().nodes.send(self.rank, 0, to, 0, message, 0);
        self.outcome(Activity::Send, WaitsFor::Receiver(to)).await;
        Ok(())
    }

    async fn receive(&self, from: Rank) -> Result<Message> {
        self.check(from)?;
        let (_, message) = self.received(Wanted { from: from.0, tag: ANY }, None, WaitsFor::MessageFrom(from)).await?;
        Ok(message)
    }

    async fn compute(&self, work: Duration) {
        self.shared.borrow_mut().nodes.compute(self.rank, 0, work, 0);
        self.outcome(Activity::Compute, WaitsFor::AnyMessage).await;
    }
}

impl<E: Engine> AnySource for Here<'_, E> {
    async fn receive_any(&self, deadline: Option<Time>) -> Result<(Rank, Message)> {
        self.received(Wanted { from: ANY, tag: ANY }, deadline, WaitsFor::AnyMessage).await
    }
}

impl<E: Engine> Here<'_, E> {
    fn check_hardware(&self) -> Result<()> {
        if self.shared.borrow().nodes.has_control_network() {
            return Ok(());
        }
        Err(Error::Unfit("the machine has no control network: it cannot broadcast in hardware".to_string()))
    }
}

impl<E: Engine> Multicast for Here<'_, E> {
    async fn multicast(&self, message: Message) -> Result<()> {
        self.check_hardware()?;
        fits(message.size())?;
        self.shared.borrow_mut().nodes.multicast(self.rank, message, 0);
        self.outcome(Activity::Send, WaitsFor::AnyMessage).await;
        Ok(())
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        self.check_hardware()?;
        self.check(from)?;
        self.shared.borrow_mut().nodes.receive_multicast(self.rank, from, 0);
        match self.outcome(Activity::Receive, WaitsFor::MessageFrom(from)).await {
            Outcome::Received(_, message, _) => Ok(message),
            Outcome::Started | Outcome::Over | Outcome::Late => Err(Error::Deadline(self.now())),
        }
    }
}

/// The ranks of a run: those that have not ended, what the others ended with, and when.
struct Ranks<F, T> {
    running: Vec<Option<Pin<Box<F>>>>,
    results: Vec<Option<Result<T>>>,
    finish: Vec<Time>,
}

impl<T, F: Future<Output = Result<T>>> Ranks<F, T> {
    fn poll(&mut self, rank: usize, now: impl Fn() -> Time) {
        let Some(future) = &mut self.running[rank] else { return };
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            self.running[rank] = None;
            self.results[rank] = Some(result);
            self.finish[rank] = now();
        }
    }
}

/// Runs `start` on every rank until all have ended.
pub(super) fn run<'w, E, T, P>(world: &NetworkWorld<'w>, network: &FlitNetwork, ranks: u32, start: P) -> Run<T>
where
    E: Engine,
    P: AsyncFn(Here<'_, E>) -> Result<T>,
{
    let options = world.options;
    let shared = RefCell::new(Shared {
        nodes: Nodes::<E>::new(world.machine, network, ranks, options.seed, options.packet_log),
        outcomes: (0..ranks).map(|_| None).collect(),
        waiting: vec![WaitsFor::AnyMessage; ranks as usize],
        timeline: options.timeline.then(Timeline::default),
    });
    let (results, finish) = drive(&shared, ranks, options.stop, start)?;
    let shared = shared.into_inner();
    if results.iter().any(Option::is_none) {
        return Err(why_nothing_goes_on(network, &shared, &results));
    }
    let answer = answer(shared.nodes, finish, shared.timeline);
    Ok((results.into_iter().flatten().collect(), answer))
}

/// What each rank has ended with, if it has, and when.
type Ended<T> = (Vec<Option<Result<T>>>, Vec<Time>);

/// Polls ranks until nothing happens any more, or someone asks to `stop`; gives what each has ended with, if it has, and when.
fn drive<E, T, P>(shared: &RefCell<Shared<E>>, ranks: u32, stop: Stop, start: P) -> Result<Ended<T>>
where
    E: Engine,
    P: AsyncFn(Here<'_, E>) -> Result<T>,
{
    let here = |rank| Here { shared, rank: Rank(rank), size: ranks };
    let mut all = Ranks {
        running: (0..ranks).map(|rank| Some(Box::pin(start(here(rank))))).collect(),
        results: (0..ranks).map(|_| None).collect(),
        finish: vec![Time::ZERO; ranks as usize],
    };
    let now = || shared.borrow().nodes.now();
    (0..ranks as usize).for_each(|rank| all.poll(rank, now));
    loop {
        stop.go_on(|| shared.borrow().nodes.reached())?;
        let done = shared.borrow_mut().nodes.next_done();
        if let Some(done) = done {
            let rank = done.rank.0 as usize;
            shared.borrow_mut().outcomes[rank] = Some(done.result);
            all.poll(rank, now);
        } else if !shared.borrow_mut().nodes.step() {
            break;
        }
    }
    Ok((all.results, all.finish))
}

/// The error for a run in which some ranks wait for ever: packets that block each other, or ranks that do.
fn why_nothing_goes_on<E: Engine, T>(
    network: &FlitNetwork,
    shared: &Shared<E>,
    results: &[Option<Result<T>>],
) -> Error {
    let packets = shared.nodes.engine().stuck();
    if shared.nodes.engine().in_flight() > 0 {
        return Error::Deadlock(stuck::describe(network, &packets, PACKETS_DESCRIBED));
    }
    let waiting: Vec<(Rank, WaitsFor)> = (0u32..)
        .zip(results)
        .filter(|(_, result)| result.is_none())
        .map(|(rank, _)| (Rank(rank), shared.waiting[rank as usize]))
        .collect();
    let failed = (0u32..).zip(results).find_map(|(rank, result)| match result {
        Some(Err(error)) => Some((Rank(rank), error)),
        _ => None,
    });
    deadlock(&waiting, failed)
}
