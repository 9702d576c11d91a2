//! Bars in groups.

use super::axis::{Axis, Laid};
use super::frame::{self, BOTTOM, LEFT, RIGHT, TOP};
use super::legend::Mark;
use super::markup::{Element, element};
use super::numbers::fixed;

/// A chart of bars, in groups along the level axis.
#[derive(Clone, Debug)]
pub struct BarChart {
    /// Its title, above it.
    pub title: String,
    /// What the groups are: `flit buffers`.
    pub groups_label: String,
    /// The names of the groups, from left to right.
    pub groups: Vec<String>,
    /// The upright axis. Bars begin at zero.
    pub y: Axis,
    /// The bars: one of each series in every group.
    pub series: Vec<BarSeries>,
}

/// One bar in every group.
#[derive(Clone, Debug)]
pub struct BarSeries {
    /// What it shows.
    pub name: String,
    /// Its colour.
    pub mark: Mark,
    /// One value per group.
    pub values: Vec<f64>,
}

/// The share of a group's width that its bars take.
const FILLED: f64 = 0.8;

impl BarChart {
    /// Draws it.
    pub fn draw(&self) -> Element {
        let values = self.series.iter().flat_map(|series| series.values.iter().copied());
        let y = self.y.lay(values.chain([0.0]), BOTTOM, TOP);
        let group_width = (RIGHT - LEFT) / self.groups.len().max(1) as f64;
        let mut drawing = frame::drawing(&self.title, &self.summary())
            .child(frame::upright(&self.y.label, &y))
            .child(self.level_axis(group_width));
        let bar_width = group_width * FILLED / self.series.len().max(1) as f64;
        for (index, series) in self.series.iter().enumerate() {
            let first = LEFT + group_width * (1.0 - FILLED) / 2.0 + bar_width * index as f64;
            drawing = drawing.child(self.bars(series, &y, |group| first + group_width * group as f64, bar_width));
        }
        drawing.child(frame::line("baseline", (LEFT, y.place(0.0)), (RIGHT, y.place(0.0))))
    }

    fn bars(&self, series: &BarSeries, y: &Laid, left: impl Fn(usize) -> f64, width: f64) -> Element {
        let mut group = element("g").class(series.mark.class());
        for (index, (value, name)) in series.values.iter().zip(&self.groups).enumerate() {
            if !y.shows(*value) {
                continue;
            }
            let (from, to) = (y.place(0.0).min(y.place(*value)), y.place(0.0).max(y.place(*value)));
            let bar = element("rect")
                .class("bar")
                .attribute("x", fixed(left(index), 2))
                .attribute("y", fixed(from, 2))
                .attribute("width", fixed((width - 0.6).max(0.4), 2))
                .attribute("height", fixed((to - from).max(0.5), 2));
            let title = format!("{}, {} {}: {}", series.name, self.groups_label, name, self.y.measure.format(*value));
            group = group.child(frame::titled(bar, &title));
        }
        group
    }

    fn level_axis(&self, group_width: f64) -> Element {
        let mut axis = element("g").class("axis x");
        for (index, name) in self.groups.iter().enumerate() {
            let middle = LEFT + group_width * (index as f64 + 0.5);
            axis = axis.child(frame::label("tick middle", middle, BOTTOM + 17.0, name));
        }
        axis.child(frame::label("name end", RIGHT, BOTTOM + 35.0, &self.groups_label))
    }

    /// Its description for screen readers.
    fn summary(&self) -> String {
        let names: Vec<&str> = self.series.iter().map(|series| series.name.as_str()).collect();
        format!("{} by {}, bars: {}", self.y.label, self.groups_label, names.join("; "))
    }
}
