//! Reads any bytes as a GOAL schedule in binary form. What is read is written as text, read again and, if it is small,
//! run: none of it may fail.

#![no_main]

use libfuzzer_sys::fuzz_target;
use maquette_fuzz::MODEL;
use replay::goal::{RunGoal, Schedule};
use virtual_worlds::loggp::Clock;

fuzz_target!(|bytes: &[u8]| {
    // The first number says that it is one.
    let file = [&4223_u64.to_le_bytes(), bytes].concat();
    let Ok(schedule) = Schedule::read("fuzz.bin", &file[..]) else { return };
    let written = schedule.to_string();
    let again = Schedule::parse("fuzz.goal", written.as_bytes()).expect("what was written can be read");
    assert_eq!(again.to_string(), written);
    if schedule.size() <= 1_000 {
        let _ = Clock::new(MODEL).on_arrival().run_goal(&schedule);
    }
});
