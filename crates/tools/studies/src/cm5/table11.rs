//! Table 11: random patterns under four schedules.

use collectives::all_to_all::Irregular;
use serde_json::{Map, Value, json};

use super::charts::with_deviation;
use super::job::Cm5Run;
use super::measures::{Mean, deviation, each, mean_deviation, mean_of, table_cell};
use super::{Results, StudyOfCm5};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
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
    /// How many patterns are run: the sparser they are, the more they vary.
    patterns: u32,
    /// Whether costs of nodes were fitted to it; `experiments/cm5/table11.csv` says the same.
    training: bool,
}

/// The columns of the table; the printed numbers are in claims.toml.
const COLUMNS: [Column; 8] = [
    Column { percent: 10, bytes: 256, patterns: 400, training: true },
    Column { percent: 10, bytes: 512, patterns: 400, training: false },
    Column { percent: 25, bytes: 256, patterns: 200, training: false },
    Column { percent: 25, bytes: 512, patterns: 200, training: true },
    Column { percent: 50, bytes: 256, patterns: 100, training: true },
    Column { percent: 50, bytes: 512, patterns: 100, training: false },
    Column { percent: 75, bytes: 256, patterns: 100, training: false },
    Column { percent: 75, bytes: 512, patterns: 100, training: true },
];
/// Patterns are sparse below this density and dense above it. [%]
const HALF: u32 = 50;

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
    fn jobs(self, algorithm: Irregular) -> impl Iterator<Item = Cm5Run> {
        let Column { percent, bytes, patterns, .. } = self;
        (0..patterns).map(move |pattern| Cm5Run::Random { algorithm, percent, bytes, pattern })
    }

    /// The times of all patterns, algorithm by algorithm. [ms]
    fn times(self, runs: &Results) -> Result<[Vec<f64>; 4], MissingAnswer> {
        let [linear, pairwise, balanced, greedy] = ALGORITHMS.map(|algorithm| each(runs, self.jobs(algorithm)));
        Ok([linear?, pairwise?, balanced?, greedy?])
    }

    fn means(self, runs: &Results) -> Result<[Mean; 4], MissingAnswer> {
        Ok(self.times(runs)?.map(|times| mean_of(&times)))
    }

    fn name(self) -> String {
        format!("{} % of {} B", self.percent, self.bytes)
    }
}

/// The printed numbers of each column, in the order of the algorithms. [ms]
fn printed(claim: &Claim) -> Result<Vec<[f64; 4]>, MissingAnswer> {
    let [linear, pairwise, balanced, greedy] = ALGORITHMS.map(|algorithm| claim.printed_row(algorithm.name()));
    let (linear, pairwise, balanced, greedy) = (linear?, pairwise?, balanced?, greedy?);
    let rows = [&linear, &pairwise, &balanced, &greedy];
    if rows.iter().any(|row| row.len() != COLUMNS.len()) {
        return Err(MissingAnswer::Failed(claim.id.clone(), format!("not every row has {} figures", COLUMNS.len())));
    }
    Ok((0..COLUMNS.len()).map(|column| rows.map(|row| row[column])).collect())
}

/// The printed time of such patterns with `algorithm`. [ms]
#[cfg(test)]
pub fn printed_of(claims: &Claims, algorithm: Irregular, percent: u32, bytes: u32) -> f64 {
    let column = COLUMNS.iter().position(|column| (column.percent, column.bytes) == (percent, bytes)).unwrap();
    let row = ALGORITHMS.iter().position(|one| *one == algorithm).unwrap();
    printed(claims.get(STUDY.claims[0]).unwrap()).unwrap()[column][row]
}

fn jobs() -> Vec<Cm5Run> {
    COLUMNS.into_iter().flat_map(|column| ALGORITHMS.into_iter().flat_map(move |it| column.jobs(it))).collect()
}

/// The algorithms from the fastest to the slowest.
fn order(times: [f64; 4]) -> Vec<Irregular> {
    let mut ranked: Vec<(f64, Irregular)> = times.into_iter().zip(ALGORITHMS).collect();
    ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
    ranked.into_iter().map(|(_, algorithm)| algorithm).collect()
}

