//! The schedules that the CM-5 paper prints. Tables 1, 2, 4, 7, 8 and 9 are lost in the scan that is at hand; they are
//! here as its algorithms give them, with what the text says of them.

use maquette_programs::exchange::irregular;
use maquette_programs::schedule::{Pattern, Schedule};

/// Table 6: pattern P. A 1 is a message.
const TABLE_6: &str = "
    0 1 0 1 0 1 1 0
    1 0 1 0 1 1 1 1
    0 1 0 1 0 0 0 0
    1 0 1 0 1 1 1 0
    0 1 1 1 0 1 0 1
    0 1 0 0 1 0 1 0
    1 0 1 1 0 1 0 1
    1 1 0 0 1 0 1 0";

fn pattern_p() -> Pattern {
    Pattern::new(8, TABLE_6.split_whitespace().map(|entry| entry.parse().unwrap()).collect()).unwrap()
}

/// That `schedule` sends pattern P, and is printed as `table`; its lines are told apart by what stands in them, not by the
/// spaces before it.
fn is_printed_as(schedule: &Schedule, pattern: &Pattern, table: &str) {
    assert_eq!(schedule.check(pattern), Ok(()));
    let lines = |text: &str| {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(lines(&schedule.table(200)), lines(table), "\n{}", schedule.table(200));
}

#[test]
fn table_8_pairwise_scheduling_takes_6_steps_that_carry_messages() {
    let schedule = irregular::pairwise(&pattern_p());
    is_printed_as(
        &schedule,
        &pattern_p(),
        "Step 1   Step 2  Step 3   Step 4   Step 5   Step 6   Step 7
         0 <-> 1          0 <-> 3  1 <-> 5  0 -> 5   0 <-> 6  1 -> 6
         2 <-> 3          1 <-> 2  6 -> 2   1 <-> 4  1 <-> 7  3 <-> 4
         4 <-> 5          4 <-> 7           3 <-> 6  3 -> 5   7 -> 0
         6 <-> 7          5 <-> 6                    4 -> 2",
    );
    assert_eq!(schedule.measures().carrying_steps, 6);
}

/// Step 5 is printed with 2 <-> 4; P has no message from 2 to 4, so it is 4 -> 2.
#[test]
fn table_10_greedy_scheduling_takes_6_steps() {
    is_printed_as(
        &irregular::greedy(&pattern_p()),
        &pattern_p(),
        "Step 1   Step 2   Step 3   Step 4   Step 5  Step 6
         0 <-> 1  0 <-> 3  0 -> 5   0 <-> 6  1 -> 6  1 <-> 7
         2 <-> 3  1 <-> 2  1 <-> 4  1 <-> 5  3 -> 5  6 -> 2
         4 <-> 5  4 <-> 7  3 <-> 6  3 <-> 4  4 -> 2
         6 <-> 7  5 <-> 6                    7 -> 0",
    );
}
