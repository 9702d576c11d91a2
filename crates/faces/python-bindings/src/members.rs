//! The ranks of a group of a program in Python, in the group's order.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use collectives::Group;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use quantities::Rank;

/// The ranks of a group. Every rank of a group has its own; those with the same ranks in the same order are one group.
#[pyclass(frozen, module = "maquette._maquette")]
pub struct Members {
    ranks: Vec<u32>,
    /// The run in which the group is known, and by which number: found by its ranks once, not for every call.
    known: AtomicU64,
}

#[pymethods]
impl Members {
    /// The group of these ranks, among which is `rank`, in a program of `size`.
    #[new]
    fn new(ranks: Vec<u32>, rank: u32, size: u32) -> PyResult<Members> {
        if let Some(beyond) = ranks.iter().find(|&&rank| rank >= size) {
            return Err(PyValueError::new_err(format!(
                "ranks: found rank {beyond}; allowed is 0 to {}, the ranks of the program",
                size.saturating_sub(1)
            )));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = ranks.iter().find(|&&rank| !seen.insert(rank)) {
            return Err(PyValueError::new_err(format!("ranks: found rank {twice} twice; allowed is each rank once")));
        }
        if !seen.contains(&rank) {
            return Err(PyValueError::new_err(format!(
                "ranks: found {} ranks without rank {rank}; allowed is a group that has the rank which makes it",
                ranks.len()
            )));
        }
        Ok(Members { ranks, known: AtomicU64::new(0) })
    }

    /// The ranks, in the group's order.
    #[getter]
    fn ranks(&self) -> Vec<u32> {
        self.ranks.clone()
    }

    /// The place of a rank in the group; None, if it is not in it.
    fn place_of(&self, rank: u32) -> Option<usize> {
        self.ranks.iter().position(|&member| member == rank)
    }
}

impl Members {
    /// The group as programs know it.
    ///
    /// # Errors
    /// A rank that is twice in it, which `new` has refused.
    pub fn group(&self) -> endpoint::Result<Group> {
        Group::listed(self.ranks.iter().copied().map(Rank).collect())
    }

    /// The number of the group in a run; found by its ranks where it is not known yet.
    pub fn number(&self, run: u32, find: impl FnOnce(&[u32]) -> PyResult<u32>) -> PyResult<u32> {
        let known = self.known.load(Ordering::Relaxed);
        if known >> 32 == u64::from(run) {
            return Ok(known as u32);
        }
        let number = find(&self.ranks)?;
        self.known.store(u64::from(run) << 32 | u64::from(number), Ordering::Relaxed);
        Ok(number)
    }
}
