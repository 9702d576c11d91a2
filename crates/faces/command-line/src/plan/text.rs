//! The plan, as text.

use std::path::Path;

use ::machines::model::Machine;
use collectives::Division;
use collectives::postal::broadcast_time;
use quantities::Duration;
use serde_json::Value;

use crate::failure::Failure;
use experiment::Provenance;
use formats::traffic_matrix::TrafficMatrix;
use report::terminal::{Side, columns, counted, rounded};
use tuning::planner::{Plan, Prediction, Question, Reduction, Source, Verdict};

/// How many of the candidates between which it is undecided are named.
const NAMED: usize = 3;

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
    let own = matrix.pattern.own_in_all();
    let own = if own.0 > 0 { format!("; {own} stay at their rank") } else { String::new() };
    format!("{}: {messages} messages, {percent:.1}% of those of an all-to-all{names}{own}", path.display())
}

impl Report<'_> {
    pub(super) fn text(&self) -> Result<String, Failure> {
        let Report { machine, question, plan, .. } = self;
        let mut text =
            format!("{} among {} of {}", self.question_text(), counted(question.ranks(), "rank"), machine.name);
        if let Some(placement) = self.experiment.parameters().get("placement").and_then(Value::as_str) {
            text += &format!(", placed {placement}");
        }
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
        let mut rows = vec![self.headline(first), ["lower bound".to_owned(), self.bound(first)]];
        if let Some(line) = self.postal()? {
            rows.push(["postal model".to_owned(), line]);
        }
        text += &format!("\n{}\n", columns([Side::Left, Side::Left], &rows));
        text += &self.table(first.time);
        for (name, why) in &plan.left_out {
            text += &format!("left out: {name}: {why}\n");
        }
        if let Some(budget) = plan.sufficient_budget {
            let millions = (budget / 1e6).ceil();
            text += &format!(
                "\nThe budget did not suffice to run all promising algorithms to their end; --budget {millions} would.\n"
            );
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
            Question::Listed { collective, .. } if collective.shape().blocks(1) == 0 => collective.name().to_owned(),
            _ => format!("{} of {}", self.question.name(), self.question.bytes()),
        }
    }

    /// What the plan says, in a line: what is the quickest, and how that is known.
    fn headline(&self, first: &Prediction) -> [String; 2] {
        let plan = self.plan;
        let (label, what) = match plan.verdict {
            Verdict::QuickestSimulated => {
                ("quickest of those simulated", format!("{}, {}{}", first.candidate.name, time(first), self.margin()))
            }
            Verdict::QuickestExtrapolated => {
                ("quickest by parts", format!("{}, {}{}", first.candidate.name, time(first), self.margin()))
            }
            Verdict::Undecided(_) | Verdict::Nothing => ("undecided between", undecided(plan.contenders())),
        };
        [label.to_owned(), what]
    }

    /// By how much the fastest leads over the next one that is not equally fast.
    fn margin(&self) -> String {
        let Some((first, others)) = self.plan.predictions.split_first() else { return String::new() };
        let ran = |it: &&Prediction| matches!(it.source, Source::Simulated | Source::Extrapolated(_));
        let next = others.iter().filter(ran).filter(|it| it.time > first.time).min_by_key(|it| it.time);
        let stopped = others.iter().filter(|it| it.source == Source::Stopped).min_by_key(|it| it.time);
        let lead = |other: &Prediction| 100.0 * (1.0 - ratio(first.time, other.time));
        match (next, stopped) {
            (Some(next), stopped) if stopped.is_none_or(|stopped| next.time <= stopped.time) => {
                let lead = lead(next);
                let lead = if lead < 0.1 { "less than 0.1%".to_string() } else { format!("{lead:.1}%") };
                format!("; {lead} ahead of {}", next.candidate.name)
            }
            (_, Some(stopped)) => format!("; more than {:.1}% ahead of all others", lead(stopped)),
            (_, None) => String::new(),
        }
    }

    fn bound(&self, quickest: &Prediction) -> String {
        let bound = &self.plan.bound;
        let over = 100.0 * (ratio(quickest.time, bound.time) - 1.0);
        let distance = match over {
            _ if bound.time.is_zero() => "nothing has to be sent".to_string(),
            _ if self.plan.contenders().len() > 1 => return format!("{} ({})", rounded(bound.time), bound.reason),
            ..0.05 => "the quickest reaches it".to_string(),
            _ => format!("the quickest is {over:.1}% above it"),
        };
        format!("{} ({}): {distance}", rounded(bound.time), bound.reason)
    }

    /// The result of the postal model for messages that are not segmented, with the measured t0 and lambda.
    fn postal(&self) -> Result<Option<String>, Failure> {
        let Report { question, plan, .. } = self;
        let Question::Listed { collective, ranks, bytes } = question else { return Ok(None) };
        // What one rank has reaches all, or what all have reaches one, as one block.
        if collective.shape().blocks != Division::Whole {
            return Ok(None);
        }
        let steps = broadcast_time(plan.model.lambda(*bytes)?, u64::from(*ranks));
        let time = rounded(steps.of(plan.model.send_time(*bytes)));
        Ok(Some(format!("{time} (T(n) of {steps} steps of t0), with messages that are not cut")))
    }

    fn table(&self, quickest: Duration) -> String {
        let mut rows = vec![["algorithm", "time", "longer by", "source"].map(str::to_string)];
        for prediction in &self.plan.predictions {
            let over = 100.0 * (ratio(prediction.time, quickest) - 1.0);
            let longer = match prediction.source {
                _ if prediction.time == quickest => String::new(),
                Source::Stopped => format!("> {over:.1}%"),
                _ if prediction.time < quickest => String::new(),
                _ => format!("{over:.1}%"),
            };
            rows.push([prediction.candidate.name.clone(), time(prediction), longer, source(prediction.source)]);
        }
        columns([Side::Left, Side::Right, Side::Right, Side::Left], &rows)
    }
}

/// A time, with a mark if it is longer or only nearly known.
fn time(prediction: &Prediction) -> String {
    let time = rounded(prediction.time);
    match prediction.source {
        Source::Stopped => format!("> {time}"),
        Source::Extrapolated(_) => format!("about {time}"),
        Source::Simulated | Source::Estimated => time,
    }
}

/// How a time is known.
fn source(source: Source) -> String {
    let Source::Extrapolated(Reduction { steps, divisor }) = source else { return source.name().to_owned() };
    let steps = steps.map(|(kept, all)| format!("{kept} of {all} steps"));
    let sizes = (divisor > 1).then(|| format!("1/{divisor} and 2/{divisor} of the bytes"));
    format!("extrapolated from {}", steps.into_iter().chain(sizes).collect::<Vec<String>>().join(", "))
}

/// The candidates that may be the quickest, the first few by name.
fn undecided(contenders: &[Prediction]) -> String {
    let name = |it: &Prediction| {
        let how = if it.source == Source::Estimated { "estimated " } else { "" };
        format!("{} ({how}{})", it.candidate.name, time(it))
    };
    let mut named: Vec<String> = contenders.iter().take(NAMED).map(name).collect();
    match contenders.len() - named.len() {
        0 => {}
        1 => named.push("another".to_owned()),
        others => named.push(format!("{others} others")),
    }
    match named.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => named.concat(),
    }
}

/// The ratio of two durations.
fn ratio(one: Duration, other: Duration) -> f64 {
    one.picoseconds() as f64 / other.picoseconds().max(1) as f64
}
