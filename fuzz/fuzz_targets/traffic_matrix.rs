//! Reads any bytes as a traffic matrix in each of the formats. What is read is written as CSV, if it is not large, and
//! must be the same when it is read again.

#![no_main]

use formats::traffic_matrix::{csv, matrix_market, npy};
use libfuzzer_sys::fuzz_target;
use quantities::Bytes;

fuzz_target!(|content: &[u8]| {
    let read = [
        csv::parse("fuzz.csv", content),
        matrix_market::parse("fuzz.mtx", content, Bytes(1)),
        npy::parse("fuzz.npy", content, Bytes(1)),
    ];
    for matrix in read.into_iter().flatten().filter(|matrix| matrix.pattern.ranks() <= 100) {
        let mut written = Vec::new();
        csv::write(&matrix.pattern, &mut written).expect("memory can be written");
        let again = csv::parse("fuzz.csv", &written).expect("what was written can be read");
        assert_eq!(again.pattern, matrix.pattern);
    }
});
