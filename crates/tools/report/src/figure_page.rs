//! A page with one chart of bars and the table behind it.

use super::markup::{Element, element};
use super::{Cell, Page, Table, fixed, significant};

/// A page with one chart of bars and the table behind it.
#[derive(Clone, Debug, Default)]
pub struct FigurePage {
    /// Its title.
    pub title: String,
    /// Its introduction, in a sentence.
    pub lead: String,
    /// What the bars measure, with the unit; and what each bar stands for.
    pub axes: [String; 2],
    /// The bars, from left to right, each with its name. There may be none.
    pub bars: Vec<(String, f64)>,
    /// The names of the table's columns.
    pub head: Vec<String>,
    /// The rows of the table: numbers are right-aligned.
    pub rows: Vec<Vec<String>>,
}

impl FigurePage {
    /// The page as a file.
    pub fn html(&self) -> String {
        let sections = vec![element("div").class("beside").children(self.chart()).child(self.table())];
        let (title, lead) = (self.title.clone(), self.lead.clone());
        Page { title, lead, sections, foot: String::new() }.html()
    }

    /// A horizontal bar for each, with its name before it and its value after it.
    fn chart(&self) -> Option<Element> {
        let [measured, each] = &self.axes;
        let longest = self.bars.iter().map(|(_, value)| *value).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let row = |(name, value): &(String, f64)| {
            let width = format!("width:{}%", fixed(value / longest * 100.0, 2));
            let bar = element("span").class("room").child(element("span").class("level-bar").attribute("style", width));
            element("li").child(element("span").text(name)).child(bar).child(element("span").text(significant(*value)))
        };
        let bars = element("ul").class("level-bars").children(self.bars.iter().map(row));
        let heading = element("h3").text(format!("{measured} by {each}"));
        (!self.bars.is_empty()).then(|| element("figure").child(heading).child(bars))
    }

    fn table(&self) -> Element {
        let head: Vec<&str> = self.head.iter().map(String::as_str).collect();
        let cell = |text: &String| {
            let is_number = text.starts_with(|first: char| first.is_ascii_digit());
            if is_number { Cell::Number(text.clone()) } else { Cell::Short(text.clone()) }
        };
        let rows = self.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        Table { rows, ..Table::of_figures(&head) }.draw()
    }
}
