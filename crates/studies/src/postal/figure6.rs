//! Figures 6 to 8: the ranges of optimal alphas, and what they tend to.

use programs::postal::{
    Alpha, AlphaRange, Lambda, Splitting, Triangle, alpha_for_all, alpha_ranges, asymptote, broadcast_time,
    predicted_time, triangles,
};
use serde_json::{Value, json};

use super::{Results, StudyOfPostal};
use crate::{Drawing, Gap, Judgement, check};
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

/// Whether `alpha` reaches every number of nodes in the least time.
fn is_optimal(lambda: Lambda, alpha: Alpha) -> bool {
    let splitting = Splitting::Fixed(alpha);
    (2..=NODES).all(|nodes| predicted_time(lambda, nodes, &splitting) == broadcast_time(lambda, nodes))
}

/// That `two` has an alpha for all numbers of nodes, and `arbitrary` has none.
fn judge(two: Lambda, arbitrary: Lambda) -> Judgement {
    let none = alpha_for_all(arbitrary, NODES);
    let mut checks = vec![check(none.is_none(), format!("lambda {}: no alpha for all up to {NODES}", ARBITRARY.2))];
    let ours = match alpha_for_all(two, NODES) {
        Some((least, most)) => {
            for alpha in [least, most] {
                let says = format!("alpha {} reaches 2 to {NODES} nodes in the least time", fixed(alpha.as_f64(), 5));
                checks.push(check(is_optimal(two, alpha), says));
            }
            json!({"least_alpha": least.as_f64(), "greatest_alpha": most.as_f64()})
        }
        None => {
            checks.push(check(false, "lambda 2: no alpha for all"));
            Value::Null
        }
    };
    Judgement { ours, error_percent: Value::Null, checks }
}

/// The trees of figures 6 and 7: the smallest and the largest optimal alpha of every number of nodes, triangle by triangle.
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

/// Figure 8: the tops of the triangles, and where they tend to.
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

fn draw(_: &Results) -> Result<Option<Drawing>, Gap> {
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

    #[test]
    fn an_alpha_where_none_is_due_or_none_where_one_is_is_missed() {
        let (two, arbitrary) = (lambda(TWO), lambda(ARBITRARY));
        let hold = |one, other| judge(one, other).checks.iter().map(|check| check.holds).collect::<Vec<_>>();
        assert_eq!(hold(two, arbitrary), [true, true, true]);
        assert_eq!(hold(two, two), [false, true, true]);
        assert_eq!(hold(arbitrary, arbitrary), [true, false]);
    }

    #[test]
    fn an_alpha_that_is_not_optimal_is_seen() {
        assert!(!is_optimal(lambda(TWO), Alpha::new(0.5).unwrap()));
    }
}
