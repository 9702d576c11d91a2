//! A plan from measured times: which algorithms are tried on the ranks of an MPI library, and what follows from their
//! times beside those of the library's own calls.
//!
//! An algorithm is used for sizes between two that were measured only if it was faster than the library at both;
//! whatever the library does faster, or about as fast, is left to it.

use super::collectives::with_exchanges;
use collectives::all_to_all::{Complete, Irregular};
use collectives::catalogue::{Parameter, Parameters};
use collectives::postal::Lambda;
use collectives::schedule::{Pacing, Pattern};
use collectives::{Collective, Performs as _};
use plan_format::measured::{Compared, Measured, MeasuredCall};
use plan_format::{ALL_AT_ONCE, AlgorithmSpec, MadeFor, PlanEntries, PlanError, Sizes};
use quantities::Bytes;

/// The largest share of the library's time for which an algorithm is used.
const FASTER: f64 = 0.95;
/// The latencies for which trees are tried, in steps.
const LAMBDAS: [u64; 3] = [1, 3, 6];
/// The lengths of segments that are tried. [B]
const SEGMENTS: [u64; 4] = [4 << 10, 16 << 10, 64 << 10, 256 << 10];
/// The least number of ranks among which trees of different latencies differ.
const RANKS_OF_TREES: u32 = 4;

/// A call to measure, and the algorithms that are tried for it.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The call.
    pub call: MeasuredCall,
    /// The algorithms.
    pub specs: Vec<AlgorithmSpec>,
    /// What it is called: `broadcast`.
    pub name: &'static str,
    /// Its entry of a plan.
    place: Place,
}

/// What an entry of a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Listed(Collective, Bytes),
    AllToAllv,
}

/// All calls to measure on `ranks` ranks, for these sizes in ascending order; by the matrix, if there is one. Without
/// one, exchanges of which nothing is known in advance are tried with messages of each size, among all and among
/// neighbours.
pub fn trials(collectives: &[Collective], ranks: u32, sizes: &[Bytes], matrix: Option<&Pattern>) -> Vec<Trial> {
    let trial = |name, place, call, specs| Trial { call, specs, name, place };
    let of_listed = |collective: Collective, bytes: Bytes| {
        let call = MeasuredCall::Listed(collective.name().to_owned(), bytes.0);
        trial(collective.name(), Place::Listed(collective, bytes), call, listed(collective, ranks, bytes))
    };
    let of_size = |&bytes: &Bytes| {
        with_exchanges(collectives).map(|collective| of_listed(collective, bytes)).collect::<Vec<Trial>>()
    };
    let of_matrix =
        |name, matrix: Vec<u64>, specs| trial(name, Place::AllToAllv, MeasuredCall::AllToAllv(matrix), specs);
    let at_once = || vec![AlgorithmSpec::name(ALL_AT_ONCE)];
    let irregular: Vec<Trial> = match matrix {
        Some(pattern) => vec![of_matrix("all-to-all by the matrix", entries_of(pattern), irregular())],
        None => {
            let both = |&bytes: &Bytes| {
                [
                    of_matrix("all-to-all by any matrix", uniform(ranks, bytes, ranks), at_once()),
                    of_matrix("the same, to one each", uniform(ranks, bytes, 1), at_once()),
                ]
            };
            sizes.iter().flat_map(both).collect()
        }
    };
    let mut all: Vec<Trial> = sizes.iter().flat_map(of_size).chain(irregular).collect();
    all.sort_by_key(|trial| trial.name);
    all
}

