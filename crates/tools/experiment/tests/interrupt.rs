//! Interruption. One test, in a process of its own, since a process has one flag and every run checks it.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use collectives::all_to_all::{CompleteExchange, Pairwise};
use endpoint::Error;
use formats::interrupt::{flag, forget, request, requested, unless_requested};
use maquette_experiment::simulate::simulate;
use quantities::Bytes;
use virtual_worlds::flit::world::Options;

/// The result of a run on this machine.
fn run(machine: &str) -> Result<(), Error> {
    let machine = machines::load(machine).unwrap();
    simulate(&machine, Options::default(), 16, &CompleteExchange::new(Pairwise::in_turns(), Bytes(64))).map(|_| ())
}

#[test]
fn a_request_ends_the_wait_and_every_run() {
    assert_eq!(unless_requested(|| 5), Some(5));
    assert!(std::panic::catch_unwind(|| unless_requested(|| panic!("on purpose"))).is_err());
    assert_eq!((run("cm5-32"), run("loggp")), (Ok(()), Ok(())));
    request(signal_hook::consts::SIGINT);
    assert!(requested() && flag().load(Ordering::Relaxed));
    assert_eq!(unless_requested(|| thread::sleep(Duration::from_secs(3600))), None);
    assert_eq!((run("cm5-32"), run("loggp")), (Err(Error::Stopped), Err(Error::Stopped)));
    forget();
    assert!(!requested());
    assert_eq!((run("cm5-32"), run("loggp")), (Ok(()), Ok(())));
}
