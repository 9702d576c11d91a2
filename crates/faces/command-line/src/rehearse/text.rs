//! The printed report of a rehearsal, and its page.

use std::path::Path;

use experiment::Provenance;
use quantities::Duration;
use report::rehearsal_page::{RehearsalPage, Row};
use report::terminal::{Side, columns, counted, rounded, signed_percent};
use serde_json::{Value, json};
use tuning::calibrate::Progress;
use tuning::rehearsal::{Comparison, Extent, Judgement, MeasuredProgram, Quality, Scaled};

use super::fit::{Fit, Origin};
use super::fit_text;
use super::measuring::Unusual;
use crate::progress::Bar;

/// The most predictions that the text shows: those with the largest errors.
const SHOWN: usize = 8;

/// Shows the progress of a fit.
pub(super) fn show_fit(bar: &Bar, most: u32, progress: Progress) {
    match progress {
        Progress::Searching { evaluations, share, .. } => {
            bar.show((f64::from(evaluations) + share) / f64::from(most), "fitting".to_owned());
        }
        Progress::Concluding { share } => bar.show(share, "the confidence of the fitted values".to_owned()),
    }
}

/// Everything that is reported.
pub(super) struct RehearsalReport<'a> {
    /// The fits, one in each state of the computer.
    pub(super) fits: &'a [Fit],
    /// The runs to which the description was fitted.
    pub(super) fitted_to: &'a [MeasuredProgram],
    /// The digest of the predictions.
    pub(super) hash: &'a str,
    pub(super) judgement: &'a Judgement,
    /// The programs that were measured for a fit, but never in one of these states.
    pub(super) unusual: &'a [Unusual],
    /// The folder with the times, if they were measured before.
    pub(super) measured: Option<&'a Path>,
}

/// What is said of all runs, and of those that count.
const EXTENTS: [(&str, Extent); 2] = [("all runs", Extent::All), ("runs that count", Extent::ThatCount)];

