//! Figures 6 to 8: the ranges of optimal alphas, and their limits.

use collectives::postal::{
    Alpha, AlphaRange, Lambda, Splitting, Triangle, alpha_for_all, alpha_ranges, asymptote, broadcast_time,
    predicted_time, triangles,
};
use serde_json::{Value, json};

use super::{Results, StudyOfPostal};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Element, LineChart, Mark, Measure, Series, fixed, legend};

/// The most nodes of figures 6 and 7.
const NODES: u64 = 250;
/// The most nodes of figure 8.
const MANY_NODES: u64 = 100_000;
/// The two lambdas: as a fraction, and as written.
const TWO: (u64, u64, &str) = (2, 1, "2");
const ARBITRARY: (u64, u64, &str) = (39, 20, "1.95");

/// The study.
pub const STUDY: StudyOfPostal = StudyOfPostal {
    place: "figures 6 to 8",
    title: "ranges of optimal alphas",
    claims: &["postal.fig6.alpha"],
    jobs: Vec::new,
    judge: |_, _| Ok(judge(lambda(TWO), lambda(ARBITRARY))),
    draw,
};

fn lambda((numerator, denominator, _): (u64, u64, &str)) -> Lambda {
    Lambda::new(numerator, denominator).unwrap_or(Lambda::ONE)
}

/// For how many of the numbers of nodes `alpha` does not achieve the least time.
fn not_optimal(lambda: Lambda, alpha: Alpha) -> usize {
    let splitting = Splitting::Fixed(alpha);
    (2..=NODES).filter(|nodes| predicted_time(lambda, *nodes, &splitting) != broadcast_time(lambda, *nodes)).count()
}

/// Whether `two` has an alpha for all numbers of nodes, and `arbitrary` has one.
fn judge(two: Lambda, arbitrary: Lambda) -> Findings {
    let ends = alpha_for_all(two, NODES);
    let ours = ends.map(|(least, most)| json!({"least_alpha": least.as_f64(), "greatest_alpha": most.as_f64()}));
    let ends = ends.into_iter().flat_map(|(least, most)| [least, most]);
    let missed = ends.map(|alpha| (format!("alpha {}", fixed(alpha.as_f64(), 5)), not_optimal(two, alpha) as f64));
    let of_arbitrary = alpha_for_all(arbitrary, NODES);
    Findings::numbers(ours.unwrap_or(Value::Null), Value::Null)
        .with("nodes_not_optimal_2", missed)
        .with_number("alphas_for_all_1_95", if of_arbitrary.is_some() { 1.0 } else { 0.0 })
}

/// The trees of figures 6 and 7: the smallest and the largest optimal alpha of every number of nodes, triangle by
/// triangle.
fn tree(of: (u64, u64, &str)) -> Element {
    let ranges = alpha_ranges(lambda(of), 2..=NODES);
    // Within a triangle the smallest alpha rises with the number of nodes; the next one begins further to the left.
    let triangles = ranges.chunk_by(|one, next| one.lower() <= next.lower());
    let side = |name: &str, style, triangle: &[AlphaRange], bound: fn(&AlphaRange) -> f64| Series {
        name: name.to_string(),
        mark: Mark::full(style),
        points: triangle.iter().map(|range| (bound(range), range.partitions.nodes() as f64)).collect(),
    };
    let sides = |triangle| {
        [side("smallest alpha", 0, triangle, AlphaRange::lower), side("largest alpha", 1, triangle, AlphaRange::upper)]
    };
    let series = triangles.flat_map(sides).collect();
    let x = Axis::linear("alpha", Measure::Plain);
    let y = Axis::linear("nodes", Measure::Plain);
    LineChart { title: format!("lambda = {}", of.2), x, y, series, baseline: None }.draw()
}

/// Figure 8: the tops of the triangles, and their limit.
fn convergence() -> Element {
    let top = |triangle: &Triangle| Series {
        name: "top of a triangle".to_string(),
        mark: Mark::full(2),
        points: vec![(triangle.top.alpha, triangle.top.nodes as f64)],
    };
    let limit = asymptote(lambda(ARBITRARY)).top;
    let mut series: Vec<Series> = triangles(lambda(ARBITRARY), MANY_NODES).iter().map(top).collect();
    let points = vec![(limit, 2.0), (limit, MANY_NODES as f64)];
    series.push(Series { name: "limit".to_string(), mark: Mark::broken(3), points });
    let x = Axis::linear("alpha", Measure::Plain);
    let y = Axis::logarithmic("nodes", Measure::Plain);
    LineChart { title: format!("lambda = {}", ARBITRARY.2), x, y, series, baseline: None }.draw()
}

fn draw(_: &Claims, _: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let keys = [
        ("smallest optimal alpha".to_string(), Mark::full(0)),
        ("largest optimal alpha".to_string(), Mark::full(1)),
        ("top of a triangle".to_string(), Mark::full(2)),
        ("what they tend to".to_string(), Mark::broken(3)),
    ];
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels: vec![tree(TWO), tree(ARBITRARY), convergence()],
        caption: "For every number of nodes the alphas that split it optimally. With lambda = 2 a straight line fits \
                  between the two sides; with 1.95 none does. The tops of the triangles converge."
            .to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::failing;

    #[test]
    fn an_alpha_where_none_is_due_or_none_where_one_is_is_missed() {
        let (two, arbitrary) = (lambda(TWO), lambda(ARBITRARY));
        let failing = |one, other| failing(&super::super::paper(), STUDY.claims[0], judge(one, other));
        assert_eq!(failing(two, arbitrary), [""; 0]);
        assert_eq!(failing(two, two), ["alphas_for_all_1_95"]);
        assert_eq!(failing(arbitrary, arbitrary), ["nodes_not_optimal_2"]);
    }

    #[test]
    fn an_alpha_that_is_not_optimal_is_seen() {
        assert_ne!(not_optimal(lambda(TWO), Alpha::new(0.5).unwrap()), 0);
    }
}
