//! Programs that are simulated as launched ranks run them: several times, after a meeting each time.

use std::sync::Arc;

use machines::model::{Interconnect, Machine};
use maquette_experiment::Experiment;
use maquette_experiment::catalogue::Choice;
use quantities::{Duration, Time};
use virtual_worlds::stop::Stop;

fn experiment(program: &str, ranks: u32) -> Experiment {
    let program: Choice = serde_json::from_str(program).unwrap();
    let mut experiment = Experiment::of(program, Default::default());
    experiment.jobs[0].ranks = Some(ranks);
    experiment
}

fn machine(change: impl FnOnce(&mut machines::model::Ethernet)) -> Arc<Machine> {
    let mut machine = machines::load("dp-smp-8").unwrap();
    let Interconnect::Ethernet(ethernet) = &mut machine.interconnect else { panic!("it is an Ethernet") };
    change(ethernet);
    Arc::new(machine)
}

fn alone(experiment: &Experiment, machine: &Arc<Machine>) -> Duration {
    let finished = experiment.prepare_on(machine).unwrap().run(Stop::NEVER).unwrap();
    finished.answer.makespan().since(Time::ZERO)
}

fn launched(experiment: &Experiment, machine: &Arc<Machine>, runs: u32) -> Vec<Duration> {
    experiment.prepare_on(machine).unwrap().times_as_launched(runs, 0).unwrap()
}

#[test]
fn without_losses_every_run_takes_as_long_as_one_by_itself() {
    let machine = machine(|_| {});
    for (program, ranks) in [
        (r#"{"ping-pong": {"bytes": 64}}"#, 2),
        (r#"{"broadcast": {"bytes": "4 KiB", "algorithm": "hardware"}}"#, 5),
        (r#"{"all-to-all": {"bytes": "1 KiB", "algorithm": "pairwise"}}"#, 8),
        (r#"{"linear-hash": {"servers": 3, "random_keys": 20}}"#, 4),
    ] {
        let experiment = experiment(program, ranks);
        assert_eq!(launched(&experiment, &machine, 4), [alone(&experiment, &machine); 4], "{program}");
    }
}

/// A rank that knows no round trip waits for 400 ms until it sends a lost packet again; launched ranks have met, and
/// know those of former runs.
#[test]
fn ranks_that_have_met_know_how_long_to_wait() {
    let ms = Duration::from_microseconds(1_000);
    let machine = machine(|ethernet| {
        ethernet.faults.loss = 0.05;
        ethernet.messaging.first_timeout = Some(ms * 400);
        ethernet.messaging.least_timeout = Some(ms);
        ethernet.messaging.most_timeout = Some(ms * 400);
    });
    let experiment = experiment(r#"{"all-to-all": {"bytes": 64, "algorithm": "pairwise"}}"#, 8);
    assert!(alone(&experiment, &machine) >= ms * 400);
    let mut times = launched(&experiment, &machine, 9);
    times.sort_unstable();
    assert!(times[4] < ms * 100, "{times:?}");
}

#[test]
fn several_programs_are_not_launched_together() {
    let mut experiment = experiment(r#"{"ping-pong": {"bytes": 64}}"#, 2);
    experiment.jobs.push(experiment.jobs[0].clone());
    let error = experiment.prepare_on(&machine(|_| {})).unwrap().times_as_launched(1, 0).unwrap_err();
    assert_eq!(error.to_string(), "job: found several; allowed is one program, as launched ranks run");
}
