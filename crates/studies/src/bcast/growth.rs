//! What figures 4 and 5 have in common: a broadcast of one size over the number of nodes, beside the tree.

use serde_json::json;

use super::Results;
use super::charts::{Line, chart, keys, mark, nodes, printed_mark, times};
use super::job::{Job, NODES, System};
use super::measures::{faster, growth, latency, off};
use crate::{Check, Drawing, Gap, Judgement, check};
use report::{Axis, Mark, Measure, fixed, legend};

/// The numbers of nodes.
pub const NUMBERS: [u32; 7] = [2, 3, 4, 5, 6, 7, 8];

/// What is printed of a size, and how far ours may be from it.
pub struct Printed {
    /// The size. [B]
    pub bytes: u32,
    /// What push-pull takes to all nodes, if that is printed [us], and within what share of it ours is to be. [%]
    pub time: Option<(f64, f64)>,
    /// By how much less than the tree, and how much less it is to be at least. [%]
    pub faster: (f64, f64),
    /// By how much push-pull grows from two nodes to all, and the least and the most that it may. [%]
    pub growth: (f64, f64, f64),
    /// The same of the tree. [%]
    pub tree_growth: (f64, f64, f64),
}

/// What is run for it.
pub fn jobs(bytes: u32) -> Vec<Job> {
    let of = |system| NUMBERS.map(|nodes| Job::Broadcast { system, nodes, bytes });
    System::ALL.into_iter().flat_map(of).collect()
}

/// What comes of it.
pub fn judge(runs: &Results, printed: &Printed) -> Result<Judgement, Gap> {
    let Printed { bytes, .. } = *printed;
    let time = latency(runs, System::PushPull, NODES, bytes)?;
    let [ours, tree] = [System::PushPull, System::Mpich].map(|system| growth(runs, system, NODES, bytes));
    let (ours, tree, less) = (ours?, tree?, faster(runs, NODES, bytes)?);
    let (least, says_less) = (printed.faster.1, fixed(less, 1));
    let mut checks = vec![
        between("push-pull", ours, printed.growth),
        between("the tree", tree, printed.tree_growth),
        check(less >= least, format!("push-pull takes {says_less} % less than the tree, at least {least}")),
    ];
    let mut found = json!({"faster_percent": less, "growth_percent": ours, "mpich_growth_percent": tree});
    let mut errors = json!({
        "faster_percent": off(less, printed.faster.0),
        "growth_percent": off(ours, printed.growth.0),
        "mpich_growth_percent": off(tree, printed.tree_growth.0),
    });
    if let Some((us, within)) = printed.time {
        let says = format!("{} us to {NODES} nodes is within {within} % of {us}", fixed(time, 1));
        checks.insert(0, check(off(time, us).abs() <= within, says));
        (found["us"], errors["us"]) = (json!(time), json!(off(time, us)));
    }
    Ok(Judgement { ours: found, error_percent: errors, checks })
}

fn between(who: &str, ours: f64, (printed, least, most): (f64, f64, f64)) -> Check {
    let ours_said = fixed(ours, 1);
    let says = format!("{who} grows by {ours_said} %, {least} to {most}; printed {printed}");
    check((least..=most).contains(&ours), says)
}

/// The times, and how they grow, with what is printed.
pub fn draw(runs: &Results, printed: &Printed) -> Result<Drawing, Gap> {
    let line = |system: System, of: &dyn Fn(u32) -> Result<f64, Gap>| -> Result<Line, Gap> {
        let point = |nodes| Ok((f64::from(nodes), of(nodes)?));
        let points = NUMBERS.into_iter().map(point).collect::<Result<Vec<_>, Gap>>()?;
        Ok((system.name().to_string(), mark(system), points))
    };
    let (mut in_time, mut in_percent) = (Vec::new(), Vec::new());
    for system in System::ALL {
        in_time.push(line(system, &|nodes| latency(runs, system, nodes, printed.bytes))?);
        in_percent.push(line(system, &|nodes| growth(runs, system, nodes, printed.bytes))?);
    }
    for (system, percent) in [(System::PushPull, printed.growth.0), (System::Mpich, printed.tree_growth.0)] {
        let name = format!("{}, printed", system.name());
        if let Some(all) = printed_time(printed, system) {
            let two = all / (1.0 + percent / 100.0);
            in_time.push((name.clone(), printed_mark(system), ends(two, all)));
        }
        in_percent.push((name, printed_mark(system), ends(0.0, percent)));
    }
    let percent = Axis::linear("more than to 2 nodes [%]", Measure::Plain).reaching(0.0);
    let titles = [format!("{} B", printed.bytes), format!("{} B: growth", printed.bytes)];
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
fn printed_time(printed: &Printed, system: System) -> Option<f64> {
    let push_pull = printed.time?.0;
    Some(match system {
        System::PushPull | System::Simple => push_pull,
        System::Mpich => push_pull / (1.0 - printed.faster.0 / 100.0),
    })
}

/// A line from two nodes to all: only its ends are printed.
fn ends(two: f64, all: f64) -> Vec<(f64, f64)> {
    vec![(2.0, two), (f64::from(NODES), all)]
}
