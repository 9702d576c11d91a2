//! Reads any bytes as a schedule. What is read is written, read again and, if it is small, run where every send waits
//! for its receiver: none of it may fail, and no schedule may end in a deadlock.

#![no_main]

use collectives::schedule::{OverlappedSchedule, Pacing, Schedule, Scheduled, SendReceiveOrder};
use endpoint::World;
use libfuzzer_sys::fuzz_target;
use machines::model::LogGp;
use quantities::{Bytes, Duration};
use replay::goal;
use virtual_worlds::loggp::Clock;

const MODEL: LogGp = LogGp {
    latency: Duration::from_nanoseconds(2_500),
    overhead: Duration::from_nanoseconds(1_500),
    gap: Duration::from_nanoseconds(1_000),
    gap_per_byte: Duration::from_nanoseconds(6),
    overhead_per_byte: Duration::ZERO,
    rendezvous: Some(Bytes(0)),
};

fuzz_target!(|text: &[u8]| {
    let Ok(schedule) = Schedule::read("fuzz.json", text) else { return };
    let written = schedule.to_json();
    assert_eq!(Schedule::from_json("fuzz.json", written.as_bytes()).as_ref(), Ok(&schedule));
    schedule.table(80);
    schedule.measures();
    let pattern = schedule.pattern().expect("its ranks were checked");
    // A message of no bytes may be sent twice.
    let _ = schedule.check(&pattern);
    if schedule.ranks > 64 {
        return;
    }
    for pacing in Pacing::all() {
        let goal = schedule.to_goal(pacing, SendReceiveOrder::Alternating);
        goal::Schedule::parse("fuzz.goal", goal.as_bytes()).expect("what was written can be read");
        let clock = Clock::new(MODEL);
        let run = match pacing {
            Pacing::Overlapped => clock.run(schedule.ranks, &OverlappedSchedule::new(&schedule)).map(drop),
            _ => clock.run(schedule.ranks, &Scheduled::new(&schedule, pacing)).map(drop),
        };
        assert!(!matches!(run, Err(error) if error.to_string().starts_with("deadlock")));
    }
});
