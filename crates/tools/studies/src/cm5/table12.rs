//! Table 12: the patterns of applications under four schedules.

use programs::applications::patterns::{Application, Printed};
use serde_json::{Map, Value, json};

use super::charts::with_deviation;
use super::job::Cm5Run;
use super::measures::{Mean, deviation, each, mean_deviation, mean_of, table_cell};
use super::table11::ALGORITHMS;
use super::{Results, StudyOfCm5};
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Cell, Element, Table, fixed};

/// How many meshes of an Euler solver are run, and patterns of conjugate gradient.
const MESHES: u32 = 20;
/// The applications, in the order of the table.
const APPLICATIONS: [Application; 5] = [
    Application::ConjugateGradient,
    Application::Euler545,
    Application::Euler2k,
    Application::Euler3k,
    Application::Euler9k,
];

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "table 12",
    title: "the patterns of applications",
    claims: &["cm5.table12.real"],
    jobs,
    judge,
    draw,
};

/// The printed times of each application, in the order of the algorithms. [ms]
pub fn printed(claim: &Claim) -> Result<Vec<(Application, [f64; 4])>, MissingAnswer> {
    let rows = ALGORITHMS.map(|algorithm| claim.printed_row(algorithm.name()));
    let [linear, pairwise, balanced, greedy] = rows;
    let rows = [linear?, pairwise?, balanced?, greedy?];
    let row_of = |index: usize| rows.each_ref().map(|row| row.get(index).copied().unwrap_or(f64::NAN));
    Ok(APPLICATIONS.into_iter().enumerate().map(|(index, application)| (application, row_of(index))).collect())
}

fn jobs_of(application: Application, algorithm: collectives::all_to_all::Irregular) -> impl Iterator<Item = Cm5Run> {
    (0..MESHES).map(move |mesh| Cm5Run::Application { application, algorithm, mesh })
}

fn jobs() -> Vec<Cm5Run> {
    let of = |application| ALGORITHMS.into_iter().flat_map(move |algorithm| jobs_of(application, algorithm));
    APPLICATIONS.into_iter().flat_map(of).collect()
}

/// The times, in the order of the algorithms. [ms]
fn means(runs: &Results, application: Application) -> Result<[Mean; 4], MissingAnswer> {
    let mean = |algorithm| Ok(mean_of(&each(runs, jobs_of(application, algorithm))?));
    let [linear, pairwise, balanced, greedy] = ALGORITHMS.map(mean);
    Ok([linear?, pairwise?, balanced?, greedy?])
}

/// Whether the time to gather a byte was fitted to a figure: to every other one, like the colours of a chessboard.
pub fn is_training(application: usize, algorithm: usize) -> bool {
    (application + algorithm).is_multiple_of(2)
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut training, mut held_back, mut ours) = (Vec::new(), Vec::new(), vec![Vec::new(); 4]);
    let mut greedy = Vec::new();
    for (column, (application, printed)) in printed(claim)?.into_iter().enumerate() {
        let means = means(runs, application)?.map(|mean| mean.value);
        for (row, (mean, printed)) in means.into_iter().zip(printed).enumerate() {
            let place = format!("{}, {}", application.name(), ALGORITHMS[row].name());
            let cell = table_cell(place, (mean, printed));
            if is_training(column, row) { &mut training } else { &mut held_back }.push(cell);
            ours[row].push((mean * 1e3).round() / 1e3);
        }
        let others = means[..3].iter().copied().fold(f64::INFINITY, f64::min);
        greedy.push((application.name().to_string(), means[3] / others));
    }
    let rows = ALGORITHMS.iter().zip(ours).map(|(algorithm, row)| (algorithm.name().to_string(), json!(row)));
    let deviation = mean_deviation(training.iter().chain(&held_back).map(|cell| (cell.ours, cell.printed)));
    Ok(Findings::numbers(Value::Object(rows.collect::<Map<_, _>>()), json!(deviation))
        .with_mean_deviation("training_off_percent", &training)
        .with_mean_deviation("held_back_off_percent", &held_back)
        .with("greedy_over_others", greedy))
}

fn draw(claims: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let caption = format!(
        "Milliseconds on 32 nodes, the mean over {MESHES} meshes or patterns, and by how much it is off what is printed. The patterns of \
         the Euler solver are altered to the printed density and mean size; those of conjugate gradient are random ones of that \
         density and size. Each message is gathered before it is sent, and scattered after it has arrived."
    );
    let printed = printed(claims.get(STUDY.claims[0])?)?;
    Ok(Some(Drawing { legend: None, panels: vec![table(&printed, runs)?], caption }))
}

fn table(figures: &[(Application, [f64; 4])], runs: &Results) -> Result<Element, MissingAnswer> {
    let mut head = vec!["application".to_string(), "messages".to_string()];
    for algorithm in ALGORITHMS {
        head.extend([format!("{}, printed", algorithm.name()), "ours".to_string()]);
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::with_head(&head);
    for (application, printed) in figures.iter().copied() {
        let Printed { percent, mean_bytes } = application.printed();
        let mut row = vec![application.name().to_string(), format!("{percent} % of {mean_bytes} B")];
        for (Mean { value, .. }, printed) in means(runs, application)?.into_iter().zip(printed) {
            row.extend([fixed(printed, 2), with_deviation(value, deviation(value, printed), 2)]);
        }
        let cells = row.into_iter().enumerate();
        table
            .rows
            .push(cells.map(|(index, text)| if index < 2 { Cell::Short(text) } else { Cell::Number(text) }).collect());
    }
    Ok(table.draw())
}
