//! Reads any bytes as a plan of collectives. What is read is written and read again: none of it may fail.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plan_format::Plan;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(plan) = Plan::parse(text, "fuzz.toml") else { return };
    let written = plan.to_toml();
    let again = Plan::parse(&written, "fuzz.toml").expect("what was written can be read");
    assert_eq!(again.to_toml(), written);
});
