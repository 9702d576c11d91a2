//! How a run is asked to stop, and how far it has come.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use endpoint::{Error, Result};
use quantities::Time;

/// What stops a run before its end: a flag once it is set, or a simulated time once it has passed. The run then returns
/// [`Error::Stopped`] and nothing else. By default there is neither. A run may also record its progress.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    flag: Option<&'static AtomicBool>,
    progress: Option<&'static Progress>,
    /// The last simulated time of interest. [ps]
    until: Time,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop::NEVER
    }
}

impl Stop {
    /// Never stops a run.
    pub const NEVER: Stop = Stop { flag: None, progress: None, until: Time::NEVER };

    /// Stops a run once `flag` is set.
    pub const fn at(flag: &'static AtomicBool) -> Stop {
        Stop { flag: Some(flag), ..Stop::NEVER }
    }

    /// The same, which also stops a run that goes on after the simulated time `until`.
    pub const fn or_after(self, until: Time) -> Stop {
        Stop { until, ..self }
    }

    /// The same, which also stops a run once `flag` is set.
    pub const fn or_at(self, flag: &'static AtomicBool) -> Stop {
        Stop { flag: Some(flag), ..self }
    }

    /// The same, for a run that records its progress in `progress`.
    pub const fn with_progress(self, progress: &'static Progress) -> Stop {
        Stop { progress: Some(progress), ..self }
    }

    /// Whether to go on; called by a run that has come as far as `reached` returns.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the flag is set, or the time has passed.
    #[inline]
    pub(crate) fn go_on(self, reached: impl Fn() -> ProgressSnapshot) -> Result<()> {
        if let Some(progress) = self.progress
            && progress.is_due()
        {
            progress.write(reached());
        }
        if self.until != Time::NEVER && reached().time > self.until {
            return Err(Error::Stopped);
        }
        match self.flag {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(Error::Stopped),
            _ => Ok(()),
        }
    }
}

/// A run records its progress once in this many calls: more often would cost it time.
const CALLS_BETWEEN_WRITES: u64 = 64;

/// The progress of a run. The run writes it, on one thread; other threads may read it meanwhile, and no result depends
/// on it.
#[derive(Debug, Default)]
pub struct Progress {
    /// How often the run has asked whether to go on.
    calls: AtomicU64,
    time: AtomicU64,
    messages: AtomicU64,
    packets: AtomicU64,
}

/// The progress of a run at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressSnapshot {
    /// The simulated time; where ranks run ahead of each other, that of the rank which is furthest ahead. [ps]
    pub time: Time,
    /// Messages that programs have sent.
    pub messages: u64,
    /// Packets, or frames of an Ethernet, that have arrived; 0 where messages are not cut into packets.
    pub packets: u64,
}

impl Progress {
    /// The progress of a run that has not begun.
    pub const fn new() -> Progress {
        Progress {
            calls: AtomicU64::new(0),
            time: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            packets: AtomicU64::new(0),
        }
    }

    /// How far the run has come. The fields may be an instant apart.
    pub fn read(&self) -> ProgressSnapshot {
        ProgressSnapshot {
            time: Time::from_picoseconds(self.time.load(Ordering::Relaxed)),
            messages: self.messages.load(Ordering::Relaxed),
            packets: self.packets.load(Ordering::Relaxed),
        }
    }

    /// Resets it for another run.
    pub fn reset(&self) {
        [&self.calls, &self.time, &self.messages, &self.packets]
            .into_iter()
            .for_each(|part| part.store(0, Ordering::Relaxed));
    }

    /// Whether the run should write again: it asks far more often than anybody looks.
    #[inline]
    fn is_due(&self) -> bool {
        let calls = self.calls.load(Ordering::Relaxed);
        self.calls.store(calls.wrapping_add(1), Ordering::Relaxed);
        calls.is_multiple_of(CALLS_BETWEEN_WRITES)
    }

    /// Plain loads and stores suffice, as there is one writer.
    fn write(&self, reached: ProgressSnapshot) {
        let farthest = self.time.load(Ordering::Relaxed).max(reached.time.picoseconds());
        self.time.store(farthest, Ordering::Relaxed);
        self.messages.store(reached.messages, Ordering::Relaxed);
        self.packets.store(reached.packets, Ordering::Relaxed);
    }
}
