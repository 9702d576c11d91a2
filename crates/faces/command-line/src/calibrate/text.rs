//! The result of a fit, as text.

use quantities::Duration;

use experiment::Provenance;
use report::terminal::{Side, columns, rounded, signed_percent};
use tuning::calibrate::{Calibration, CalibrationOutcome, Estimate, FittedTime};

/// The fit and its data.
pub(super) struct Report<'a> {
    pub(super) machine: &'a str,
    pub(super) experiment: &'a Provenance,
    pub(super) calibration: &'a Calibration,
    pub(super) outcome: &'a CalibrationOutcome,
}

impl Report<'_> {
    pub(super) fn text(&self) -> String {
        let Report { machine, experiment, calibration, outcome } = self;
        let all = calibration.measurements.len();
        let held = calibration.measurements.iter().filter(|it| it.held).count();
        let mut text = format!(
            "{machine}, fitted to {} of {all} times, {held} held back ({} evaluations)\n{}\n",
            all - held,
            outcome.evaluations,
            experiment.line()
        );
        text += &self.parameters();
        if !outcome.interrupted && outcome.estimates.iter().any(|it| it.confidence.is_none()) {
            text += "\nParameters that are not determined could have other values, with others for the rest: the measured times \
                     hardly distinguish them.\n";
        }
        text += &format!("\nmean absolute error {} fitted, {} held back\n\n", self.mean(false), self.mean(true));
        text += &self.times();
        if !outcome.estimates.is_empty() {
            let settings: Vec<String> =
                outcome.estimates.iter().map(|it| format!("--set {}=\"{}\"", it.parameter.name, it.text)).collect();
            text += &format!("\n{}\n", settings.join(" "));
        }
        if outcome.interrupted {
            text += "The search was interrupted: these are the best values by then.\n";
        }
        text
    }

    fn mean(&self, held: bool) -> String {
        let mean = self.outcome.mean_error(&self.calibration.measurements, held);
        mean.map_or_else(|| "none".to_string(), |mean| format!("{:.2}%", 100.0 * mean))
    }

    fn parameters(&self) -> String {
        let row = |estimate: &Estimate| {
            let (low, high) = estimate.parameter.bounds();
            let confidence = match estimate.confidence {
                Some(half) => {
                    format!(
                        "\u{b1} {} ({:.1}%)",
                        estimate.parameter.text_of_error(half),
                        100.0 * half / estimate.value.abs()
                    )
                }
                None if self.outcome.interrupted => "not computed".to_string(),
                None => "not determined".to_string(),
            };
            let bound = if estimate.at_bound { ", at an end" } else { "" };
            [
                estimate.parameter.name.clone(),
                estimate.before.clone().unwrap_or_default(),
                estimate.text.clone(),
                confidence,
                format!("{low} to {high}{bound}"),
            ]
        };
        let mut rows = vec![["parameter", "before", "value", "95% confidence", "range"].map(str::to_string)];
        rows.extend(self.outcome.estimates.iter().map(row));
        columns([Side::Left, Side::Right, Side::Right, Side::Left, Side::Left], &rows)
    }

    fn times(&self) -> String {
        let row = |fitted: &FittedTime| {
            let measurement = &self.calibration.measurements[fitted.index];
            let simulated = Duration::from_picoseconds(fitted.simulated.round() as u64);
            [
                measurement.line.to_string(),
                measurement.what.clone(),
                rounded(measurement.time),
                rounded(simulated),
                signed_percent(fitted.error),
                if measurement.held { "held back" } else { "" }.to_string(),
            ]
        };
        let mut rows = vec![["line", "what", "measured", "simulated", "error", ""].map(str::to_string)];
        rows.extend(self.outcome.fitted.iter().map(row));
        columns([Side::Right, Side::Left, Side::Right, Side::Right, Side::Right, Side::Left], &rows)
    }
}
