//! How much the orders of the missed figures depend on costs that the paper does not print: sets of costs drawn around one.
//!
//! The paper prints no costs, so any set is known only to within a few percent, however well it fits. Each cost of a drawn set is that of
//! the centre times a factor between 1 / (1 + s) and 1 + s. The share of the sets in which a condition of a claim holds is the chance that
//! a machine whose costs are known to within s has it: near 0 or 1 where the model decides, between them where it is chance.

use std::ops::Range;

use quantities::Duration;
use quantities::splitmix64::Draws;

use super::Setup;
use super::begins::Begins;
use super::search::{Fit, RANGES, preset_costs, try_out};
use crate::costs::within;
use crate::walk::{Place, Walk};
use crate::{ClaimsError, Watch};

/// What the sets are drawn around, and how far from it.
#[derive(Clone, Debug)]
pub struct Around {
    centre: Place,
    /// Settings that every set has.
    common: Vec<(String, String)>,
    begins: Begins,
    /// s: by what part a cost varies at most. [1]
    spread: f64,
}

impl Around {
    /// Sets around the costs of the presets, except for the costs among `settings`; the other settings are those of every set. Of two
    /// partners that `begins`, and costs vary by `spread`.
    ///
    /// # Errors
    /// Which cost is not a time.
    pub fn new(settings: &[(String, String)], begins: Begins, spread: f64) -> Result<Around, String> {
        let mut around = Around { centre: preset_costs(), common: Vec::new(), begins, spread };
        for (field, text) in settings {
            match RANGES.iter().position(|range| range.field == field) {
                Some(index) => around.centre[index] = count_of(RANGES[index].unit, field, text)?,
                None => around.common.push((field.clone(), text.clone())),
            }
        }
        Ok(around)
    }

    /// The set in the middle, but for one cost, the one at `index` of the ranges, which is `factor` times as high.
    pub(super) fn scaled(&self, index: usize, factor: f64) -> Setup {
        let mut place = self.centre.clone();
        place[index] *= factor;
        self.setup(&place)
    }

    /// The set that follows from `seed`.
    fn set(&self, seed: u64) -> Setup {
        self.setup(&drawn(&self.centre, self.spread, seed))
    }

    fn setup(&self, place: &Place) -> Setup {
        let mut settings = Walk::new(&RANGES, 0).settings(place);
        settings.extend_from_slice(&self.common);
        Setup { settings, begins: self.begins, rounds: Some(1), ..Setup::default() }
    }
}

/// How many of `unit` the time `text` is.
fn count_of(unit: &str, field: &str, text: &str) -> Result<f64, String> {
    let time = |text: &str| text.parse::<Duration>().map_err(|error| format!("{field}: {error}"));
    Ok(time(text)?.picoseconds() as f64 / time(&format!("1 {unit}"))?.picoseconds() as f64)
}

/// Judges the set that follows from each of `seeds` by the claims about the printed numbers and those that the presets miss. `each`
/// receives every set as soon as it has been judged.
///
/// # Errors
/// What is wrong with the file of claims.
pub fn judge_sets(
    around: &Around,
    seeds: Range<u64>,
    watch: &Watch<'_>,
    each: &dyn Fn(u64, &Fit),
) -> Result<Vec<Fit>, ClaimsError> {
    let mut fits = Vec::new();
    for seed in seeds {
        let fit = try_out(around.set(seed), false, watch)?;
        each(seed, &fit);
        fits.push(fit);
    }
    Ok(fits)
}

/// The set that follows from `seed`: each cost of `centre` times a factor between 1 / (1 + s) and 1 + s, whose logarithm is uniform.
pub(super) fn drawn(centre: &Place, s: f64, seed: u64) -> Place {
    let mut draws = Draws(seed);
    centre.iter().map(|cost| cost * within(s, draws.share())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_differ_from_their_centre_by_no_more_than_the_spread_and_follow_from_their_seeds() {
        let settings = [("node.packet_send", "37 us"), ("packet.payload", "126 B")];
        let settings = settings.map(|(name, value)| (name.to_string(), value.to_string()));
        let around = Around::new(&settings, Begins::Lower, 0.05).unwrap();
        assert_eq!(around.common, settings[1..]);
        let centre = &around.centre;
        let sent = RANGES.iter().position(|range| range.field == "node.packet_send").unwrap();
        assert_eq!(centre[sent], 37.0);
        assert_eq!(centre.iter().zip(preset_costs()).filter(|(one, other)| **one != *other).count(), 1);
        let sets: Vec<Place> = (0..50).map(|seed| drawn(centre, 0.05, seed)).collect();
        for (cost, middle) in sets.iter().flat_map(|set| set.iter().zip(centre)) {
            assert!((1.0 / 1.05..=1.05).contains(&(cost / middle)), "{cost} around {middle}");
        }
        let above = sets.iter().filter(|set| set[sent] > centre[sent]).count();
        assert!((11..40).contains(&above), "{above} of 50");
        assert_eq!(sets[7], drawn(centre, 0.05, 7));
        assert_ne!(sets[7], sets[8]);
        assert_eq!(around.set(7).settings.last(), settings.last());
        let wrong = [("node.packet_send".to_string(), "37 parsecs".to_string())];
        assert!(Around::new(&wrong, Begins::Lower, 0.05).unwrap_err().starts_with("node.packet_send: "));
    }
}
