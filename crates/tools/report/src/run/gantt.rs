//! What ranks did, and when, as a Gantt chart: a row for each rank, or for a block of ranks where there are many, with
//! the critical path across them.

use std::iter::zip;

use quantities::{Duration, Rank, Time};
use virtual_worlds::answer::{Activity, Timeline};
use virtual_worlds::critical_path::{Cause, CriticalPath, Stretch, Trace};

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

/// What takes a rank's time in the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RankActivity {
    Computing,
    Sending,
    Receiving,
    Waiting,
}

impl RankActivity {
    pub(super) const ALL: [RankActivity; 4] =
        [RankActivity::Computing, RankActivity::Sending, RankActivity::Receiving, RankActivity::Waiting];

    /// Its name, which is also its class in the style sheet.
    pub(super) const fn name(self) -> &'static str {
        match self {
            RankActivity::Computing => "computing",
            RankActivity::Sending => "sending",
            RankActivity::Receiving => "receiving",
            RankActivity::Waiting => "waiting",
        }
    }
}

/// A stretch of a rank's time.
struct ActivityStretch {
    rank: Rank,
    doing: RankActivity,
    start: Time,
    end: Time,
}

/// What ranks did, and when.
pub(super) struct Gantt<'run> {
    pub(super) timeline: &'run Timeline,
    pub(super) trace: &'run Trace<'run>,
    pub(super) path: Option<&'run CriticalPath>,
    pub(super) makespan: Time,
    pub(super) ranks: usize,
    /// What the numbers count: ranks, or nodes where there are ranks of several jobs.
    pub(super) of: &'static str,
    /// For each rank the job that it belongs to, where there are several.
    pub(super) job_of: Vec<Option<usize>>,
}

impl Gantt<'_> {
    /// Every stretch of time. A receive counts as waiting until its message has arrived.
    fn stretches(&self) -> impl Iterator<Item = ActivityStretch> + '_ {
        zip(0.., &self.timeline.spans).flat_map(|(number, span)| {
            let stretch = |doing, start, end| Some(ActivityStretch { rank: span.rank, doing, start, end });
            match span.activity {
                Activity::Compute => [stretch(RankActivity::Computing, span.start, span.end), None],
                Activity::Send => [stretch(RankActivity::Sending, span.start, span.end), None],
                Activity::Receive => {
                    let message = self.trace.message_of(number).map(|message| self.trace.message(message));
                    let there = message.map_or(span.end, |message| message.arrived).clamp(span.start, span.end);
                    [
                        stretch(RankActivity::Waiting, span.start, there),
                        stretch(RankActivity::Receiving, there, span.end),
                    ]
                }
            }
            .into_iter()
            .flatten()
            .filter(|stretch| stretch.start < stretch.end)
        })
    }

    /// How long each rank spent on each activity, in the order of [`RankActivity::ALL`].
    pub(super) fn sums(&self) -> Vec<[Duration; 4]> {
        let mut sums = vec![[Duration::ZERO; 4]; self.ranks];
        for ActivityStretch { rank, doing, start, end } in self.stretches() {
            sums[rank.0 as usize][doing as usize] += end.since(start);
        }
        sums
    }

    /// The column of a time, among `columns` of them.
    fn column(&self, time: Time, columns: u32) -> u32 {
        let whole = u128::from(self.makespan.picoseconds().max(1));
        (u128::from(time.picoseconds()) * u128::from(columns) / whole).min(u128::from(columns)) as u32
    }

    /// How many ranks share a row.
    fn block(&self) -> usize {
        self.ranks.div_ceil(MOST_ROWS).max(1)
    }

    fn row(&self, rank: Rank) -> u32 {
        (rank.0 as usize / self.block()) as u32
    }

    /// Draws it.
    pub(super) fn draw(&self) -> Element {
        let rows = self.ranks.div_ceil(self.block()).max(1) as u32;
        let is_few = self.timeline.spans.len() <= FEW && self.block() == 1;
        let columns = if is_few { FINE } else { COARSE };
        let ground = element("rect").class("ground").attribute("width", columns).attribute("height", rows);
        let drawn = if is_few { self.one_by_one() } else { self.as_cells(rows) };
        let path = self.path.map(|path| self.line(path, columns));
        let ranks = if self.block() == 1 { String::new() } else { format!(", {} in a row", self.block()) };
        let plane = Plane {
            summary:
                "What each rank did, and when, with the critical path across them. The tables below have the sums."
                    .to_owned(),
            level: time_axis(self.makespan),
            upright: (format!("{}{ranks}", self.of), ticks_of_count(self.ranks, 12)),
            size: [columns, rows],
            height: Some((rows * ROW).clamp(LOWEST, HIGHEST)),
            content: std::iter::once(ground).chain(drawn).chain(self.jobs(columns)).chain(path).collect(),
        };
        plane.draw()
    }

    fn one_by_one(&self) -> Vec<Element> {
        let drawn = |ActivityStretch { rank, doing, start, end }: ActivityStretch| {
            let (from, to) = (self.column(start, FINE), self.column(end, FINE));
            let mut cells = Cells::default();
            cells.add(from, self.row(rank), (to - from).max(1));
            let drawn = cells.drawn(doing.name())?;
            let (from, to) = (rounded(start.since(Time::ZERO)), rounded(end.since(Time::ZERO)));
            Some(titled(drawn, &format!("{} {rank}, {}: {from} to {to}", self.of, doing.name())))
        };
        self.stretches().filter_map(drawn).collect()
    }

    /// For each row and column, what took most of the time there, if anything did; equal neighbours are merged.
    fn as_cells(&self, rows: u32) -> Vec<Element> {
        let columns = COARSE as usize;
        let mut taken = vec![[0_u64; 4]; rows as usize * columns];
        let width = (self.makespan.picoseconds() / u64::from(COARSE)).max(1);
        for ActivityStretch { rank, doing, start, end } in self.stretches() {
            let (first, last) = (start.picoseconds() / width, (end.picoseconds() - 1) / width);
            let row = self.row(rank) as usize * columns;
            for column in first..=last.min(columns as u64 - 1) {
                let (from, to) = (start.picoseconds().max(column * width), end.picoseconds().min((column + 1) * width));
                taken[row + column as usize][doing as usize] += to.saturating_sub(from);
            }
        }
        let most = |cell: &[u64; 4]| {
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
        let of_rows = self.job_of.iter().step_by(self.block());
        let known = zip(0.., of_rows).filter_map(|(row, job)| Some((row, (*job)?)));
        let mut drawn: Vec<Cells> = (0..STYLES).map(|_| Cells::default()).collect();
        known.for_each(|(row, job)| drawn[job % STYLES].add(0, row, width));
        zip(0.., drawn).filter_map(|(style, cells)| cells.drawn(&format!("s{style}"))).collect()
    }

    /// The line of the critical path from row to row.
    fn line(&self, path: &CriticalPath, columns: u32) -> Element {
        let mut line = String::new();
        let mut before: Option<(u32, u32)> = None;
        let apart = columns / MOST_POINTS;
        let middle = |rank: Rank| self.row(rank) * 2 + 1;
        let mut go = |rank: Rank, time: Time, must: bool| {
            let place = (self.column(time, columns), middle(rank));
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
        element("path").class("critical").attribute("d", line)
    }
}

/// The axis of time until `end`, in the unit that suits.
fn time_axis(end: Time) -> (String, Vec<Tick>) {
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
