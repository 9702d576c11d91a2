//! The place of a rank of a program in Python: its number and its time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use quantities::Time;

use crate::pending::PendingOperation;

/// The rank's number, the number of ranks, and the rank's time. [ps]
#[pyclass(frozen, subclass, module = "maquette._maquette")]
pub struct Place {
    #[pyo3(get)]
    rank: u32,
    #[pyo3(get)]
    size: u32,
    /// Written whenever the rank is resumed: no time passes while it runs.
    now: AtomicU64,
    /// The operations that the program has asked for without waiting, and that have not begun yet.
    asked_for: Mutex<Vec<Py<PendingOperation>>>,
}

#[pymethods]
impl Place {
    #[new]
    fn new(rank: u32, size: u32) -> Place {
        Place { rank, size, now: AtomicU64::new(0), asked_for: Mutex::default() }
    }

    #[getter]
    fn now_ps(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }
}

impl Place {
    /// The operations that the program has asked for without waiting, and that have not begun yet.
    pub fn asked_for(&self) -> MutexGuard<'_, Vec<Py<PendingOperation>>> {
        self.asked_for.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the clock.
    pub fn set_now(&self, now: Time) {
        self.now.store(now.picoseconds(), Ordering::Relaxed);
    }
}
