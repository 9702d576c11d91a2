//! Signals as the command finds them when it is started.

use std::process::Command;

/// As under `nohup`, or in the background of a script: then it is not asked to end by these, and says nothing of it.
#[test]
fn signals_that_are_ignored_stay_ignored() {
    let script = "trap '' INT HUP; \"$1\" machines --json";
    let maquette = env!("CARGO_BIN_EXE_maquette");
    let ended = Command::new("sh").args(["-c", script, "sh", maquette]).output().unwrap();
    assert!(ended.status.success());
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}
