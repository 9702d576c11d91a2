//! Section 3.4: the exchanges that cross the root of the tree.

use collectives::all_to_all::Complete;
use quantities::Bytes;

use super::StudyOfCm5;
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Cell, Table};

/// Machines with four subtrees under the root, which the statement requires.
const NODES: [u32; 3] = [16, 64, 256];

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "section 3.4",
    title: "exchanges through the root",
    claims: &["cm5.sec34.root"],
    jobs: Vec::new,
    judge: |_, _| judge(crossings),
    draw: |_: &Claims, _| draw(),
};

/// How a schedule uses the root.
struct Crossings {
    /// Exchanges through the root.
    exchanges: usize,
    /// Steps.
    steps: usize,
    /// Steps in which any exchange goes through it.
    crossed: usize,
    /// Steps in which all exchanges do.
    full: usize,
    /// The most that do in one step.
    most: usize,
}

fn crossings(algorithm: Complete, nodes: u32) -> Result<Crossings, MissingAnswer> {
    let schedule = algorithm.schedule(nodes, Bytes(1));
    let schedule = schedule.map_err(|error| MissingAnswer::Failed(algorithm.name().to_string(), error.to_string()))?;
    // Each exchange is a message each way.
    let counts: Vec<usize> = schedule.root_crossings(nodes / 4).into_iter().map(|messages| messages / 2).collect();
    let all = nodes as usize / 2;
    Ok(Crossings {
        exchanges: counts.iter().sum(),
        steps: counts.len(),
        crossed: counts.iter().filter(|count| **count > 0).count(),
        full: counts.iter().filter(|count| **count == all).count(),
        most: counts.iter().copied().max().unwrap_or(0),
    })
}

/// Messages through the root in a step of pairwise exchange among the fewest processors, on the mean over its steps.
pub(super) fn messages_through_root() -> Result<f64, MissingAnswer> {
    let Crossings { exchanges, steps, .. } = crossings(Complete::Pairwise, NODES[0])?;
    Ok(2.0 * exchanges as f64 / steps as f64)
}

fn judge(crossings: impl Fn(Complete, u32) -> Result<Crossings, MissingAnswer>) -> Result<Findings, MissingAnswer> {
    let (mut exchanges, mut steps) = (Vec::new(), Vec::new());
    let (mut full, mut crossed, mut spread) = (Vec::new(), Vec::new(), Vec::new());
    for nodes in NODES {
        let (n, place) = (f64::from(nodes), format!("{nodes} nodes"));
        let through = 3.0 * n / 4.0;
        for algorithm in [Complete::Pairwise, Complete::Balanced] {
            let found = crossings(algorithm, nodes)?;
            let who = format!("{}, {place}", algorithm.name());
            exchanges.push((who.clone(), found.exchanges as f64 / (through * n / 2.0)));
            steps.push((who, found.steps as f64 / (n - 1.0)));
            if algorithm == Complete::Pairwise {
                full.push((place.clone(), found.full as f64 / through));
                crossed.push((place.clone(), found.crossed as f64 / through));
            } else {
                spread.push((place.clone(), found.crossed as f64 / (n - 1.0)));
            }
        }
    }
    Ok(Findings::counted(|holding, of| format!("{holding} of {of} counts as stated").into())
        .with("exchanges_share", exchanges)
        .with("steps_share", steps)
        .with("pairwise_full_share", full)
        .with("pairwise_crossed_share", crossed)
        .with("balanced_crossed_share", spread))
}

fn draw() -> Result<Option<Drawing>, MissingAnswer> {
    let head = ["nodes", "exchange", "through the root", "in steps", "of steps", "at most in one"];
    let mut table = Table::with_head(&head);
    for nodes in NODES {
        for algorithm in [Complete::Pairwise, Complete::Balanced] {
            let Crossings { exchanges, steps, crossed, most, .. } = crossings(algorithm, nodes)?;
            let mut row = vec![Cell::Number(nodes.to_string()), Cell::Short(algorithm.name().to_string())];
            row.extend([exchanges, crossed, steps, most].map(|count| Cell::Number(count.to_string())));
            table.rows.push(row);
        }
    }
    let caption = "How many of the exchanges of a complete exchange go through the root of a tree with four subtrees, and in \
                   how many of the steps.";
    Ok(Some(Drawing { legend: None, panels: vec![table.draw()], caption: caption.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::failing;

    /// The conditions that fail if the counts of one exchange have that fault.
    fn with(faulty: Complete, fault: fn(&mut Crossings)) -> Vec<String> {
        let counted = |algorithm, nodes| {
            let mut found = crossings(algorithm, nodes)?;
            if algorithm == faulty {
                fault(&mut found);
            }
            Ok(found)
        };
        failing(&super::super::paper(), STUDY.claims[0], judge(counted).unwrap())
    }

    #[test]
    fn other_crossings_are_missed() {
        assert_eq!(with(Complete::Pairwise, |_| {}), [""; 0]);
        for algorithm in [Complete::Pairwise, Complete::Balanced] {
            assert_eq!(with(algorithm, |found| found.exchanges += 1), ["exchanges_share"]);
            assert_eq!(with(algorithm, |found| found.steps += 1), ["steps_share"]);
        }
        assert_eq!(with(Complete::Pairwise, |found| found.crossed -= 1), ["pairwise_crossed_share"]);
        assert_eq!(with(Complete::Balanced, |found| found.crossed -= 1), ["balanced_crossed_share"]);
        assert_eq!(with(Complete::Pairwise, |found| found.full -= 1), ["pairwise_full_share"]);
    }
}
