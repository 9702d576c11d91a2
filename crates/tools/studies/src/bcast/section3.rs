//! Section 3: only receivers that lost a packet get it again; and everything arrives once, in order, undamaged.

use super::job::{BcastRun, NODES, Trouble};
use super::simulate::{BcastResult, MESSAGES};
use super::{Results, StudyOfBroadcast};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Cell, Table};

/// The seeds of the losses.
const SEEDS: std::ops::RangeInclusive<u32> = 1..=100;
const TROUBLES: [Trouble; 2] = [Trouble::Little, Trouble::Much];

/// The study.
pub const STUDY: StudyOfBroadcast = StudyOfBroadcast {
    place: "section 3",
    title: "broadcasts over a lossy network",
    claims: &["bcast.sec3.loss"],
    jobs: || {
        TROUBLES.into_iter().flat_map(|trouble| SEEDS.map(move |seed| BcastRun::Lossy { trouble, seed })).collect()
    },
    judge: |_, runs| judge(runs),
    draw,
};

/// The sum over all runs with the same faults.
#[derive(Default)]
struct Sum {
    messages: u32,
    right: u32,
    lost: u64,
    resent: u64,
    /// Runs in which every report came through, and the fate of their receivers.
    clear: u32,
    /// How often a new packet was broadcast while one of them was behind.
    while_behind: u32,
    /// Receivers that lost a packet and got it again.
    lost_and_resent: u32,
    /// Receivers that lost nothing and got nothing again.
    neither: u32,
    /// All others.
    otherwise: u32,
}

impl Sum {
    fn of(runs: &Results, trouble: Trouble) -> Result<Sum, MissingAnswer> {
        let mut sum = Sum::default();
        for seed in SEEDS {
            sum.add(runs.get(&BcastRun::Lossy { trouble, seed })?);
        }
        Ok(sum)
    }

    fn add(&mut self, measured: &BcastResult) {
        let BcastResult { right, resent, lost, broadcast_while_behind, .. } = measured;
        for (right, messages) in right {
            self.right += right;
            self.messages += messages;
        }
        self.lost += lost.iter().sum::<u64>();
        self.resent += resent.iter().sum::<u64>();
        let [of_root, of_receivers @ ..] = &lost[..] else { return };
        if *of_root > 0 {
            return;
        }
        self.clear += 1;
        self.while_behind += broadcast_while_behind;
        for (lost, resent) in of_receivers.iter().zip(resent.iter().skip(1)) {
            match (*lost > 0, *resent > 0) {
                (true, true) => self.lost_and_resent += 1,
                (false, false) => self.neither += 1,
                _ => self.otherwise += 1,
            }
        }
    }
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut right, mut lost) = (Vec::new(), Vec::new());
    for trouble in TROUBLES {
        let sum = Sum::of(runs, trouble)?;
        right.push((trouble.name().to_string(), f64::from(sum.right) / f64::from(sum.messages)));
        lost.push((trouble.name().to_string(), sum.lost as f64));
    }
    let Sum { lost_and_resent, neither, otherwise, while_behind, .. } = Sum::of(runs, Trouble::Little)?;
    let as_printed = |holding, of| if holding == of { "as printed".into() } else { "not as printed".into() };
    Ok(Findings::counted(as_printed)
        .with("right_share", right)
        .with("frames_lost", lost)
        .with_number("lost_and_resent", lost_and_resent.into())
        .with_number("spared", neither.into())
        .with_number("otherwise", otherwise.into())
        .with_number("broadcast_while_behind", while_behind.into()))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let mut table = Table::with_head(&["on the way", "runs", "messages", "right", "frames lost", "packets sent again"]);
    for (trouble, name) in TROUBLES.into_iter().zip(["0.1 % lost", "losses, bursts, duplicates, delays"]) {
        let Sum { messages, right, lost, resent, .. } = Sum::of(runs, trouble)?;
        let numbers =
            [SEEDS.count().to_string(), messages.to_string(), right.to_string(), lost.to_string(), resent.to_string()];
        let mut row = vec![Cell::Short(name.to_string())];
        row.extend(numbers.map(Cell::Number));
        table.rows.push(row);
    }
    let caption = format!(
        "{MESSAGES} broadcasts in turn of 8 B to 40 kB to the receivers of {NODES} nodes, from {} seeds each, with go-back-n and a window of 16. \
         Every receiver looks at every byte of what it is given.",
        SEEDS.count()
    );
    Ok(Some(Drawing { legend: None, panels: vec![table.draw()], caption }))
}
