//! Lines over a level axis.

use super::axis::Axis;
use super::frame::{self, BOTTOM, LEFT, RIGHT, TOP};
use super::legend::{Mark, shape};
use super::markup::{Element, element};
use super::numbers::fixed;

/// A chart of lines.
#[derive(Clone, Debug)]
pub struct LineChart {
    /// Its title, above it.
    pub title: String,
    /// The level axis.
    pub x: Axis,
    /// The upright axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// A level to compare with, such as no change.
    pub baseline: Option<f64>,
}

/// A line of a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it shows.
    pub name: String,
    /// How it is marked.
    pub mark: Mark,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

impl LineChart {
    /// Draws it.
    pub fn draw(&self) -> Element {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = self.x.lay(points().map(|point| point.0), LEFT + 8.0, RIGHT - 8.0);
        let y = self.y.lay(points().map(|point| point.1).chain(self.baseline), BOTTOM, TOP);
        let mut drawing = frame::drawing(&self.title, &self.summary())
            .child(frame::upright(&self.y.label, &y))
            .child(frame::level(&self.x.label, &x));
        if let Some(level) = self.baseline {
            drawing = drawing.child(frame::line("baseline", (LEFT, y.place(level)), (RIGHT, y.place(level))));
        }
        for series in &self.series {
            let shown = series.points.iter().filter(|point| x.shows(point.0) && y.shows(point.1));
            let places: Vec<(f64, f64)> = shown.clone().map(|point| (x.place(point.0), y.place(point.1))).collect();
            let mut group = element("g").class(series.mark.class());
            group = group.child(element("path").class("line").attribute("d", path(&places)));
            for (point, place) in shown.zip(&places) {
                let title = format!(
                    "{}: {} at {}",
                    series.name,
                    self.y.measure.format(point.1),
                    self.x.measure.format(point.0)
                );
                group = group.child(frame::titled(shape(series.mark, place.0, place.1), &title));
            }
            drawing = drawing.child(group);
        }
        drawing
    }

    /// Its description for screen readers.
    fn summary(&self) -> String {
        // A line may be drawn in pieces, which share its name.
        let mut names: Vec<&str> = Vec::new();
        for Series { name, .. } in &self.series {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        format!("{} over {}, lines: {}", self.y.label, self.x.label, names.join("; "))
    }
}

fn path(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (index, (x, y)) in places.iter().enumerate() {
        path.push(if index == 0 { 'M' } else { 'L' });
        path.push_str(&format!("{} {}", fixed(*x, 1), fixed(*y, 1)));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measure;

    #[test]
    fn points_that_cannot_lie_on_the_axis_are_left_out() {
        let chart = LineChart {
            title: "a < b".to_string(),
            x: Axis::logarithmic("size [B]", Measure::Bytes),
            y: Axis::logarithmic("time [s]", Measure::Seconds),
            series: vec![Series {
                name: "one & only".to_string(),
                mark: Mark::full(0),
                points: vec![(32.0, 1.0), (64.0, 0.0), (128.0, f64::NAN), (256.0, 10.0)],
            }],
            baseline: None,
        };
        let mut out = String::new();
        chart.draw().write(&mut out);
        assert_eq!(out.matches("<circle").count(), 2);
        assert!(!out.contains("NaN") && !out.contains("inf"));
        assert!(out.contains("a &lt; b") && out.contains("one &amp; only"));
    }
}
