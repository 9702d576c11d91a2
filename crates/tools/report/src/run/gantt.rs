//! What ranks did, and when, as a Gantt chart: a row for each rank, or for a block of ranks where there are many, with
//! the critical path across them.

use std::iter::zip;

use quantities::{Rank, Time};
use virtual_worlds::critical_path::{Cause, CriticalPath, Stretch};

use super::activity::{Activities, ActivityStretch, RankActivity};
use crate::STYLES;
use crate::frame::titled;
use crate::markup::{Element, element};
use crate::plane::{Cells, Plane, Tick, ticks_of_count};
use crate::terminal::rounded;

/// Up to this many stretches of time are drawn one by one; more are drawn as cells, each in the colour of what took
/// most of its time.
const FEW: usize = 3_000;
/// Columns, where stretches are drawn one by one.
const FINE: u32 = 10_000;
/// Columns of cells.
const COARSE: u32 = 440;
/// The most rows.
const MOST_ROWS: usize = 208;
/// The height of a row, and the greatest and least height of all rows. [px]
const ROW: u32 = 14;
const HIGHEST: u32 = 620;
const LOWEST: u32 = 56;
/// The most points of the critical path's line.
const MOST_POINTS: u32 = 2_000;

/// Which ranks have which rows.
pub(super) struct Rows {
    /// For each rank its row, if it has one.
    of_rank: Vec<Option<u32>>,
    count: u32,
    /// What the rows are, and ticks beside them.
    axis: (String, Vec<Tick>),
}

impl Rows {
    /// All ranks in order, or in blocks if they are too many.
    pub(super) fn in_order(ranks: usize, of: &str) -> Rows {
        let block = ranks.div_ceil(MOST_ROWS).max(1);
        let of_rank = (0..ranks).map(|rank| Some((rank / block) as u32)).collect();
        let each = if block == 1 { String::new() } else { format!(", {block} in a row") };
        let axis = (format!("{of}{each}"), ticks_of_count(ranks, 12));
        Rows { of_rank, count: ranks.div_ceil(block).max(1) as u32, axis }
    }

    /// These ranks, one in a row.
    pub(super) fn of(chosen: &[Rank], ranks: usize, of: &str) -> Rows {
        let mut of_rank = vec![None; ranks];
        zip(0.., chosen).for_each(|(row, rank)| of_rank[rank.0 as usize] = Some(row));
        let middle = |row: usize| (row as f64 + 0.5) / chosen.len().max(1) as f64;
        let ticks = zip(0.., chosen).map(|(row, rank)| (middle(row), rank.to_string())).collect();
        Rows { of_rank, count: chosen.len().max(1) as u32, axis: (of.to_owned(), ticks) }
    }

    /// Groups of ranks one below the other, each with its name; a row has several ranks of one group if they are many.
    pub(super) fn grouped<'a>(groups: impl Iterator<Item = (String, &'a [Rank])>, ranks: usize, of: &str) -> Rows {
        let block = ranks.div_ceil(MOST_ROWS).max(1);
        let mut of_rank = vec![None; ranks];
        let (mut row, mut starts) = (0, Vec::new());
        for (name, members) in groups {
            let rows = members.len().div_ceil(block) as u32;
            starts.push((row, rows, name));
            zip(0.., members).for_each(|(place, rank)| of_rank[rank.0 as usize] = Some(row + (place / block) as u32));
            row += rows;
        }
        let tick = |(first, rows, name): (u32, u32, String)| {
            ((f64::from(first) + f64::from(rows) / 2.0) / f64::from(row.max(1)), name)
        };
        let each = if block == 1 { String::new() } else { format!(", {block} in a row") };
        let axis = (format!("group of {of}s{each}"), starts.into_iter().map(tick).collect());
        Rows { of_rank, count: row.max(1), axis }
    }

    fn of_rank(&self, rank: Rank) -> Option<u32> {
        self.of_rank[rank.0 as usize]
    }

    /// Whether each row is one rank.
    fn are_single(&self) -> bool {
        self.of_rank.iter().flatten().count() <= self.count as usize
    }
}

/// What ranks did, and when.
pub(super) struct Gantt<'run> {
    pub(super) activities: Activities<'run>,
    pub(super) path: Option<&'run CriticalPath>,
    pub(super) rows: Rows,
    /// What the numbers count: ranks, or nodes where there are ranks of several jobs.
    pub(super) of: &'static str,
    /// For each rank the job that it belongs to, where there are several.
    pub(super) job_of: Vec<Option<usize>>,
}

