//! How a broadcast splits its nodes, and how long it then takes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Alpha, AlphaTable, Lambda, Steps, broadcast_time};

/// How many of its nodes the source of a broadcast keeps for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Splitting {
    /// The same share for any number of nodes.
    Fixed(Alpha),
    /// A share that depends on the number of nodes.
    Table(AlphaTable),
}

impl Splitting {
    /// Half, rounded up: the binomial tree.
    pub const BINOMIAL: Splitting = Splitting::Fixed(Alpha::HALF);

    /// Splits up to `most` nodes without losing time where the latency is `lambda`.
    pub fn optimal(lambda: Lambda, most: u64) -> Splitting {
        Splitting::Table(AlphaTable::new(lambda, most))
    }

    /// n': how many of `n` nodes, at least two, the source keeps.
    pub fn kept_of(&self, n: u64) -> u64 {
        match self {
            Splitting::Fixed(alpha) => alpha.kept_of(n),
            Splitting::Table(table) => table.alpha_for(n).kept_of(n),
        }
    }

    /// How long a broadcast to `n` nodes takes where the latency is `lambda`, or, with a look-up table, the
    /// latency of the table.
    pub fn time(&self, lambda: Lambda, n: u64) -> Steps {
        match self {
            Splitting::Fixed(_) => predicted_time(lambda, n, self),
            Splitting::Table(table) => broadcast_time(table.lambda(), n),
        }
    }
}

/// How long a broadcast to `n` nodes takes if it splits them by `splitting` and the latency is `lambda`.
///
/// ```text
///   time(1) = 0      time(n) = max { 1 + time(n'), lambda + time(n'') }
/// ```
///
/// Its cost grows with the number of different sizes: at most the square of the depth, and at most n.
///
/// Source: the postal paper, section 2.4; over alpha it is figure 12.
pub fn predicted_time(lambda: Lambda, n: u64, splitting: &Splitting) -> Steps {
    let mut pending = BTreeSet::from([n]);
    let mut splits = Vec::new();
    while let Some(size) = pending.pop_last().filter(|&size| size > 1) {
        let kept = splitting.kept_of(size);
        splits.push((size, kept));
        pending.extend([kept, size - kept]);
    }
    let mut times: BTreeMap<u64, u64> = BTreeMap::from([(0, 0), (1, 0)]);
    for (size, kept) in splits.into_iter().rev() {
        let time = (times[&kept] + lambda.scale()).max(times[&(size - kept)] + lambda.scaled());
        times.insert(size, time);
    }
    Steps::new(times[&n.max(1)], lambda.scale())
}

/// How long a broadcast to `n` nodes takes with each of `alphas` alone: the data of figure 12, where lambda = 1.8 and
/// n = 64.
pub fn times_over_alpha(lambda: Lambda, n: u64, alphas: impl IntoIterator<Item = Alpha>) -> Vec<(Alpha, Steps)> {
    alphas.into_iter().map(|alpha| (alpha, predicted_time(lambda, n, &Splitting::Fixed(alpha)))).collect()
}
