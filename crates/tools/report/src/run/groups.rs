//! Ranks grouped by what took most of their time, and those that waited by whom they waited for.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::iter::zip;

use quantities::{Duration, Rank, Time};
use virtual_worlds::critical_path::{Cause, CriticalPath, Trace};

use super::activity::RankActivity;

/// Ranks that are alike.
#[derive(Debug)]
pub(super) struct RankGroup {
    /// What took most of their time; nothing, if most of it passed without anything to do.
    pub(super) doing: Option<RankActivity>,
    /// The rank that they waited for longest, if they waited most of the time and many waited for the same.
    pub(super) awaited: Option<Rank>,
    /// The ranks: those whose main activity took longest first.
    pub(super) ranks: Vec<Rank>,
    /// The mean share of the run that the activity took.
    pub(super) share: f64,
}

impl RankGroup {
    /// What took most of their time.
    pub(super) fn words(&self) -> String {
        self.doing.map_or("nothing to do".to_owned(), |doing| doing.name().to_owned())
    }
}

/// In what the ranks of a group are alike: their main activity, and the rank that they waited for.
type Likeness = (Option<RankActivity>, Option<Rank>);

/// How long each rank did each thing.
type Sums = [[Duration; RankActivity::COUNT]];

/// Groups the ranks of a run that took `makespan`; the largest group comes first.
pub(super) fn groups(sums: &Sums, trace: &Trace<'_>, makespan: Duration) -> Vec<RankGroup> {
    let longest = longest_waits(trace, sums.len());
    let mut popular: BTreeMap<Rank, usize> = BTreeMap::new();
    longest.iter().flatten().for_each(|rank| *popular.entry(*rank).or_default() += 1);
    let enough = (sums.len() / 16).max(4);
    let mut groups: BTreeMap<Likeness, Vec<(Duration, Rank)>> = BTreeMap::new();
    for (rank, sums) in zip(0.., sums) {
        let (doing, length) = main_activity(sums, makespan);
        let awaited = longest[rank as usize].filter(|awaited| popular[awaited] >= enough);
        let awaited = awaited.filter(|_| doing == Some(RankActivity::Waiting));
        groups.entry((doing, awaited)).or_default().push((length, Rank(rank)));
    }
    let whole = makespan.seconds().max(1e-12);
    let group = |((doing, awaited), mut ranks): (_, Vec<(Duration, Rank)>)| {
        ranks.sort_by_key(|&(length, rank)| (Reverse(length), rank));
        let sum: f64 = ranks.iter().map(|(length, _)| length.seconds()).sum();
        let share = sum / whole / ranks.len() as f64;
        RankGroup { doing, awaited, share, ranks: ranks.into_iter().map(|(_, rank)| rank).collect() }
    };
    let mut groups: Vec<RankGroup> = groups.into_iter().map(group).collect();
    groups.sort_by_key(|group| Reverse(group.ranks.len()));
    groups
}

/// What took most of a rank's time, and how long; what remains of the makespan counts as nothing to do.
fn main_activity(sums: &[Duration; RankActivity::COUNT], makespan: Duration) -> (Option<RankActivity>, Duration) {
    let busy: Duration = sums.iter().copied().sum();
    let idle = makespan - busy.min(makespan);
    let activities = RankActivity::ALL.into_iter().map(|doing| (Some(doing), sums[doing as usize]));
    activities.chain([(None, idle)]).max_by_key(|(_, length)| *length).unwrap_or((None, idle))
}

/// For each rank the one that it waited for longest, if it waited.
fn longest_waits(trace: &Trace<'_>, ranks: usize) -> Vec<Option<Rank>> {
    let mut waits: BTreeMap<(Rank, Rank), Duration> = BTreeMap::new();
    trace.waits().for_each(|(waiting, awaited, length)| *waits.entry((waiting, awaited)).or_default() += length);
    let mut longest: Vec<Option<(Duration, Rank)>> = vec![None; ranks];
    for ((waiting, awaited), length) in waits {
        let most = &mut longest[waiting.0 as usize];
        if !length.is_zero() && most.is_none_or(|(before, _)| before < length) {
            *most = Some((length, awaited));
        }
    }
    longest.into_iter().map(|most| most.map(|(_, rank)| rank)).collect()
}

/// Ranks to single out: those with most of the critical path's time, and those that ended last.
pub(super) fn singled_out(path: Option<&CriticalPath>, finish: &[Time]) -> Vec<Rank> {
    const CRITICAL: usize = 12;
    const LAST: usize = 4;
    let mut on_path: BTreeMap<Rank, Duration> = BTreeMap::new();
    for step in path.into_iter().flat_map(|path| &path.steps) {
        let ends = match step.cause {
            Cause::Message { from, to, .. } => [from, to],
            Cause::Computing | Cause::Waiting => [step.rank; 2],
        };
        ends.into_iter().for_each(|rank| *on_path.entry(rank).or_default() += step.length());
    }
    let mut critical: Vec<(Rank, Duration)> = on_path.into_iter().collect();
    critical.sort_by_key(|&(rank, length)| (Reverse(length), rank));
    let mut chosen: Vec<Rank> = critical.into_iter().take(CRITICAL).map(|(rank, _)| rank).collect();
    let mut last: Vec<Rank> = (0..finish.len() as u32).map(Rank).collect();
    last.sort_by_key(|rank| (Reverse(finish[rank.0 as usize]), *rank));
    for rank in last.into_iter().take(LAST) {
        if !chosen.contains(&rank) {
            chosen.push(rank);
        }
    }
    chosen.sort_unstable();
    chosen
}
