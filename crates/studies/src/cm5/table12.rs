//! Table 12: the patterns of applications under four schedules.

use programs::applications::patterns::{Application, Printed};
use serde_json::{Map, Value, json};

use super::charts::beside;
use super::job::Job;
use super::measures::{Mean, each, mean_of, mean_off, off};
use super::table11::ALGORITHMS;
use super::{Results, StudyOfCm5};
use crate::{Drawing, Gap, Judgement, check};
use report::{Cell, Element, Table, fixed};

/// How many meshes of an Euler solver are run. Conjugate gradient has one.
const MESHES: u32 = 20;
/// What is printed of each application, in the order of the algorithms. [ms]
const PRINTED: [(Application, [f64; 4]); 5] = [
    (Application::ConjugateGradient, [8.046, 6.623, 7.188, 5.799]),
    (Application::Euler545, [25.87, 7.374, 7.386, 5.656]),
    (Application::Euler2k, [48.88, 15.04, 15.07, 12.30]),
    (Application::Euler3k, [50.78, 19.98, 17.57, 14.34]),
    (Application::Euler9k, [77.13, 21.91, 20.19, 17.01]),
];
/// How far ours may be off on the mean. [%]
const OFF: f64 = 15.0;

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "table 12",
    title: "the patterns of applications",
    claims: &["cm5.table12.real"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

/// What is printed of an application, in the order of the algorithms. [ms]
#[cfg(test)]
pub fn printed(application: Application) -> [f64; 4] {
    PRINTED.into_iter().find(|(one, _)| *one == application).unwrap().1
}

fn jobs_of(application: Application, algorithm: programs::all_to_all::Irregular) -> impl Iterator<Item = Job> {
    let meshes = if application == Application::ConjugateGradient { 1 } else { MESHES };
    (0..meshes).map(move |mesh| Job::Application { application, algorithm, mesh })
}

fn jobs() -> Vec<Job> {
    let of = |application| ALGORITHMS.into_iter().flat_map(move |algorithm| jobs_of(application, algorithm));
    PRINTED.into_iter().flat_map(|(application, _)| of(application)).collect()
}

/// The times of one exchange, in the order of the algorithms. [ms]
fn means(runs: &Results, application: Application) -> Result<[Mean; 4], Gap> {
    let mean = |algorithm| Ok(mean_of(&each(runs, jobs_of(application, algorithm))?));
    let [linear, pairwise, balanced, greedy] = ALGORITHMS.map(mean);
    Ok([linear?, pairwise?, balanced?, greedy?])
}

/// How far the figures are off on the mean where each is of so many exchanges. [%]
fn mean_off_of(runs: &Results, exchanges: f64) -> Result<f64, Gap> {
    let mut pairs = Vec::new();
    for (application, printed) in PRINTED {
        pairs.extend(means(runs, application)?.into_iter().map(|mean| exchanges * mean.value).zip(printed));
    }
    Ok(mean_off(pairs))
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let (once, twice) = (mean_off_of(runs, 1.0)?, mean_off_of(runs, 2.0)?);
    let says = format!(
        "the 20 figures are {} % off on the mean, at most {OFF} (were each printed figure two exchanges: {} %)",
        fixed(once, 1),
        fixed(twice, 1)
    );
    let mut ours = vec![Vec::new(); 4];
    for (application, _) in PRINTED {
        for (row, mean) in ours.iter_mut().zip(means(runs, application)?) {
            row.push((mean.value * 1e3).round() / 1e3);
        }
    }
    let rows = ALGORITHMS.iter().zip(ours).map(|(algorithm, row)| (algorithm.name().to_string(), json!(row)));
    let ours = Value::Object(rows.collect::<Map<_, _>>());
    Ok(Judgement { ours, error_percent: json!(once), checks: vec![check(once <= OFF, says)] })
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let caption = format!(
        "Milliseconds on 32 nodes for patterns altered to the printed density and mean size, the mean over {MESHES} meshes \
         (conjugate gradient has one), and by how much it is off what is printed: for one exchange, and for two, which \
         is what a loop over edges takes that gathers before it and scatters after it. The paper does not say what it timed."
    );
    let panels = vec![table(runs, 1.0, "one exchange")?, table(runs, 2.0, "two exchanges")?];
    Ok(Some(Drawing { legend: None, panels, caption }))
}

fn table(runs: &Results, exchanges: f64, what: &str) -> Result<Element, Gap> {
    let mut head = vec!["application".to_string(), "messages".to_string()];
    for algorithm in ALGORITHMS {
        head.extend([format!("{}, printed", algorithm.name()), what.to_string()]);
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::with_head(&head);
    for (application, printed) in PRINTED {
        let Printed { percent, mean_bytes } = application.printed();
        let mut row = vec![application.name().to_string(), format!("{percent} % of {mean_bytes} B")];
        for (Mean { value, .. }, printed) in means(runs, application)?.into_iter().zip(printed) {
            let ours = exchanges * value;
            row.extend([fixed(printed, 2), beside(ours, off(ours, printed), 2)]);
        }
        let cells = row.into_iter().enumerate();
        table
            .rows
            .push(cells.map(|(index, text)| if index < 2 { Cell::Short(text) } else { Cell::Number(text) }).collect());
    }
    Ok(table.draw())
}