/// How many algorithms are out of place in the order from the fastest to the slowest.
pub fn misplaced(found: [f64; 4], due: [f64; 4]) -> usize {
    order(found).into_iter().zip(order(due)).filter(|(found, due)| found != due).count()
}

/// How much longer pairwise takes than balanced on the same patterns, and the precision of that. [%]
fn ahead(times: &[Vec<f64>; 4]) -> Mean {
    let [_, pairwise, balanced, _] = times;
    let apart: Vec<f64> =
        pairwise.iter().zip(balanced).map(|(pairwise, balanced)| deviation(*pairwise, *balanced)).collect();
    mean_of(&apart)
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    if claim.id == "cm5.sec45.density" { by_density(runs) } else { by_figures(claim, runs) }
}

fn by_figures(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut all, mut training, mut held_back, mut misplaces) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut ours = vec![Vec::new(); 4];
    for (column, printed) in COLUMNS.into_iter().zip(printed(claim)?) {
        let means = column.means(runs)?.map(|mean| mean.value);
        let cells = if column.training { &mut training } else { &mut held_back };
        let place = |algorithm: &Irregular| format!("{}, {}", column.name(), algorithm.name());
        let each = means.into_iter().zip(printed).zip(&ALGORITHMS);
        cells.extend(each.map(|(pair, algorithm)| table_cell(place(algorithm), pair)));
        all.extend(means.into_iter().zip(printed));
        misplaces.push((column.name(), misplaced(means, printed) as f64));
        for (row, mean) in ours.iter_mut().zip(means) {
            row.push((mean * 1e3).round() / 1e3);
        }
    }
    let rows = ALGORITHMS.iter().zip(ours).map(|(algorithm, row)| (algorithm.name().to_string(), json!(row)));
    Ok(Findings::numbers(Value::Object(rows.collect::<Map<_, _>>()), json!(mean_deviation(all)))
        .with_mean_deviation("training_off_percent", &training)
        .with_mean_deviation("held_back_off_percent", &held_back)
        .with("misplaced", misplaces))
}

fn by_density(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut slowest, mut sparse, mut dense, mut comparable) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut ahead = Vec::new();
    for column in COLUMNS {
        let [linear, pairwise, balanced, greedy] = column.means(runs)?.map(|mean| mean.value);
        let name = column.name();
        slowest.push((name.clone(), linear / pairwise.max(balanced).max(greedy)));
        if column.percent < HALF {
            sparse.push((name.clone(), greedy / pairwise.min(balanced)));
        }
        if column.percent > HALF {
            dense.push((name.clone(), balanced / greedy));
            ahead.push((name.clone(), balanced / pairwise));
            comparable.push((name, deviation(balanced, pairwise)));
        }
    }
    Ok(Findings::counted(|holding, of| json!({"as_stated": holding, "of": of}))
        .with("linear_over_others", slowest)
        .with("sparse_greedy_over_others", sparse)
        .with("dense_balanced_over_greedy", dense)
        .with("dense_balanced_over_pairwise", ahead)
        .with("dense_balanced_longer_percent", comparable))
}

fn draw(claims: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let caption = "Milliseconds on 32 nodes: the mean over our patterns with its standard error, and by how much it is off \
                   what is printed, which is one pattern. Then how much the time of one pattern spreads (the standard \
                   deviation), and by how many times that the printed figure lies above our mean.";
    let printed = printed(claims.get(STUDY.claims[0])?)?;
    Ok(Some(Drawing {
        legend: None,
        panels: vec![figures(&printed, runs)?, spreads(&printed, runs)?],
        caption: caption.to_string(),
    }))
}

