//! Tells what any bytes are: the same for all of them and for their beginning, and never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quantities::FileFormat;

fuzz_target!(|content: &[u8]| {
    let name = |content: &[u8]| FileFormat::of(content).map(|format| format.name);
    let beginning = content.get(..8 << 10).unwrap_or(content);
    assert_eq!(name(content), name(beginning));
    if let Some(format) = FileFormat::of(content) {
        assert!(format.instead_of("another").starts_with("found "));
    }
});
