//! The coroutines of a rank that run at once, since one awaits several, each of which may do so, too.
//!
//! ```text
//!     join(a, first(b, join(c, d)))         0 -+- a
//!                                              +- 1 -+- b
//!                                                    +- 2 -+- c
//!                                                          +- d
//! ```
//!
//! However deep the tree, all are polled from one place. Futures within futures would need a stack as deep as the tree,
//! to be polled and to be dropped, and a recursion that a program forgets to end would go on until there is none left.
//! So the depth has a bound of its own, that of Python's calls, which holds in a thread with a small stack, too.

use endpoint::{AnyFuture, Concurrent, Endpoint};
use pyo3::exceptions::{PyRecursionError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple};

use crate::program::{CoroutineStep, PythonRank, Resumption};
use crate::request::Wait;

/// The number of the coroutine that awaits all others.
const ROOT: usize = 0;

/// The coroutines that run at once.
pub struct Tree<'py, 'a, 'run, E> {
    rank: &'a PythonRank<'py, 'run, E>,
    py: Python<'py>,
    /// By number; none where one has ended.
    coroutines: Vec<Option<Coroutine<'py>>>,
    /// Numbers that can be given to others.
    free: Vec<usize>,
    running: Concurrent<'a, (usize, CoroutineStep<'py>)>,
}

struct Coroutine<'py> {
    /// None for the root, which is resumed elsewhere.
    steps: Option<Bound<'py, PyIterator>>,
    /// The number of the one that awaits it, and its own index among those awaited.
    parent: usize,
    index: usize,
    /// How many await one another, down to it.
    depth: usize,
    /// The place of its future, while it awaits no others.
    place: Option<usize>,
    awaits: Option<Awaited<'py>>,
}

/// What a coroutine awaits.
struct Awaited<'py> {
    wait: Wait,
    /// The numbers of those that have not ended, and what the others returned.
    running: Vec<Option<usize>>,
    returned: Vec<Option<Bound<'py, PyAny>>>,
    left: usize,
}

impl<'py, 'a, 'run, E: Endpoint> Tree<'py, 'a, 'run, E> {
    /// No coroutine but the root.
    pub fn new(rank: &'a PythonRank<'py, 'run, E>, py: Python<'py>) -> Tree<'py, 'a, 'run, E> {
        let root = Coroutine { steps: None, parent: ROOT, index: 0, depth: 0, place: None, awaits: None };
        Tree { rank, py, coroutines: vec![Some(root)], free: Vec::new(), running: Concurrent::default() }
    }

    /// Has the root await these: returns what they returned, in a tuple, or the index of the first that has ended and
    /// what it returned. Those that have not ended by then are closed.
    pub async fn run(mut self, wait: Wait, all: Vec<Bound<'py, PyIterator>>) -> Resumption<'py> {
        let mut reached = Some((ROOT, CoroutineStep::Awaits(wait, all)));
        while let Some((number, step)) = reached {
            let resumed = match step {
                CoroutineStep::Awaits(wait, all) => self.begin(number, wait, all).map(|given| (number, given)),
                CoroutineStep::Ended(ended) => self.end(number, ended),
            };
            match resumed {
                Some((ROOT, given)) => return given,
                Some((number, given)) => self.resume(number, given),
                None => {}
            }
            reached = self.running.next().await.map(|(_, reached)| reached);
        }
        Err(PyValueError::new_err("found coroutines that wait for one another"))
    }

    /// Has a coroutine await these. Returns what it is given at once, if there is nothing to wait for or it may not.
    fn begin(&mut self, number: usize, wait: Wait, all: Vec<Bound<'py, PyIterator>>) -> Option<Resumption<'py>> {
        if all.is_empty() {
            return Some(match wait {
                Wait::Join => Ok(PyTuple::empty(self.py).into_any()),
                Wait::First => Err(PyValueError::new_err("first: found nothing to wait for")),
            });
        }
        let depth = self.coroutines[number].as_ref().map_or(0, |it| it.depth) + 1;
        if let Err(error) = check_depth(depth, self.py) {
            return Some(Err(error));
        }
        let children: Vec<usize> = all.iter().map(|_| self.number()).collect();
        let nothing = || Ok(self.py.None().into_bound(self.py));
        let begun = children.iter().zip(&all).map(|(&child, steps)| advance(self.rank, child, steps, nothing()));
        let places = self.running.add(begun);
        let (left, returned) = (all.len(), all.iter().map(|_| None).collect());
        for (index, ((&child, steps), place)) in children.iter().zip(all).zip(places).enumerate() {
            let (steps, place) = (Some(steps), Some(place));
            self.coroutines[child] = Some(Coroutine { steps, parent: number, index, depth, place, awaits: None });
        }
        if let Some(coroutine) = &mut self.coroutines[number] {
            let running = children.into_iter().map(Some).collect();
            (coroutine.place, coroutine.awaits) = (None, Some(Awaited { wait, running, returned, left }));
        }
        None
    }

    /// A number for a coroutine.
    fn number(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.coroutines.push(None);
            self.coroutines.len() - 1
        })
    }

    /// A coroutine has ended. Returns which one is resumed, and with what, if that was all that it waited for.
    fn end(&mut self, number: usize, ended: Resumption<'py>) -> Option<(usize, Resumption<'py>)> {
        let Coroutine { parent, index, .. } = self.coroutines[number].take()?;
        self.free.push(number);
        let awaited = self.coroutines[parent].as_mut()?.awaits.as_mut()?;
        awaited.running[index] = None;
        awaited.left -= 1;
        let given = match (awaited.wait, ended) {
            (Wait::Join, Ok(value)) => {
                awaited.returned[index] = Some(value);
                if awaited.left > 0 {
                    return None;
                }
                PyTuple::new(self.py, awaited.returned.drain(..).flatten().collect::<Vec<_>>()).map(Bound::into_any)
            }
            (Wait::First, Ok(value)) => (index, value).into_pyobject(self.py).map(Bound::into_any),
            (_, Err(error)) => Err(error),
        };
        Some((parent, self.close_awaited(parent).and(given)))
    }

    /// Resumes a coroutine.
    fn resume(&mut self, number: usize, given: Resumption<'py>) {
        if let Some(Coroutine { steps: Some(steps), place, .. }) = &mut self.coroutines[number] {
            *place = self.running.add([advance(self.rank, number, steps, given)]).pop();
        }
    }
}

