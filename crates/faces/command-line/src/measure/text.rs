//! The measurements, as text, as JSON and as a page.

use machines::model::Machine;
use programs::measure::{Figure, Measured};
use quantities::Duration;
use serde_json::{Value, json};

use super::lambda::Row;
use experiment::Provenance;
use report::terminal::{Side, columns, rounded, signed_percent};
use report::{Axis, Cell, LineChart, Mark, Measure, Page, Series, Table, element, legend};
use tuning::latency::Survey;

/// The measurements, their machine and their method.
pub(super) struct Outcome {
    pub(super) machine: Machine,
    pub(super) experiment: Provenance,
    pub(super) survey: Survey,
    pub(super) rows: Vec<Row>,
    pub(super) interrupted: bool,
}

/// Above the columns.
const HEAD: [&str; 8] = ["bytes", "t0 (1)", "lambda (1)", "R2 (1)", "t0 (2)", "lambda (2)", "R2 (2)", "differ"];

impl Outcome {
    fn title(&self) -> String {
        format!("t0 and lambda of {}", self.machine.name)
    }

    /// How it was measured.
    fn lead(&self) -> String {
        let Survey { ranks, source, partners, draws, seed } = self.survey;
        format!(
            "Rank {source} of {ranks} sends to 1 to {partners} others, {draws} random choices of them each, seed {seed}."
        )
    }

    pub(super) fn text(&self) -> String {
        let mut rows = vec![HEAD.map(str::to_string)];
        rows.extend(self.rows.iter().map(cells));
        let table = columns([Side::Right; 8], &rows);
        let mut text = format!("{}\n{}\n{}\n{table}\n", self.title(), self.lead(), self.experiment.line());
        text += "(1) the last partner answers: T = t0 (k - 1 + 2 lambda)\n";
        text += "(2) the last partner sends to all others: T = 2 t0 (k - 1 + lambda)\n";
        if self.interrupted {
            text += "The measurement was interrupted.\n";
        }
        text
    }

    pub(super) fn json(&self) -> String {
        let row = |row: &Row| {
            json!({
                "bytes": row.bytes.0,
                "one_answer": object(&row.one_answer),
                "all_answered": object(&row.all_answered),
                "lambda_difference": difference(row),
            })
        };
        crate::json(&self.experiment.added_to(json!({
            "machine": self.machine.name,
            "nodes": self.survey.ranks,
            "from": self.survey.source.0,
            "partners": self.survey.partners,
            "draws": self.survey.draws,
            "seed": self.survey.seed,
            "interrupted": self.interrupted,
            "sizes": self.rows.iter().map(row).collect::<Vec<Value>>(),
        })))
    }

    /// A page with lambda and t0 over size, and the table.
    pub(super) fn page(&self) -> Page {
        let names = [
            ("the last partner answers".to_string(), Mark::full(0)),
            ("the last partner sends to all others".to_string(), Mark::full(1)),
        ];
        let times = [
            ("t0, at the sender".to_string(), Mark::full(0)),
            ("lambda t0, at the receiver".to_string(), Mark::full(1)),
        ];
        let mut table = Table::with_head(&HEAD);
        table.rows = self.rows.iter().map(|row| cells(row).into_iter().map(Cell::Number).collect()).collect();
        let section = |heading: &str, chart: LineChart, names: &[(String, Mark)]| {
            element("section").child(element("h2").text(heading)).child(legend(names)).child(chart.draw())
        };
        Page {
            title: self.title(),
            lead: format!("{}. {} {}", self.machine.about, self.lead(), self.experiment.line()),
            sections: vec![
                section("Latency", self.lambda_chart(&names), &names),
                section("Times of a message", self.time_chart(&times), &times),
                table.draw(),
            ],
            foot: "The figure after \u{b1} is half the width of the 95% confidence interval.".to_string(),
        }
    }

    fn lambda_chart(&self, names: &[(String, Mark); 2]) -> LineChart {
        let [one, all] = names.each_ref();
        LineChart {
            title: "lambda over message size".to_string(),
            x: Axis::logarithmic("message size [B]", Measure::Bytes),
            y: Axis::linear("lambda", Measure::Plain).reaching(1.0),
            series: vec![
                self.series(one, |row| row.one_answer.lambda.value),
                self.series(all, |row| row.all_answered.lambda.value),
            ],
            baseline: Some(1.0),
        }
    }

    /// t0 by the first experiment.
    fn time_chart(&self, names: &[(String, Mark); 2]) -> LineChart {
        let [sender, receiver] = names.each_ref();
        let sent = |row: &Row| row.one_answer.send_time.value * 1e-12;
        LineChart {
            title: "Times over message size".to_string(),
            x: Axis::logarithmic("message size [B]", Measure::Bytes),
            y: Axis::logarithmic("time [s]", Measure::Seconds),
            series: vec![
                self.series(sender, sent),
                self.series(receiver, |row| sent(row) * row.one_answer.lambda.value),
            ],
            baseline: None,
        }
    }

    fn series(&self, (name, mark): &(String, Mark), value: impl Fn(&Row) -> f64) -> Series {
        let points = self.rows.iter().map(|row| (row.bytes.0 as f64, value(row))).collect();
        Series { name: name.clone(), mark: *mark, points }
    }
}

fn cells(row: &Row) -> [String; 8] {
    let Row { bytes, one_answer, all_answered } = row;
    let of = |measured: &Measured| {
        let time = rounded(Duration::from_picoseconds(measured.send_time.value.round() as u64));
        let share = 100.0 * measured.send_time.confidence / measured.send_time.value;
        let Figure { value, confidence, .. } = measured.lambda;
        [
            format!("{time} \u{b1} {share:.1}%"),
            format!("{value:.3} \u{b1} {confidence:.3}"),
            format!("{:.5}", measured.r_squared),
        ]
    };
    let ([t0, lambda, share], [t0_too, lambda_too, share_too]) = (of(one_answer), of(all_answered));
    [bytes.0.to_string(), t0, lambda, share, t0_too, lambda_too, share_too, signed_percent(difference(row))]
}

/// By how much the second experiment's lambda differs from the first's, as a share of it.
fn difference(row: &Row) -> f64 {
    row.all_answered.lambda.value / row.one_answer.lambda.value - 1.0
}

fn object(measured: &Measured) -> Value {
    let Measured { send_time, lambda, r_squared } = measured;
    json!({
        "t0_ps": send_time.value,
        "t0_standard_error_ps": send_time.standard_error,
        "t0_confidence_95_ps": send_time.confidence,
        "lambda": lambda.value,
        "lambda_standard_error": lambda.standard_error,
        "lambda_confidence_95": lambda.confidence,
        "r_squared": r_squared,
    })
}
