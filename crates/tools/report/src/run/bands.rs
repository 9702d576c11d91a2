//! What ranks do over time, all of them together: for every moment the share of the ranks that compute, send, receive,
//! are blocked and wait, as bands on top of each other.

use quantities::Time;

use super::activity::{Activities, ActivityStretch, RankActivity};
use super::gantt::time_axis;
use crate::fixed;
use crate::markup::{Element, element};
use crate::plane::Plane;

/// Into how many intervals the run is divided.
const COLUMNS: u32 = 320;
/// The height of the drawing in its own units, and on the page. [px]
const HEIGHT: u32 = 1_000;
const ON_PAGE: u32 = 190;

/// How much rank time each activity took in each interval. [ps]
struct Shares {
    taken: Vec<[u128; RankActivity::COUNT]>,
    /// The rank time of an interval. [ps]
    whole: u128,
}

impl Shares {
    fn of(activities: Activities<'_>) -> Shares {
        let end = activities.makespan.picoseconds().max(1);
        let mut taken = vec![[0; RankActivity::COUNT]; COLUMNS as usize];
        let edge = |column: u64| u128::from(end) * u128::from(column) / u128::from(COLUMNS);
        let column_of = |time: Time| {
            (u128::from(time.picoseconds()) * u128::from(COLUMNS) / u128::from(end)).min(u128::from(COLUMNS - 1)) as u64
        };
        for ActivityStretch { doing, start, end, .. } in activities.stretches() {
            for column in column_of(start)..=column_of(end) {
                let from = u128::from(start.picoseconds()).max(edge(column));
                let to = u128::from(end.picoseconds()).min(edge(column + 1));
                taken[column as usize][doing as usize] += to.saturating_sub(from);
            }
        }
        let whole = u128::from(end).div_ceil(u128::from(COLUMNS)) * activities.ranks.max(1) as u128;
        Shares { taken, whole }
    }

    /// How high the first `count` activities reach in an interval, measured from above. [drawing units]
    fn reach(&self, column: usize, count: usize) -> f64 {
        let sum: u128 = self.taken[column][..count].iter().sum();
        f64::from(HEIGHT) * (1.0 - (sum as f64 / self.whole as f64).min(1.0))
    }

    /// The band of an activity: from left to right along its upper edge, and back along its lower one.
    fn band(&self, doing: RankActivity) -> Option<Element> {
        let place = doing as usize;
        if self.taken.iter().all(|taken| taken[place] == 0) {
            return None;
        }
        let edge = |count: usize, column: u32| {
            let y = fixed(self.reach(column as usize, count), 0);
            (format!("{column} {y}"), format!("{} {y}", column + 1))
        };
        let upper: Vec<String> = (0..COLUMNS)
            .map(|column| {
                let (left, right) = edge(place + 1, column);
                format!("L{left}L{right}")
            })
            .collect();
        let lower: Vec<String> = (0..COLUMNS)
            .rev()
            .map(|column| {
                let (left, right) = edge(place, column);
                format!("L{right}L{left}")
            })
            .collect();
        let way = format!("M{}{}{}Z", &upper[0][1..], upper[1..].concat(), lower.concat());
        Some(element("path").class(format!("band {}", doing.name())).attribute("d", way))
    }
}

/// The bands, as a drawing.
pub(super) fn bands(activities: Activities<'_>, of: &str) -> Plane {
    let shares = Shares::of(activities);
    let ground = element("rect").class("ground").attribute("width", COLUMNS).attribute("height", HEIGHT);
    let drawn = RankActivity::ALL.into_iter().filter_map(|doing| shares.band(doing));
    let percents = [100, 75, 50, 25, 0].map(|percent| (f64::from(100 - percent) / 100.0, percent.to_string()));
    Plane {
        summary: "The share of the ranks that do each thing, over time. The tables below have the sums.".to_owned(),
        level: time_axis(activities.makespan),
        upright: (format!("share of all {of}s [%]"), percents.to_vec()),
        size: [COLUMNS, HEIGHT],
        height: Some(ON_PAGE),
        content: std::iter::once(ground).chain(drawn).collect(),
    }
}
