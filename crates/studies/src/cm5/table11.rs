//! Table 11: random patterns under four schedules.

use programs::all_to_all::Irregular;
use serde_json::{Map, Value, json};

use super::charts::beside;
use super::job::Job;
use super::measures::{Mean, each, mean_of, mean_off, off};
use super::{Results, StudyOfCm5};
use crate::{Check, Drawing, Gap, Judgement, check};
use report::{Cell, Element, Table, fixed};

/// The schedules, in the order of the table.
pub const ALGORITHMS: [Irregular; 4] = [Irregular::Linear, Irregular::Pairwise, Irregular::Balanced, Irregular::Greedy];

/// A column of the table.
#[derive(Clone, Copy, Debug)]
struct Column {
    /// Messages, in percent of those of a complete exchange.
    percent: u32,
    /// Their size. [B]
    bytes: u32,
    /// What is printed, in the order of the algorithms. [ms]
    printed: [f64; 4],
    /// How many patterns are run: the sparser they are, the more they differ.
    patterns: u32,
}

/// The table, column by column.
const COLUMNS: [Column; 8] = [
    Column { percent: 10, bytes: 256, printed: [4.723, 1.766, 1.933, 1.597], patterns: 400 },
    Column { percent: 10, bytes: 512, printed: [6.116, 2.275, 2.494, 2.044], patterns: 400 },
    Column { percent: 25, bytes: 256, printed: [11.67, 3.977, 3.724, 3.266], patterns: 200 },
    Column { percent: 25, bytes: 512, printed: [15.34, 5.193, 4.861, 4.192], patterns: 200 },
    Column { percent: 50, bytes: 256, printed: [29.01, 6.324, 6.034, 6.009], patterns: 100 },
    Column { percent: 50, bytes: 512, printed: [38.27, 8.360, 8.013, 7.934], patterns: 100 },
    Column { percent: 75, bytes: 256, printed: [50.14, 7.882, 7.856, 9.241], patterns: 100 },
    Column { percent: 75, bytes: 512, printed: [66.63, 10.52, 10.50, 12.29], patterns: 100 },
];
/// How far ours may be off on the mean. [%]
const OFF: f64 = 4.0;
/// At this density and above, balanced scheduling must be ahead of greedy; below, greedy ahead of all.
const DENSE: u32 = 75;
/// What the paper calls comparable, of pairwise and balanced. [%]
const COMPARABLE: f64 = 2.0;

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "table 11",
    title: "random patterns",
    claims: &["cm5.table11.synthetic", "cm5.sec45.density"],
    jobs,
    judge,
    draw,
};

impl Column {
    fn jobs(self, algorithm: Irregular) -> impl Iterator<Item = Job> {
        let Column { percent, bytes, patterns, .. } = self;
        (0..patterns).map(move |pattern| Job::Random { algorithm, percent, bytes, pattern })
    }

    /// The times of all patterns, algorithm by algorithm. [ms]
    fn times(self, runs: &Results) -> Result<[Vec<f64>; 4], Gap> {
        let [linear, pairwise, balanced, greedy] = ALGORITHMS.map(|algorithm| each(runs, self.jobs(algorithm)));
        Ok([linear?, pairwise?, balanced?, greedy?])
    }

    fn means(self, runs: &Results) -> Result<[Mean; 4], Gap> {
        Ok(self.times(runs)?.map(|times| mean_of(&times)))
    }

    fn name(self) -> String {
        format!("{} % of {} B", self.percent, self.bytes)
    }
}

/// What is printed of such patterns, in the order of the algorithms. [ms]
#[cfg(test)]
pub fn printed(percent: u32, bytes: u32) -> [f64; 4] {
    COLUMNS.into_iter().find(|column| (column.percent, column.bytes) == (percent, bytes)).unwrap().printed
}

fn jobs() -> Vec<Job> {
    COLUMNS.into_iter().flat_map(|column| ALGORITHMS.into_iter().flat_map(move |it| column.jobs(it))).collect()
}

/// The algorithms from the fastest to the slowest.
fn order(times: [f64; 4]) -> Vec<Irregular> {
    let mut ranked: Vec<(f64, Irregular)> = times.into_iter().zip(ALGORITHMS).collect();
    ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
    ranked.into_iter().map(|(_, algorithm)| algorithm).collect()
}

fn names(order: &[Irregular]) -> String {
    order.iter().map(|algorithm| algorithm.name()).collect::<Vec<_>>().join(" < ")
}

/// By how much pairwise takes longer than balanced on the same patterns, and how well that is known. [%]
fn ahead(times: &[Vec<f64>; 4]) -> Mean {
    let [_, pairwise, balanced, _] = times;
    let apart: Vec<f64> = pairwise.iter().zip(balanced).map(|(pairwise, balanced)| off(*pairwise, *balanced)).collect();
    mean_of(&apart)
}

fn judge(claim: &str, runs: &Results) -> Result<Judgement, Gap> {
    if claim == "cm5.sec45.density" { by_density(runs) } else { by_figures(runs) }
}

