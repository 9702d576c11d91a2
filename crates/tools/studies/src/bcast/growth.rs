//! The common part of figures 4 and 5: a broadcast of one size over the number of nodes, compared with the tree.

use serde_json::{Map, Value, json};

use super::Results;
use super::charts::{keys, mark, nodes, printed_mark, times};
use super::job::{BcastRun, NODES, System};
use super::measures::{deviation, faster, growth, latency};
use crate::render::{ChartLine, chart};
use crate::{Claim, Drawing, Findings, MissingAnswer};
use report::{Axis, Mark, Measure, legend};

/// The numbers of nodes.
pub const NUMBERS: [u32; 7] = [2, 3, 4, 5, 6, 7, 8];

/// The runs for it.
pub fn jobs(bytes: u32) -> Vec<BcastRun> {
    let of = |system| NUMBERS.map(|nodes| BcastRun::Broadcast { system, nodes, bytes });
    System::ALL.into_iter().flat_map(of).collect()
}

/// The findings for messages of `bytes`. A time is compared where one is published.
pub fn judge(claim: &Claim, runs: &Results, bytes: u32) -> Result<Findings, MissingAnswer> {
    let of = |name| {
        Ok(match name {
            "us" => latency(runs, System::PushPull, NODES, bytes)?,
            "faster_percent" => faster(runs, NODES, bytes)?,
            "growth_percent" => growth(runs, System::PushPull, NODES, bytes)?,
            _ => growth(runs, System::Mpich, NODES, bytes)?,
        })
    };
    let (mut ours, mut errors, mut found) = (Map::new(), Map::new(), Vec::new());
    for name in ["us", "growth_percent", "mpich_growth_percent", "faster_percent"] {
        let Ok(printed) = claim.printed(name) else { continue };
        let value = of(name)?;
        ours.insert(name.to_string(), json!(value));
        errors.insert(name.to_string(), json!(deviation(value, printed)));
        found.push((name, value));
    }
    let findings = Findings::numbers(Value::Object(ours), Value::Object(errors));
    Ok(found.into_iter().fold(findings, |findings, (name, value)| findings.with_number(name, value)))
}

/// The times, and how they grow, with the printed numbers.
pub fn draw(claim: &Claim, runs: &Results, bytes: u32) -> Result<Drawing, MissingAnswer> {
    let line = |system: System, of: &dyn Fn(u32) -> Result<f64, MissingAnswer>| -> Result<ChartLine, MissingAnswer> {
        let point = |nodes| Ok((f64::from(nodes), of(nodes)?));
        let points = NUMBERS.into_iter().map(point).collect::<Result<Vec<_>, MissingAnswer>>()?;
        Ok((system.name().to_string(), mark(system), points))
    };
    let (mut in_time, mut in_percent) = (Vec::new(), Vec::new());
    for system in System::ALL {
        in_time.push(line(system, &|nodes| latency(runs, system, nodes, bytes))?);
        in_percent.push(line(system, &|nodes| growth(runs, system, nodes, bytes))?);
    }
    for (system, percent) in [(System::PushPull, "growth_percent"), (System::Mpich, "mpich_growth_percent")] {
        let percent = claim.printed(percent)?;
        let name = format!("{}, printed", system.name());
        if let Some(all) = printed_time(claim, system) {
            let two = all / (1.0 + percent / 100.0);
            in_time.push((name.clone(), printed_mark(system), ends(two, all)));
        }
        in_percent.push((name, printed_mark(system), ends(0.0, percent)));
    }
    let percent = Axis::linear("more than to 2 nodes [%]", Measure::Plain).reaching(0.0);
    let titles = [format!("{bytes} B"), format!("{bytes} B: growth")];
    let panels = vec![
        chart(&titles[0], nodes(&NUMBERS), times(), in_time),
        chart(&titles[1], nodes(&NUMBERS), percent, in_percent),
    ];
    let mut marks = keys();
    let broken: Vec<(String, Mark)> = [System::PushPull, System::Mpich]
        .map(|system| (format!("{}, printed", system.name()), printed_mark(system)))
        .to_vec();
    marks.extend(broken);
    Ok(Drawing { legend: Some(legend(&marks)), panels, caption: String::new() })
}

/// The printed time to all nodes, as we read it. [us]
fn printed_time(claim: &Claim, system: System) -> Option<f64> {
    let push_pull = claim.printed("us").ok()?;
    Some(match system {
        System::PushPull | System::Simple => push_pull,
        System::Mpich => push_pull / (1.0 - claim.printed("faster_percent").ok()? / 100.0),
    })
}

/// A line from two nodes to all: only its ends are printed.
fn ends(two: f64, all: f64) -> Vec<(f64, f64)> {
    vec![(2.0, two), (f64::from(NODES), all)]
}
