//! The page of a rehearsal: predicted over measured times.

use quantities::Duration;

use super::markup::{Element, element};
use super::terminal::rounded;
use super::{Axis, Cell, LineChart, Mark, Measure, Page, Series, Table, fixed, legend};

/// A rehearsal, as its page shows it.
#[derive(Clone, Debug)]
pub struct RehearsalPage {
    /// Why it decides nothing, if it does not.
    pub warning: Option<String>,
    /// The fitted fields and their values.
    pub fitted: Vec<(String, String)>,
    /// How good the predictions were: names and words.
    pub verdicts: Vec<(String, String)>,
    /// Each prediction, with its measurement.
    pub rows: Vec<Row>,
    /// How it was made.
    pub made: String,
}

/// A prediction, with its measurement.
#[derive(Clone, Debug)]
pub struct Row {
    /// The program and its parameters.
    pub what: String,
    /// The predicted time, if there is a prediction.
    pub predicted: Option<Duration>,
    /// The time measured by all runs.
    pub measured: Duration,
    /// By how much the prediction exceeds that, as a share of it.
    pub error: Option<f64>,
    /// The same by the runs that count, if there are any.
    pub error_that_counts: Option<f64>,
    /// How many runs do not count, of how many.
    pub left_out: String,
}

impl Row {
    /// The name of its program.
    fn program(&self) -> &str {
        self.what.split(' ').next().unwrap_or_default()
    }
}

impl RehearsalPage {
    /// The page as a file.
    pub fn html(&self) -> String {
        let figures = self.verdicts.iter().map(|(name, value)| {
            element("li").attribute("data-name", name).child(element("b").text(value)).text(format!(" {name}"))
        });
        let programs = self.programs();
        let names: Vec<(String, Mark)> =
            programs.iter().zip(1..).map(|(name, style)| ((*name).to_owned(), Mark::full(style))).collect();
        let picture = element("figure").child(legend(&names)).child(self.picture(&programs));
        let beside = element("div").class("beside").child(picture).child(self.fields());
        let sections = vec![
            element("ul").class("tally").children(figures),
            section("picture", "The predictions, and the fitted description").child(beside),
            section("all", "Each prediction").child(self.table()),
        ];
        let lead = "How long programs take on a machine, predicted with a description that was fitted to a few small measurements, and then \
                    measured. The predictions were written down before the measurement.";
        let warning = self.warning.as_ref().map_or_else(String::new, |text| format!("{text}. "));
        Page { title: "Rehearsal".to_owned(), lead: warning + lead, sections, foot: self.made.clone() }.html()
    }

    /// The names of the programs, in order of first occurrence.
    fn programs(&self) -> Vec<&str> {
        let mut programs: Vec<&str> = Vec::new();
        for name in self.rows.iter().map(Row::program) {
            if !programs.contains(&name) {
                programs.push(name);
            }
        }
        programs
    }

    /// A mark for each prediction, alike for one program; an exact prediction lies on the line.
    fn picture(&self, programs: &[&str]) -> Element {
        let times = || self.rows.iter().flat_map(|row| row.predicted.into_iter().chain([row.measured]));
        let ends = times().min().zip(times().max()).map(|(least, most)| [least, most]);
        let diagonal = ends.into_iter().flatten().map(Duration::microseconds).map(|time| (time, time)).collect();
        let mut series = vec![Series { name: "as predicted".to_owned(), mark: Mark::broken(0), points: diagonal }];
        // A line of one point is a mark.
        series.extend(self.rows.iter().map(|row| {
            let style = programs.iter().position(|name| *name == row.program()).map_or(1, |place| place + 1);
            let points = row.predicted.map(|predicted| (row.measured.microseconds(), predicted.microseconds()));
            Series { name: row.what.clone(), mark: Mark::full(style), points: points.into_iter().collect() }
        }));
        LineChart {
            title: "Predicted over measured times".to_owned(),
            x: Axis::logarithmic("measured [us]", Measure::Microseconds),
            y: Axis::logarithmic("predicted [us]", Measure::Microseconds),
            series,
            baseline: None,
        }
        .draw()
    }

    fn fields(&self) -> Element {
        let mut table = Table::of_figures(&["field", "value"]);
        for (field, value) in &self.fitted {
            table.rows.push(vec![Cell::Short(field.clone()), Cell::Number(value.clone())]);
        }
        table.draw()
    }

    fn table(&self) -> Element {
        let mut table = Table::of_figures(&[
            "program",
            "predicted",
            "measured",
            "error, all runs",
            "error, runs that count",
            "runs left out",
        ]);
        let time =
            |time: Duration| Cell::Measured(element("data").attribute("value", time.picoseconds()).text(rounded(time)));
        for row in &self.rows {
            let percent = |error: Option<f64>| error.map(|error| format!("{} %", fixed(100.0 * error, 1)));
            table.rows.push(vec![
                Cell::Short(row.what.clone()),
                row.predicted.map_or_else(|| Cell::Number("none".to_owned()), time),
                time(row.measured),
                Cell::Number(percent(row.error).unwrap_or_default()),
                Cell::Number(percent(row.error_that_counts).unwrap_or_else(|| "none".to_owned())),
                Cell::Number(row.left_out.clone()),
            ]);
        }
        table.draw()
    }
}

fn section(id: &'static str, heading: &str) -> Element {
    element("section").attribute("id", id).child(element("h2").text(heading))
}