fn by_figures(runs: &Results) -> Result<Judgement, Gap> {
    let (mut pairs, mut orders, mut ours) = (Vec::new(), Vec::new(), vec![Vec::new(); 4]);
    for column in COLUMNS {
        let times = column.times(runs)?;
        let means = times.each_ref().map(|times| mean_of(times).value);
        pairs.extend(means.into_iter().zip(column.printed));
        let (due, found) = (order(column.printed), order(means));
        let Mean { value, error, .. } = ahead(&times);
        let says = format!(
            "{}: {}, printed {}; pairwise takes {} \u{b1} {} % longer than balanced",
            column.name(),
            names(&found),
            names(&due),
            fixed(value, 2),
            fixed(error, 2)
        );
        orders.push(check(found == due, says));
        for (row, mean) in ours.iter_mut().zip(means) {
            row.push((mean * 1e3).round() / 1e3);
        }
    }
    let mean = mean_off(pairs);
    let mut checks =
        vec![check(mean <= OFF, format!("the 32 figures are {} % off on the mean, at most {OFF}", fixed(mean, 2)))];
    checks.extend(orders);
    let rows = ALGORITHMS.iter().zip(ours).map(|(algorithm, row)| (algorithm.name().to_string(), json!(row)));
    Ok(Judgement { ours: Value::Object(rows.collect::<Map<_, _>>()), error_percent: json!(mean), checks })
}

fn by_density(runs: &Results) -> Result<Judgement, Gap> {
    let mut checks: Vec<Check> = Vec::new();
    for column in COLUMNS {
        let [linear, pairwise, balanced, greedy] = column.means(runs)?.map(|mean| mean.value);
        let name = column.name();
        let three = pairwise.max(balanced).max(greedy);
        let says =
            format!("{name}: linear is the slowest, {} ms against at most {}", fixed(linear, 2), fixed(three, 2));
        checks.push(check(linear > three, says));
        if column.percent < 50 {
            let least = pairwise.min(balanced);
            let says = format!("{name}: greedy is the fastest, {} ms against {}", fixed(greedy, 3), fixed(least, 3));
            checks.push(check(greedy < least, says));
        }
        if column.percent >= DENSE {
            let says = format!(
                "{name}: balanced is faster than greedy, {} ms against {}",
                fixed(balanced, 3),
                fixed(greedy, 3)
            );
            checks.push(check(balanced < greedy, says));
            let apart = off(balanced, pairwise);
            let says =
                format!("{name}: balanced takes {} % longer than pairwise, at most {COMPARABLE}", fixed(apart, 2));
            checks.push(check(apart <= COMPARABLE, says));
        }
    }
    let holding = checks.iter().filter(|check| check.holds).count();
    Ok(Judgement { ours: json!({"as_stated": holding, "of": checks.len()}), error_percent: Value::Null, checks })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let caption = "Milliseconds on 32 nodes: the mean over our patterns with its standard error, and by how much it is off \
                   what is printed, which is one pattern. Then how much the time of one pattern spreads (the standard \
                   deviation), and by how many times that the printed figure lies above our mean.";
    Ok(Some(Drawing { legend: None, panels: vec![figures(runs)?, spreads(runs)?], caption: caption.to_string() }))
}

fn figures(runs: &Results) -> Result<Element, Gap> {
    let mut head = vec!["pattern", "patterns"];
    let names = ALGORITHMS.map(|algorithm| [format!("{}, printed", algorithm.name()), "ours".to_string()]).concat();
    head.extend(names.iter().map(String::as_str));
    let mut table = Table::with_head(&head);
    for column in COLUMNS {
        let mut row = vec![Cell::Short(column.name()), Cell::Number(column.patterns.to_string())];
        for (Mean { value, error, .. }, printed) in column.means(runs)?.into_iter().zip(column.printed) {
            let ours = format!("{} \u{b1} {}", beside(value, off(value, printed), 3), fixed(error, 3));
            row.extend([fixed(printed, 3), ours].map(Cell::Number));
        }
        table.rows.push(row);
    }
    Ok(table.draw())
}

fn spreads(runs: &Results) -> Result<Element, Gap> {
    let mut head = vec!["pattern"];
    let names = ALGORITHMS.map(|it| [format!("{}, spread [%]", it.name()), "printed lies".to_string()]).concat();
    head.extend(names.iter().map(String::as_str));
    head.push("pairwise against balanced, same patterns [%]");
    let mut table = Table::with_head(&head);
    for column in COLUMNS {
        let mut row = vec![Cell::Short(column.name())];
        for (Mean { value, spread, .. }, printed) in column.means(runs)?.into_iter().zip(column.printed) {
            let spreads = (printed - value) / spread;
            row.extend([fixed(spread / value * 100.0, 1), fixed(spreads, 1)].map(Cell::Number));
        }
        let Mean { value, error, .. } = ahead(&column.times(runs)?);
        row.push(Cell::Number(format!("{} \u{b1} {}", fixed(value, 2), fixed(error, 2))));
        table.rows.push(row);
    }
    Ok(table.draw())
}
