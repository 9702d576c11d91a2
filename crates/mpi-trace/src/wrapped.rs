//! What all functions have in common that are taken.

use std::ffi::c_int;

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

/// A number of elements, as functions have it: of 32 bits, or of 64 in those whose name ends with `_c`.
pub(crate) trait Count: Copy {
    fn count(self) -> u64;
}

impl Count for c_int {
    fn count(self) -> u64 {
        self.max(0) as u64
    }
}

impl Count for i64 {
    fn count(self) -> u64 {
        self.max(0) as u64
    }
}

/// The type of an argument, in functions with small counts and in those with large ones.
macro_rules! argument {
    (small Count) => { std::ffi::c_int };
    (large Count) => { i64 };
    (small Counts) => { *const std::ffi::c_int };
    (large Counts) => { *const i64 };
    ($size:ident Int) => { std::ffi::c_int };
    ($size:ident Handle) => { crate::abi::Handle };
    // Of data, handles, statuses or numbers that the library reads or writes.
    ($size:ident Address) => { crate::recorder::Address };
}
pub(crate) use argument;

/// A function of MPI by its name, and what it calls in its place.
macro_rules! function {
    ($size:ident $name:ident($($argument:ident: $type:ident),*) $entered:ident, $next:ident => $body:expr) => {
        #[doc = concat!("`", stringify!($name), "`")]
        ///
        /// # Safety
        /// As the MPI standard says.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $name($($argument: $crate::wrapped::argument!($size $type)),*) -> std::ffi::c_int {
            static NEXT: $crate::library::Function = $crate::library::Function::named(
                // SAFETY: it ends with the one zero that it has.
                unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(concat!("P", stringify!($name), "\0").as_bytes()) }
            );
            type Next = unsafe extern "C" fn($($crate::wrapped::argument!($size $type)),*) -> std::ffi::c_int;
            // SAFETY: the function of the profiling interface has the type of the one that it stands for.
            let $next: Next = unsafe { std::mem::transmute(NEXT.address()) };
            let $entered = $crate::wrapped::Entered::now();
            $body
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