fn figures(printed: &[[f64; 4]], runs: &Results) -> Result<Element, MissingAnswer> {
    let mut head = vec!["pattern", "patterns"];
    let names = ALGORITHMS.map(|algorithm| [format!("{}, printed", algorithm.name()), "ours".to_string()]).concat();
    head.extend(names.iter().map(String::as_str));
    let mut table = Table::with_head(&head);
    for (column, printed) in COLUMNS.into_iter().zip(printed) {
        let mut row = vec![Cell::Short(column.name()), Cell::Number(column.patterns.to_string())];
        for (Mean { value, error, .. }, printed) in column.means(runs)?.into_iter().zip(*printed) {
            let ours = format!("{} \u{b1} {}", with_deviation(value, deviation(value, printed), 3), fixed(error, 3));
            row.extend([fixed(printed, 3), ours].map(Cell::Number));
        }
        table.rows.push(row);
    }
    Ok(table.draw())
}

fn spreads(printed: &[[f64; 4]], runs: &Results) -> Result<Element, MissingAnswer> {
    let mut head = vec!["pattern"];
    let names = ALGORITHMS.map(|it| [format!("{}, spread [%]", it.name()), "printed lies".to_string()]).concat();
    head.extend(names.iter().map(String::as_str));
    head.push("pairwise against balanced, same patterns [%]");
    let mut table = Table::with_head(&head);
    for (column, printed) in COLUMNS.into_iter().zip(printed) {
        let mut row = vec![Cell::Short(column.name())];
        for (Mean { value, spread, .. }, printed) in column.means(runs)?.into_iter().zip(*printed) {
            let spreads = (printed - value) / spread;
            row.extend([fixed(spread / value * 100.0, 1), fixed(spreads, 1)].map(Cell::Number));
        }
        let Mean { value, error, .. } = ahead(&column.times(runs)?);
        row.push(Cell::Number(format!("{} \u{b1} {}", fixed(value, 2), fixed(error, 2))));
        table.rows.push(row);
    }
    Ok(table.draw())
}

#[cfg(test)]
mod tests {
    use collectives::schedule::{Pattern, Transfer};
    use quantities::{Bytes, Rank};

    use super::super::job::NODES;
    use super::*;

    /// Apart from the network, which of the two is faster on a random pattern is chance: renamed nodes make one
    /// schedule the other, and a renamed pattern is as likely as the pattern.
    #[test]
    fn balanced_scheduling_is_pairwise_scheduling_of_renamed_nodes() {
        let rename = |rank: Rank, by: u32| Rank((rank.0 + by) % NODES);
        for seed in 0..8 {
            let pattern = Pattern::random(NODES, 250_000, Bytes(256), seed).unwrap();
            let renamed = pattern.messages().iter().map(|message| Transfer {
                from: rename(message.from, 1),
                to: rename(message.to, 1),
                ..*message
            });
            let renamed = Pattern::of_messages(NODES, renamed.collect()).unwrap();
            let sorted = |step: &[Transfer]| {
                let mut step = step.to_vec();
                step.sort_unstable();
                step
            };
            let back = |transfer: &Transfer| Transfer {
                from: rename(transfer.from, NODES - 1),
                to: rename(transfer.to, NODES - 1),
                ..*transfer
            };
            let pairwise = Irregular::Pairwise.schedule(&renamed);
            let balanced = Irregular::Balanced.schedule(&pattern);
            let pairwise = pairwise.carrying_steps().map(|step| sorted(&step.iter().map(back).collect::<Vec<_>>()));
            assert!(pairwise.eq(balanced.carrying_steps().map(sorted)), "pattern {seed}");
        }
    }

    /// `maquette calibrate` can fit costs of nodes to the lines of this file that are not held back.
    const TIMES: &str = include_str!("../../../../../experiments/cm5/table11.csv");

    #[test]
    fn what_is_held_back_is_what_the_fit_did_not_see() {
        let mut seen = 0;
        for line in TIMES.lines().skip(1).filter(|line| line.starts_with("irregular")) {
            let fields: Vec<&str> = line.split(',').collect();
            let wanted = (fields[2].parse().unwrap(), fields[6].parse().unwrap());
            let column = COLUMNS.iter().find(|column| (column.percent, column.bytes) == wanted).unwrap();
            assert_eq!(column.training, fields[10] == "no", "{line}");
            seen += 1;
        }
        assert_eq!(seen, 32);
    }
}
