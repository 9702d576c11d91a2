//! Which algorithm to use for each collective, as a file: written by `maquette plan` and followed by
//! `maquette collectives`.
//!
//! ```toml
//! maquette_plan = 1             # the version of this form
//! machine = "delta"             # what it was made for
//! blake3 = "5f0c..."            # the digest of that machine's description
//! set = ["buffers=4"]           # fields of it that had other values, if there were any
//! ranks = 8
//! only_blocking = true          # nonblocking collectives are left to the library; if left out, they are planned, too
//!
//! [[broadcast]]                 # of messages up to 8 KiB
//! to = "8 KiB"
//! algorithm = "binomial"
//!
//! [[broadcast]]                 # of longer ones
//! above = "8 KiB"
//! algorithm = "pipeline"
//! segment = "4 KiB"
//!
//! [all_to_allv]
//! algorithm = "all-at-once"
//!
//! [end]                         # the last line, so that a truncated plan is not taken for a shorter one
//! ```
//!
//! Any collective of the list that has data can stand there, as `[[all_gather]]`. Sizes are those of blocks: for a
//! broadcast and a reduction the whole message, for a gather what a rank brings, for an all-to-all what goes from one
//! rank to another. An exchange by a matrix, `all_to_allv`, has no size, since no rank knows those of the others. A
//! call for which a plan has no entry is left to the library.

mod entry;
mod error;
mod file;
pub mod measured;

use std::collections::BTreeMap;
use std::path::Path;

use collectives::all_to_all::Irregular;
use collectives::schedule::Pacing;
use collectives::{AnyAlgorithm, Collective, Division};
use quantities::{Bytes, read_at_most};

pub use collectives::all_to_all::ALL_AT_ONCE;

pub use entry::{AlgorithmSpec, Sizes};
pub use error::PlanError;

/// The version of the format that is written and read.
pub const VERSION: u32 = 1;
/// The longest file accepted. [B]
const LONGEST: Bytes = Bytes(1 << 20);

/// What there is for each collective of the list.
pub type Listed<T> = BTreeMap<Collective, Vec<T>>;

/// The collectives of the list for which a plan can have entries: those that have data.
pub fn planned() -> impl Iterator<Item = Collective> {
    Collective::ALL.iter().copied().filter(|collective| collective.shape().blocks != Division::Nothing)
}

/// Which algorithm to use for each collective.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The machine that it was made for.
    pub machine: String,
    /// The digest of that machine's description, if there is one.
    pub blake3: Option<String>,
    /// The fields of it set to other values, `field=value`.
    pub set: Vec<String>,
    /// How many ranks take part.
    pub ranks: u32,
    /// Whether nonblocking collectives are left to the library.
    pub only_blocking: bool,
    /// For each collective of the list that has any, by the size of a block.
    pub listed: Listed<Entry<Planned>>,
    /// For exchanges by a matrix.
    pub all_to_allv: Option<Entry<MatrixExchange>>,
}

/// What a plan is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeFor {
    /// The machine's name.
    pub machine: String,
    /// The digest of its description, if there is one.
    pub blake3: Option<String>,
    /// The fields of it set to other values, `field=value`.
    pub set: Vec<String>,
    /// How many ranks take part.
    pub ranks: u32,
}

/// What is written for each collective.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanEntries {
    /// Whether nonblocking collectives are left to the library.
    pub only_blocking: bool,
    /// For each collective of the list that has any, by the size of a block.
    pub listed: Listed<AlgorithmSpec>,
    /// For exchanges by a matrix.
    pub all_to_allv: Option<AlgorithmSpec>,
}

/// An algorithm, and the sizes for which it is used.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<A> {
    /// The sizes.
    pub sizes: Sizes,
    /// The algorithm, with its parameters.
    pub algorithm: A,
    /// The algorithm as it is written.
    pub spec: AlgorithmSpec,
}

/// How ranks do a collective of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    /// With an algorithm of the list.
    By(AnyAlgorithm),
    /// Where every rank has a block for every other: with a schedule and a pacing.
    Scheduled(Irregular, Pacing),
}

/// How ranks exchange data according to a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixExchange {
    /// Everything is begun at once, except empty messages: each rank reads its own row and column.
    Posted,
    /// Every rank learns the whole matrix, and all make the same schedule from it.
    Scheduled(Irregular, Pacing),
}

impl Plan {
    /// The plan with these contents.
    ///
    /// # Errors
    /// Those that a reader of it would report.
    pub fn of(made_for: MadeFor, written: PlanEntries) -> Result<Plan, PlanError> {
        file::read(&file::text_of(made_for, written), "the plan")
    }

    /// Reads the plan in a file.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn read(path: &Path) -> Result<Plan, PlanError> {
        let shown = quantities::shown_path(path).to_string();
        let unreadable = |problem: String| PlanError::Unreadable { file: shown.clone(), problem };
        let bytes = read_at_most(path, LONGEST).map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not text in UTF-8".to_owned()))?;
        file::read(&text, &shown)
    }

    /// Parses a plan that is in `file`.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn parse(text: &str, file: &str) -> Result<Plan, PlanError> {
        file::read(text, file)
    }

    /// The plan as text that can be read again.
    pub fn to_toml(&self) -> String {
        file::write(self)
    }
}

/// The index of the entry for `size`.
pub fn place_for<A>(entries: &[Entry<A>], size: Bytes) -> Option<usize> {
    entries.iter().position(|entry| entry.sizes.contain(size))
}

impl<A> Entry<A> {
    /// Its name, with its parameters.
    pub fn name(&self) -> String {
        self.spec.describe()
    }
}
