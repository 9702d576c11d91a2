//! Which algorithm each collective goes by, as a file: what `maquette plan` writes and `maquette collectives` follows.
//!
//! ```toml
//! maquette_plan = 1             # the version of this form
//! machine = "delta"             # what it was made for
//! blake3 = "5f0c..."            # the digest of that machine's description
//! set = ["buffers=4"]           # fields of it that had other values, if there were any
//! ranks = 8
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
//! algorithm = "posted"
//!
//! [end]                         # the last line, so that a plan which was cut short is not taken for a shorter one
//! ```
//!
//! Sizes are what a rank has: of a broadcast and an all-reduce the whole message, of an all-to-all what goes from one rank to one other. An
//! exchange by a matrix, `all_to_allv`, has no size, since no rank knows that of the others. What is in no entry of a plan, it leaves to the library.

mod entry;
mod error;
mod file;

use std::path::Path;

use programs::all_reduce;
use programs::all_to_all::{Complete, Irregular};
use programs::broadcast;
use programs::schedule::Pacing;
use quantities::{Bytes, read_at_most};

pub use entry::{Sizes, Told};
pub use error::PlanError;

/// The version of the form that is written and read.
pub const VERSION: u32 = 1;
/// The longest file that is read. [B]
const LONGEST: Bytes = Bytes(1 << 20);

/// Which algorithm each collective goes by.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The machine that it was made for.
    pub machine: String,
    /// The digest of that machine's description, where there is one.
    pub blake3: Option<String>,
    /// What was set to other values in it, `field=value`.
    pub set: Vec<String>,
    /// How many ranks take part.
    pub ranks: u32,
    /// Of broadcasts, by the size of the message.
    pub broadcast: Vec<Entry<broadcast::Algorithm>>,
    /// Of all-reduces, by what a rank has.
    pub all_reduce: Vec<Entry<all_reduce::Algorithm>>,
    /// Of complete exchanges, by what goes from one rank to one other.
    pub all_to_all: Vec<Entry<Exchange>>,
    /// Of exchanges by a matrix.
    pub all_to_allv: Option<Entry<MatrixExchange>>,
}

/// What a plan is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeFor {
    /// The machine's name.
    pub machine: String,
    /// The digest of its description, where there is one.
    pub blake3: Option<String>,
    /// What was set to other values in it, `field=value`.
    pub set: Vec<String>,
    /// How many ranks take part.
    pub ranks: u32,
}

/// What is written of each collective.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// Of broadcasts, by the size of the message.
    pub broadcast: Vec<Told>,
    /// Of all-reduces, by what a rank has.
    pub all_reduce: Vec<Told>,
    /// Of complete exchanges, by what goes from one rank to one other.
    pub all_to_all: Vec<Told>,
    /// Of exchanges by a matrix.
    pub all_to_allv: Option<Told>,
}

/// An algorithm, and for which sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<A> {
    /// For which.
    pub sizes: Sizes,
    /// By which, with what it was told.
    pub algorithm: A,
    /// What is written of that.
    pub told: Told,
}

/// How ranks that all have something for each other exchange it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Everything is begun at once: [`programs::all_to_all::posted`].
    Posted,
    /// By an algorithm for such exchanges.
    Complete(Complete),
    /// By a schedule that keeps a pace.
    Scheduled(Irregular, Pacing),
}

/// How ranks exchange what a matrix says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixExchange {
    /// Everything is begun at once, and nothing that is empty: each rank looks at its own row and column.
    Posted,
    /// Every rank learns the whole matrix, and all make the same schedule of it.
    Scheduled(Irregular, Pacing),
}

/// The name of what has no schedule.
pub const POSTED: &str = "posted";

impl Plan {
    /// The plan that says this.
    ///
    /// # Errors
    /// What a reader of it would complain of.
    pub fn of(made_for: MadeFor, written: Written) -> Result<Plan, PlanError> {
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
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is no text in UTF-8".to_owned()))?;
        file::read(&text, &shown)
    }

    /// Reads a plan that is in `file`.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn parse(text: &str, file: &str) -> Result<Plan, PlanError> {
        file::read(text, file)
    }

    /// It, as a text that can be read again.
    pub fn to_toml(&self) -> String {
        file::write(self)
    }
}

/// The place of the entry that is for `size`.
pub fn place_for<A>(entries: &[Entry<A>], size: Bytes) -> Option<usize> {
    entries.iter().position(|entry| entry.sizes.contain(size))
}

impl<A> Entry<A> {
    /// What it is called, with what it was told.
    pub fn name(&self) -> String {
        self.told.in_words()
    }
}
