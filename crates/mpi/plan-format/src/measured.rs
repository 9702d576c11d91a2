//! How an MPI process is asked for the times of a collective, by the library's own call and by plans: what
//! `maquette plan collectives --measure` and the preloaded library say to each other, as JSON.

use serde::{Deserialize, Serialize};

/// The name of the function of the preloaded library that answers.
pub const FUNCTION: &str = "maquette_measure_collectives";

/// A request, the same on all ranks, which make it together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// To measure a call.
    Measure {
        /// The call.
        call: MeasuredCall,
        /// The plans, as text.
        plans: Vec<String>,
    },
    /// To end: frees what MPI has to free before it ends.
    End,
}

/// A call of a collective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredCall {
    /// The MPI function of a collective of the list, by its name, with blocks of so many bytes: of sums of
    /// floating-point numbers, if they are divisible by the size of one. [B]
    Listed(String, u64),
    /// `MPI_Alltoallv` by a matrix: what each rank has for each other, row by row. [B]
    AllToAllv(Vec<u64>),
}

/// The answer, on each rank; that of rank 0 counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The times.
    Measured(Measured),
    /// It has ended.
    Ended,
    /// It could not be done.
    Failed(String),
}

/// The times of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// By the library's own call.
    pub library: Times,
    /// By each plan; none for those that a few calls have ruled out.
    pub plans: Vec<Option<Compared>>,
}

/// How long a call takes: medians of several rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// When all ranks begin it after a barrier: the mean over ranks. [ns]
    pub after_barrier_ns: f64,
    /// When ranks call it again and again, and may run ahead of each other: until the last rank is done. [ns]
    pub in_a_row_ns: f64,
}

/// The times by a plan, beside those of the library in the same rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The times.
    pub times: Times,
    /// The medians of its times over those of the library, round by round: the larger of the two kinds.
    pub ratio: f64,
}