impl RehearsalReport<'_> {
    /// The report as a JSON object.
    pub(super) fn json(&self, provenance: &Provenance) -> Value {
        let RehearsalReport { fits, fitted_to, hash, judgement, unusual, .. } = self;
        let fitted_to =
            fitted_to.iter().map(|(question, runs)| json!({ "what": question.what, "passes": runs })).collect();
        provenance.added_to(json!({
            "verdict": self.verdict(),
            "predictions_blake3": hash,
            "states": fits.iter().map(fit_json).collect::<Vec<Value>>(),
            "fitted_to": Value::Array(fitted_to),
            "judgement": judgement,
            "unusual": unusual,
        }))
    }

    /// Whether the rehearsal says how good the predictions are.
    fn verdict(&self) -> &'static str {
        if self.judgement.is_decided { "decided" } else { "not decided" }
    }

    /// Why nothing is decided; nothing if it is.
    fn warning(&self) -> Option<String> {
        let Judgement { runs, left_out, share_that_counts, is_decided, .. } = self.judgement;
        let share = percent_text(share_that_counts.map(|share| 1.0 - share));
        let text = format!(
            "not decided: {left_out} of {runs} runs ({share}) do not count, as a rank lost its processor or the computer was in a state without \
             a fit; more than a third is too many"
        );
        (!is_decided).then_some(text)
    }

    /// How many predictions were compared, and from how many programs they come.
    fn head(&self) -> String {
        let Judgement { compared, never_compared, .. } = self.judgement;
        let (fitted_to, never_measured) = (self.fitted_to.len(), self.unusual.len());
        let mut text = format!(
            "rehearsed: {}, from a fit to {}",
            counted(compared.len(), "prediction"),
            counted(fitted_to, "measured time")
        );
        if never_compared + never_measured > 0 {
            text += &format!(
                "; {never_compared} of these predictions and {never_measured} more of {} for the fit have no run that counts",
                counted(fitted_to + never_measured, "program")
            );
        }
        text
    }

    /// The report as text.
    pub(super) fn text(&self, folder: &Path, provenance: &Provenance) -> String {
        let RehearsalReport { hash, judgement, measured, .. } = self;
        let warning = self.warning().map_or_else(String::new, |text| text + "\n");
        let head = format!("{warning}{}\n{}", self.head(), provenance.line());
        let written = match measured {
            None => format!("predictions, written before the measurement: {}, blake3 {hash}", folder.display()),
            Some(measured) => format!(
                "no predictions, as the times are those measured before, of {}: {}, blake3 {hash}",
                measured.display(),
                folder.display()
            ),
        };
        let judged = columns([Side::Left, Side::Left], &self.verdicts());
        let mut worst: Vec<&Comparison> = judgement.compared.iter().filter(|it| it.all_runs.error.is_some()).collect();
        worst.sort_by(|one, other| size_of(other).total_cmp(&size_of(one)));
        let worst: Vec<[String; 4]> = worst.into_iter().take(SHOWN).map(line).collect();
        let worst = columns([Side::Left, Side::Right, Side::Right, Side::Right], &worst);
        format!(
            "{head}\n{}\n{written}\n\n{judged}\nlargest errors, all runs: predicted, measured, error\n{worst}",
            columns([Side::Left, Side::Left], &self.fields())
        )
    }

    /// The fitted fields with their values, state by state.
    fn fields(&self) -> Vec<[String; 2]> {
        let all: usize = self.fits.iter().map(|fit| fit.runs).sum();
        let of_fit = |fit: &Fit| {
            let share = percent_text(Some(fit.runs as f64 / all as f64));
            let state = fit.reference.filter(|_| self.fits.len() > 1).map(|reference| {
                let text = format!("reference {}, {share} of the runs for the fit", rounded(reference));
                ["state".to_owned(), text]
            });
            state.into_iter().chain(field_rows(fit)).collect::<Vec<_>>()
        };
        self.fits.iter().flat_map(of_fit).collect()
    }

    /// The outcome, as names and words.
    fn verdicts(&self) -> Vec<[String; 2]> {
        let Judgement { runs, left_out, share_that_counts, .. } = self.judgement;
        let share = percent_text(*share_that_counts);
        let mut rows = vec![
            ["verdict".to_owned(), self.verdict().to_owned()],
            ["runs that count".to_owned(), format!("{} of {runs} ({share})", runs - left_out)],
        ];
        for (name, extent) in EXTENTS {
            rows.extend(quality_rows(name, self.judgement.by(extent)));
        }
        if let Some(median) = self.judgement.median_repeated {
            let repeated = both(Some(median), self.judgement.worst_repeated);
            let programs = counted(self.judgement.repeated.len(), "program");
            let text = format!("{repeated}, between the fit and the comparison, of {programs} measured for both");
            rows.push(["repetition".to_owned(), text]);
        }
        for (name, number) in [("not fitted to", self.unusual.len()), ("not compared", self.judgement.never_compared)] {
            if number > 0 {
                rows.push([name.to_owned(), format!("{}: no run counts", counted(number, "program"))]);
            }
        }
        let reasons = self.judgement.reasons().into_iter();
        rows.extend(reasons.map(|(reason, count)| ["not predicted".to_owned(), format!("{count}: {reason}")]));
        rows
    }

    /// The page, in HTML.
    pub(super) fn page(&self, provenance: &Provenance) -> String {
        let row = |it: &Comparison| Row {
            what: it.prediction.what.clone(),
            predicted: it.all_runs.predicted_ps.map(Duration::from_picoseconds),
            measured: Duration::from_picoseconds(it.all_runs.measured_ps),
            error: it.all_runs.error,
            error_that_counts: it.runs_that_count.as_ref().and_then(|compared| compared.error),
            left_out: format!("{} of {}", it.left_out, it.runs),
        };
        let verdicts = self.verdicts().into_iter().map(|[name, value]| (name, value)).collect();
        RehearsalPage {
            warning: self.warning(),
            fitted: self.fields().into_iter().map(|[field, value]| (field, value)).collect(),
            verdicts,
            rows: self.judgement.compared.iter().map(row).collect(),
            made: format!("{}; predictions blake3 {}", provenance.line().trim_end(), self.hash),
        }
        .html()
    }
}

