//! Section 3.1: the fast engine against the one that moves every flit.

use super::job::{Engine, Load, MocRun, Platform};
use super::{Results, StudyOfMoc};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Cell, Table, fixed, significant};

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "section 3.1",
    title: "the fast engine against every single flit",
    claims: &["moc.sec3.fast_sim"],
    jobs,
    judge: |_, runs| judge(runs),
    draw,
};

/// The runs of both engines: large messages, so that flits matter, on both networks, with few buffers and many.
const CASES: [(Platform, Load, u32); 5] = [
    (Platform::Basic, Load::UnequalDist, 1),
    (Platform::Basic, Load::UnequalDist, 16),
    (Platform::Basic, Load::EqualDist, 1),
    (Platform::Clustered, Load::UnequalDist, 1),
    (Platform::Basic, Load::AllToAll { rounds: 1 }, 4),
];
/// The message size of all of them. [B]
const BYTES: u32 = 512;

/// The two runs of a case: fast, reference.
fn pair((platform, load, buffers): (Platform, Load, u32)) -> [MocRun; 2] {
    let job = MocRun::new(platform, load, BYTES).with_buffers(buffers);
    [Engine::FastTimed, Engine::ReferenceTimed].map(|engine| MocRun { engine, ..job })
}

fn jobs() -> Vec<MocRun> {
    CASES.into_iter().flat_map(pair).collect()
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut packets, mut differing) = (Vec::new(), Vec::new());
    let (mut fast_time, mut reference_time) = (0.0, 0.0);
    for case in CASES {
        let [fast_job, reference_job] = pair(case);
        let (fast, reference) = (runs.get(&fast_job)?, runs.get(&reference_job)?);
        let same = [
            fast.answer.finish == reference.answer.finish,
            fast.answer.channels == reference.answer.channels,
            fast.answer.routers == reference.answer.routers,
            fast.answer.ranks == reference.answer.ranks,
        ];
        let place = MocRun { engine: Engine::Fast, ..fast_job }.to_string();
        packets.push((place.clone(), fast.answer.packets as f64));
        differing.push((place, same.iter().filter(|same| !**same).count() as f64));
        fast_time += fast.elapsed.as_secs_f64();
        reference_time += reference.elapsed.as_secs_f64();
    }
    let ratio = reference_time / fast_time.max(1e-9);
    Ok(Findings::numbers(serde_json::json!(ratio), serde_json::Value::Null)
        .with("packets", packets)
        .with("differing", differing)
        .with_number("times_as_fast", ratio))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut table = Table::with_head(&["run", "packets", "flits moved", "every flit", "fast", "ratio"]);
    for case in CASES {
        let [fast_job, reference_job] = pair(case);
        let (fast, reference) = (runs.get(&fast_job)?, runs.get(&reference_job)?);
        let (quick, slow) = (fast.elapsed.as_secs_f64(), reference.elapsed.as_secs_f64());
        let mut plain = fast_job;
        plain.engine = Engine::Fast;
        let millions = |count: u64| format!("{} million", significant(count as f64 / 1e6));
        table.rows.push(vec![
            Cell::Words(plain.to_string()),
            Cell::Number(fast.answer.packets.to_string()),
            Cell::Number(millions(fast.answer.flit_hops)),
            Cell::Number(format!("{} s", significant(slow))),
            Cell::Number(format!("{} s", significant(quick))),
            Cell::Number(fixed(slow / quick.max(1e-9), 1)),
        ]);
    }
    Ok(Some(Drawing {
        legend: None,
        panels: vec![table.draw()],
        caption:
            "Wall time of the two engines on this machine, one run at a time; flits moved are flits times channels \
                  crossed. These times, and the ratio above, are the only figures of this page that differ from run to \
                  run."
                .to_string(),
    }))
}
