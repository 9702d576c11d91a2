//! Figures by themselves: a drawing with its title, a sentence and its key, in the size of a slide, as SVG or PNG.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::frame::{label, line};
use super::markup::{Element, element};
use super::numbers::fixed;
use super::plane::Plane;
use super::style_sheet::{colour, with_styles_inside};

/// The size of a figure. [px]
pub const WIDTH: f64 = 1280.0;
/// See [`WIDTH`].
pub const HEIGHT: f64 = 720.0;
/// Room around it. [px]
const MARGIN: f64 = 44.0;
/// Pixels of a PNG picture for each of the drawing's.
const SCALE: f32 = 2.0;
/// The width of a letter, as a share of the size of its font: the mean of plain text in most fonts.
const LETTER: f64 = 0.56;
/// A drawing is never enlarged beyond this: a network of four routers need not fill a slide.
const LARGEST: f64 = 1.7;

/// Letters for PNG pictures, so that they are the same on every machine.
const FONTS: [&[u8]; 2] = [include_bytes!("../fonts/DejaVuSans.ttf"), include_bytes!("../fonts/DejaVuSans-Bold.ttf")];
/// The family of these letters; a viewer of SVG that lacks it takes another one.
const FAMILY: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";

/// A figure by itself.
#[derive(Debug)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// What is to be seen in it, in a sentence or two; may be empty.
    pub caption: String,
    /// What its colours mean: each one's class in the style sheet, and a few words.
    pub keys: Vec<(String, String)>,
    /// The drawings, from top to bottom.
    pub drawings: Vec<FigureDrawing>,
}

/// A drawing of a figure.
#[derive(Debug)]
pub struct FigureDrawing(Fitting);

#[derive(Debug)]
enum Fitting {
    /// A drawing of this size that keeps its proportions.
    Fixed(Element, [f64; 2]),
    /// One that fills the room that it is given; the number is its share of the height.
    Filling(Plane, f64),
}

impl FigureDrawing {
    /// A drawing, an `svg` element, of this width and height.
    pub(super) fn fixed(drawing: Element, size: [f64; 2]) -> FigureDrawing {
        FigureDrawing(Fitting::Fixed(drawing, size))
    }

    /// A plane, with this share of the height.
    pub(super) fn filling(plane: Plane, share: f64) -> FigureDrawing {
        FigureDrawing(Fitting::Filling(plane, share))
    }
}

/// A rectangle on the paper. [px]
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Figure {
    /// The figure as an SVG file.
    pub fn svg(self) -> String {
        let mut top = MARGIN + 8.0;
        let mut text = vec![words("title", 26.0, (MARGIN, top + 8.0), &self.title)];
        for line in wrapped(&self.caption, (WIDTH - 2.0 * MARGIN) / (15.0 * LETTER)) {
            top += 24.0;
            text.push(words("name", 15.0, (MARGIN, top + 12.0), &line));
        }
        let (keys, bottom) = keys(&self.keys);
        let area =
            Area { left: MARGIN, top: top + 32.0, width: WIDTH - 2.0 * MARGIN, height: bottom - 18.0 - (top + 32.0) };
        let paper = element("rect").attribute("width", WIDTH).attribute("height", HEIGHT);
        let drawing = element("svg")
            .attribute("xmlns", "http://www.w3.org/2000/svg")
            .attribute("width", WIDTH)
            .attribute("height", HEIGHT)
            .attribute("viewBox", format!("0 0 {WIDTH} {HEIGHT}"))
            .attribute("font-family", FAMILY)
            .child(element("title").text(&self.title))
            .child(paper.attribute("fill", colour("paper")))
            .children(text)
            .children(drawn(self.drawings, area))
            .children(keys);
        let mut out = String::new();
        with_styles_inside(drawing).write(&mut out);
        out.push('\n');
        out
    }
}

