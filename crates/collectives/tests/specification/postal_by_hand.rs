//! The postal model by brute force: the least times, and the alphas that reach them, from the definitions in the paper
//! and nothing else.

use maquette_collectives::postal::{Lambda, Steps, alpha_for_all, alpha_ranges, broadcast_time, nodes_within};

/// The nodes of figures 6 and 7.
const MOST: u64 = 250;

/// 2, as 2 steps of one unit each.
const TWO: Latency = Latency { latency: 2, step: 1 };
/// 1.95, as 39 units where a step has 20.
const NEARLY_TWO: Latency = Latency { latency: 39, step: 20 };

/// lambda t0 and t0 in whole units of time.
#[derive(Clone, Copy)]
struct Latency {
    latency: u64,
    step: u64,
}

impl Latency {
    fn lambda(self) -> Lambda {
        Lambda::new(self.latency, self.step).unwrap()
    }

    /// Section 2.4: the source sends to a leader and goes on with `kept` of n nodes a step later; the leader begins
    /// with the others lambda later. How long that takes, if `times` says how long each part does.
    fn split(self, times: &[u64], n: u64, kept: u64) -> u64 {
        (self.step + times[kept as usize]).max(self.latency + times[(n - kept) as usize])
    }

    /// The least time for each number of nodes up to [`MOST`]: every split is tried.
    fn least_times(self) -> Vec<u64> {
        let mut times = vec![0, 0];
        for n in 2..=MOST {
            times.push((1..n).map(|kept| self.split(&times, n, kept)).min().unwrap());
        }
        times
    }

    /// The splits of n nodes that take the least time, by how many nodes the source keeps.
    fn best_splits(self, times: &[u64], n: u64) -> Vec<u64> {
        (1..n).filter(|&kept| self.split(times, n, kept) == times[n as usize]).collect()
    }

    /// Whether the algorithm of section 2.4 takes the least time with this alpha for every number of nodes up to
    /// [`MOST`].
    fn is_optimal(self, alpha: Fraction, least: &[u64]) -> bool {
        let mut times = vec![0, 0];
        (2..=MOST).all(|n| {
            let time = self.split(&times, n, alpha.rounded_times(n).min(n - 1));
            times.push(time);
            time == least[n as usize]
        })
    }

    /// Every alpha from a half to 1 at which round(alpha n) changes for some n up to [`MOST`], in order, with whether
    /// it is optimal. Between two of them nothing changes: an alpha there splits as the one before does.
    fn tried(self) -> Vec<(Fraction, bool)> {
        let changes = |n| (0..n).map(move |whole| Fraction { over: 2 * whole + 1, under: 2 * n });
        let mut alphas: Vec<Fraction> = (2..=MOST).flat_map(changes).filter(|it| 2 * it.over >= it.under).collect();
        alphas.push(Fraction { over: 1, under: 2 });
        alphas.sort_by(|one, other| (one.over * other.under).cmp(&(other.over * one.under)));
        alphas.dedup_by(|one, other| one.over * other.under == other.over * one.under);
        let least = self.least_times();
        alphas.into_iter().map(|alpha| (alpha, self.is_optimal(alpha, &least))).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Fraction {
    over: u64,
    under: u64,
}

impl Fraction {
    /// round(alpha n), halves up.
    fn rounded_times(self, n: u64) -> u64 {
        (2 * self.over * n + self.under) / (2 * self.under)
    }
}

/// Equation (1) with lambda = 2: each number is the sum of the two before it.
#[test]
fn with_latency_2_the_nodes_are_the_fibonacci_numbers() {
    let by_hand = [1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377];
    for (t, nodes) in (0..).zip(by_hand) {
        assert_eq!(nodes_within(TWO.lambda(), Steps::new(t, 1)), nodes, "{t}");
    }
    let times = TWO.least_times();
    // So many nodes take t, and one more takes a step longer.
    for (t, nodes) in (2..).zip(&by_hand[2..13]) {
        assert_eq!([times[*nodes as usize], times[*nodes as usize + 1]], [t, t + 1], "{nodes}");
    }
}

#[test]
fn the_least_times_and_the_best_splits_are_those_of_trying_every_split() {
    for model in [TWO, NEARLY_TWO] {
        let times = model.least_times();
        let ranges = alpha_ranges(model.lambda(), 2..=MOST);
        for (n, range) in (2..=MOST).zip(&ranges) {
            assert_eq!(broadcast_time(model.lambda(), n), Steps::new(times[n as usize], model.step), "{n}");
            assert_eq!(range.partitions.kept().collect::<Vec<_>>(), model.best_splits(&times, n), "{n}");
        }
    }
}

/// Figure 6. The tightest bound is that of 233 nodes, the largest Fibonacci number below 250, which split only into 144
/// and 89: alpha must be from 143.5 / 233 to below 144.5 / 233, from 0.61588 to 0.62017.
#[test]
fn the_alphas_that_serve_latency_2_up_to_250_nodes_are_those_that_split_233_into_144_and_89() {
    let tried = TWO.tried();
    let first = tried.iter().position(|it| it.1).unwrap();
    let after = first + tried[first..].iter().position(|it| !it.1).unwrap();
    assert_eq!(tried[first].0, Fraction { over: 2 * 143 + 1, under: 2 * 233 });
    assert_eq!(tried[after].0, Fraction { over: 2 * 144 + 1, under: 2 * 233 });
    assert!(tried[after..].iter().all(|it| !it.1));
    assert_eq!(TWO.best_splits(&TWO.least_times(), 233), [144]);

    // The project's alphas are multiples of 2^-53: the first one not below 287 / 466, and the last one below 289 / 466.
    let (least, most) = alpha_for_all(TWO.lambda(), MOST).unwrap();
    let [least, most] = [least, most].map(|alpha| (alpha.as_f64() * 2_f64.powi(53)) as u128);
    let bound = |over: u128| over << 53;
    assert!(least * 466 >= bound(287) && (least - 1) * 466 < bound(287));
    assert!(most * 466 < bound(289) && (most + 1) * 466 >= bound(289));
}

/// Figure 7. With lambda = 1.95 already 16 and 21 nodes contradict each other.
///
/// ```text
///   T(16) = 6.85    only 9 + 7     alpha < 9.5 / 16 = 0.594
///   T(21) = 6.95    only 13 + 8    alpha >= 12.5 / 21 = 0.595
/// ```
#[test]
fn no_alpha_serves_latency_1_95() {
    let times = NEARLY_TWO.least_times();
    assert_eq!([times[16], times[21]], [137, 139]);
    assert_eq!(NEARLY_TWO.best_splits(&times, 16), [9]);
    assert_eq!(NEARLY_TWO.best_splits(&times, 21), [13]);
    assert!(NEARLY_TWO.tried().iter().all(|it| !it.1));

    let serves = |most| alpha_for_all(NEARLY_TWO.lambda(), most).is_some();
    assert_eq!([serves(20), serves(21), serves(MOST)], [true, false, false]);
}
