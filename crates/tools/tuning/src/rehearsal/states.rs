//! The states of a computer, told apart by how long its reference program takes in each.

use quantities::Duration;

use super::Runs;

/// The states in which a computer was while programs were measured. First are those in which enough of them were for a
/// fit, of these first the one that was met most often.
#[derive(Clone, Debug, PartialEq)]
pub struct States {
    /// The time of the reference program in each.
    references: Vec<Duration>,
    /// In how many of them there is a fit.
    fitted: usize,
    /// By how much a time may differ from that of a state, as a share of that.
    tolerance: f64,
}

impl States {
    /// The states beside which these programs ran: around the time with the most others within the tolerance, then
    /// around that of those so far from it that no time can be within the tolerance of both, and so on. Nothing if no
    /// reference program ran.
    pub fn beside(all: &[Runs], tolerance: f64) -> Option<States> {
        let mut left: Vec<Duration> = all.iter().flat_map(Runs::references).collect();
        left.sort_unstable();
        let mut states = States { references: Vec::new(), fitted: 1, tolerance };
        while let Some(reference) = densest(&left, tolerance) {
            states.references.push(reference);
            left.retain(|&time| are_apart(time, reference, tolerance));
        }
        (!states.references.is_empty()).then_some(states)
    }

    /// Only the first of these states.
    #[must_use]
    pub fn first(&self) -> States {
        States { references: self.references.iter().take(1).copied().collect(), fitted: 1, tolerance: self.tolerance }
    }

    /// The first of these states and those others in which at least `least` of these programs ran, and then those in
    /// which any did.
    #[must_use]
    pub fn with_programs(&self, least: usize, all: &[Runs]) -> States {
        let programs = |reference: Duration| {
            let alone = States { references: vec![reference], ..self.first() };
            all.iter().filter(|runs| runs.assigned(&alone).passes_that_count() > 0).count()
        };
        let mut states = self.first();
        let met = || self.references.iter().skip(1).map(|&reference| (reference, programs(reference)));
        let enough = met().filter(|pair| pair.1 > 0 && pair.1 >= least).map(|pair| pair.0);
        states.references.extend(enough);
        states.fitted = states.references.len();
        states.references.extend(met().filter(|pair| pair.1 > 0 && pair.1 < least).map(|pair| pair.0));
        states
    }

    /// In how many of these states there is a fit: in the first ones.
    pub fn fitted(&self) -> usize {
        self.fitted
    }

    /// The time of the reference program in each state.
    pub fn references(&self) -> &[Duration] {
        &self.references
    }

    /// The state that is nearest to a pass, from 0, and whether the computer was in it: whether the reference took its
    /// time, within the tolerance, both before and after the pass.
    pub fn of(&self, [before, after]: [Duration; 2]) -> (usize, bool) {
        let mean = (before.seconds() * after.seconds()).sqrt();
        let distance = |state: &Duration| (mean / state.seconds()).ln().abs();
        let nearest = self.references.iter().enumerate().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        let Some((state, &reference)) = nearest else { return (0, false) };
        (state, [before, after].iter().all(|&time| differs(time, reference) <= self.tolerance))
    }
}

/// By how much a time differs from that of a state, as a share of that.
fn differs(time: Duration, reference: Duration) -> f64 {
    (time.seconds() / reference.seconds() - 1.0).abs()
}

/// Whether no time can be within the tolerance of both.
fn are_apart(one: Duration, other: Duration, tolerance: f64) -> bool {
    one.min(other).seconds() * (1.0 + tolerance) < one.max(other).seconds() * (1.0 - tolerance)
}

/// The median of those of these times, in ascending order, that are within the tolerance of the time with the most
/// others within it; the least of several such times.
fn densest(times: &[Duration], tolerance: f64) -> Option<Duration> {
    let mut most: &[Duration] = &[];
    for &centre in times {
        let first = times.partition_point(|&time| time < centre && differs(time, centre) > tolerance);
        let after = times.partition_point(|&time| time <= centre || differs(time, centre) <= tolerance);
        if after - first > most.len() {
            most = &times[first..after];
        }
    }
    most.get(most.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rehearsal::Pass;

    fn microseconds(count: u64) -> Duration {
        Duration::from_microseconds(count)
    }

    /// A program that ran once beside each of these times of the reference. [us]
    fn beside(references: &[[u64; 2]]) -> Runs {
        let mut runs = Runs::default();
        for pair in references {
            let reference_ps = Some(pair.map(|time| microseconds(time).picoseconds()));
            runs.push(Pass { times_ps: vec![1], reference_ps, ..Pass::default() });
        }
        runs
    }

    #[test]
    fn a_state_is_where_most_times_are_and_states_do_not_overlap() {
        let all = [beside(&[[60, 61], [60, 47], [48, 62]]), beside(&[[61, 59], [48, 49], [70, 71], [61, 60]])];
        let states = States::beside(&all, 0.1).unwrap();
        assert_eq!(states.references(), [microseconds(60), microseconds(48)]);
        assert_eq!(States::beside(&[Runs::default()], 0.1), None);
    }

    #[test]
    fn a_pass_is_in_the_nearest_state_and_counts_if_both_times_are() {
        let states = States::beside(&[beside(&[[60, 60], [60, 48]])], 0.1).unwrap();
        let of = |before, after| states.of([microseconds(before), microseconds(after)]);
        assert_eq!((of(60, 65), of(47, 52)), ((0, true), (1, true)));
        assert_eq!((of(60, 67), of(60, 50), of(48, 50), of(500, 300)), ((0, false), (0, false), (1, true), (0, false)));
    }

    #[test]
    fn states_without_enough_programs_have_no_fit_but_the_first_has() {
        let all =
            [beside(&[[60, 60], [60, 60], [48, 48], [90, 90]]), beside(&[[60, 60], [90, 90]]), beside(&[[60, 40]])];
        let states = States::beside(&all, 0.1).unwrap();
        let of = |least| {
            let states = states.with_programs(least, &all);
            (states.fitted(), states.references().to_vec())
        };
        assert_eq!(of(1), (3, [60, 90, 48].map(microseconds).to_vec()));
        assert_eq!(of(2), (2, [60, 90, 48].map(microseconds).to_vec()));
        assert_eq!(of(3), (1, [60, 90, 48].map(microseconds).to_vec()));
        assert_eq!(states.first().references(), [microseconds(60)]);
    }
}