/// A figure that was written as SVG, as a PNG file of twice as many pixels each way.
///
/// # Errors
/// A drawing that cannot be painted, in words.
pub fn painted(svg: &str) -> Result<Vec<u8>, String> {
    let mut fonts = fontdb::Database::new();
    FONTS.iter().for_each(|font| fonts.load_font_data(font.to_vec()));
    let options = Options { font_family: "DejaVu Sans".to_owned(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = [WIDTH, HEIGHT].map(|length| (length as f32 * SCALE) as u32);
    let mut pixels = Pixmap::new(size[0], size[1]).ok_or("a picture without pixels")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| error.to_string())
}

/// The drawings one below the other.
fn drawn(drawings: Vec<FigureDrawing>, area: Area) -> Vec<Element> {
    let gap = 34.0;
    let gaps = gap * drawings.len().saturating_sub(1) as f64;
    let mut top = area.top;
    let mut all = Vec::new();
    for FigureDrawing(drawing) in drawings {
        match drawing {
            Fitting::Fixed(drawing, size) => {
                all.push(fitted(drawing, size, area));
            }
            Fitting::Filling(plane, share) => {
                let height = (area.height - gaps) * share;
                all.push(plane.on_paper(Area { top, height, ..area }));
                top += height + gap;
            }
        }
    }
    all
}

/// A drawing in the middle of an area, as large as it may be.
fn fitted(drawing: Element, [width, height]: [f64; 2], area: Area) -> Element {
    let scale = (area.width / width).min(area.height / height).min(LARGEST);
    let (wide, high) = (width * scale, height * scale);
    drawing
        .attribute("x", fixed(area.left + (area.width - wide) / 2.0, 1))
        .attribute("y", fixed(area.top + (area.height - high) / 2.0, 1))
        .set("width", fixed(wide, 1))
        .set("height", fixed(high, 1))
}

/// Text of a size of its own.
pub(super) fn words(class: &str, size: f64, (x, y): (f64, f64), text: &str) -> Element {
    label(class, x, y, text).attribute("font-size", fixed(size, 1))
}

/// The keys, from the left margin on, in as many rows as they need at the lower edge; and where the first row begins.
fn keys(keys: &[(String, String)]) -> (Vec<Element>, f64) {
    const ROW: f64 = 24.0;
    let width = |text: &str| text.chars().count() as f64 * 14.0 * LETTER + 44.0;
    let (mut x, mut row) = (MARGIN, 0.0);
    let mut places = Vec::new();
    for (class, text) in keys {
        if x + width(text) > WIDTH - MARGIN && x > MARGIN {
            (x, row) = (MARGIN, row + 1.0);
        }
        places.push((class, text, x, row));
        x += width(text);
    }
    let top = HEIGHT - MARGIN - if keys.is_empty() { 0.0 } else { row * ROW };
    let drawn = places.into_iter().flat_map(|(class, text, x, row)| {
        let y = top + row * ROW;
        let swatch = match class.as_str() {
            "critical" => line("critical", (x, y), (x + 16.0, y)),
            class => element("rect")
                .class(class)
                .attribute("x", fixed(x, 1))
                .attribute("y", fixed(y - 8.0, 1))
                .attribute("width", 16)
                .attribute("height", 16),
        };
        [swatch, words("name", 14.0, (x + 23.0, y + 5.0), text)]
    });
    (drawn.collect(), top - 14.0)
}

/// `text` in lines of at most so many letters, broken between words, but not before a percent sign.
fn wrapped(text: &str, letters: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.replace(" %", "\u{a0}%").split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if (line.chars().count() + 1 + word.chars().count()) as f64 <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

impl Plane {
    /// The plane with its axes as an SVG drawing.
    fn on_paper(self, area: Area) -> Element {
        let Plane { level, upright, size: [columns, rows], content, .. } = self;
        let size = 13.0;
        let widest = upright.1.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0) as f64;
        let left = area.left + widest * size * LETTER + 8.0;
        let (top, bottom) = (area.top + 20.0, area.top + area.height - 38.0);
        let (width, height) = (area.left + area.width - left, bottom - top);
        let inner = element("svg")
            .attribute("x", fixed(left, 1))
            .attribute("y", fixed(top, 1))
            .attribute("width", fixed(width, 1))
            .attribute("height", fixed(height, 1))
            .attribute("viewBox", format!("0 0 {columns} {rows}"))
            .attribute("preserveAspectRatio", "none");
        // A line that is to be equally thick in each direction cannot be stretched with the rest.
        let is_line = |element: &Element| matches!(element.value_of("class"), Some("halo" | "critical"));
        let (lines, cells): (Vec<Element>, Vec<Element>) = content.into_iter().partition(is_line);
        let stretched = (width / f64::from(columns), height / f64::from(rows));
        let lines = lines.into_iter().map(|line| {
            let way = line.value_of("d").map(|way| moved(way, stretched, (left, top))).unwrap_or_default();
            line.set("d", way)
        });
        let beside = upright
            .1
            .into_iter()
            .map(|(place, text)| words("tick end", size, (left - 7.0, top + place * height + 4.5), &text));
        let below = level
            .1
            .into_iter()
            .map(|(place, text)| words("tick middle", size, (left + place * width, bottom + 18.0), &text));
        element("g")
            .child(words("name", size, (area.left, area.top + 10.0), &upright.0))
            .children(beside)
            .child(inner.children(cells))
            .children(lines)
            .children(below)
            .child(words("name end", size, (area.left + area.width, bottom + 34.0), &level.0))
    }
}

/// A way of straight lines between absolute points, stretched and moved.
fn moved(way: &str, stretch: (f64, f64), by: (f64, f64)) -> String {
    let mut out = String::new();
    for point in way.split(['M', 'L']) {
        if let Some((x, y)) = point.split_once(' ')
            && let (Ok(x), Ok(y)) = (x.parse::<f64>(), y.parse::<f64>())
        {
            let letter = if out.is_empty() { 'M' } else { 'L' };
            let (x, y) = (fixed(x * stretch.0 + by.0, 1), fixed(y * stretch.1 + by.1, 1));
            out.push_str(&format!("{letter}{x} {y}"));
        }
    }
    out
}

/// A bar in pieces, each with its class and length, as wide as a figure; and under it a line of text for each.
pub(super) fn bar_with_words(pieces: &[(String, f64, String)]) -> FigureDrawing {
    let width = WIDTH - 2.0 * MARGIN;
    let whole: f64 = pieces.iter().map(|(_, length, _)| length).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut left = 0.0;
    let mut drawn = Vec::new();
    for (class, length, _) in pieces {
        let wide = width * length / whole;
        let piece = element("rect").class(class).attribute("x", fixed(left, 1)).attribute("y", "0");
        drawn.push(piece.attribute("width", fixed(wide, 1)).attribute("height", "72"));
        left += wide;
    }
    for (row, (class, _, text)) in pieces.iter().enumerate() {
        let y = 118.0 + 38.0 * row as f64;
        let swatch = element("rect").class(class).attribute("x", "0").attribute("y", fixed(y - 15.0, 1));
        drawn.push(swatch.attribute("width", "20").attribute("height", "20"));
        drawn.push(words("plain", 19.0, (32.0, y + 2.0), text));
    }
    let height = 130.0 + 38.0 * pieces.len() as f64;
    let drawing = element("svg").attribute("viewBox", format!("0 0 {} {}", fixed(width, 0), fixed(height, 0)));
    FigureDrawing::fixed(drawing.children(drawn), [width, height])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> Figure {
        let critical = element("path").class("critical").attribute("d", "M0 0.5L10 1.5");
        let cells = element("path").class("stretch waiting").attribute("d", "M0 0.5h4");
        let plane = Plane {
            summary: String::new(),
            level: ("time [us]".to_owned(), vec![(0.0, "0".to_owned()), (0.5, "5".to_owned())]),
            upright: ("rank".to_owned(), vec![(0.25, "0".to_owned()), (0.75, "1".to_owned())]),
            size: [10, 2],
            height: None,
            content: vec![cells, critical],
        };
        Figure {
            title: "all-reduce <on> a machine".to_owned(),
            caption: "word ".repeat(60),
            keys: (0..30).map(|number| ("key waiting".to_owned(), format!("number {number}"))).collect(),
            drawings: vec![FigureDrawing::filling(plane, 1.0)],
        }
    }

    /// The numbers of an attribute, wherever it stands.
    fn numbers(svg: &str, attribute: &str) -> Vec<f64> {
        let begin = format!(" {attribute}=\"");
        let starts = svg.split(&begin).skip(1);
        starts.filter_map(|text| text.split('"').next()?.parse().ok()).collect()
    }

    #[test]
    fn everything_lies_within_the_frame_and_has_its_style() {
        let svg = figure().svg();
        assert!(numbers(&svg, "x").iter().all(|x| (0.0..=WIDTH).contains(x)), "{svg}");
        assert!(numbers(&svg, "y").iter().all(|y| (0.0..=HEIGHT).contains(y)), "{svg}");
        assert!(numbers(&svg, "height").iter().all(|height| *height > 0.0), "{svg}");
        assert!(!svg.contains("var(") && svg.contains("stroke=\"#a3251b\""), "{svg}");
    }

    #[test]
    fn the_pixels_are_the_same_each_time_and_show_something() {
        let pixels = painted(&figure().svg()).unwrap();
        assert_eq!(pixels, painted(&figure().svg()).unwrap());
        let picture = Pixmap::decode_png(&pixels).unwrap();
        assert_eq!([picture.width(), picture.height()], [2_560, 1_440]);
        let paper = picture.pixels()[0];
        assert!(picture.pixels().iter().filter(|pixel| **pixel != paper).count() > 10_000);
    }

    #[test]
    fn a_line_across_a_plane_is_stretched_with_it() {
        assert_eq!(moved("M0 0.5L10 1.5", (100.0, 50.0), (7.0, 3.0)), "M7.0 28.0L1007.0 78.0");
    }
}
