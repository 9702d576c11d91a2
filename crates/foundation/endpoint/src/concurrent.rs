//! Several futures of a rank at once, of which only those are polled that may advance.
//!
//! Whoever polls all of n futures whenever one of their operations is over polls n^2 times until all have ended. Here
//! each future has a waker of its own, which says that this one is to be polled. Where a rank is polled and no waker
//! says why, as when a request is over, all are.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A future among others.
pub type AnyFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Several futures, each in a place. Those that have ended are gone, and their places are given to others.
pub struct Concurrent<'a, T> {
    futures: Vec<Option<AnyFuture<'a, T>>>,
    /// The waker of each place.
    wakers: Vec<Waker>,
    woken: Arc<Woken>,
    /// Those that are polled next.
    due: VecDeque<usize>,
    /// The places without a future.
    free: Vec<usize>,
    /// Whether nothing could advance when they were last polled.
    is_waiting: bool,
}

impl<T> Default for Concurrent<'_, T> {
    fn default() -> Self {
        let (futures, wakers, woken) = (Vec::new(), Vec::new(), Arc::default());
        Concurrent { futures, wakers, woken, due: VecDeque::new(), free: Vec::new(), is_waiting: false }
    }
}

impl<'a, T> Concurrent<'a, T> {
    /// Adds these futures, which begin in this order before any other is polled; returns the place of each.
    pub fn add(&mut self, futures: impl IntoIterator<Item = AnyFuture<'a, T>>) -> Vec<usize> {
        let places: Vec<usize> = futures.into_iter().map(|future| self.put(future)).collect();
        places.iter().rev().for_each(|&place| self.due.push_front(place));
        places
    }

    fn put(&mut self, future: AnyFuture<'a, T>) -> usize {
        if let Some(place) = self.free.pop() {
            self.futures[place] = Some(future);
            return place;
        }
        let place = self.futures.len();
        self.futures.push(Some(future));
        self.wakers.push(Waker::from(Arc::new(OneOfThem { place, woken: Arc::clone(&self.woken) })));
        place
    }

    /// Drops the future in a place, if there is one.
    pub fn remove(&mut self, place: usize) {
        if self.futures.get_mut(place).and_then(Option::take).is_some() {
            self.free.push(place);
        }
    }

    /// Waits until another one has ended: returns its place and its output; none if all have. Of several at once, the
    /// first.
    pub async fn next(&mut self) -> Option<(usize, T)> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &Context<'_>) -> Poll<Option<(usize, T)>> {
        lock(&self.woken.around).clone_from(context.waker());
        if self.free.len() == self.futures.len() {
            return Poll::Ready(None);
        }
        self.due.extend(lock(&self.woken.places).drain(..));
        if self.due.is_empty() && self.is_waiting {
            self.due.extend(0..self.futures.len());
        }
        while let Some(place) = self.due.pop_front() {
            let Some(future) = &mut self.futures[place] else { continue };
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&self.wakers[place])) {
                self.remove(place);
                self.is_waiting = false;
                return Poll::Ready(Some((place, output)));
            }
        }
        self.is_waiting = true;
        Poll::Pending
    }
}

/// Which futures were woken since they were polled.
struct Woken {
    places: Mutex<Vec<usize>>,
    /// The waker of what waits for them all.
    around: Mutex<Waker>,
}

impl Default for Woken {
    fn default() -> Woken {
        Woken { places: Mutex::default(), around: Mutex::new(Waker::noop().clone()) }
    }
}

/// Wakes one of several futures.
struct OneOfThem {
    place: usize,
    woken: Arc<Woken>,
}

impl Wake for OneOfThem {
    fn wake(self: Arc<Self>) {
        lock(&self.woken.places).push(self.place);
        let around = lock(&self.woken.around).clone();
        around.wake();
    }
}

