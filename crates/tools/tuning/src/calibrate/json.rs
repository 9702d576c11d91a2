//! A calibration and its result, as data.

use experiment::Provenance;
use formats::input::InputFile;
use machines::model::Machine;
use serde_json::{Value, json};

use super::{Calibration, CalibrationOutcome, Estimate, FittedTime, Parameter};

impl Calibration {
    /// The provenance of a fit to the times of a file, with at most this many evaluations.
    pub fn provenance(&self, machine: &Machine, evaluations: u32, times: InputFile) -> Provenance {
        let range = |parameter: &Parameter| {
            let (low, high) = parameter.bounds();
            format!("{}={low}..{high}", parameter.name)
        };
        let fit: Vec<String> = self.parameters.iter().map(range).collect();
        let parameters = json!({"fit": fit, "evaluations": evaluations});
        let mut provenance = Provenance::of("calibrate").on(machine).given(parameters);
        provenance.read(times);
        provenance
    }

    /// The result as a JSON object, with what was fitted. All times in picoseconds.
    pub fn json(&self, machine: &str, outcome: &CalibrationOutcome, provenance: &Provenance) -> Value {
        let time = |fitted: &FittedTime| {
            let measurement = &self.measurements[fitted.index];
            json!({
                "line": measurement.line,
                "what": measurement.what,
                "held": measurement.held,
                "measured_ps": measurement.time.picoseconds(),
                "simulated_ps": fitted.simulated.round() as u64,
                "error": fitted.error,
            })
        };
        provenance.added_to(json!({
            "machine": machine,
            "evaluations": outcome.evaluations,
            "interrupted": outcome.interrupted,
            "parameters": outcome.estimates.iter().map(estimate).collect::<Vec<Value>>(),
            "mean_absolute_error_fitted": outcome.mean_error(&self.measurements, false),
            "mean_absolute_error_held": outcome.mean_error(&self.measurements, true),
            "times": outcome.fitted.iter().map(time).collect::<Vec<Value>>(),
        }))
    }
}

fn estimate(estimate: &Estimate) -> Value {
    let (low, high) = estimate.parameter.bounds();
    json!({
        "field": estimate.parameter.name,
        "before": estimate.before,
        "value": estimate.text,
        "confidence_95": estimate.confidence.map(|half| estimate.parameter.text_of_error(half)),
        "low": low,
        "high": high,
        "at_bound": estimate.at_bound,
    })
}
