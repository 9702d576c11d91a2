//! Calibration recovers the values with which times were made, and half of the times are never used in the search.

use std::sync::atomic::AtomicBool;

use machines::{Description, describe};
use proptest::prelude::*;

use maquette_tuning::calibrate::{
    Calibration, CalibrationError, CalibrationOutcome, Effort, Parameter, Progress, parse,
};

/// A file of times without the times, each in place of `?`.
const PROGRAMS: &str = "\
program,algorithm,density,ranks,bytes,seeds,alpha,time
one-way,,,2,8,,,?
one-way,,,2,64,,,?
ping-pong,,,16,2 KiB,,,?
ping-pong,,,16,4 KiB,,,?
all-to-all,pairwise,,8,256,,,?
all-to-all,linear,,8,256,,,?
irregular,greedy,50,16,512,2,,?
irregular,balanced,50,16,512,2,,?
broadcast,lambda-tree,,16,1 KiB,,0.6,?
broadcast,binomial,,16,1 KiB,,,?
";

fn described(machine: &str, settings: &[(&str, &str)]) -> Description {
    let mut description = describe(machine).unwrap();
    for (name, value) in settings {
        description.set(name, value).unwrap();
    }
    description
}

/// The file with the times that a machine takes, each times a factor.
fn times(description: &Description, factor: impl Fn(usize) -> f64) -> String {
    let machine = description.resolve().unwrap();
    let measurements = parse("times.csv", PROGRAMS.replace('?', "1 s").as_bytes(), machine.nodes).unwrap();
    let mut text = PROGRAMS.to_string();
    for (index, measurement) in measurements.iter().enumerate() {
        let sum: u64 = measurement
            .trials
            .iter()
            .map(|benchmark| benchmark.time(&machine, measurement.ranks).unwrap().picoseconds())
            .sum();
        let mean = factor(index) * sum as f64 / measurement.trials.len() as f64;
        text = text.replacen('?', &format!("{} ps", mean.round()), 1);
    }
    text
}

fn fit(
    description: &Description,
    times: &str,
    parameters: &[&str],
) -> Result<(Calibration, CalibrationOutcome), CalibrationError> {
    let nodes = description.resolve().unwrap().nodes;
    let calibration = Calibration {
        description: description.clone(),
        parameters: parameters.iter().map(|text| Parameter::parse(text).unwrap()).collect(),
        measurements: parse("times.csv", times.as_bytes(), nodes).unwrap(),
    };
    let never = AtomicBool::new(false);
    let effort = Effort { evaluations: 400, threads: 2, interrupted: &never, progress: &|_| {} };
    let outcome = calibration.fit(&effort)?;
    Ok((calibration, outcome))
}

#[track_caller]
fn assert_found(outcome: &CalibrationOutcome, wanted: &[f64], share: f64) {
    for (estimate, wanted) in outcome.estimates.iter().zip(wanted) {
        assert!((estimate.value / wanted - 1.0).abs() < share, "{estimate:?}, wanted {wanted}");
        assert!(!estimate.at_bound);
    }
}

#[test]
fn a_small_value_is_found_in_a_range_that_begins_at_zero() {
    let truth = described("loggp", &[("o", "7us"), ("L", "30us"), ("G", "20ns")]);
    let start = described("loggp", &[("o", "7us"), ("G", "20ns")]);
    for range in ["L=0us..1s", "L=0s..1ms"] {
        let (_, outcome) = fit(&start, &times(&truth, |_| 1.0), &[range]).unwrap();
        assert_found(&outcome, &[30e6], 0.01);
    }
}

#[test]
fn zero_is_found_and_is_no_bound() {
    let truth = described("loggp", &[("o", "7us"), ("L", "0us"), ("G", "20ns")]);
    let start = described("loggp", &[("o", "7us"), ("G", "20ns")]);
    let (_, outcome) = fit(&start, &times(&truth, |_| 1.0), &["L=0us..1s"]).unwrap();
    let [latency] = &outcome.estimates[..] else { panic!("{outcome:?}") };
    // Less than a thousandth of any other cost.
    assert!(latency.value < 7e3 && !latency.at_bound, "{latency:?}");
}

const LOGGP: [&str; 3] = ["o=100ns..100us", "L=100ns..1ms", "G=1ns..100ns"];

#[test]
fn the_parameters_of_a_loggp_machine_are_found() {
    let truth = described("loggp", &[("o", "7us"), ("L", "30us"), ("G", "20ns")]);
    let (calibration, outcome) = fit(&describe("loggp").unwrap(), &times(&truth, |_| 1.0), &LOGGP).unwrap();
    assert_found(&outcome, &[7e6, 3e7, 2e4], 0.01);
    assert!(outcome.mean_error(&calibration.measurements, false).unwrap() < 0.002);
    assert!(outcome.mean_error(&calibration.measurements, true).unwrap() < 0.002);
    // The description that is written is the machine that was found.
    let text = calibration.fitted_text(&outcome).unwrap();
    let again = Description::parse(&text, "fitted.toml").unwrap().resolve().unwrap();
    assert!(text.contains("# L") && text.contains("# o"), "{text}");
    let (fitted, measurement) = (&outcome.fitted[0], &calibration.measurements[0]);
    let simulated = measurement.trials[0].time(&again, measurement.ranks).unwrap();
    assert_eq!(simulated.picoseconds() as f64, fitted.simulated.round());
}

