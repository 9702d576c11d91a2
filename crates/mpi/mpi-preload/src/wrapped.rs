//! How an MPI function is replaced.

use std::ffi::c_int;

/// A number of elements, as functions take it: 32 bits, or 64 in those whose name ends in `_c`.
pub trait Count: Copy {
    /// Its value, where a negative count is zero.
    fn count(self) -> u64;
    /// Its value as it is: displacements may be negative.
    fn signed(self) -> i64;
}

impl Count for c_int {
    fn signed(self) -> i64 {
        i64::from(self)
    }

    fn count(self) -> u64 {
        self.max(0) as u64
    }
}

impl Count for i64 {
    fn signed(self) -> i64 {
        self
    }

    fn count(self) -> u64 {
        self.max(0) as u64
    }
}

/// The type of an argument, in functions with small counts and in those with large ones.
#[doc(hidden)]
#[macro_export]
macro_rules! argument {
    (small Count) => { std::ffi::c_int };
    (large Count) => { i64 };
    (small Counts) => { *const std::ffi::c_int };
    (large Counts) => { *const i64 };
    ($size:ident Int) => { std::ffi::c_int };
    ($size:ident Handle) => { $crate::Handle };
    // The address of data, handles, statuses or numbers that the library reads or writes.
    ($size:ident Address) => { $crate::Address };
}

/// Defines an MPI function in place of the library's: whether its counts are `small` or `large`, its name, its
/// arguments, and its body. `next` is the function of the library that it replaces, which it can call.
///
/// ```text
///   function! { small MPI_Wait(request: Address, status: Address) next => ... }
/// ```
#[macro_export]
macro_rules! function {
    ($size:ident $name:ident($($argument:ident: $type:ident),* $(,)?) $next:ident => $body:expr) => {
        #[doc = concat!("`", stringify!($name), "`")]
        ///
        /// # Safety
        /// As required by the MPI standard.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, clippy::too_many_arguments)]
        pub unsafe extern "C" fn $name($($argument: $crate::argument!($size $type)),*) -> std::ffi::c_int {
            static NEXT: $crate::Function = $crate::Function::named(
                // SAFETY: its only zero is at its end.
                unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(concat!("P", stringify!($name), "\0").as_bytes()) }
            );
            type Next = unsafe extern "C" fn($($crate::argument!($size $type)),*) -> std::ffi::c_int;
            // SAFETY: the function of the profiling interface has the type of the one for which it stands.
            let $next: Next = unsafe { std::mem::transmute(NEXT.address()) };
            $body
        }
    };
}