/// The fields of a fit with their values, or how it was scaled.
fn field_rows(fit: &Fit) -> Vec<[String; 2]> {
    match &fit.origin {
        Origin::Fitted(fit) => {
            let (calibration, fitted) = &**fit;
            let mean = percent_text(fitted.mean_error(&calibration.measurements, false));
            let fields = fit_text(fitted).into_iter().map(<[String; 2]>::from);
            fields.chain([["mean error of the fit".to_owned(), mean]]).collect()
        }
        Origin::Scaled(scaled) => {
            let fields = scaled.fields.join(", ");
            vec![["scaled".to_owned(), format!("{:.3} times the first state's {fields}", scaled.factor)]]
        }
    }
}

/// A fit as JSON.
fn fit_json(fit: &Fit) -> Value {
    let (reference_ps, runs) = (fit.reference.map(Duration::picoseconds), fit.runs);
    match &fit.origin {
        Origin::Fitted(fit) => {
            let (calibration, fitted) = &**fit;
            let fields = fit_text(fitted).into_iter();
            let fields: Vec<Value> = fields.map(|(field, value)| json!({"field": field, "value": value})).collect();
            let fitted_to = calibration.measurements.iter().zip(&fitted.fitted).map(|(measurement, fitted)| {
                json!({
                    "what": measurement.what,
                    "measured_ps": measurement.time.picoseconds(),
                    "standard_error": measurement.standard_error,
                    "error": fitted.error,
                })
            });
            let fitted_to: Vec<Value> = fitted_to.collect();
            json!({ "reference_ps": reference_ps, "runs": runs, "fields": fields, "fitted_to": fitted_to })
        }
        Origin::Scaled(Scaled { factor, fields, .. }) => {
            let scaled = json!({ "factor": factor, "fields": fields });
            json!({ "reference_ps": reference_ps, "runs": runs, "scaled": scaled })
        }
    }
}

/// How good predictions were, by some of the runs.
fn quality_rows(name: &str, quality: &Quality) -> Vec<[String; 2]> {
    let error = both(quality.median_error, quality.worst_error);
    let text = format!("{error}, of {}", counted(quality.predictions, "prediction"));
    let mut rows = vec![[format!("error, {name}"), text]];
    if !quality.picks.is_empty() {
        let regret = both(quality.median_regret, quality.worst_regret);
        let choices = counted(quality.picks.len(), "choice");
        rows.push([format!("regret, {name}"), format!("{regret}, of {choices} of an algorithm")]);
    }
    if let Some(correlation) = quality.median_rank_correlation {
        rows.push([format!("rank correlation, {name}"), format!("{correlation:.2} median")]);
    }
    rows
}

fn both(median: Option<f64>, worst: Option<f64>) -> String {
    format!("{} median, {} worst", percent_text(median), percent_text(worst))
}

fn size_of(compared: &Comparison) -> f64 {
    compared.all_runs.error.map_or(0.0, f64::abs)
}

fn line(compared: &Comparison) -> [String; 4] {
    let time = |picoseconds| rounded(Duration::from_picoseconds(picoseconds));
    let all = &compared.all_runs;
    let error = all.error.map(signed_percent).unwrap_or_default();
    [compared.prediction.what.clone(), all.predicted_ps.map(time).unwrap_or_default(), time(all.measured_ps), error]
}

fn percent_text(share: Option<f64>) -> String {
    share.map_or_else(|| "none".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}
