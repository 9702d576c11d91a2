//! Signal dispositions that the command inherits.

mod processes;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use processes::{Process, maquette, output, until};

/// As under `nohup`, or in the background of a script: these signals do not stop it, and it does not mention them.
#[test]
fn signals_that_are_ignored_stay_ignored() {
    let script = "trap '' INT HUP; \"$1\" machines --json";
    let ended = output(Command::new("sh").args(["-c", script, "sh", env!("CARGO_BIN_EXE_maquette")]));
    assert!(ended.status.success());
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

/// Processes that tests start can be interrupted even if the tests themselves ignore interrupts.
#[test]
fn what_tests_start_can_be_interrupted_although_they_cannot() {
    let endless = maquette(&["run", "equal-dist", "--machine", "moc-3-2", "--messages", "4000000000"]);
    let mut ignoring = Command::new("sh");
    ignoring.args(["-c", "trap '' INT; exec \"$@\"", "sh"]).arg(endless.get_program()).args(endless.get_args());
    let mut process = Process::start(&mut ignoring);
    let id = process.child().id();
    until("the command begins", || {
        fs::read_link(format!("/proc/{id}/exe")).ok().filter(|exe| exe.ends_with("maquette"))
    });
    process.signal("-INT");
    let status = process.ended().status;
    // Until it has installed its handler, the signal itself ends it.
    assert!(status.code() == Some(130) || status.signal() == Some(2), "{status}");
}