/// The algorithms of a collective, without those that the machine's own network does, and those that need the length of
/// a step.
fn listed(collective: Collective, ranks: u32, bytes: Bytes) -> Vec<AlgorithmSpec> {
    let mut specs = Vec::new();
    for entry in collective.summaries() {
        let takes = |parameter| entry.parameters.contains(&parameter);
        if entry.needs.multicast() || takes(Parameter::T0) {
            continue;
        }
        let segments: Vec<Option<Bytes>> = match takes(Parameter::Segment) {
            true => SEGMENTS.into_iter().filter(|&segment| segment < bytes.0).map(|it| Some(Bytes(it))).collect(),
            false => vec![None],
        };
        let latencies = if ranks < RANKS_OF_TREES { &LAMBDAS[..1] } else { &LAMBDAS[..] };
        let lambdas: Vec<Option<Lambda>> = match takes(Parameter::Lambda) {
            true => latencies.iter().map(|&lambda| Lambda::new(lambda, 1).ok()).collect(),
            false => vec![None],
        };
        for (&segment, &lambda) in segments.iter().flat_map(|segment| lambdas.iter().map(move |it| (segment, it))) {
            let mut parameters = Parameters { segment, lambda, ..Parameters::of(ranks) };
            let Some(Ok(algorithm)) = collective.algorithm(entry.name, &mut parameters) else { continue };
            // A name that stands for a choice among others adds none of its own.
            if algorithm.name() == entry.name && algorithm.check(ranks).is_ok() {
                specs.push(AlgorithmSpec::used(entry.name, &parameters));
                let irregular = Complete::of(&algorithm).and_then(Complete::irregular);
                specs.extend(irregular.map(|irregular| paced(irregular, Pacing::Overlapped)));
            }
        }
    }
    specs
}

/// The algorithms for exchanges by a matrix.
fn irregular() -> Vec<AlgorithmSpec> {
    let paces = [Pacing::FreeRunning, Pacing::Overlapped];
    let schedules = Irregular::all().into_iter().flat_map(|algorithm| paces.map(|pacing| paced(algorithm, pacing)));
    [AlgorithmSpec::name(ALL_AT_ONCE)].into_iter().chain(schedules).collect()
}

fn paced(algorithm: Irregular, pacing: Pacing) -> AlgorithmSpec {
    AlgorithmSpec { pacing: Some(pacing), ..AlgorithmSpec::name(algorithm.name()) }
}

/// What each rank has for each other, row by row. [B]
fn entries_of(pattern: &Pattern) -> Vec<u64> {
    let ranks = pattern.ranks() as usize;
    let mut entries = vec![0; ranks * ranks];
    for message in pattern.messages() {
        entries[message.from.0 as usize * ranks + message.to.0 as usize] = message.bytes.0;
    }
    entries
}

/// A matrix in which each rank has so much for each of so many that follow it. [B]
fn uniform(ranks: u32, Bytes(bytes): Bytes, others: u32) -> Vec<u64> {
    let entry = |from: u32, to: u32| if from != to && (ranks + to - from) % ranks <= others { bytes } else { 0 };
    (0..ranks).flat_map(|from| (0..ranks).map(move |to| entry(from, to))).collect()
}

impl Trial {
    /// The size of its messages: of those of a matrix, the largest.
    pub fn bytes(&self) -> Bytes {
        match &self.call {
            MeasuredCall::Listed(_, bytes) => Bytes(*bytes),
            MeasuredCall::AllToAllv(matrix) => Bytes(matrix.iter().copied().max().unwrap_or(0)),
        }
    }

    /// The plans to be measured: one for each algorithm, for any size.
    ///
    /// # Errors
    /// If no plan is for so many ranks.
    pub fn plans(&self, ranks: u32) -> Result<Vec<String>, PlanError> {
        let plan = |spec: &AlgorithmSpec| {
            let (mut entries, spec) = (PlanEntries { only_blocking: true, ..PlanEntries::default() }, spec.clone());
            match self.place {
                Place::Listed(collective, _) => entries.listed.entry(collective).or_default().push(spec),
                Place::AllToAllv => entries.all_to_allv = Some(spec),
            }
            plan_format::Plan::of(made_for(String::new(), ranks), entries).map(|plan| plan.to_toml())
        };
        self.specs.iter().map(plan).collect()
    }

    /// The fastest algorithm that was compared with the library, whether or not it is used.
    pub fn best<'a>(&'a self, measured: &'a Measured) -> Option<(&'a AlgorithmSpec, &'a Compared)> {
        let compared = self.specs.iter().zip(&measured.plans).filter_map(|(spec, it)| Some((spec, it.as_ref()?)));
        compared.min_by(|(_, one), (_, other)| one.ratio.total_cmp(&other.ratio))
    }
}

/// Whether an algorithm is so much faster than the library that it is used.
pub fn is_faster(compared: &Compared) -> bool {
    compared.ratio <= FASTER
}

