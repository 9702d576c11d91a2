//! A page with one chart of bars and the table behind it.

use super::markup::{Element, element};
use super::{Axis, BarChart, BarSeries, Cell, Mark, Measure, Page, Table};

/// A page with one chart of bars and the table behind it.
#[derive(Clone, Debug, Default)]
pub struct FigurePage {
    /// What stands above it.
    pub title: String,
    /// What it is, in a sentence.
    pub lead: String,
    /// What the bars measure, with the unit; and what each of them is.
    pub axes: [String; 2],
    /// The bars, from left to right, each with its name. There may be none.
    pub bars: Vec<(String, f64)>,
    /// The names of the table's columns.
    pub head: Vec<String>,
    /// The rows of the table: numbers are flush right.
    pub rows: Vec<Vec<String>>,
}

impl FigurePage {
    /// It, as a file.
    pub fn html(&self) -> String {
        let sections = vec![element("div").class("beside").children(self.chart()).child(self.table())];
        let (title, lead) = (self.title.clone(), self.lead.clone());
        Page { title, lead, sections, foot: String::new() }.html()
    }

    fn chart(&self) -> Option<Element> {
        let [measured, each] = &self.axes;
        let chart = BarChart {
            title: self.title.clone(),
            groups_label: each.clone(),
            groups: self.bars.iter().map(|(name, _)| name.clone()).collect(),
            y: Axis::linear(measured, Measure::Plain),
            series: vec![BarSeries {
                name: measured.clone(),
                mark: Mark::full(0),
                values: self.bars.iter().map(|(_, value)| *value).collect(),
            }],
        };
        (!self.bars.is_empty()).then(|| element("figure").child(chart.draw()))
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
