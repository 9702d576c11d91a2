//! A description for a state of the computer in which too few programs were measured to fit it: that of another state,
//! scaled.

use experiment::Error;
use machines::Description;
use quantities::Duration;

use super::Question;
use crate::calibrate::{Calibration, CalibrationOutcome, Parameter};
use crate::launched::{self, Repetitions};

/// A description that was fitted in one state of the computer, scaled to another.
///
/// In the other state the reference program takes `ratio` times as long. Of the fitted durations, those on which its
/// time depends are multiplied by one factor, so that it does in the model, too. The others stay as they are, as the
/// reference says nothing of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaled {
    /// The factor.
    pub factor: f64,
    /// What is multiplied by it.
    pub fields: Vec<String>,
    /// The scaled description, in TOML.
    pub description: String,
}

/// The factors among which one is searched. Chosen: no computer is so much slower at times.
const FACTORS: (f64, f64) = (1.0 / 16.0, 16.0);
/// How often their range is halved, which leaves it narrower than a ten-thousandth.
const HALVINGS: u32 = 16;
/// The reference runs several times in the model, too, since ranks learn round trips from the runs before.
const RUNS: Repetitions = Repetitions { runs: 9, warm_up: 9, passes: 1 };

impl Scaled {
    /// The description of a fit, for a state in which the reference program takes `ratio` times as long.
    ///
    /// # Errors
    /// If it can't be written, or can't run the reference.
    pub fn new(
        (calibration, outcome): (&Calibration, &CalibrationOutcome),
        reference: &Question,
        ratio: f64,
    ) -> Result<Scaled, Error> {
        let usual = time(reference, &calibration.scaled_text(outcome, 1.0, |_| false)?)?;
        let mut fields = Vec::new();
        for parameter in outcome.estimates.iter().map(|estimate| &estimate.parameter) {
            let doubled = calibration.scaled_text(outcome, 2.0, |it| it.name == parameter.name)?;
            if time(reference, &doubled)? != usual {
                fields.push(parameter.name.clone());
            }
        }
        let scaled = |parameter: &Parameter| fields.contains(&parameter.name);
        let wanted = usual.seconds() * ratio;
        let (mut low, mut high) = FACTORS;
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            let is_short = time(reference, &calibration.scaled_text(outcome, middle, scaled)?)?.seconds() < wanted;
            *(if is_short { &mut low } else { &mut high }) = middle;
        }
        let factor = if fields.is_empty() { 1.0 } else { (low * high).sqrt() };
        let description = calibration.scaled_text(outcome, factor, scaled)?;
        Ok(Scaled { factor, fields, description })
    }
}

/// How long the reference takes on the machine of a description.
fn time(reference: &Question, description: &str) -> Result<Duration, Error> {
    let machine = Description::parse(description, "fitted.toml")?.resolve()?;
    launched::time(&reference.experiment, &machine, RUNS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::calibrate::Estimate;
    use crate::rehearsal::{Rehearsal, calibration};

    /// A rehearsal on a LogGP machine, and its fit, as if these values had been found.
    fn fitted(values: &[(&str, f64)]) -> (Question, Calibration, CalibrationOutcome) {
        let fit: serde_json::Map<_, _> =
            values.iter().map(|(name, _)| ((*name).to_owned(), json!("1ns..10ms"))).collect();
        let ping_pong = json!({ "ping-pong": { "bytes": 64 } });
        let rehearsal: Rehearsal = serde_json::from_value(json!({
            "machine": { "name": "loggp" },
            "fit": fit,
            "reference": { "program": ping_pong, "ranks": 2, "tolerance": 0.1 },
            "measure": [],
            "predict": [],
        }))
        .unwrap();
        let (reference, _) = rehearsal.reference().unwrap().unwrap();
        let description = rehearsal.machine.describe().unwrap();
        let calibration = calibration(description, rehearsal.parameters().unwrap(), (&[], 0, RUNS));
        let estimate = |parameter: &Parameter| {
            let value = values.iter().find(|(name, _)| *name == parameter.name).unwrap().1;
            let text = parameter.text(value);
            Estimate { parameter: parameter.clone(), before: None, text, value, confidence: None, at_bound: false }
        };
        let estimates = calibration.parameters.iter().map(estimate).collect();
        (
            reference,
            calibration,
            CalibrationOutcome { estimates, fitted: Vec::new(), evaluations: 0, interrupted: false },
        )
    }

    /// Between two ranks, no message waits for the gap after the one before.
    #[test]
    fn the_durations_on_which_the_reference_depends_are_scaled_until_it_takes_as_long() {
        let (reference, calibration, outcome) = fitted(&[("o", 10e6), ("L", 20e6), ("g", 1e6)]);
        let scaled = Scaled::new((&calibration, &outcome), &reference, 1.5).unwrap();
        assert_eq!(scaled.fields, ["L", "o"]);
        let time_of = |text: &str| time(&reference, text).unwrap().seconds();
        let usual = time_of(&calibration.fitted_text(&outcome).unwrap());
        let ratio = time_of(&scaled.description) / usual;
        assert!((ratio - 1.5).abs() < 1e-3 && scaled.factor >= 1.5, "{ratio}, {scaled:?}");
        assert!(scaled.description.contains("gap = \"1 us\""), "{}", scaled.description);
    }

    #[test]
    fn what_the_reference_does_not_depend_on_stays_as_it_is() {
        let (reference, calibration, outcome) = fitted(&[("g", 1e6)]);
        let scaled = Scaled::new((&calibration, &outcome), &reference, 1.5).unwrap();
        assert_eq!((scaled.factor, scaled.fields.len()), (1.0, 0));
        assert_eq!(scaled.description, calibration.fitted_text(&outcome).unwrap());
    }
}
