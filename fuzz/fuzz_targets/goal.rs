//! Reads any bytes as a GOAL text. What is read is written, read again and, if it is small, run: none of it may fail.

#![no_main]

use libfuzzer_sys::fuzz_target;
use maquette_fuzz::MODEL;
use replay::goal::{RunGoal, Schedule};
use virtual_worlds::loggp::Clock;

fuzz_target!(|text: &[u8]| {
    let Ok(schedule) = Schedule::parse("fuzz.goal", text) else { return };
    let written = schedule.to_string();
    let again = Schedule::parse("fuzz.goal", written.as_bytes()).expect("what was written can be read");
    assert_eq!(again.to_string(), written);
    if schedule.size() <= 1_000 {
        let _ = Clock::new(MODEL).on_arrival().run_goal(&schedule);
    }
});