impl<'py, E> Tree<'py, '_, '_, E> {
    /// Closes what a coroutine awaits, so that its `finally` blocks run now: what is deepest first, since Python closes
    /// the coroutines that only a closed one has held within one another.
    ///
    /// # Errors
    /// What the first failing one raised.
    fn close_awaited(&mut self, number: usize) -> PyResult<()> {
        let mut to_close = Vec::new();
        let mut open = vec![number];
        while let Some(awaiting) = open.pop() {
            let awaits = self.coroutines[awaiting].as_mut().and_then(|coroutine| coroutine.awaits.take());
            let running = awaits.into_iter().flat_map(|awaits| awaits.running).flatten();
            let first = open.len();
            open.extend(running);
            to_close.extend_from_slice(&open[first..]);
        }
        let mut closed = Ok(());
        for number in to_close.into_iter().rev() {
            let Some(Coroutine { steps, place, .. }) = self.coroutines[number].take() else { continue };
            self.free.push(number);
            place.into_iter().for_each(|place| self.running.remove(place));
            if let Some(Err(error)) = steps.map(|steps| steps.call_method0("close")) {
                match closed {
                    Ok(()) => closed = Err(error),
                    Err(_) => error.write_unraisable(self.py, None),
                }
            }
        }
        closed
    }
}

impl<E> Drop for Tree<'_, '_, '_, E> {
    /// The run has ended without them.
    fn drop(&mut self) {
        if let Err(error) = self.close_awaited(ROOT) {
            error.write_unraisable(self.py, None);
        }
    }
}

/// Advances a coroutine that is `given` this: its number, and how far it has come.
fn advance<'py, 'a, E: Endpoint>(
    rank: &'a PythonRank<'py, '_, E>,
    number: usize,
    steps: &Bound<'py, PyIterator>,
    given: Resumption<'py>,
) -> AnyFuture<'a, (usize, CoroutineStep<'py>)>
where
    'py: 'a,
{
    let steps = steps.clone();
    Box::pin(async move { (number, rank.advance(&steps, given).await) })
}

/// Checks that so many coroutines may await one another.
fn check_depth(depth: usize, py: Python<'_>) -> PyResult<()> {
    // There is no limit below that, and most programs do not go deeper.
    if depth <= 1 {
        return Ok(());
    }
    let allowed: usize = py.import("sys")?.call_method0("getrecursionlimit")?.extract()?;
    if depth <= allowed {
        return Ok(());
    }
    Err(PyRecursionError::new_err(format!(
        "maximum recursion depth exceeded: found more than {allowed} calls of maquette.join and maquette.first within one another; \
         allowed is what sys.getrecursionlimit() returns"
    )))
}
