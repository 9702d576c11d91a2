//! Figures 6 to 8: complete exchange over the size of the machine.

use std::collections::BTreeMap;

use collectives::all_to_all::Complete;
use serde_json::json;

use super::charts::{machines, many_milliseconds};
use super::figure5::mark;
use super::job::Cm5Run;
use super::measures::milliseconds;
use super::{Results, StudyOfCm5};
use crate::render::chart;
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::legend;

/// The machines. Those of up to 32 nodes are the first nodes of the smaller preset, the others of the larger.
const NODES: [u32; 7] = [4, 8, 16, 32, 64, 128, 256];
/// The sizes of the messages [B], and the figure of each.
const SIZES: [(u32, u32); 4] = [(0, 6), (256, 6), (512, 7), (1920, 8)];
/// Machines up to the first size count as small, from the second on as large.
const SMALL: u32 = 16;
const LARGE: u32 = 256;
/// The algorithms of the figures.
const ALGORITHMS: [Complete; 3] = [Complete::Pairwise, Complete::Recursive, Complete::Balanced];

/// The study.
pub const STUDY: StudyOfCm5 = StudyOfCm5 {
    place: "figures 6 to 8",
    title: "complete exchange over the machine size",
    claims: &["cm5.fig6to8.sizes"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

fn job(algorithm: Complete, nodes: u32, bytes: u32) -> Cm5Run {
    Cm5Run::Exchange { algorithm, nodes, bytes }
}

fn jobs() -> Vec<Cm5Run> {
    let of = |algorithm| NODES.into_iter().flat_map(move |nodes| SIZES.map(|(bytes, _)| job(algorithm, nodes, bytes)));
    ALGORITHMS.into_iter().flat_map(of).collect()
}

/// The times of the three, in milliseconds.
struct Times {
    pairwise: f64,
    recursive: f64,
    balanced: f64,
}

fn times_of(runs: &Results, nodes: u32, bytes: u32) -> Result<Times, MissingAnswer> {
    let time = |algorithm| milliseconds(runs, job(algorithm, nodes, bytes));
    let [pairwise, recursive, balanced] = ALGORITHMS.map(time);
    Ok(Times { pairwise: pairwise?, recursive: recursive?, balanced: balanced? })
}

/// The text's statements about messages of that size on `nodes` nodes: quantities by name, each a quotient of two
/// times.
fn quotients(nodes: u32, bytes: u32, times: &Times) -> Vec<(&'static str, f64)> {
    let Times { pairwise, recursive, balanced } = *times;
    let (least, most) = (pairwise.min(balanced), pairwise.max(balanced));
    match bytes {
        0 => vec![("empty_recursive_over_others", recursive / least)],
        256 if nodes <= SMALL => vec![("small_256_pairwise_over_recursive", pairwise / recursive)],
        256 => {
            let mut both = vec![("balanced_over_others", balanced / pairwise.min(recursive))];
            if nodes >= LARGE {
                both.push(("large_256_recursive_over_pairwise", recursive / pairwise));
            }
            both
        }
        _ if nodes <= SMALL => vec![("small_others_over_recursive", most / recursive)],
        _ if nodes >= LARGE => vec![("large_recursive_over_others", recursive / least)],
        _ => Vec::new(),
    }
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let mut found: BTreeMap<&'static str, Vec<(String, f64)>> = BTreeMap::new();
    for (bytes, _) in SIZES {
        for nodes in NODES {
            for (name, quotient) in quotients(nodes, bytes, &times_of(runs, nodes, bytes)?) {
                found.entry(name).or_default().push((format!("{bytes} B, {nodes} nodes"), quotient));
            }
        }
    }
    let findings = Findings::counted(|holding, of| json!({"as_stated": holding, "of": of}));
    Ok(found.into_iter().fold(findings, |findings, (name, cases)| findings.with(name, cases)))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut panels = Vec::new();
    for (bytes, figure) in SIZES {
        let line = |algorithm: Complete| {
            let point = |nodes| Ok((f64::from(nodes), milliseconds(runs, job(algorithm, nodes, bytes))?));
            let points = NODES.into_iter().map(point).collect::<Result<Vec<_>, MissingAnswer>>()?;
            Ok((algorithm.name().to_string(), mark(algorithm), points))
        };
        let lines = ALGORITHMS.into_iter().map(line).collect::<Result<Vec<_>, MissingAnswer>>()?;
        let title = format!("figure {figure}: messages of {bytes} B");
        panels.push(chart(&title, machines(&NODES), many_milliseconds(), lines));
    }
    let keys: Vec<_> = ALGORITHMS.map(|algorithm| (algorithm.name().to_string(), mark(algorithm))).to_vec();
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels,
        caption: "Time of a complete exchange over the number of nodes. Both axes are logarithmic.".to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::paper;

    /// What section 2 prints: an empty message takes 88 us, and no node sends more than 20 MB/s, of which 16 are data.
    const EMPTY: f64 = 88.0;
    const LEAST_A_BYTE: f64 = 1.0 / 16.0;

    /// How much longer recursive exchange takes on 256 nodes than pairwise, at least, if a message of `bytes` over each
    /// level of the tree takes 88 us and a time for every byte that is no less than the peak rate allows. Where a
    /// message and its answer go one after the other, both take twice that. [us]
    fn recursive_takes_longer(bytes: f64) -> f64 {
        // In both, a node's partners are below the first, second, third and fourth level of routers.
        let [pairwise, recursive] = [[3.0, 12.0, 48.0, 192.0], [2.0; 4]];
        let of_level = |level: usize| {
            let more: f64 = 128.0 * recursive[level] - pairwise[level];
            assert!(more > 0.0, "a slower level only adds to the difference");
            EMPTY * (recursive[level] - pairwise[level]) + bytes * LEAST_A_BYTE * more
        };
        (0..4).map(of_level).sum()
    }

    #[test]
    fn figures_7_and_8_contradict_what_section_2_prints() {
        assert!(recursive_takes_longer(256.0) < 0.0, "figure 6 does not");
        assert!((recursive_takes_longer(512.0) - 2_872.0).abs() < 1.0);
        assert!((recursive_takes_longer(1920.0) - 70_544.0).abs() < 1.0);
    }

    #[test]
    fn figure_7_contradicts_table_5() {
        let claims = paper().unwrap().claims;
        let table5 = claims.get("cm5.table5.fft").unwrap();
        let row = table5.printed_rows("p256").unwrap()[3].clone();
        assert_eq!(8 * 2048 * 2048 / (256 * 256), 512, "bytes of a message");
        let [_, pairwise, recursive, balanced] = row[..] else { panic!("four columns") };
        assert!(recursive > pairwise && recursive > balanced, "only the exchange differs between the columns");
    }
}
