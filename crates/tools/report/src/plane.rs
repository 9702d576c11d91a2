//! Large drawings of many small cells: they fill the available width, and their labels keep the size of text.

use crate::markup::{Element, element};
use crate::numbers::fixed;

/// A tick: its position between the beginning, 0, and the end, 1, and its label.
pub(crate) type Tick = (f64, String);

/// A drawing between its axes.
#[derive(Debug)]
pub(crate) struct Plane {
    /// Its description for screen readers.
    pub(crate) summary: String,
    /// What the level axis counts, with the unit, and its ticks.
    pub(crate) level: (String, Vec<Tick>),
    /// What the upright axis counts, and its ticks, from above.
    pub(crate) upright: (String, Vec<Tick>),
    /// Its width and height in its own units.
    pub(crate) size: [u32; 2],
    /// Its height on the page; its width by default. [px]
    pub(crate) height: Option<u32>,
    /// What is drawn.
    pub(crate) content: Vec<Element>,
}

impl Plane {
    /// Draws it.
    pub(crate) fn draw(self) -> Element {
        let Plane { summary, level, upright, size: [width, height], height: on_page, content } = self;
        let drawing = element("svg")
            .attribute("viewBox", format!("0 0 {width} {height}"))
            .attribute("preserveAspectRatio", "none")
            .attribute("role", "img")
            .attribute("aria-label", summary)
            .attribute("style", on_page.map_or("aspect-ratio:1".to_owned(), |height| format!("height:{height}px")))
            .children(content);
        let ticks = |class: &'static str, side: &'static str, ticks: Vec<Tick>| {
            let tick = move |(place, text): Tick| {
                // A label at the very top would lie on the axis's name.
                let place = if side == "top" { place.max(0.02) } else { place };
                element("span").attribute("style", format!("{side}:{}%", fixed(place * 100.0, 2))).text(text)
            };
            element("div").class(class).attribute("aria-hidden", "true").children(ticks.into_iter().map(tick))
        };
        element("div")
            .class("plane")
            .child(element("div").class("of-rows").text(upright.0))
            .child(ticks("rows", "top", upright.1))
            .child(drawing)
            .child(ticks("columns", "left", level.1))
            .child(element("div").class("of-columns").text(level.0))
    }
}

/// At most `most` ticks at multiples of a round number, for `count` rows.
pub(crate) fn ticks_of_count(count: usize, most: usize) -> Vec<Tick> {
    let steps = [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128].into_iter();
    let larger = (0..).map(|power| 256_usize << power);
    let step = steps.chain(larger).find(|step| count.div_ceil(*step) <= most).unwrap_or(count);
    (0..count).step_by(step).map(|number| ((number as f64 + 0.5) / count as f64, number.to_string())).collect()
}

/// Cells of one colour, from left to right and top to bottom, drawn as a line through their middles, as thick as they
/// are high.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    path: String,
    /// Where the line ends so far.
    at: Option<(u32, u32)>,
}

impl Cells {
    /// Adds a cell of `width` columns.
    pub(crate) fn add(&mut self, column: u32, row: u32, width: u32) {
        match self.at {
            Some((before, same)) if same == row && before <= column => {
                if before < column {
                    self.path.push_str(&format!("m{} 0", column - before));
                }
            }
            _ => self.path.push_str(&format!("M{column} {row}.5")),
        }
        self.path.push_str(&format!("h{width}"));
        self.at = Some((column + width, row));
    }

    /// The line, if there is one.
    pub(crate) fn drawn(self, class: &str) -> Option<Element> {
        let Cells { path, .. } = self;
        (!path.is_empty()).then(|| element("path").class(format!("stretch {class}")).attribute("d", path))
    }
}
