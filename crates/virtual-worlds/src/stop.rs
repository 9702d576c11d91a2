//! How a run is asked to end.

use std::sync::atomic::{AtomicBool, Ordering};

use endpoint::{Error, Result};

/// A flag that ends a run once it is set: the run then gives [`Error::Stopped`], and nothing else follows from it. By default
/// there is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop(Option<&'static AtomicBool>);

impl Stop {
    /// Never ends a run.
    pub const NEVER: Stop = Stop(None);

    /// Ends a run once `flag` is set.
    pub const fn at(flag: &'static AtomicBool) -> Stop {
        Stop(Some(flag))
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// [`Error::Stopped`] when the flag is set.
    pub(crate) fn go_on(self) -> Result<()> {
        match self.0 {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(Error::Stopped),
            _ => Ok(()),
        }
    }
}
