//! Section 3.4: the exchanges that cross the root of the tree.

use programs::all_to_all::Complete;
use quantities::Bytes;

use super::StudyOfCm5;
use crate::{Drawing, Gap, Judgement, check};
use report::{Cell, Table};

/// Machines with four subtrees under the root, as the statement needs them.
const NODES: [u32; 3] = [16, 64, 256];

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "section 3.4",
    title: "exchanges through the root",
    claims: &["cm5.sec34.root"],
    jobs: Vec::new,
    judge: |_, _| judge(crossings),
    draw: |_| draw(),
};

/// How a schedule uses the root.
struct Crossings {
    /// Exchanges through it.
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

fn crossings(algorithm: Complete, nodes: u32) -> Result<Crossings, Gap> {
    let schedule = algorithm.schedule(nodes, Bytes(1));
    let schedule = schedule.map_err(|error| Gap::Failed(algorithm.name().to_string(), error.to_string()))?;
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

fn judge(crossings: impl Fn(Complete, u32) -> Result<Crossings, Gap>) -> Result<Judgement, Gap> {
    let mut checks = Vec::new();
    for nodes in NODES {
        let (pairwise, balanced) = (crossings(Complete::Pairwise, nodes)?, crossings(Complete::Balanced, nodes)?);
        let (through, steps) = (3 * nodes as usize / 4, nodes as usize - 1);
        let due = through * nodes as usize / 2;
        let says = format!(
            "{nodes} nodes: {} and {} exchanges through the root, due {due}",
            pairwise.exchanges, balanced.exchanges
        );
        checks.push(check(pairwise.exchanges == due && balanced.exchanges == due, says));
        let packed = pairwise.full == through && pairwise.crossed == through;
        let says =
            format!("pairwise: all exchanges of {} of {} steps, and none of the others", pairwise.full, pairwise.steps);
        checks.push(check(packed && pairwise.steps == steps, says));
        let says = format!(
            "balanced: some exchanges of {} of {} steps, at most {} of {} in one",
            balanced.crossed,
            balanced.steps,
            balanced.most,
            nodes / 2
        );
        checks.push(check(balanced.crossed == steps && balanced.steps == steps, says));
    }
    let right = checks.iter().filter(|check| check.holds).count();
    Ok(Judgement::in_words(format!("{right} of {} counts as stated", checks.len()), checks))
}

fn draw() -> Result<Option<Drawing>, Gap> {
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

    /// How many conditions fail once what is counted of one exchange has that fault.
    fn failing(faulty: Complete, fault: fn(&mut Crossings)) -> usize {
        let counted = |algorithm, nodes| {
            let mut found = crossings(algorithm, nodes)?;
            if algorithm == faulty {
                fault(&mut found);
            }
            Ok(found)
        };
        judge(counted).unwrap().checks.iter().filter(|check| !check.holds).count()
    }

    #[test]
    fn other_crossings_are_missed() {
        assert_eq!(failing(Complete::Pairwise, |_| {}), 0);
        for algorithm in [Complete::Pairwise, Complete::Balanced] {
            assert_eq!(failing(algorithm, |found| found.exchanges += 1), 3);
            assert_eq!(failing(algorithm, |found| found.crossed -= 1), 3);
            assert_eq!(failing(algorithm, |found| found.steps += 1), 3);
        }
        assert_eq!(failing(Complete::Pairwise, |found| found.full -= 1), 3);
    }
}
