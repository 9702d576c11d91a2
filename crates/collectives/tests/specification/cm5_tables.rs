//! The schedules that the CM-5 paper prints. Tables 1, 2, 4, 7, 8 and 9 are missing from the available scan; they are
//! reproduced from its algorithms, and checked against its text.

use maquette_collectives::all_to_all::{Complete, irregular};
use maquette_collectives::schedule::{Pattern, Schedule};
use quantities::Bytes;

/// Table 6: pattern P. A row is a sender, a 1 is a message. It has 34 of them.
const TABLE_6: &str = "
    0 1 0 1 0 1 1 0
    1 0 1 0 1 1 1 1
    0 1 0 1 0 0 0 0
    1 0 1 0 1 1 1 0
    0 1 1 1 0 1 0 1
    0 1 0 0 1 0 1 0
    1 0 1 1 0 1 0 1
    1 1 0 0 1 0 1 0";

pub fn pattern_p() -> Pattern {
    Pattern::new(8, TABLE_6.split_whitespace().map(|entry| entry.parse().unwrap()).collect()).unwrap()
}

/// Asserts that `schedule` sends `pattern`, and is printed as `table`, ignoring leading spaces of lines.
fn is_printed_as(schedule: &Schedule, pattern: &Pattern, table: &str) {
    assert_eq!(schedule.check(pattern), Ok(()));
    let lines = |text: &str| {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(lines(&schedule.table(200)), lines(table), "\n{}", schedule.table(200));
}

/// Every rank has a message for every other.
fn complete() -> Pattern {
    Pattern::complete(8, Bytes(1)).unwrap()
}

#[test]
fn table_1_linear_exchange() {
    is_printed_as(
        &irregular::linear(&complete()),
        &complete(),
        "Step 1  Step 2  Step 3  Step 4  Step 5  Step 6  Step 7  Step 8
         0 <- 1  1 <- 0  2 <- 0  3 <- 0  4 <- 0  5 <- 0  6 <- 0  7 <- 0
         0 <- 2  1 <- 2  2 <- 1  3 <- 1  4 <- 1  5 <- 1  6 <- 1  7 <- 1
         0 <- 3  1 <- 3  2 <- 3  3 <- 2  4 <- 2  5 <- 2  6 <- 2  7 <- 2
         0 <- 4  1 <- 4  2 <- 4  3 <- 4  4 <- 3  5 <- 3  6 <- 3  7 <- 3
         0 <- 5  1 <- 5  2 <- 5  3 <- 5  4 <- 5  5 <- 4  6 <- 4  7 <- 4
         0 <- 6  1 <- 6  2 <- 6  3 <- 6  4 <- 6  5 <- 6  6 <- 5  7 <- 5
         0 <- 7  1 <- 7  2 <- 7  3 <- 7  4 <- 7  5 <- 7  6 <- 7  7 <- 6",
    );
}

#[test]
fn table_2_pairwise_exchange() {
    is_printed_as(
        &irregular::pairwise(&complete()),
        &complete(),
        "Step 1   Step 2   Step 3   Step 4   Step 5   Step 6   Step 7
         0 <-> 1  0 <-> 2  0 <-> 3  0 <-> 4  0 <-> 5  0 <-> 6  0 <-> 7
         2 <-> 3  1 <-> 3  1 <-> 2  1 <-> 5  1 <-> 4  1 <-> 7  1 <-> 6
         4 <-> 5  4 <-> 6  4 <-> 7  2 <-> 6  2 <-> 7  2 <-> 4  2 <-> 5
         6 <-> 7  5 <-> 7  5 <-> 6  3 <-> 7  3 <-> 6  3 <-> 5  3 <-> 4",
    );
}

/// The first step is printed with 3 <-> 6, which would leave 3 only the partner of 7.
#[test]
fn table_3_recursive_exchange() {
    let schedule = Complete::Recursive.schedule(8, Bytes(1)).unwrap();
    is_printed_as(
        &schedule,
        &schedule.pattern().unwrap(),
        "Step 1   Step 2   Step 3
         0 <-> 4  0 <-> 2  0 <-> 1
         1 <-> 5  1 <-> 3  2 <-> 3
         2 <-> 6  4 <-> 6  4 <-> 5
         3 <-> 7  5 <-> 7  6 <-> 7",
    );
}

#[test]
fn table_4_balanced_exchange() {
    is_printed_as(
        &irregular::balanced(&complete()),
        &complete(),
        "Step 1   Step 2   Step 3   Step 4   Step 5   Step 6   Step 7
         0 <-> 7  0 <-> 2  0 <-> 1  0 <-> 4  0 <-> 3  0 <-> 6  0 <-> 5
         1 <-> 2  1 <-> 7  2 <-> 7  1 <-> 5  1 <-> 6  1 <-> 3  1 <-> 4
         3 <-> 4  3 <-> 5  3 <-> 6  2 <-> 6  2 <-> 5  2 <-> 4  2 <-> 3
         5 <-> 6  4 <-> 6  4 <-> 5  3 <-> 7  4 <-> 7  5 <-> 7  6 <-> 7",
    );
}

#[test]
fn table_9_balanced_scheduling_takes_7_steps() {
    is_printed_as(
        &irregular::balanced(&pattern_p()),
        &pattern_p(),
        "Step 1   Step 2   Step 3   Step 4   Step 5   Step 6   Step 7
         1 <-> 2  1 <-> 7  0 <-> 1  1 <-> 5  0 <-> 3  0 <-> 6  0 -> 5
         3 <-> 4  3 -> 5   3 <-> 6  6 -> 2   1 -> 6   4 -> 2   1 <-> 4
         5 <-> 6           4 <-> 5           4 <-> 7           2 <-> 3
         7 -> 0                                                6 <-> 7",
    );
    assert_eq!(irregular::balanced(&pattern_p()).measures().carrying_steps, 7);
}

#[test]
fn greedy_scheduling_of_a_complete_exchange_is_pairwise_exchange() {
    assert_eq!(irregular::greedy(&complete()), irregular::pairwise(&complete()));
}

#[test]
fn table_7_linear_scheduling_takes_8_steps() {
    is_printed_as(
        &irregular::linear(&pattern_p()),
        &pattern_p(),
        "Step 1  Step 2  Step 3  Step 4  Step 5  Step 6  Step 7  Step 8
         0 <- 1  1 <- 0  2 <- 1  3 <- 0  4 <- 1  5 <- 0  6 <- 0  7 <- 1
         0 <- 3  1 <- 2  2 <- 3  3 <- 2  4 <- 3  5 <- 1  6 <- 1  7 <- 4
         0 <- 6  1 <- 4  2 <- 4  3 <- 4  4 <- 5  5 <- 3  6 <- 3  7 <- 6
         0 <- 7  1 <- 5  2 <- 6  3 <- 6  4 <- 7  5 <- 4  6 <- 5
                 1 <- 7                          5 <- 6  6 <- 7",
    );
    assert_eq!(irregular::linear(&pattern_p()).measures().carrying_steps, 8);
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