/// The plan that follows from what was measured of each trial.
///
/// # Errors
/// If no plan is for so many ranks.
pub fn plan_of(measured: &[(Trial, Measured)], machine: String, ranks: u32) -> Result<plan_format::Plan, PlanError> {
    let of = |size: &dyn Fn(Place) -> Option<Bytes>| {
        entries(measured.iter().filter_map(|(trial, times)| Some((size(trial.place)?, trial, times))).collect())
    };
    let of_listed = |wanted: Collective| {
        of(&|place| match place {
            Place::Listed(collective, bytes) if collective == wanted => Some(bytes),
            Place::Listed(..) | Place::AllToAllv => None,
        })
    };
    let by_matrix: Vec<&(Trial, Measured)> =
        measured.iter().filter(|(trial, _)| trial.place == Place::AllToAllv).collect();
    let entries = PlanEntries {
        only_blocking: true,
        listed: plan_format::planned().map(|collective| (collective, of_listed(collective))).collect(),
        all_to_allv: for_any_matrix(&by_matrix),
    };
    plan_format::Plan::of(made_for(machine, ranks), entries)
}

fn made_for(machine: String, ranks: u32) -> MadeFor {
    MadeFor { machine, blake3: None, set: Vec::new(), ranks }
}

/// The algorithm that was faster than the library with every matrix: the fastest of them, in the geometric mean.
fn for_any_matrix(measured: &[&(Trial, Measured)]) -> Option<AlgorithmSpec> {
    let (first, _) = measured.first()?;
    let gain = |spec: &AlgorithmSpec| {
        measured.iter().try_fold(1.0, |gain, (trial, times)| Some(gain * ratio(trial, times, spec)?))
    };
    let faster = first.specs.iter().filter_map(|spec| Some((spec, gain(spec)?)));
    faster.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(spec, _)| spec.clone())
}

/// The time of an algorithm over the library's, if it is faster.
fn ratio(trial: &Trial, measured: &Measured, spec: &AlgorithmSpec) -> Option<f64> {
    let place = trial.specs.iter().position(|it| it == spec)?;
    measured.plans.get(place)?.as_ref().filter(|compared| is_faster(compared)).map(|compared| compared.ratio)
}

