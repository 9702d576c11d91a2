//! What all functions have in common that are taken.

use std::ffi::c_int;

pub(crate) use mpi_preload::Count;

use crate::recorder::{Recorder, now, recorder};

/// When a call was entered. [ns]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered(u64);

impl Entered {
    pub(crate) fn now() -> Entered {
        Entered(now())
    }

    pub(crate) const fn nanoseconds(self) -> u64 {
        self.0
    }
}

/// Notes a call that has gone well, if calls are recorded.
pub(crate) fn note(entered: Entered, error: c_int, note: impl FnOnce(&mut Recorder)) -> c_int {
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

/// A function of MPI that is recorded: as [`mpi_preload::function!`], with the time at which it was entered.
macro_rules! function {
    ($size:ident $name:ident $arguments:tt $entered:ident, $next:ident => $body:expr) => {
        mpi_preload::function! {
            $size $name $arguments $next => {
                let $entered = $crate::wrapped::Entered::now();
                $body
            }
        }
    };
}
pub(crate) use function;

/// Functions that are called as they are, and noted when they have gone well: their name and that for large counts, if there is one, their
/// arguments, and what is noted.
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
                // SAFETY: with the arguments that the program has given.
                let error = unsafe { next($($argument),*) };
                #[allow(unused_unsafe)] // of some calls nothing is read
                let note = |$recorder: &mut $crate::recorder::Recorder| {
                    // SAFETY: what is read behind arguments is there, as the function has read or written it.
                    unsafe { $note }
                };
                $crate::wrapped::note(entered, error, note)
            }
        }
    };
}
pub(crate) use noted_one;
