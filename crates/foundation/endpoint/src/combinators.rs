//! Combines several operations of a rank that are under way at once.
//!
//! A world polls a rank when one of its operations is over, so these combinators poll all their futures, in order, and
//! need no waker. The operations begin in the order in which they are listed.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// Polls a future unless it has ended already; returns whether it has ended.
fn has_ended<F: Future>(mut future: Pin<&mut F>, output: &mut Option<F::Output>, context: &mut Context<'_>) -> bool {
    if output.is_none()
        && let Poll::Ready(ended) = future.as_mut().poll(context)
    {
        *output = Some(ended);
    }
    output.is_some()
}

/// Waits until both have ended; [`join!`](crate::join!) takes more of them.
pub async fn join<A: Future, B: Future>(first: A, second: B) -> (A::Output, B::Output) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut one, mut other) = (None, None);
    poll_fn(|context| {
        let ended = [has_ended(first.as_mut(), &mut one, context), has_ended(second.as_mut(), &mut other, context)];
        match (ended, one.take(), other.take()) {
            ([true, true], Some(one), Some(other)) => Poll::Ready((one, other)),
            (_, has, had) => {
                (one, other) = (has, had);
                Poll::Pending
            }
        }
    })
    .await
}

/// Waits until all of several futures have ended, and returns a tuple of their outputs. They may be of different types.
///
/// ```
/// use endpoint::{Endpoint, Message, Result};
/// use quantities::{Duration, Rank};
/// # use maquette_endpoint as endpoint;
///
/// /// Swaps messages with `partner`, and computes meanwhile.
/// async fn swap<E: Endpoint>(endpoint: &E, partner: Rank, message: Message, work: Duration) -> Result<Message> {
///     let (sent, received, ()) =
///         endpoint::join!(endpoint.send(partner, message), endpoint.receive(partner), endpoint.compute(work)).await;
///     sent.and(received)
/// }
/// ```
#[macro_export]
macro_rules! join {
    ($only:expr $(,)?) => {
        async { ($only.await,) }
    };
    ($first:expr, $second:expr $(,)?) => {
        $crate::join($first, $second)
    };
    ($first:expr, $second:expr, $third:expr $(,)?) => {
        async {
            let (first, (second, third)) = $crate::join($first, $crate::join($second, $third)).await;
            (first, second, third)
        }
    };
    ($first:expr, $second:expr, $third:expr, $fourth:expr $(,)?) => {
        async {
            let ((first, second), (third, fourth)) =
                $crate::join($crate::join($first, $second), $crate::join($third, $fourth)).await;
            (first, second, third, fourth)
        }
    };
}

/// Waits until all of `futures` have ended; returns their outputs in the same order.
pub async fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = all.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut left = false;
        for (future, output) in all.iter_mut().zip(&mut outputs) {
            left |= !has_ended(future.as_mut(), output, context);
        }
        if left { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

/// Begins operations in order, and waits until all have ended, as `MPI_Waitall` does; returns their outcomes in the same
/// order.
///
/// An operation goes on by itself once it has begun. So after that each is polled only when those before it have ended,
/// and P operations take 2 P polls, where [`join_all`] takes P squared. A future of several operations, one after the
/// other, would not go on: it belongs into [`join_all`].
pub async fn wait_all<F: Future>(operations: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<Pin<Box<F>>> = operations.into_iter().map(Box::pin).collect();
    let mut outcomes: Vec<Option<F::Output>> = all.iter().map(|_| None).collect();
    let (mut begun, mut first) = (false, 0);
    poll_fn(|context| {
        if !begun {
            begun = true;
            for (operation, outcome) in all.iter_mut().zip(&mut outcomes) {
                has_ended(operation.as_mut(), outcome, context);
            }
        }
        while first < all.len() && has_ended(all[first].as_mut(), &mut outcomes[first], context) {
            first += 1;
        }
        if first < all.len() { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    outcomes.into_iter().flatten().collect()
}

/// Which of two futures ended first, and its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First<A, B> {
    /// The first one, or both at once.
    One(A),
    /// The second one.
    Other(B),
}

/// Waits until one of two has ended, and drops the other. If the other had begun an operation, it goes on, and its
/// outcome is lost, including any message that it receives.
pub async fn first_of<A: Future, B: Future>(first: A, second: B) -> First<A::Output, B::Output> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(|context| {
        if let Poll::Ready(ended) = first.as_mut().poll(context) {
            return Poll::Ready(First::One(ended));
        }
        second.as_mut().poll(context).map(First::Other)
    })
    .await
}
