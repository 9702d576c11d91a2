//! The critical path: where its time went, and its steps.

use quantities::Time;
use virtual_worlds::critical_path::{Cause, CriticalPath, Part, Step};

use super::{LONG, RunPage, SHORT, folded, measured, paragraph, percent, section, time};
use crate::markup::{Element, element};
use crate::terminal::{amount, rounded};
use crate::{Cell, Table, fixed};

/// What a part is.
const fn meaning(part: Part) -> &'static str {
    match part {
        Part::Overhead => "what processors do to send and to receive messages, were they empty",
        Part::Latency => "the rest of the time of empty messages without contention",
        Part::Bandwidth => "the time added by their bytes",
        Part::Contention => "the time added by contention with other messages, in the network and at its ends",
        Part::Computing => "processors compute",
        Part::Waiting => "other than for messages: ranks sleep, or have not begun",
    }
}

impl RunPage<'_> {
    pub(super) fn critical_path(&self, path: &CriticalPath) -> Element {
        let section = section("critical-path", "Where the time went: the critical path");
        let lead = format!(
            "The chain of {} operations and messages that determines the makespan: each step waited for the one before it. \
             Anything off this path could take somewhat longer without lengthening the run.",
            path.steps.len()
        );
        let steps = self.steps(path);
        section.child(paragraph(&lead)).child(bar(path)).child(parts(path)).children(steps)
    }

    /// The steps that took longest, and all steps in order.
    fn steps(&self, path: &CriticalPath) -> Vec<Element> {
        let mut longest: Vec<usize> = (0..path.steps.len()).collect();
        longest.sort_by_key(|place| std::cmp::Reverse(path.steps[*place].length()));
        longest.truncate(SHORT);
        let shown = path.steps.len().min(LONG);
        let all = match path.steps.len() - shown {
            0 => "All steps, in order".to_owned(),
            more => format!("The first {shown} steps, in order; {more} more follow"),
        };
        vec![
            element("h3").text("The longest steps"),
            self.table(path, &longest),
            folded(&all, self.table(path, &(0..shown).collect::<Vec<usize>>())),
        ]
    }

    fn table(&self, path: &CriticalPath, places: &[usize]) -> Element {
        let mut table = Table::of_figures(&["step", "cause", "from", "to", "size", "start", "took", "contention"]);
        for &place in places {
            let step = &path.steps[place];
            let [what, from, to, size] = self.row_text(step);
            table.rows.push(vec![
                Cell::Number((place + 1).to_string()),
                Cell::Short(what),
                Cell::Number(from),
                Cell::Number(to),
                Cell::Number(size),
                measured(step.start.since(Time::ZERO)),
                measured(step.length()),
                measured(step.parts.contention),
            ]);
        }
        table.draw()
    }

    fn row_text(&self, step: &Step) -> [String; 4] {
        let what = step.cause.name().to_owned();
        match step.cause {
            Cause::Message { from, to, size, .. } => [what, self.name(from), self.name(to), amount(size)],
            Cause::Computing | Cause::Waiting => [what, self.name(step.rank), String::new(), String::new()],
        }
    }
}

/// A bar as long as the makespan, divided into its parts.
fn bar(path: &CriticalPath) -> Element {
    let parts = path.parts();
    let whole = parts.sum().picoseconds().max(1) as f64;
    let drawn = parts.each().into_iter().filter(|(_, length)| !length.is_zero()).map(|(part, length)| {
        let name = part.name();
        let share = length.picoseconds() as f64 / whole;
        let width = format!("width:{}%", fixed(share * 100.0, 3));
        let piece = element("span").class(format!("part {name}")).attribute("style", width);
        piece.attribute("title", format!("{name}: {}, {}", rounded(length), percent(share)))
    });
    element("div")
        .class("parts")
        .attribute("role", "img")
        .attribute("aria-label", "The parts of the makespan; the table below has their lengths")
        .children(drawn)
}

fn parts(path: &CriticalPath) -> Element {
    let parts = path.parts();
    let whole = parts.sum().picoseconds().max(1) as f64;
    let mut table = Table::of_figures(&["part", "time", "share", "meaning"]);
    for (part, length) in parts.each() {
        let name = part.name();
        let swatch = element("span").class(format!("swatch part {name}"));
        table.rows.push(vec![
            Cell::Element(
                element("span").class("key").attribute("data-part", name).child(swatch).text(format!(" {name}")),
            ),
            Cell::Measured(time(length)),
            Cell::Number(percent(length.picoseconds() as f64 / whole)),
            Cell::Words(meaning(part).to_owned()),
        ]);
    }
    table.draw()
}