impl Gantt<'_> {
    /// The column of a time, among `columns` of them.
    fn column(&self, time: Time, columns: u32) -> u32 {
        let whole = u128::from(self.activities.makespan.picoseconds().max(1));
        (u128::from(time.picoseconds()) * u128::from(columns) / whole).min(u128::from(columns)) as u32
    }

    /// The stretches of ranks that have a row.
    fn stretches(&self) -> impl Iterator<Item = (u32, ActivityStretch)> + '_ {
        let row = |stretch: ActivityStretch| Some((self.rows.of_rank(stretch.rank)?, stretch));
        self.activities.stretches().filter_map(row)
    }

    /// The drawing.
    pub(super) fn plane(&self) -> Plane {
        let rows = self.rows.count;
        let is_few = self.rows.are_single() && self.stretches().take(FEW + 1).count() <= FEW;
        let columns = if is_few { FINE } else { COARSE };
        let ground = element("rect").class("ground").attribute("width", columns).attribute("height", rows);
        let drawn = if is_few { self.one_by_one() } else { self.as_cells(rows) };
        let path = self.path.map(|path| self.line(path, columns)).into_iter().flatten();
        Plane {
            summary:
                "What each rank did, and when, with the critical path across them. The tables below have the sums."
                    .to_owned(),
            level: time_axis(self.activities.makespan),
            upright: self.rows.axis.clone(),
            size: [columns, rows],
            height: Some((rows * ROW).clamp(LOWEST, HIGHEST)),
            content: std::iter::once(ground).chain(drawn).chain(self.jobs(columns)).chain(path).collect(),
        }
    }

    fn one_by_one(&self) -> Vec<Element> {
        let drawn = |(row, ActivityStretch { rank, doing, start, end }): (u32, ActivityStretch)| {
            let (from, to) = (self.column(start, FINE), self.column(end, FINE));
            let mut cells = Cells::default();
            cells.add(from, row, (to - from).max(1));
            let drawn = cells.drawn(doing.name())?;
            let (from, to) = (rounded(start.since(Time::ZERO)), rounded(end.since(Time::ZERO)));
            Some(titled(drawn, &format!("{} {rank}, {}: {from} to {to}", self.of, doing.name())))
        };
        self.stretches().filter_map(drawn).collect()
    }

    /// For each row and column, what took most of the time there, if anything did; equal neighbours are merged.
    fn as_cells(&self, rows: u32) -> Vec<Element> {
        let columns = COARSE as usize;
        let mut taken = vec![[0_u64; RankActivity::COUNT]; rows as usize * columns];
        let width = (self.activities.makespan.picoseconds() / u64::from(COARSE)).max(1);
        for (row, ActivityStretch { doing, start, end, .. }) in self.stretches() {
            let (first, last) = (start.picoseconds() / width, (end.picoseconds() - 1) / width);
            let row = row as usize * columns;
            for column in first..=last.min(columns as u64 - 1) {
                let (from, to) = (start.picoseconds().max(column * width), end.picoseconds().min((column + 1) * width));
                taken[row + column as usize][doing as usize] += to.saturating_sub(from);
            }
        }
        let most = |cell: &[u64; RankActivity::COUNT]| {
            let most = RankActivity::ALL.into_iter().rev().max_by_key(|doing| cell[*doing as usize]);
            most.filter(|doing| cell[*doing as usize] > 0)
        };
        let mut drawn = RankActivity::ALL.map(|_| Cells::default());
        for (row, cells) in zip(0.., taken.chunks(columns)) {
            let mut column = 0;
            for alike in cells.chunk_by(|one, other| most(one) == most(other)) {
                let width = alike.len() as u32;
                if let Some(doing) = alike.first().and_then(most) {
                    drawn[doing as usize].add(column, row, width);
                }
                column += width;
            }
        }
        zip(RankActivity::ALL, drawn).filter_map(|(doing, cells)| cells.drawn(doing.name())).collect()
    }

    /// A mark at the left edge of each row, in the colour of its first rank's job.
    fn jobs(&self, columns: u32) -> Vec<Element> {
        let width = (columns / 160).max(1);
        let mut of_row: Vec<Option<usize>> = vec![None; self.rows.count as usize];
        for (rank, job) in zip(0.., &self.job_of) {
            if let (Some(row), Some(job)) = (self.rows.of_rank(Rank(rank)), job) {
                of_row[row as usize].get_or_insert(*job);
            }
        }
        let mut drawn: Vec<Cells> = (0..STYLES).map(|_| Cells::default()).collect();
        for (row, job) in zip(0.., of_row) {
            if let Some(job) = job {
                drawn[job % STYLES].add(0, row, width);
            }
        }
        zip(0.., drawn).filter_map(|(style, cells)| cells.drawn(&format!("s{style}"))).collect()
    }

    /// The line of the critical path from row to row, past ranks that have none, over a wider one in the colour of the
    /// paper: so it can be seen whatever is below it.
    fn line(&self, path: &CriticalPath, columns: u32) -> [Element; 2] {
        let mut line = String::new();
        let mut before: Option<(u32, u32)> = None;
        let apart = columns / MOST_POINTS;
        let mut go = |rank: Rank, time: Time, must: bool| {
            let Some(row) = self.rows.of_rank(rank) else { return };
            let place = (self.column(time, columns), row * 2 + 1);
            let is_near = before.is_some_and(|before| place.0 - before.0.min(place.0) <= apart && !must);
            if before != Some(place) && !is_near {
                let letter = if before.is_none() { 'M' } else { 'L' };
                line.push_str(&format!("{letter}{} {}", place.0, f64::from(place.1) / 2.0));
                before = Some(place);
            }
        };
        for (step, left) in zip(&path.steps, (0..path.steps.len()).rev()) {
            let end = match step.cause {
                Cause::Message { to, stretch: Stretch::Whole, .. } => to,
                _ => step.rank,
            };
            go(step.rank, step.start, false);
            go(end, step.end, left == 0);
        }
        ["halo", "critical"].map(|class| element("path").class(class).attribute("d", &line))
    }
}

/// The axis of time until `end`, in the unit that suits.
pub(super) fn time_axis(end: Time) -> (String, Vec<Tick>) {
    let whole = end.picoseconds().max(1) as f64;
    let units = [("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("ms", 1e9), ("s", 1e12)];
    let (unit, scale) = units.into_iter().rev().find(|(_, scale)| whole >= 2.0 * scale).unwrap_or(units[0]);
    let rough = whole / scale / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough).unwrap_or(rough);
    let count = (whole / scale / step).floor() as u32;
    let tick = |number: u32| {
        let value = f64::from(number) * step;
        (value * scale / whole, crate::compact(value))
    };
    (format!("time [{unit}]"), (0..=count).map(tick).collect())
}
