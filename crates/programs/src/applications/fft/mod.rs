//! The Fourier transform of a square array whose rows are distributed.

mod blocks;
mod program;
mod serial;

pub use program::{Array, Fft2d, Transformed};
pub use rustfft::num_complex::Complex32;
pub use serial::{row, transform};

/// Floating-point operations of a transform of `length` numbers, by the count customary since Cooley and Tukey: 5 N
/// log2 N, with the logarithm rounded up.
pub fn operations(length: u32) -> u64 {
    let logarithm = u64::from(u32::BITS - length.saturating_sub(1).leading_zeros());
    5 * u64::from(length) * logarithm
}
