//! The frame that all charts share: the drawing with its title, grid, ticks and axis names.

use super::axis::Laid;
use super::markup::{Element, element};
use super::numbers::fixed;

/// Width of a drawing. It is scaled to its column. [drawing units]
pub const WIDTH: f64 = 420.0;
/// Height of a drawing. [drawing units]
pub const HEIGHT: f64 = 290.0;
/// Where the plot begins and ends within the drawing. [drawing units]
pub const LEFT: f64 = 50.0;
/// See [`LEFT`].
pub const RIGHT: f64 = WIDTH - 12.0;
/// See [`LEFT`].
pub const TOP: f64 = 46.0;
/// See [`LEFT`].
pub const BOTTOM: f64 = HEIGHT - 42.0;

/// An empty drawing with a description for screen readers.
pub fn drawing(title: &str, summary: &str) -> Element {
    element("svg")
        .class("chart")
        .attribute("viewBox", format!("0 0 {WIDTH} {HEIGHT}"))
        .attribute("role", "img")
        .attribute("aria-label", format!("{title}. {summary}"))
        .child(element("text").class("title").attribute("x", "0").attribute("y", "14").text(title))
}

/// Text at (`x`, `y`).
pub fn label(class: &str, x: f64, y: f64, text: &str) -> Element {
    element("text").class(class).attribute("x", fixed(x, 1)).attribute("y", fixed(y, 1)).text(text)
}

/// A straight line.
pub fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> Element {
    element("line")
        .class(class)
        .attribute("x1", fixed(from.0, 1))
        .attribute("y1", fixed(from.1, 1))
        .attribute("x2", fixed(to.0, 1))
        .attribute("y2", fixed(to.1, 1))
}

/// The upright axis: its name above it, a grid line and a number at every tick.
pub fn upright(name: &str, axis: &Laid) -> Element {
    let mut group = element("g").class("axis y").child(label("name", 0.0, TOP - 12.0, name));
    for tick in &axis.ticks {
        let y = axis.place(*tick);
        group = group.child(line("grid", (LEFT, y), (RIGHT, y))).child(label(
            "tick end",
            LEFT - 6.0,
            y + 4.0,
            &axis.tick_text(*tick),
        ));
    }
    group
}

/// The level axis: a number at every tick, its name below.
pub fn level(name: &str, axis: &Laid) -> Element {
    let mut group = element("g").class("axis x").child(line("base", (LEFT, BOTTOM), (RIGHT, BOTTOM)));
    for tick in &axis.ticks {
        let x = axis.place(*tick);
        group = group.child(line("base", (x, BOTTOM), (x, BOTTOM + 4.0))).child(label(
            "tick middle",
            x,
            BOTTOM + 17.0,
            &axis.tick_text(*tick),
        ));
    }
    group.child(label("name end", RIGHT, BOTTOM + 35.0, name))
}

/// `inner` with a title that shows when the pointer rests on it.
pub fn titled(inner: Element, title: &str) -> Element {
    element("g").child(element("title").text(title)).child(inner)
}
