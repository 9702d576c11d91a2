//! The transform on one processor, and the array to transform.

use rustfft::FftPlanner;
use rustfft::num_complex::Complex32;

use quantities::shuffle::share;

/// Row `row` of a seeded array of `size` times `size` numbers, each part from -1 to 1.
pub fn row(size: u32, seed: u64, row: u32) -> Vec<Complex32> {
    // The rows are far from each other in the one random sequence of the seed.
    let mut state = seed.wrapping_add(u64::from(row) << 32);
    let mut part = || 2.0 * share(&mut state) as f32 - 1.0;
    (0..size).map(|_| Complex32::new(part(), part())).collect()
}

/// The two-dimensional transform of an array of `size` times `size` numbers, row by row: first of its rows, then of its
/// columns.
pub fn transform(size: u32, array: &mut Vec<Complex32>) {
    let plan = FftPlanner::new().plan_fft_forward(size as usize);
    for _ in 0..2 {
        plan.process(array);
        *array = transposed(size as usize, array);
    }
}

fn transposed(size: usize, array: &[Complex32]) -> Vec<Complex32> {
    (0..size * size).map(|place| array[place % size * size + place / size]).collect()
}