/// Nothing panics while it holds one of these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// Operations that a test ends one by one, and how often anybody has asked for them.
    #[derive(Default)]
    struct Operations {
        over: RefCell<Vec<Option<Waker>>>,
        polls: Cell<usize>,
    }

    impl Operations {
        fn of(count: usize) -> Operations {
            Operations { over: RefCell::new(vec![Some(Waker::noop().clone()); count]), polls: Cell::new(0) }
        }

        /// Waits for an operation, and returns its number.
        fn wait(&self, number: usize) -> AnyFuture<'_, usize> {
            Box::pin(poll_fn(move |context| {
                self.polls.set(self.polls.get() + 1);
                match &mut self.over.borrow_mut()[number] {
                    Some(waker) => {
                        waker.clone_from(context.waker());
                        Poll::Pending
                    }
                    None => Poll::Ready(number),
                }
            }))
        }

        fn end(&self, number: usize) {
            self.over.borrow_mut()[number].take().unwrap().wake();
        }
    }

    fn concurrent<'a, T>(futures: impl IntoIterator<Item = AnyFuture<'a, T>>) -> Concurrent<'a, T> {
        let mut several = Concurrent::default();
        several.add(futures);
        several
    }

    /// Waits until all have ended.
    async fn all<T>(mut several: Concurrent<'_, T>) -> Vec<usize> {
        let mut order = Vec::new();
        while let Some((place, _)) = several.next().await {
            order.push(place);
        }
        order
    }

    fn poll<T>(future: &mut AnyFuture<'_, T>) -> Poll<T> {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    /// Whether another one has ended.
    fn next(several: &mut Concurrent<'_, usize>) -> Poll<Option<(usize, usize)>> {
        poll(&mut (Box::pin(several.next()) as AnyFuture<'_, _>))
    }

    #[test]
    fn four_thousand_operations_are_asked_for_twice_each() {
        const COUNT: usize = 4_000;
        let operations = Operations::of(COUNT);
        let mut waiting: AnyFuture<'_, Vec<usize>> =
            Box::pin(all(concurrent((0..COUNT).map(|number| operations.wait(number)))));
        for number in (0..COUNT).rev() {
            assert!(poll(&mut waiting).is_pending());
            operations.end(number);
        }
        assert_eq!(poll(&mut waiting), Poll::Ready((0..COUNT).rev().collect()));
        // Once to begin, and once when it is over.
        assert_eq!(operations.polls.get(), 2 * COUNT);
    }

    #[test]
    fn what_is_within_is_woken_from_outside() {
        let operations = Operations::of(4);
        let inner = |numbers: [usize; 2]| -> AnyFuture<'_, Vec<usize>> {
            Box::pin(all(concurrent(numbers.map(|number| operations.wait(number)))))
        };
        let mut waiting: AnyFuture<'_, Vec<usize>> = Box::pin(all(concurrent([inner([0, 1]), inner([2, 3])])));
        for number in [3, 0, 2, 1] {
            assert!(poll(&mut waiting).is_pending());
            operations.end(number);
        }
        assert_eq!(poll(&mut waiting), Poll::Ready(vec![1, 0]));
        assert_eq!(operations.polls.get(), 8);
    }

    #[test]
    fn without_a_waker_all_are_asked() {
        let is_over = Cell::new(false);
        let silent: AnyFuture<'_, ()> =
            Box::pin(poll_fn(|_| if is_over.get() { Poll::Ready(()) } else { Poll::Pending }));
        let mut waiting: AnyFuture<'_, Vec<usize>> = Box::pin(all(concurrent([silent])));
        assert!(poll(&mut waiting).is_pending());
        is_over.set(true);
        assert_eq!(poll(&mut waiting), Poll::Ready(vec![0]));
    }

    #[test]
    fn of_several_at_once_the_first_comes_first() {
        let operations = Operations::of(3);
        operations.end(2);
        operations.end(1);
        let mut several = concurrent((0..3).map(|number| operations.wait(number)));
        let mut first: AnyFuture<'_, Option<(usize, usize)>> = Box::pin(several.next());
        assert_eq!(poll(&mut first), Poll::Ready(Some((1, 1))));
    }

    #[test]
    fn what_is_added_begins_before_the_others_go_on() {
        let operations = Operations::of(5);
        (0..5).for_each(|number| operations.end(number));
        let mut several = concurrent([operations.wait(0), operations.wait(1)]);
        let mut order = Vec::new();
        while let Poll::Ready(Some((_, number))) = next(&mut several) {
            order.push(number);
            if number == 0 {
                several.add([operations.wait(2), operations.wait(3)]);
            } else if number == 2 {
                several.add([operations.wait(4)]);
            }
        }
        assert_eq!(order, [0, 2, 4, 3, 1]);
    }

    #[test]
    fn a_place_is_given_to_another_future() {
        let operations = Operations::of(1_000);
        let mut several = concurrent([operations.wait(0)]);
        for number in 1..1_000 {
            let [place] = several.add([operations.wait(number)])[..] else { panic!("one place") };
            assert_eq!(place, 1);
            assert!(next(&mut several).is_pending());
            several.remove(place);
        }
        operations.end(0);
        let mut rest: AnyFuture<'_, Vec<usize>> = Box::pin(all(several));
        assert_eq!(poll(&mut rest), Poll::Ready(vec![0]));
    }
}
