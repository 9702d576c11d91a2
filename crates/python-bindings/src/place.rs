//! The place of a rank of a program in Python: its number and its time.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use quantities::Time;

/// The rank's number, the number of ranks, and the rank's time. [ps]
#[pyclass(frozen, subclass, module = "maquette._maquette")]
pub struct Place {
    #[pyo3(get)]
    rank: u32,
    #[pyo3(get)]
    size: u32,
    /// Written whenever the rank is resumed: no time passes while it runs.
    now: AtomicU64,
}

#[pymethods]
impl Place {
    #[new]
    fn new(rank: u32, size: u32) -> Place {
        Place { rank, size, now: AtomicU64::new(0) }
    }

    #[getter]
    fn now_ps(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }
}

impl Place {
    /// Sets the clock.
    pub fn set_now(&self, now: Time) {
        self.now.store(now.picoseconds(), Ordering::Relaxed);
    }
}
