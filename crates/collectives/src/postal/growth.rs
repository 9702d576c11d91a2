//! How many nodes a broadcast can reach by a given time.

use super::{Lambda, Steps};

/// N(t): how many nodes, including the source, a broadcast can reach by time `t`, up to the largest 64-bit number.
///
/// ```text
///   N(t) = N(t - 1) + N(t - lambda)   if t >= lambda,   otherwise 1
///
///   the source sends at 0:
///     it has t - 1 steps left         the node that has the message at lambda has t - lambda left
/// ```
///
/// Source: the postal paper, equation (1).
pub fn nodes_within(lambda: Lambda, t: Steps) -> u64 {
    Growth::until(lambda, |level| level.scaled_time > t.scaled(lambda)).nodes_at(t.scaled(lambda))
}

/// T(n): the least time in which a broadcast can reach `n` nodes, min { t : N(t) >= n }; a lower bound for every
/// broadcast.
///
/// Source: the postal paper, section 2.1.
pub fn broadcast_time(lambda: Lambda, n: u64) -> Steps {
    Growth::to_nodes(lambda, n).time_for(n)
}

/// A time at which N grows, and its new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// t f: the time in units of 1 / f.
    pub scaled_time: u64,
    /// N(t).
    pub nodes: u64,
    /// N(t - 1): how many of them the source can reach after its first send.
    pub kept: u64,
    /// N(t - lambda): how many of them the first receiver can reach.
    pub handed_over: u64,
}

/// The times at which N grows, in order, with its new values: t = a + b lambda for integers a and b, b > 0. They are
/// few: about T(n)^2 / (2 lambda) up to n nodes, whatever the denominator of lambda.
///
/// ```text
///   lambda = 2      time    2  3  4  5   6   7
///                   nodes   2  3  5  8  13  21
/// ```
///
/// With t' = t f the recursion is N'(t') = N'(t' - f) + N'(t' - u), in integers, as in the paper's equation
/// (2). This module evaluates it only at the times at which N grows instead of at each t'.
///
/// Source: the postal paper, section 2.5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    lambda: Lambda,
    levels: Vec<Level>,
}

impl Growth {
    /// The growth until `n` nodes can be reached.
    pub fn to_nodes(lambda: Lambda, n: u64) -> Growth {
        if n <= 1 {
            return Growth { lambda, levels: Vec::new() };
        }
        Growth::until(lambda, |level| level.nodes >= n)
    }

    /// The growth up to the first level for which `enough` holds, or until the number of nodes overflows.
    fn until(lambda: Lambda, enough: impl Fn(&Level) -> bool) -> Growth {
        let mut growing = Growing::new(lambda);
        while let Some(level) = growing.next_level() {
            growing.levels.push(level);
            if enough(&level) {
                break;
            }
        }
        Growth { lambda, levels: growing.levels }
    }

    /// The latency.
    pub const fn lambda(&self) -> Lambda {
        self.lambda
    }

    /// The levels, in order of time.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The first level that has at least `n` nodes; the last level if none has.
    pub(super) fn level_for(&self, n: u64) -> Option<&Level> {
        let at = self.levels.partition_point(|level| level.nodes < n);
        self.levels.get(at).or(self.levels.last())
    }

    /// N at the time `scaled_time` / f, if the levels reach that far.
    fn nodes_at(&self, scaled_time: u64) -> u64 {
        let later = self.levels.partition_point(|level| level.scaled_time <= scaled_time);
        later.checked_sub(1).map_or(1, |last| self.levels[last].nodes)
    }

    /// T(n), for an n within the levels.
    pub fn time_for(&self, n: u64) -> Steps {
        let level = if n <= 1 { None } else { self.level_for(n) };
        level.map_or(Steps::ZERO, |level| Steps::new(level.scaled_time, self.lambda.scale()))
    }
}

/// A [`Growth`] under construction.
struct Growing {
    u: u64,
    f: u64,
    levels: Vec<Level>,
    /// How many levels lie more than 1 before the next one.
    past_one: usize,
    /// How many times, including the beginning, lie more than lambda before the next one.
    past_lambda: usize,
}

impl Growing {
    fn new(lambda: Lambda) -> Growing {
        Growing { u: lambda.scaled(), f: lambda.scale(), levels: Vec::new(), past_one: 0, past_lambda: 0 }
    }

