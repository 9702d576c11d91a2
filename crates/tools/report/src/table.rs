//! Tables.

use super::markup::{Element, element};

/// A table with a head.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The names of its columns.
    pub head: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
    /// Whether, on a narrow page, the cells of a row are stacked, each with the name of its column.
    pub stacks: bool,
    /// Whether the names of number columns are aligned with the numbers.
    pub figures: bool,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Words, left-aligned.
    Words(String),
    /// A few words that stay on one line.
    Short(String),
    /// A number, right-aligned, in digits of equal width.
    Number(String),
    /// A measured number, as an element that also holds the exact value.
    Measured(Element),
    /// Anything else.
    Element(Element),
}

impl Table {
    /// A table with these columns and no rows yet.
    pub fn with_head(head: &[&str]) -> Table {
        Table {
            head: head.iter().map(|name| (*name).to_string()).collect(),
            rows: Vec::new(),
            stacks: false,
            figures: false,
        }
    }

    /// A table mostly of numbers, with these columns and no rows yet.
    pub fn of_figures(head: &[&str]) -> Table {
        Table { figures: true, ..Table::with_head(head) }
    }

    /// The same table, with its cells stacked on a narrow page.
    #[must_use]
    pub fn stacking(self) -> Table {
        Table { stacks: true, ..self }
    }

    /// Draws it, in a box that scrolls by itself where the page is too narrow.
    pub fn draw(&self) -> Element {
        let is_number = |column: usize| {
            let cell = self.rows.first().and_then(|row| row.get(column));
            self.figures && matches!(cell, Some(Cell::Number(_) | Cell::Measured(_)))
        };
        let names = self.head.iter().enumerate().map(|(column, name)| {
            let head = element("th").attribute("scope", "col");
            if is_number(column) { head.class("number").text(name) } else { head.text(name) }
        });
        let rows = self.rows.iter().map(|row| {
            element("tr").children(row.iter().zip(&self.head).map(|(cell, name)| {
                let drawn = match cell {
                    Cell::Words(text) => element("td").text(text),
                    Cell::Short(text) => element("td").class("short").text(text),
                    Cell::Number(text) => element("td").class("number").text(text),
                    Cell::Measured(inner) => element("td").class("number").child(inner.clone()),
                    Cell::Element(inner) => element("td").child(inner.clone()),
                };
                if self.stacks { drawn.attribute("data-column", name) } else { drawn }
            }))
        });
        let table = if self.stacks { element("table").class("stacks") } else { element("table") };
        let table =
            table.child(element("thead").child(element("tr").children(names))).child(element("tbody").children(rows));
        element("div").class("wide").attribute("tabindex", "0").child(table)
    }
}
