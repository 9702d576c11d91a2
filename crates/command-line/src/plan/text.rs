//! The plan, as text.

use std::path::Path;

use ::machines::model::Machine;
use programs::postal::broadcast_time;
use quantities::Duration;

use crate::failure::Failure;
use experiment::Provenance;
use formats::traffic_matrix::TrafficMatrix;
use report::terminal::{Side, columns, counted, rounded};
use tuning::planner::{Plan, Prediction, Question, Source};

/// The plan and its context.
pub(super) struct Report<'a> {
    pub(super) machine: &'a Machine,
    pub(super) experiment: &'a Provenance,
    pub(super) question: &'a Question,
    pub(super) plan: &'a Plan,
    /// What is printed about the file with the traffic.
    pub(super) traffic: Option<String>,
    /// What is printed about the file that was written.
    pub(super) written: Option<String>,
}

/// What is printed about a traffic matrix.
pub(super) fn traffic(path: &Path, matrix: &TrafficMatrix) -> String {
    let names = match (matrix.headings.row, matrix.headings.column) {
        (true, true) => "; its first row and column hold names",
        (true, false) => "; its first row holds names",
        (false, true) => "; its first column holds names",
        (false, false) => "",
    };
    let messages = matrix.pattern.messages().len();
    let percent = 100.0 * matrix.pattern.density();
    format!("{}: {messages} messages, {percent:.1}% of those of a complete exchange{names}", path.display())
}

impl Report<'_> {
    pub(super) fn text(&self) -> Result<String, Failure> {
        let Report { machine, question, plan, .. } = self;
        let mut text =
            format!("{} among {} of {}", self.question_text(), counted(question.ranks(), "rank"), machine.name);
        let (t0, lambda) = (plan.model.send_time(question.bytes()), plan.model.lambda(question.bytes())?);
        let extended = plan.model.extended_from(question.bytes());
        let extended = extended.map(|bytes| format!(", extrapolated from messages of {bytes}")).unwrap_or_default();
        text += &format!(" (t0 {}, lambda {lambda}{extended})\n", rounded(t0));
        text += &self.experiment.line();
        if let Some(traffic) = &self.traffic {
            text += &format!("{traffic}\n");
        }
        let Some(first) = plan.predictions.first() else {
            return Ok(text + "None of the algorithms can be run there.\n");
        };
        text += &format!("\nquickest     {}, {}{}\n", first.candidate.name, rounded(first.time), self.margin());
        text += &format!("lower bound  {}\n", self.bound(first.time));
        if let Some(line) = self.postal()? {
            text += &format!("postal model {line}\n");
        }
        text.push('\n');
        text += &self.table(first.time);
        for (name, why) in &plan.left_out {
            text += &format!("left out: {name}: {why}\n");
        }
        if let Some(budget) = plan.sufficient_budget {
            let millions = (budget / 1e6).ceil();
            text +=
                &format!("\nThe budget did not suffice to run all promising algorithms; --budget {millions} would.\n");
        }
        if let Some(written) = &self.written {
            text += &format!("\n{written}\n");
        }
        if plan.interrupted {
            text += "\nInterrupted: algorithms not run by then are estimated.\n";
        }
        Ok(text)
    }

    /// The question, with sizes.
    fn question_text(&self) -> String {
        match self.question {
            Question::Irregular(_) => format!("{} of {} on average", self.question.name(), self.question.bytes()),
            _ => format!("{} of {}", self.question.name(), self.question.bytes()),
        }
    }

    /// By how much the fastest leads over the next one that is not equally fast.
    fn margin(&self) -> String {
        let Some((first, others)) = self.plan.predictions.split_first() else { return String::new() };
        let comparable = |it: &&Prediction| it.source == first.source;
        match others.iter().filter(comparable).find(|it| it.time > first.time) {
            Some(next) => {
                let lead = 100.0 * (1.0 - ratio(first.time, next.time));
                let lead = if lead < 0.1 { "less than 0.1%".to_string() } else { format!("{lead:.1}%") };
                format!("; {lead} ahead of {}", next.candidate.name)
            }
            None => String::new(),
        }
    }

    fn bound(&self, quickest: Duration) -> String {
        let bound = &self.plan.bound;
        let over = 100.0 * (ratio(quickest, bound.time) - 1.0);
        let distance = match over {
            _ if bound.time.is_zero() => "nothing has to be sent".to_string(),
            ..0.05 => "the quickest reaches it".to_string(),
            _ => format!("the quickest is {over:.1}% above it"),
        };
        format!("{} ({}): {distance}", rounded(bound.time), bound.reason)
    }

    /// The result of the postal model for messages that are not segmented, with the measured t0 and lambda.
    fn postal(&self) -> Result<Option<String>, Failure> {
        let Report { question, plan, .. } = self;
        let (Question::Broadcast { ranks, bytes } | Question::AllReduce { ranks, bytes }) = question else {
            return Ok(None);
        };
        let steps = broadcast_time(plan.model.lambda(*bytes)?, u64::from(*ranks));
        let time = rounded(steps.of(plan.model.send_time(*bytes)));
        Ok(Some(format!("{time} (T(n) of {steps} steps of t0), with messages that are not cut")))
    }

    fn table(&self, quickest: Duration) -> String {
        let mut rows = vec![["algorithm", "time", "longer by", "source"].map(str::to_string)];
        for Prediction { candidate, time, source } in &self.plan.predictions {
            let longer = 100.0 * (ratio(*time, quickest) - 1.0);
            let longer = if *time == quickest { String::new() } else { format!("{longer:.1}%") };
            let how = if *source == Source::Simulated { "simulated" } else { "estimated" };
            rows.push([candidate.name.clone(), rounded(*time), longer, how.to_string()]);
        }
        columns([Side::Left, Side::Right, Side::Right, Side::Left], &rows)
    }
}

/// The ratio of two durations.
fn ratio(one: Duration, other: Duration) -> f64 {
    one.picoseconds() as f64 / other.picoseconds().max(1) as f64
}