    /// The next time is the earliest that is 1 after a level or lambda after a level or after the beginning.
    fn next_level(&mut self) -> Option<Level> {
        if self.levels.last().is_some_and(|last| last.nodes == u64::MAX) {
            return None;
        }
        let time_of = |level: &Level| level.scaled_time;
        let one_after = self.levels.get(self.past_one).map_or(u64::MAX, |level| level.scaled_time + self.f);
        let began = self.past_lambda.checked_sub(1).map_or(0, |level| time_of(&self.levels[level]));
        let scaled_time = one_after.min(began + self.u);
        self.past_one += usize::from(one_after == scaled_time);
        self.past_lambda += usize::from(began + self.u == scaled_time);
        let reached = |levels: usize| levels.checked_sub(1).map_or(1, |last| self.levels[last].nodes);
        let (kept, handed_over) = (reached(self.past_one), reached(self.past_lambda - 1));
        Some(Level { scaled_time, nodes: kept.saturating_add(handed_over), kept, handed_over })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lambda(text: &str) -> Lambda {
        text.parse().unwrap()
    }

    #[test]
    fn with_latency_2_it_grows_as_fibonacci_numbers_do() {
        let grown: Vec<u64> = (0..=8).map(|t| nodes_within(lambda("2"), Steps::new(t, 1))).collect();
        assert_eq!(grown, [1, 1, 2, 3, 5, 8, 13, 21, 34]);
    }

    #[test]
    fn with_latency_1_it_doubles() {
        for t in 0..64 {
            assert_eq!(nodes_within(Lambda::ONE, Steps::new(t, 1)), 1 << t);
        }
    }

    #[test]
    fn eight_nodes_with_latency_2_take_five_steps() {
        assert_eq!(broadcast_time(lambda("2"), 8), Steps::new(5, 1));
        assert_eq!(broadcast_time(lambda("2"), 9), Steps::new(6, 1));
    }

    #[test]
    fn the_largest_inputs_come_to_an_end() {
        let far = Steps::new(u64::MAX, 1);
        for text in ["1", "1.000001", "2", "1000.5", "100000"] {
            assert_eq!(nodes_within(lambda(text), far), u64::MAX, "{text}");
            assert!(broadcast_time(lambda(text), u64::MAX) > broadcast_time(lambda(text), u64::MAX / 4), "{text}");
        }
        assert_eq!(broadcast_time(lambda("3"), 0), Steps::ZERO);
        assert_eq!(broadcast_time(lambda("3"), 1), Steps::ZERO);
    }

    /// Equation (2) as it stands.
    fn by_the_recursion(lambda: Lambda, last: usize) -> Vec<u64> {
        let (u, f) = (lambda.scaled() as usize, lambda.scale() as usize);
        let mut nodes: Vec<u64> = Vec::new();
        for t in 0..=last {
            nodes.push(if t >= u { nodes[t - f] + nodes[t - u] } else { 1 });
        }
        nodes
    }

    /// Nodes that have the message after b hops and a waits in all: C(a + b - 1, a).
    fn by_paths(lambda: Lambda, scaled_time: u64) -> u64 {
        let choose = |n: u64, k: u64| (1..=k).fold(1u64, |product, i| product * (n - k + i) / i);
        let mut nodes = 1;
        for b in 1..=scaled_time / lambda.scaled() {
            let waits = (scaled_time - b * lambda.scaled()) / lambda.scale();
            nodes += (0..=waits).map(|a| choose(a + b - 1, a)).sum::<u64>();
        }
        nodes
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_levels_are_where_the_recursion_grows(f in 1u64..40, over in 0u64..120, last in 0usize..600) {
            let lambda = Lambda::new(f + over, f).unwrap();
            let last = last.min(20 * lambda.scale() as usize);
            let nodes = by_the_recursion(lambda, last);
            for (t, &count) in nodes.iter().enumerate() {
                prop_assert_eq!(nodes_within(lambda, Steps::new(t as u64, lambda.scale())), count);
                prop_assert_eq!(by_paths(lambda, t as u64), count);
            }
            let growth = Growth::to_nodes(lambda, *nodes.last().unwrap());
            let grows = (1..=last).filter(|&t| nodes[t] > nodes[t - 1]);
            prop_assert!(growth.levels().iter().map(|level| level.scaled_time as usize).eq(grows));
        }

        #[test]
        fn the_time_is_the_least_in_which_all_are_reached(f in 1u64..30, over in 0u64..90, n in 2u64..5000) {
            let lambda = Lambda::new(f + over, f).unwrap();
            let time = broadcast_time(lambda, n);
            prop_assert!(nodes_within(lambda, time) >= n);
            let sooner = Steps::new(time.scaled(lambda) - 1, lambda.scale());
            prop_assert!(nodes_within(lambda, sooner) < n);
        }
    }
}
