//! Tables.

use super::markup::{Element, element};

/// A table with a head.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The names of its columns.
    pub head: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
    /// Whether, where the page is narrow, the cells of a row stand below each other, each with the name of its column.
    pub stacks: bool,
    /// Whether the names of columns of numbers are flush with these.
    pub figures: bool,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Words, to the left.
    Words(String),
    /// A few words that stay on one line.
    Short(String),
    /// A number, to the right, in figures of one width.
    Number(String),
    /// A measured number, as an element that says it exactly, too.
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

    /// One mostly of numbers, with these columns and no rows yet.
    pub fn of_figures(head: &[&str]) -> Table {
        Table { figures: true, ..Table::with_head(head) }
    }

    /// The same, whose cells stand below each other where the page is narrow.
    #[must_use]
    pub fn stacking(self) -> Table {
        Table { stacks: true, ..self }
    }

    /// It, in a box that scrolls by itself where the page is too narrow for it.
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
