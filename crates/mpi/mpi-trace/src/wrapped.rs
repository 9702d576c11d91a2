//! The common part of all replaced functions.

use std::ffi::c_int;

pub(crate) use mpi_preload::Count;

use crate::recorder::{Recorder, now, recorder};

/// When a call was entered. [ns]
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryTime(u64);

impl EntryTime {
    pub(crate) fn now() -> EntryTime {
        EntryTime(now())
    }

    pub(crate) const fn nanoseconds(self) -> u64 {
        self.0
    }
}

/// Records a call that has succeeded, if calls are recorded.
pub(crate) fn note(entered: EntryTime, error: c_int, note: impl FnOnce(&mut Recorder)) -> c_int {
    if let Some(mut guard) = recorder()
        && let Some(recorder) = guard.as_mut()
    {
        recorder.enter(entered.nanoseconds());
        if error == 0 {
            note(recorder);
        }
        recorder.leave();
    }
    error
}

/// An MPI function that is recorded: like [`mpi_preload::function!`], with the time at which it was entered.
macro_rules! function {
    ($size:ident $name:ident $arguments:tt $entered:ident, $next:ident => $body:expr) => {
        mpi_preload::function! {
            $size $name $arguments $next => {
                let $entered = $crate::wrapped::EntryTime::now();
                $body
            }
        }
    };
}
pub(crate) use function;

/// Functions that are passed on and recorded when they have succeeded: their name and that for large counts, if any,
/// their arguments, and what is recorded.
macro_rules! noted {
    ($($name:ident $(/ $large:ident)? ($($arguments:tt)*) |$recorder:ident| $note:expr;)+) => {
        $($crate::wrapped::noted_pair! { $name $(/ $large)? ($($arguments)*) |$recorder| $note })+
    };
}
pub(crate) use noted;

macro_rules! noted_pair {
    ($name:ident $arguments:tt |$recorder:ident| $note:expr) => {
        $crate::wrapped::noted_one! { small $name $arguments |$recorder| $note }
    };
    ($name:ident / $large:ident $arguments:tt |$recorder:ident| $note:expr) => {
        $crate::wrapped::noted_one! { small $name $arguments |$recorder| $note }
        $crate::wrapped::noted_one! { large $large $arguments |$recorder| $note }
    };
}
pub(crate) use noted_pair;

macro_rules! noted_one {
    ($size:ident $name:ident ($($argument:ident: $type:ident),* $(,)?) |$recorder:ident| $note:expr) => {
        $crate::wrapped::function! {
            $size $name($($argument: $type),*) entered, next => {
                // SAFETY: these are the program's arguments.
                let error = unsafe { next($($argument),*) };
                #[allow(unused_unsafe)] // for some calls nothing is read
                let note = |$recorder: &mut $crate::recorder::Recorder| {
                    // SAFETY: what is read through arguments exists, since the function has read or written it.
                    unsafe { $note }
                };
                $crate::wrapped::note(entered, error, note)
            }
        }
    };
}
pub(crate) use noted_one;
