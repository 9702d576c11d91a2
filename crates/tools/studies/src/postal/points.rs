//! A point of each figure, and the command that gives it.

use collectives::postal::{AlphaTable, Lambda, alpha_for_all, break_even, gamma};

use super::job::{DelayedOperation, Experiment, Nodes, PostalRun};
use super::measures::{latency, latency_jobs};
use super::simulate::PostalResult;
use crate::points::{By, Point, Value};

const TREE: PostalRun = PostalRun::Tree { nodes: 8, optimal: true };
const LONG: PostalRun = PostalRun::Broadcast { bytes: 16_384, alpha: 50, nodes: Nodes::Permuted(0) };
const SHORT: PostalRun = PostalRun::Broadcast { bytes: 512, alpha: 58, nodes: Nodes::Permuted(0) };
const ROW_MAJOR: PostalRun = PostalRun::Broadcast { bytes: 65_536, alpha: 50, nodes: Nodes::RowMajor };
const COMBINED: PostalRun = PostalRun::Combine { tenths: 20, nodes: 40, delayed: DelayedOperation::Receives };
const DELAYED: PostalRun = PostalRun::Combine { tenths: 18, nodes: 1024, delayed: DelayedOperation::Receives };

/// The nodes in the first of the random orders, from which the postal broadcasts of figures 10 and 13 start at node 0.
#[cfg(test)]
const PERMUTED: &str = "0,57,36,18,3,16,8,54,5,58,53,20,48,47,2,29,26,4,17,63,46,30,31,12,51,42,60,33,11,24,14,61,7,\
     41,32,38,45,15,22,34,55,39,50,44,37,9,49,23,25,35,28,62,40,21,52,13,43,10,19,6,59,1,27,56";

/// The time of a run. [ps]
fn picoseconds(measured: &PostalResult) -> f64 {
    measured.time.picoseconds() as f64
}

fn two() -> Lambda {
    Lambda::new(2, 1).unwrap_or(Lambda::ONE)
}

