//! The marks that distinguish series: a colour and a shape each, so that either alone suffices.

use super::markup::{Element, element};
use super::numbers::fixed;

/// How many styles there are before they repeat.
pub const STYLES: usize = 7;

/// The mark of a series: its style, and whether its line is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Which colour and shape.
    pub style: usize,
    /// Whether the line is broken.
    pub broken: bool,
}

impl Mark {
    /// The `style`-th style, with a full line.
    pub fn full(style: usize) -> Mark {
        Mark { style, broken: false }
    }
    /// The `style`-th style, with a broken line.
    pub fn broken(style: usize) -> Mark {
        Mark { style, broken: true }
    }
    /// The classes that colour it.
    pub(super) fn class(self) -> String {
        format!("s{}{}", self.style % STYLES, if self.broken { " broken" } else { "" })
    }
}

/// The shape of `mark` around (`x`, `y`).
pub(super) fn shape(mark: Mark, x: f64, y: f64) -> Element {
    let path = match mark.style % STYLES {
        0 => return round(x, y),
        1 => polygon(x, y, &[(-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)]),
        2 => polygon(x, y, &[(0.0, -4.2), (4.0, 3.0), (-4.0, 3.0)]),
        3 => polygon(x, y, &[(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)]),
        4 => polygon(x, y, &[(0.0, 4.2), (4.0, -3.0), (-4.0, -3.0)]),
        5 => polygon(
            x,
            y,
            &[
                (-1.3, -4.2),
                (1.3, -4.2),
                (1.3, -1.3),
                (4.2, -1.3),
                (4.2, 1.3),
                (1.3, 1.3),
                (1.3, 4.2),
                (-1.3, 4.2),
                (-1.3, 1.3),
                (-4.2, 1.3),
                (-4.2, -1.3),
                (-1.3, -1.3),
            ],
        ),
        _ => polygon(x, y, &[(-4.4, -2.0), (0.0, -4.6), (4.4, -2.0), (2.8, 3.8), (-2.8, 3.8)]),
    };
    element("path").class("mark").attribute("d", path)
}

fn round(x: f64, y: f64) -> Element {
    let circle = element("circle").class("mark").attribute("cx", fixed(x, 1)).attribute("cy", fixed(y, 1));
    circle.attribute("r", "3.6")
}

fn polygon(x: f64, y: f64, corners: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (index, (right, down)) in corners.iter().enumerate() {
        path.push(if index == 0 { 'M' } else { 'L' });
        path.push_str(&format!("{} {}", fixed(x + right, 1), fixed(y + down, 1)));
    }
    path.push('Z');
    path
}

/// A legend that names every series of a figure.
pub fn legend(entries: &[(String, Mark)]) -> Element {
    let keys = entries.iter().map(|(name, mark)| {
        let line = element("path").class("line").attribute("d", "M1 7H25");
        let drawing = element("svg")
            .class(format!("key {}", mark.class()))
            .attribute("viewBox", "0 0 26 14")
            .attribute("aria-hidden", "true")
            .child(line)
            .child(shape(*mark, 13.0, 7.0));
        element("li").child(drawing).child(element("span").text(name))
    });
    element("ul").class("legend").children(keys)
}

/// A legend for bars, which have only a colour: their order in each group is that of the legend.
pub fn bar_legend(entries: &[(String, Mark)]) -> Element {
    let keys = entries.iter().map(|(name, mark)| {
        let swatch = element("span").class(format!("swatch {}", mark.class()));
        element("li").child(swatch).child(element("span").text(name))
    });
    element("ul").class("legend").children(keys)
}
