//! A run that is asked to stop does so, and returns nothing else; and it reports its progress.

use std::sync::atomic::{AtomicBool, Ordering};

use endpoint::{Endpoint, Error, Message, Program, Result, World};
use machines::model::Interconnect;
use maquette_virtual_worlds::Simulated;
use maquette_virtual_worlds::answer::Answer;
use maquette_virtual_worlds::ethernet::world::EthernetWorld;
use maquette_virtual_worlds::flit::world::{EngineKind, NetworkWorld, Options};
use maquette_virtual_worlds::loggp::Clock;
use maquette_virtual_worlds::stop::{Progress, ProgressSnapshot, Stop};
use programs::benchmarks::EqualDist;
use quantities::{Bytes, Rank, Time};
use replay::goal::{RunGoal, Schedule};

/// Two ranks that send each other a message in turn, and ask to stop after some rounds.
struct Interrupting {
    flag: &'static AtomicBool,
    after: u32,
}

impl Program for Interrupting {
    /// The number of rounds.
    type Output = u32;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<u32> {
        let other = Rank(1 - endpoint.rank().0);
        for round in 0..10_000 {
            self.flag.fetch_or(round == self.after, Ordering::Relaxed);
            if endpoint.rank().0 == 0 {
                endpoint.send(other, Message::default()).await?;
                endpoint.receive(other).await?;
            } else {
                endpoint.receive(other).await?;
                endpoint.send(other, Message::default()).await?;
            }
        }
        Ok(10_000)
    }
}

#[test]
fn the_network_ends_with_either_engine() {
    static FLAG: AtomicBool = AtomicBool::new(false);
    let machine = machines::load("moc-2-1").unwrap();
    for engine in [EngineKind::Fast, EngineKind::Reference] {
        let options = Options { engine, stop: Stop::at(&FLAG), ..Options::default() };
        let world = NetworkWorld::new(&machine, options);
        FLAG.store(false, Ordering::Relaxed);
        let all = world.run(2, &Interrupting { flag: &FLAG, after: u32::MAX }).unwrap().0;
        assert_eq!(all, [Ok(10_000), Ok(10_000)]);
        assert_eq!(world.run(2, &Interrupting { flag: &FLAG, after: 100 }).unwrap_err(), Error::Stopped);
    }
}

#[test]
fn the_clock_world_ends() {
    static FLAG: AtomicBool = AtomicBool::new(false);
    let Interconnect::LogGp(model) = machines::load("loggp").unwrap().interconnect else { panic!("no LogGP") };
    let world = Clock::new(model).with_stop(Stop::at(&FLAG));
    let all = world.run(2, &Interrupting { flag: &FLAG, after: u32::MAX }).unwrap().0;
    assert_eq!(all, [Ok(10_000), Ok(10_000)]);
    assert_eq!(world.run(2, &Interrupting { flag: &FLAG, after: 100 }).unwrap_err(), Error::Stopped);
}

/// Runs `run` with a progress of its own, and returns the progress at the end.
fn progress_of(progress: &'static Progress, run: impl FnOnce(Stop) -> Answer) -> (ProgressSnapshot, Answer) {
    let answer = run(Stop::NEVER.with_progress(progress));
    (progress.read(), answer)
}

#[test]
fn the_network_reports_its_progress() {
    static PROGRESS: Progress = Progress::new();
    let machine = machines::load("moc-2-1").unwrap();
    let program = EqualDist { bytes: Bytes(100), messages: 64 };
    for engine in [EngineKind::Fast, EngineKind::Reference] {
        let (reached, answer) = progress_of(&PROGRESS, |stop| {
            let world = NetworkWorld::new(&machine, Options { engine, stop, ..Options::default() });
            world.run(16, &program).unwrap().1
        });
        assert!((1..=64).contains(&reached.messages) && (1..=answer.packets).contains(&reached.packets), "{reached:?}");
        assert!(reached.time > Time::ZERO && reached.time <= answer.makespan(), "{reached:?}");
        PROGRESS.reset();
        assert_eq!(PROGRESS.read(), ProgressSnapshot::default());
    }
}

#[test]
fn the_clock_world_reports_its_progress() {
    static PROGRESS: Progress = Progress::new();
    let Interconnect::LogGp(model) = machines::load("loggp").unwrap().interconnect else { panic!("no LogGP") };
    let program = EqualDist { bytes: Bytes(100), messages: 640 };
    let (reached, answer) =
        progress_of(&PROGRESS, |stop| Clock::new(model).with_stop(stop).run(16, &program).unwrap().1);
    // Progress in the last turns is no longer reported.
    assert!((1..=640).contains(&reached.messages) && reached.time <= answer.makespan(), "{reached:?}");
    assert!(reached.time > Time::ZERO);
}

#[test]
fn a_schedule_under_loggp_reports_its_progress_and_ends() {
    static PROGRESS: Progress = Progress::new();
    static FLAG: AtomicBool = AtomicBool::new(true);
    let Interconnect::LogGp(model) = machines::load("loggp").unwrap().interconnect else { panic!("no LogGP") };
    let text = b"num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n";
    let schedule = Schedule::parse("two.goal", text).unwrap();
    let clock = Clock::new(model);
    let (reached, answer) =
        progress_of(&PROGRESS, |stop| clock.on_arrival().with_stop(stop).run_goal(&schedule).unwrap().answer);
    assert!(reached.messages <= 1 && reached.time <= answer.makespan(), "{reached:?}");
    assert_eq!(clock.on_arrival().with_stop(Stop::at(&FLAG)).run_goal(&schedule).unwrap_err(), Error::Stopped);
}

#[test]
fn an_ethernet_reports_its_progress() {
    static PROGRESS: Progress = Progress::new();
    let machine = machines::load("mpich-tcp-8").unwrap();
    let program = EqualDist { bytes: Bytes(100), messages: 16 };
    let (reached, answer) =
        progress_of(&PROGRESS, |stop| EthernetWorld::new(&machine, 1).with_stop(stop).run(8, &program).unwrap().1);
    let received = answer.ethernet.as_ref().map_or(0, |ethernet| ethernet.received);
    assert!((1..=16).contains(&reached.messages) && (1..=received).contains(&reached.packets), "{reached:?}");
    assert!(reached.time > Time::ZERO, "{reached:?}");
}

/// A run that is over by the time of interest is the same as ever, and one that is not is stopped.
#[test]
fn a_run_ends_with_the_time_of_interest_on_every_machine() {
    let program = EqualDist { bytes: Bytes(100), messages: 64 };
    for name in ["moc-2-1", "mpich-tcp-8", "loggp"] {
        let machine = machines::load(name).unwrap();
        let run = |stop| Simulated::new(&machine, Options { stop, ..Options::default() }).run(8, &program);
        let whole = run(Stop::NEVER).unwrap().1.makespan();
        let half = Time::from_picoseconds(whole.picoseconds() / 2);
        assert_eq!(run(Stop::NEVER.or_after(half)).unwrap_err(), Error::Stopped, "{name}");
        // What follows the last rank's end, such as an acknowledgement, is not of interest.
        let long = Time::from_picoseconds(whole.picoseconds() * 2);
        assert_eq!(run(Stop::NEVER.or_after(long)).unwrap().1.makespan(), whole, "{name}");
    }
}