#[test]
fn the_costs_of_the_nodes_of_a_network_are_found() {
    let truth = described("parsytec-cc-16", &[("node.processor_send", "80 us"), ("rate", "9 MB/s")]);
    let (calibration, outcome) = fit(
        &describe("parsytec-cc-16").unwrap(),
        &times(&truth, |_| 1.0),
        &["node.processor_send=10us..1ms", "channels.rate=1MB/s..100 MB/s"],
    )
    .unwrap();
    assert_found(&outcome, &[8e7, 72e6], 0.01);
    assert!(outcome.mean_error(&calibration.measurements, true).unwrap() < 0.002);
}

/// The intervals are 95% confidence intervals: with errors of a few percent in the times they contain the values with
/// which the times were made.
#[test]
fn with_errors_in_the_times_the_intervals_hold_the_truth() {
    let truth = described("loggp", &[("o", "7us"), ("L", "30us"), ("G", "20ns")]);
    let errors = [0.02, -0.01, 0.015, 0.005, -0.02, 0.01, -0.015, 0.02, 0.01, -0.02];
    let times = times(&truth, |index| 1.0 + errors[index]);
    let (_, outcome) = fit(&describe("loggp").unwrap(), &times, &LOGGP).unwrap();
    for (estimate, wanted) in outcome.estimates.iter().zip([7e6, 3e7, 2e4]) {
        let half = estimate.confidence.unwrap();
        assert!(half > 0.0 && (estimate.value - wanted).abs() < half, "{estimate:?}, wanted {wanted}");
    }
}

#[test]
fn a_parameter_that_changes_nothing_is_not_determined() {
    let description = describe("loggp").unwrap();
    let parameters = ["o=100ns..100us", "S=1MiB..2GiB"];
    let (_, outcome) = fit(&description, &times(&description, |_| 1.0), &parameters).unwrap();
    assert!(outcome.estimates[0].confidence.is_some() && outcome.estimates[1].confidence.is_none());
}

#[test]
fn times_held_out_make_no_difference() {
    let description = describe("loggp").unwrap();
    let honest = times(&described("loggp", &[("o", "7us")]), |_| 1.0);
    let spoilt = times(&described("loggp", &[("o", "7us")]), |index| if index % 2 == 1 { 3.0 } else { 1.0 });
    let estimates = |times: &str| fit(&description, times, &LOGGP).unwrap().1.estimates;
    assert_eq!(estimates(&honest), estimates(&spoilt));
}

#[test]
fn fewer_times_than_parameters_are_refused_before_anything_runs() {
    let description = describe("loggp").unwrap();
    let few: String = times(&description, |_| 1.0).lines().take(4).map(|line| format!("{line}\n")).collect();
    let error = fit(&description, &few, &LOGGP).unwrap_err();
    assert_eq!(error, CalibrationError::TooFew { times: 2, parameters: 3 });
}

#[test]
fn an_interrupted_search_gives_the_best_so_far() {
    let description = describe("loggp").unwrap();
    let truth = described("loggp", &[("o", "50us")]);
    let calibration = Calibration {
        description: description.clone(),
        parameters: vec![Parameter::parse("o=100ns..100us").unwrap()],
        measurements: parse("times.csv", times(&truth, |_| 1.0).as_bytes(), 1 << 20).unwrap(),
    };
    let stop = AtomicBool::new(false);
    let progress = |progress| {
        if matches!(progress, Progress::Searching { evaluations: 5.., .. }) {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let effort = Effort { evaluations: 400, threads: 1, interrupted: &stop, progress: &progress };
    let outcome = calibration.fit(&effort).unwrap();
    assert!(outcome.interrupted && outcome.fitted.len() == 10);
    assert!(outcome.estimates[0].value > 1.5e6, "nearer than the description's own value: {outcome:?}");
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(calibration.fit(&effort).unwrap_err(), CalibrationError::Interrupted);
}

proptest! {
    #[test]
    fn no_file_of_times_makes_the_reader_panic(content in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse("times.csv", &content, 64);
    }

    /// A good file with some cells changed.
    #[test]
    fn no_spoilt_file_of_times_makes_the_reader_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[-0-9a-z. %]{0,9}"), 1..6),
    ) {
        let text = PROGRAMS.replace('?', "1 ms");
        let mut cells: Vec<String> = text.split_inclusive([',', '\n']).map(str::to_string).collect();
        for (place, cell) in changes {
            let place = place.index(cells.len());
            let end = cells[place].chars().last().filter(|end| ",\n".contains(*end)).unwrap_or(',');
            cells[place] = format!("{cell}{end}");
        }
        let _ = parse("times.csv", cells.concat().as_bytes(), 64);
    }
}

#[test]
fn every_collective_of_the_list_is_a_program_of_times() {
    let described = described("parsytec-cc-16", &[]);
    let machine = described.resolve().unwrap();
    let rows =
        [("all-gather", "ring"), ("reduce-scatter", ""), ("gather", "linear"), ("barrier", ""), ("scan", "linear")];
    let line = |(name, algorithm): &(&str, &str)| format!("{name},{algorithm},8,64,1 ms\n");
    let text = format!("program,algorithm,ranks,bytes,time\n{}", rows.iter().map(line).collect::<String>());
    let measurements = parse("times.csv", text.as_bytes(), machine.nodes).unwrap();
    assert_eq!(measurements.len(), rows.len());
    for (measurement, (name, _)) in measurements.iter().zip(rows) {
        let time = measurement.trials[0].time(&machine, measurement.ranks).unwrap();
        assert!(time.picoseconds() > 0, "{name}");
    }
    let wrong = parse("times.csv", b"program,algorithm,ranks,bytes,time\ngather,binomal,8,64,1 ms\n", machine.nodes);
    let wrong = wrong.err().unwrap().to_string();
    assert!(wrong.contains("allowed is one of binomial, linear (did you mean `binomial`?)"), "{wrong}");
}
