//! Where a program goes that a command line has made, when it is not to be simulated.
//!
//! The code that reads the command lines of `maquette run` ends by handing a program to a simulated machine. A thread that has set a stage
//! gets the program there instead: a launcher, to see whether the command line is good before it starts anybody; and a rank, to
//! run it.

use std::cell::RefCell;

use endpoint::{Program, Result};
use quantities::Rank;

use super::rank::Running;
use super::wire::Record;

/// What becomes of programs.
#[derive(Debug)]
pub enum Stage {
    /// It is only seen whether there is one; how many ranks it has is noted.
    Looking(Option<u32>),
    /// It runs as one rank.
    Rank(Box<Running>),
    /// It has run.
    Ended(Result<Record>),
}

thread_local! {
    static STAGE: RefCell<Option<Stage>> = const { RefCell::new(None) };
}

/// Does `work` with a stage set, and gives what has become of that.
pub fn with<T>(stage: Stage, work: impl FnOnce() -> T) -> (T, Option<Stage>) {
    STAGE.set(Some(stage));
    let done = work();
    (done, STAGE.take())
}

/// Whether this thread has a stage: then nothing is simulated.
pub fn is_set() -> bool {
    STAGE.with_borrow(Option::is_some)
}

/// Gives a program of `ranks` ranks to the stage, if there is one. `first` is the rank that begins, where one does.
pub fn enter<P: Program>(ranks: u32, first: Option<Rank>, program: &P) -> bool {
    let Some(stage) = STAGE.take() else { return false };
    STAGE.set(Some(match stage {
        Stage::Looking(_) => Stage::Looking(Some(ranks)),
        Stage::Rank(mut running) => Stage::Ended(running.run(ranks, first, program)),
        ended @ Stage::Ended(_) => ended,
    }));
    true
}
