//! The figures of a run by themselves, each for a slide.

use virtual_worlds::critical_path::Trace;

use super::activity::RankActivity;
use super::bands::bands;
use super::gantt::{Gantt, Rows};
use super::groups::singled_out;
use super::{FEW_RANKS, RunPage, percent, whole_percent};
use crate::figure::{Figure, FigureDrawing, bar_with_words};
use crate::network_map::heat_steps;
use crate::terminal::rounded;
use crate::{ChannelShading, NetworkMap, RegionMap};

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureName {
    /// The network, and what its channels carried.
    Map,
    /// What ranks did, and when.
    Timeline,
    /// Where the time of the critical path went.
    Path,
}

impl FigureName {
    /// All of them.
    pub const fn all() -> [FigureName; 3] {
        [FigureName::Map, FigureName::Timeline, FigureName::Path]
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            FigureName::Map => "map",
            FigureName::Timeline => "timeline",
            FigureName::Path => "path",
        }
    }

    /// A line that explains it.
    pub const fn about(self) -> &'static str {
        match self {
            FigureName::Map => "The network, and what its channels carried",
            FigureName::Timeline => "What ranks did, and when",
            FigureName::Path => "Where the time of the critical path went",
        }
    }
}

quantities::written_by_name!(FigureName);

impl RunPage<'_> {
    /// A figure; none if the run has nothing to draw in it: no network, or no timeline.
    pub fn figure(&self, name: FigureName) -> Option<Figure> {
        let (keys, drawings) = match name {
            FigureName::Map => self.map_figure()?,
            FigureName::Timeline => self.timeline_figure()?,
            FigureName::Path => self.path_figure()?,
        };
        let why = self.path.and_then(|path| self.why(path));
        let caption = why.map_or_else(|| self.lead(), |why| why.bound);
        Some(Figure { title: self.title(), caption, keys, drawings })
    }

    /// The figure that says most about why the run took as long as it did; none if it has none.
    pub fn best_figure(&self) -> Option<FigureName> {
        let parts = self.path.map(|path| path.parts());
        let has_map = self.machine.network().is_some();
        let order = match parts {
            Some(parts) if has_map && parts.contention.picoseconds() * 2 > parts.sum().picoseconds() => {
                [FigureName::Map, FigureName::Timeline, FigureName::Path]
            }
            Some(parts) if (parts.computing + parts.waiting).picoseconds() * 2 > parts.sum().picoseconds() => {
                [FigureName::Timeline, FigureName::Path, FigureName::Map]
            }
            Some(_) => [FigureName::Path, FigureName::Timeline, FigureName::Map],
            None => [FigureName::Map, FigureName::Timeline, FigureName::Path],
        };
        order.into_iter().find(|name| self.has(*name))
    }

    /// Whether there is something to draw in a figure.
    fn has(&self, name: FigureName) -> bool {
        match name {
            FigureName::Map => self.machine.network().is_some(),
            FigureName::Timeline => self.answer.timeline.is_some(),
            FigureName::Path => self.path.is_some(),
        }
    }

    fn map_figure(&self) -> Option<Parts> {
        let network = self.machine.network()?;
        let job_of = &self.marked_nodes()[..];
        let shows = ChannelShading::Carried;
        let regions = || RegionMap::new(network, self.answer, shows, job_of);
        let fixed = |(drawing, size)| FigureDrawing::fixed(drawing, size);
        let drawing = match NetworkMap::is_readable(network) {
            true => fixed(NetworkMap::of(network, self.answer, shows, job_of).draw_sized()),
            false if regions().is_readable() => fixed(regions().draw_sized()),
            false => FigureDrawing::filling(regions().matrix(), 1.0),
        };
        let keys = heat_steps(1.0)
            .map(|(class, share)| (format!("heat-key {class}"), format!("{} busy", whole_percent(share))));
        Some((keys.collect(), vec![drawing]))
    }

    fn timeline_figure(&self) -> Option<Parts> {
        let timeline = self.answer.timeline.as_ref()?;
        let trace = Trace::new(timeline, self.answer.finish.len());
        let activities = self.activities(timeline, &trace);
        let (of, ranks) = (self.numbers_of(), activities.ranks);
        let chart = |rows: Rows| Gantt { activities, path: self.path, rows, of, job_of: self.job_of() }.plane();
        let drawings = if ranks <= FEW_RANKS {
            vec![FigureDrawing::filling(chart(Rows::in_order(ranks, of)), 1.0)]
        } else {
            let singled = singled_out(self.path, &self.answer.finish);
            vec![
                FigureDrawing::filling(bands(activities, of), 0.5),
                FigureDrawing::filling(chart(Rows::of(&singled, ranks, of)), 0.5),
            ]
        };
        let sums = activities.sums();
        let occurs = |doing: &RankActivity| sums.iter().any(|sums| !sums[*doing as usize].is_zero());
        let keys = RankActivity::ALL.into_iter().filter(occurs);
        let keys = keys.map(|doing| (format!("key {}", doing.name()), doing.name().to_owned()));
        let path = self.path.map(|_| ("critical".to_owned(), "critical path".to_owned()));
        Some((keys.chain(path).collect(), drawings))
    }

    fn path_figure(&self) -> Option<Parts> {
        let parts = self.path?.parts();
        let whole = parts.sum().picoseconds().max(1) as f64;
        let pieces: Vec<(String, f64, String)> = parts
            .each()
            .into_iter()
            .filter(|(_, length)| !length.is_zero())
            .map(|(part, length)| {
                let name = part.name();
                let share = length.picoseconds() as f64 / whole;
                (format!("part {name}"), share, format!("{name}: {} ({})", rounded(length), percent(share)))
            })
            .collect();
        Some((Vec::new(), vec![bar_with_words(&pieces)]))
    }
}

/// What a figure consists of besides its words: its keys and its drawings.
type Parts = (Vec<(String, String)>, Vec<FigureDrawing>);