/// The entries for one collective, of which these sizes were measured, in ascending order.
fn entries(measured: Vec<(Bytes, &Trial, &Measured)>) -> Vec<AlgorithmSpec> {
    let mut entries: Vec<AlgorithmSpec> = Vec::new();
    let mut add = |above: Bytes, to: Bytes, spec: AlgorithmSpec| match entries.last_mut() {
        _ if above >= to => {}
        Some(last) if last.to == Some(above) && last.clone().of_sizes(Sizes::default()) == spec => last.to = Some(to),
        _ => entries.push(spec.of_sizes(Sizes { above: Some(above), to: Some(to) })),
    };
    let one_less = |Bytes(bytes): Bytes| Bytes(bytes.saturating_sub(1));
    for (place, &(bytes, trial, times)) in measured.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| measured[before]);
        let faster = trial.specs.iter().filter_map(|spec| Some((spec, ratio(trial, times, spec)?)));
        let faster: Vec<(&AlgorithmSpec, f64)> = faster.collect();
        let at_both = before.and_then(|(smaller, its_trial, its_times)| {
            let both =
                faster.iter().filter_map(|(spec, larger)| Some((*spec, larger * ratio(its_trial, its_times, spec)?)));
            both.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(spec, _)| (smaller, spec.clone()))
        });
        let best = faster.iter().min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(spec, _)| (*spec).clone());
        match (at_both, best) {
            (Some((smaller, between)), Some(best)) if between == best => add(smaller, bytes, best),
            (Some((smaller, between)), Some(best)) => {
                add(smaller, one_less(bytes), between);
                add(one_less(bytes), bytes, best);
            }
            (None, Some(best)) => add(one_less(bytes), bytes, best),
            (_, None) => {}
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan_format::measured::Times;

    const ONE: &str = "binomial";
    const OTHER: &str = "linear";

    /// Broadcasts of each size, with the ratios of both algorithms.
    fn plan(measured: &[(u64, [Option<f64>; 2])]) -> plan_format::Plan {
        let compared = |ratio: f64| Compared { times: Times::default(), ratio };
        let times = |ratios: [Option<f64>; 2]| Measured {
            library: Times::default(),
            plans: ratios.map(|ratio| ratio.map(compared)).to_vec(),
        };
        let trial = |bytes| Trial {
            call: MeasuredCall::Listed("broadcast".to_owned(), bytes),
            specs: vec![AlgorithmSpec::name(ONE), AlgorithmSpec::name(OTHER)],
            name: "broadcast",
            place: Place::Listed(Collective::Broadcast, Bytes(bytes)),
        };
        let all: Vec<(Trial, Measured)> =
            measured.iter().map(|&(bytes, ratios)| (trial(bytes), times(ratios))).collect();
        plan_of(&all, "cluster".to_owned(), 4).unwrap()
    }

    /// The entries of a plan's broadcasts: above, up to, and by what.
    fn entries_of(plan: &plan_format::Plan) -> Vec<(u64, u64, String)> {
        let bound = |bytes: Option<Bytes>| bytes.map_or(0, |Bytes(bytes)| bytes);
        let entry = |entry: &plan_format::Entry<plan_format::Planned>| {
            (bound(entry.sizes.above), bound(entry.sizes.to), entry.name())
        };
        plan.listed.get(&Collective::Broadcast).into_iter().flatten().map(entry).collect()
    }

    #[test]
    fn what_the_library_does_faster_or_as_fast_is_left_to_it() {
        let plan = plan(&[(64, [Some(1.5), None]), (1024, [Some(0.97), Some(0.99)]), (4096, [None, None])]);
        assert_eq!(entries_of(&plan), []);
        assert!(plan.only_blocking, "nonblocking collectives were not measured");
    }

    #[test]
    fn an_algorithm_that_is_faster_at_one_size_alone_is_used_for_that_size_alone() {
        let plan = plan(&[(64, [Some(1.1), None]), (1024, [Some(0.5), None]), (4096, [Some(1.1), None])]);
        assert_eq!(entries_of(&plan), [(1023, 1024, ONE.to_owned())]);
    }

    #[test]
    fn between_two_sizes_an_algorithm_is_used_that_is_faster_at_both() {
        let faster = [Some(0.5), Some(0.9)];
        let all = plan(&[(64, faster), (1024, faster), (4096, faster), (8192, [None, None])]);
        assert_eq!(entries_of(&all), [(63, 4096, ONE.to_owned())]);
        // The other one is the faster of the two at 1 KiB, but only the first is faster than the library at 64 B.
        let mixed = plan(&[(64, [Some(0.5), None]), (1024, [Some(0.6), Some(0.4)])]);
        let expected = [(63, 1023, ONE.to_owned()), (1023, 1024, OTHER.to_owned())];
        assert_eq!(entries_of(&mixed), expected);
        // None is faster at both.
        let apart = plan(&[(64, [Some(0.5), None]), (1024, [None, Some(0.4)])]);
        assert_eq!(entries_of(&apart), [(63, 64, ONE.to_owned()), (1023, 1024, OTHER.to_owned())]);
    }

    #[test]
    fn exchanges_by_any_matrix_are_done_as_planned_if_that_is_faster_with_each() {
        let trials = trials(&[Collective::Broadcast, Collective::AllReduce], 4, &[Bytes(64), Bytes(1024)], None);
        let by_matrix: Vec<Trial> = trials.into_iter().filter(|trial| trial.place == Place::AllToAllv).collect();
        let of = |ratios: [f64; 4]| {
            let times = |ratio| Measured {
                library: Times::default(),
                plans: vec![Some(Compared { times: Times::default(), ratio })],
            };
            let all: Vec<(Trial, Measured)> = by_matrix.iter().cloned().zip(ratios.map(times)).collect();
            plan_of(&all, "cluster".to_owned(), 4).unwrap().all_to_allv.map(|entry| entry.name())
        };
        assert_eq!(of([0.5, 0.9, 0.3, 0.2]), Some(ALL_AT_ONCE.to_owned()));
        assert_eq!(of([0.5, 0.99, 0.3, 0.2]), None);
    }

    #[test]
    fn every_algorithm_that_is_tried_can_be_planned_for_the_ranks() {
        for ranks in [2, 3, 4, 7, 16] {
            let pattern = Pattern::complete(ranks, Bytes(64)).unwrap();
            for matrix in [None, Some(&pattern)] {
                for trial in
                    trials(&plan_format::planned().collect::<Vec<_>>(), ranks, &[Bytes(1), Bytes(64 << 10)], matrix)
                {
                    assert_eq!(trial.plans(ranks).map(|plans| plans.len()), Ok(trial.specs.len()), "{trial:?}");
                    assert!(!trial.specs.is_empty());
                }
            }
        }
    }
}