/// The points.
pub const POINTS: [Point<PostalRun, PostalResult>; 13] = [
    Point::by_commands(
        "figure 2",
        "steps that eight nodes take along the lambda tree, lambda 2",
        (&["maquette postal --lambda 2 --nodes 8 --json"], "/lower_bound_steps"),
        Value::OfRun(TREE, |measured| measured.time.microseconds()),
    ),
    Point::by_commands(
        "section 2.4",
        "the most nodes that the source keeps in an optimal split of 14, lambda 2",
        (&["maquette postal --lambda 2 --nodes 14 --json"], "/alpha/kept_most"),
        Value::Computed(|| Ok(super::section24::optimal(14).iter().map(|(kept, _)| *kept).max().unwrap_or(0) as f64)),
    ),
    Point::by_commands(
        "figures 6 to 8",
        "the least alpha that is optimal for all numbers of nodes up to 250, lambda 2",
        (&["maquette postal --lambda 2 --nodes 250 --json"], "/one_alpha_for_all/least"),
        Value::Computed(|| Ok(alpha_for_all(two(), 250).map_or(f64::NAN, |(least, _)| least.as_f64()))),
    ),
    Point::by_commands(
        "figure 9",
        "entries of the table for up to 100 nodes, lambda 1.293",
        (&["maquette postal --lambda 1.293 --nodes 100 --json"], "/table/#"),
        Value::Computed(|| Ok(AlphaTable::new(super::figure9::lambda(), 100).entries().len() as f64)),
    ),
    Point {
        place: "figure 3",
        what: "lambda at 512 B, by other partners than the study's",
        by: By::Commands {
            lines: &["maquette measure lambda --machine delta --bytes 512 --json"],
            reads: "/sizes/0/one_answer/lambda",
        },
        value: Value::OfRuns(
            || latency_jobs(Experiment::One, true, 512),
            |runs| Ok(latency(runs, Experiment::One, true, 512)?.lambda),
        ),
        apart: 0.02,
    },
    Point {
        place: "figure 5",
        what: "lambda at 512 B with sends that do not block, by other partners than the study's",
        by: By::Commands {
            lines: &["maquette measure lambda --machine delta --set send=non-blocking --bytes 512 --json"],
            reads: "/sizes/0/one_answer/lambda",
        },
        value: Value::OfRuns(
            || latency_jobs(Experiment::One, false, 512),
            |runs| Ok(latency(runs, Experiment::One, false, 512)?.lambda),
        ),
        apart: 0.02,
    },
    Point::by_commands(
        "figure 10",
        "time of a broadcast of 16 KiB with alpha 0.5, the first of eight orders of the nodes [ps]",
        (
            &[
                "maquette run broadcast --machine delta --set columns=8 --set rows=8 --algorithm lambda-tree --alpha 0.5 \
               --bytes 16KiB --placement 0,57,36,18,3,16,8,54,5,58,53,20,48,47,2,29,26,4,17,63,46,30,31,12,51,42,60,33,11,24,14,61,7,\
               41,32,38,45,15,22,34,55,39,50,44,37,9,49,23,25,35,28,62,40,21,52,13,43,10,19,6,59,1,27,56 --json",
            ],
            "/makespan_ps",
        ),
        Value::OfRun(LONG, picoseconds),
    ),
    Point::by_commands(
        "figure 13",
        "time of a broadcast of 512 B with alpha 0.58, the first of eight orders of the nodes [ps]",
        (
            &[
                "maquette run broadcast --machine delta --set columns=8 --set rows=8 --algorithm lambda-tree --alpha 0.58 \
               --bytes 512 --placement 0,57,36,18,3,16,8,54,5,58,53,20,48,47,2,29,26,4,17,63,46,30,31,12,51,42,60,33,11,24,14,61,7,\
               41,32,38,45,15,22,34,55,39,50,44,37,9,49,23,25,35,28,62,40,21,52,13,43,10,19,6,59,1,27,56 --json",
            ],
            "/makespan_ps",
        ),
        Value::OfRun(SHORT, picoseconds),
    ),
    Point::by_commands(
        "figure 14",
        "time of a broadcast of 64 KiB in row-major order [ps]",
        (
            &[
                "maquette run broadcast --machine delta --set columns=8 --set rows=8 --algorithm lambda-tree --alpha 0.5 \
               --bytes 64KiB --json",
            ],
            "/makespan_ps",
        ),
        Value::OfRun(ROW_MAJOR, picoseconds),
    ),
    Point::by_commands(
        "section 3",
        "time of a global combine of 40 nodes, lambda 2 and steps of 1 us [ps]",
        (
            &["maquette run all-reduce --lambda 2 --t0 1us --nodes 40 --algorithm delay-receive --bytes 8 --json"],
            "/makespan_ps",
        ),
        Value::OfRun(COMBINED, picoseconds),
    ),
    Point::by_commands(
        "section 3.3",
        "time of a global combine of 1024 nodes with delayed receives, lambda 1.8 and steps of 1 us [ps]",
        (
            &["maquette run all-reduce --lambda 1.8 --t0 1us --nodes 1024 --algorithm delay-receive --bytes 8 --json"],
            "/makespan_ps",
        ),
        Value::OfRun(DELAYED, picoseconds),
    ),
    Point::by_commands(
        "table 1",
        "gamma for lambda 2",
        (&["maquette postal --lambda 2 --nodes 2 --json"], "/gamma"),
        Value::Computed(|| Ok(gamma(two()))),
    ),
    Point::by_commands(
        "table 2",
        "the lambda from 2 on at which both ways break even",
        (&["maquette postal --lambda 2 --nodes 2 --json"], "/break_even"),
        Value::Computed(|| Ok(break_even(2))),
    ),
];

#[cfg(test)]
mod tests {
    use collectives::Group;
    use quantities::Rank;

    use super::*;

    #[test]
    fn the_nodes_of_the_commands_are_in_the_first_random_order() {
        let group = Group::permuted(Rank(0), 64, 0).unwrap();
        let order: Vec<String> = (0..64).map(|place| group.rank_at(place).0.to_string()).collect();
        assert_eq!(PERMUTED, order.join(","));
        let placed = POINTS.iter().filter(|point| match point.by {
            By::Commands { lines, .. } => lines[0].contains(&format!("--placement {PERMUTED} ")),
            By::More { .. } | By::Python { .. } => false,
        });
        assert_eq!(placed.count(), 2);
    }
}
