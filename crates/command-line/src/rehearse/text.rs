//! The printed report of a rehearsal, and its page.

use std::path::Path;

use experiment::Provenance;
use quantities::Duration;
use report::rehearsal_page::{RehearsalPage, Row};
use report::terminal::{Side, columns, counted, rounded, signed_percent};
use serde_json::{Value, json};
use tuning::calibrate::{Calibration, Outcome, Progress};
use tuning::rehearsal::{Comparison, Judgement, MeasuredProgram};

use super::measuring::Unusual;
use super::{Purpose, fit_text};
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
    pub(super) calibration: &'a Calibration,
    pub(super) fitted: &'a Outcome,
    /// The runs to which the description was fitted.
    pub(super) fitted_to: &'a [MeasuredProgram],
    /// The digest of the predictions.
    pub(super) hash: &'a str,
    pub(super) judgement: &'a Judgement,
    /// The programs that were never measured in the usual state of the computer.
    pub(super) unusual: &'a [Unusual],
    /// The folder with the times, if they were measured before.
    pub(super) measured: Option<&'a Path>,
}

impl RehearsalReport<'_> {
    /// The report as a JSON object.
    pub(super) fn json(&self, provenance: &Provenance) -> Value {
        let RehearsalReport { fitted, fitted_to, hash, judgement, unusual, .. } = self;
        let fitted_to = fitted_to.iter().zip(&fitted.fitted).map(|((question, runs), fitted)| {
            json!({
                "what": question.what,
                "measured_ps": runs.median().map(Duration::picoseconds),
                "standard_error": runs.standard_error(),
                "error": fitted.error,
                "passes": runs,
            })
        });
        let fields: Vec<Value> =
            fit_text(fitted).into_iter().map(|(field, value)| json!({"field": field, "value": value})).collect();
        provenance.added_to(json!({
            "predictions_blake3": hash,
            "fields": fields,
            "fitted_to": fitted_to.collect::<Vec<Value>>(),
            "judgement": judgement,
            "unusual": unusual,
        }))
    }

    /// The report as text.
    pub(super) fn text(&self, folder: &Path, provenance: &Provenance) -> String {
        let RehearsalReport { calibration, fitted, hash, judgement, measured, .. } = self;
        let mut rows: Vec<[String; 2]> = fit_text(fitted).into_iter().map(<[String; 2]>::from).collect();
        let mean = fitted.mean_error(&calibration.measurements, false);
        rows.push(["mean error of the fit".to_owned(), percent_text(mean)]);
        let head = format!(
            "rehearsed: {}, from a fit to {}\n{}",
            counted(judgement.compared.len(), "prediction"),
            counted(calibration.measurements.len(), "measured time"),
            provenance.line()
        );
        let written = match measured {
            None => format!("predictions, written before the measurement: {}, blake3 {hash}", folder.display()),
            Some(measured) => format!(
                "no predictions, as the times are those measured before, of {}: {}, blake3 {hash}",
                measured.display(),
                folder.display()
            ),
        };
        let judged = columns([Side::Left, Side::Left], &self.verdicts());
        let mut worst: Vec<&Comparison> = judgement.compared.iter().filter(|it| it.error.is_some()).collect();
        worst.sort_by(|one, other| size_of(other).total_cmp(&size_of(one)));
        let worst: Vec<[String; 4]> = worst.into_iter().take(SHOWN).map(line).collect();
        let worst = columns([Side::Left, Side::Right, Side::Right, Side::Right], &worst);
        format!(
            "{head}\n{}\n{written}\n\n{judged}\nlargest errors: predicted, measured, error\n{worst}",
            columns([Side::Left, Side::Left], &rows)
        )
    }

    /// The outcome, as names and words.
    fn verdicts(&self) -> Vec<[String; 2]> {
        let Judgement { compared, picks, .. } = self.judgement;
        let (runs, left_out) = compared.iter().fold((0, 0), |sum, it| (sum.0 + it.runs, sum.1 + it.left_out));
        let both = |median, worst| format!("{} median, {} worst", percent_text(median), percent_text(worst));
        let mut rows = vec![
            ["error".to_owned(), both(self.judgement.median_error, self.judgement.worst_error)],
            [
                "left out".to_owned(),
                format!(
                    "{left_out} of {runs} runs, in which a rank lost its processor or the computer was in another state"
                ),
            ],
        ];
        if !picks.is_empty() {
            let regret = both(self.judgement.median_regret, self.judgement.worst_regret);
            rows.insert(
                1,
                ["regret".to_owned(), format!("{regret}, of {} of an algorithm", counted(picks.len(), "choice"))],
            );
        }
        if let Some(correlation) = self.judgement.median_rank_correlation {
            rows.insert(2, ["rank correlation".to_owned(), format!("{correlation:.2} median")]);
        }
        if let Some(median) = self.judgement.median_repeated {
            let repeated = both(Some(median), self.judgement.worst_repeated);
            let programs = counted(self.judgement.repeated.len(), "program");
            let text = format!("{repeated}, between the fit and the comparison, of {programs} measured for both");
            rows.push(["repetition".to_owned(), text]);
        }
        for (name, purpose) in [("not fitted to", Purpose::Fit), ("not compared", Purpose::Comparison)] {
            let number = self.unusual.iter().filter(|program| program.purpose == purpose).count();
            if number > 0 {
                let text = format!("{}: the computer was in another state in all passes", counted(number, "program"));
                rows.push([name.to_owned(), text]);
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
            predicted: it.prediction.predicted(),
            measured: it.measured(),
            error: it.error,
            left_out: format!("{} of {}", it.left_out, it.runs),
        };
        let verdicts = self.verdicts().into_iter().map(|[name, value]| (name, value)).collect();
        RehearsalPage {
            fitted: fit_text(self.fitted),
            verdicts,
            rows: self.judgement.compared.iter().map(row).collect(),
            made: format!("{}; predictions blake3 {}", provenance.line().trim_end(), self.hash),
        }
        .html()
    }
}

fn size_of(compared: &Comparison) -> f64 {
    compared.error.map_or(0.0, f64::abs)
}

fn line(compared: &Comparison) -> [String; 4] {
    let predicted = compared.prediction.predicted().map(rounded).unwrap_or_default();
    let error = compared.error.map(signed_percent).unwrap_or_default();
    [compared.prediction.what.clone(), predicted, rounded(compared.measured()), error]
}

fn percent_text(share: Option<f64>) -> String {
    share.map_or_else(|| "none".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}
