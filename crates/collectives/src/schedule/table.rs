//! A schedule as the CM-5 paper prints it.

use super::{Rule, Schedule, Transfer};

impl Schedule {
    /// The schedule as a table with a column per step, in as many blocks of columns as lines of `width` characters
    /// require.
    ///
    /// ```text
    ///   Step 1   Step 2   Step 3
    ///   0 <-> 1  0 <-> 3  0 -> 5        two that exchange, one that sends to another
    ///   2 <-> 3  1 <-> 2  1 <-> 4
    /// ```
    ///
    /// A linear schedule has `i <- j` for each message that i receives. Source: Tables 1 to 4 and 7 to 10 of the CM-5
    /// paper.
    pub fn table(&self, width: usize) -> String {
        let columns: Vec<Vec<String>> =
            (1..).zip(&self.steps).map(|(number, step)| self.column(number, step)).collect();
        let mut text = String::new();
        let mut rest = columns.as_slice();
        while !rest.is_empty() {
            let (block, after) = rest.split_at(fitting(rest, width));
            if !text.is_empty() {
                text.push('\n');
            }
            print_block(&mut text, block);
            rest = after;
        }
        text
    }

    /// A step's heading and its entries, from the lowest rank up.
    fn column(&self, number: usize, step: &[Transfer]) -> Vec<String> {
        let heading = std::iter::once(format!("Step {number}"));
        if self.rule == Rule::ManyToOne {
            return heading.chain(step.iter().map(|Transfer { from, to, .. }| format!("{to} <- {from}"))).collect();
        }
        let back = |one: &Transfer| {
            let place = step.binary_search_by_key(&(one.to, one.from), |other| (other.from, other.to));
            place.is_ok()
        };
        let entries = step.iter().filter_map(|transfer| {
            let Transfer { from, to, .. } = transfer;
            match back(transfer) {
                true if from < to => Some(format!("{from} <-> {to}")),
                true => None, // printed with the other direction
                false => Some(format!("{from} -> {to}")),
            }
        });
        heading.chain(entries).collect()
    }
}

/// The gap between two columns.
const GAP: usize = 2;

fn width_of(column: &[String]) -> usize {
    column.iter().map(String::len).max().unwrap_or(0)
}

/// How many of the columns fit into a line: at least one.
fn fitting(columns: &[Vec<String>], width: usize) -> usize {
    let mut used = 0;
    let fits = columns.iter().take_while(|column| {
        used += width_of(column);
        let fits = used <= width;
        used += GAP;
        fits
    });
    fits.count().max(1)
}

fn print_block(text: &mut String, columns: &[Vec<String>]) {
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    for row in 0..rows {
        let mut line = String::new();
        for column in columns {
            let entry = column.get(row).map_or("", String::as_str);
            line.push_str(&format!("{entry:<width$}", width = width_of(column) + GAP));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}
