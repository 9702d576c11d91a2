//! The Christmas tree that the optimal alphas form when plotted over the number of nodes.

use super::{Growth, Lambda, beta, gamma};

/// A point of the tree: a share of the nodes, and a number of nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// alpha, apart from rounding.
    pub alpha: f64,
    /// n.
    pub nodes: u64,
}

/// One of its triangles: the numbers of nodes that take the same time t = T(n), and the alphas that are optimal for
/// them, apart from rounding.
///
/// ```text
///                     top       n = N(t)           n' = N(t - 1)
///                     /  \
///                    /    \
///        left bottom ------ right bottom           n = the largest N before t, and 1
///        n'' = N(t - lambda)       n' = N(t - 1)
/// ```
///
/// Source: the postal paper, section 2.5 and figures 6 to 8.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// The most nodes that take this time.
    pub top: Point,
    /// The fewest, where the receiver of the first message has as many as it can reach.
    pub left_bottom: Point,
    /// The fewest, where the source has as many as it can reach.
    pub right_bottom: Point,
}

/// The triangles from 2 nodes up to the one that holds `most` nodes: the data of figure 8.
pub fn triangles(lambda: Lambda, most: u64) -> Vec<Triangle> {
    let growth = Growth::to_nodes(lambda, most);
    let mut before = 1u64;
    let mut found = Vec::new();
    for level in growth.levels() {
        let fewest = before + 1;
        let share = |kept: u64, nodes: u64| Point { alpha: kept as f64 / nodes as f64, nodes };
        found.push(Triangle {
            top: share(level.kept, level.nodes),
            left_bottom: share(fewest.saturating_sub(level.handed_over), fewest),
            right_bottom: share(level.kept, fewest),
        });
        before = level.nodes;
    }
    found
}

/// The limits of tops and bottoms, as shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asymptote {
    /// beta^f, which is 1 / gamma.
    pub top: f64,
    /// 1 - beta^(u - 1).
    pub left_bottom: f64,
    /// beta^(f - 1).
    pub right_bottom: f64,
}

/// The limits of the triangles of `lambda`.
///
/// The right bottom is N'(t' - f) / N'(t' - 1), hence beta^(f - 1), and 1 for an integer lambda. The paper prints u - 1
/// as its exponent as well, which does not follow from its exact position.
///
/// Source: the postal paper, section 2.5.
pub fn asymptote(lambda: Lambda) -> Asymptote {
    let (u, f) = (lambda.scaled() as f64, lambda.scale() as f64);
    let beta = beta(lambda);
    Asymptote { top: gamma(lambda).recip(), left_bottom: 1.0 - beta.powf(u - 1.0), right_bottom: beta.powf(f - 1.0) }
}
