//! Programs as real processes on this computer.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn launch(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_maquette")).arg("launch").args(arguments).output().unwrap()
}

/// What a launch that goes well says as JSON.
fn launched(arguments: &[&str]) -> Value {
    let ended = launch(&[arguments, &["--json"]].concat());
    assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
    serde_json::from_slice(&ended.stdout).unwrap()
}

fn told(ended: &Output) -> String {
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

#[test]
fn every_kind_of_program_runs_as_processes() {
    let programs: [&[&str]; 10] = [
        &["ping-pong", "--bytes", "100"],
        &["all-to-all", "--bytes", "1KiB", "--rounds", "2"],
        &["equal-dist", "--bytes", "200"],
        &["unequal-dist", "--bytes", "200"],
        &["broadcast", "--algorithm", "scatter-gather", "--bytes", "20KiB"],
        &["combine", "--algorithm", "rabenseifner", "--bytes", "4KiB"],
        &["exchange", "--algorithm", "balanced", "--bytes", "2KiB"],
        &["fft", "--size", "32"],
        &["conjugate-gradient", "--width", "8", "--height", "8"],
        &["linear-hash", "--servers", "2", "--clients", "2", "--random-keys", "300"],
    ];
    for program in programs {
        let said = launched(&[&["--local", "4"], program].concat());
        assert!(said["messages"].as_u64() > Some(0), "{program:?}: {said}");
        assert!(said["times_ps"][0].as_u64() > Some(0), "{program:?}: {said}");
    }
}

#[test]
fn a_broadcast_in_hardware_is_copied_once() {
    let arguments = ["--local", "5", "broadcast", "--algorithm", "hardware", "--bytes", "100KiB", "--repeat", "3"];
    let said = launched(&arguments);
    assert_eq!((&said["messages"], said["times_ps"].as_array().map(Vec::len)), (&3.into(), Some(3)));
    if said["group"].is_null() {
        println!("not counted: this computer has no multicast");
        return;
    }
    let copies = said["copied_bytes"].as_f64().unwrap() / said["bytes"].as_f64().unwrap();
    // What a busy computer makes a rank send again is counted, too.
    assert!((1.0..1.5).contains(&copies), "{copies} copies of each byte");
}

#[test]
fn a_program_that_is_stuck_ends() {
    let folder = std::env::temp_dir().join(format!("maquette-launch-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let hosts = folder.join("hosts.txt");
    fs::write(&hosts, "here 127.0.0.1 2\n").unwrap();
    let hosts = hosts.to_str().unwrap();
    // `true` starts nobody.
    let gone = launch(&["--hosts", hosts, "--shell", "true {host}", "ping-pong"]);
    assert_eq!((gone.status.code(), told(&gone).contains("on here is gone: exit status: 0")), (Some(1), true));
    let late = launch(&["--hosts", hosts, "--shell", "sleep 60 {host}", "--timeout", "1s", "ping-pong"]);
    assert_eq!(late.status.code(), Some(1), "{}", told(&late));
    let nobody = launch(&["--hosts", hosts, "--shell", "/no/such/shell {host}", "ping-pong"]);
    assert!(told(&nobody).contains("rank 0 can't be started on here"), "{}", told(&nobody));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_rank_that_nobody_launched_ends() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let control = listener.local_addr().unwrap().to_string();
    let arguments = ["launch-rank", "--control", &control, "--rank", "0", "--bind", "127.0.0.1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_maquette"));
    let mut rank = command.args(arguments).stdin(Stdio::piped()).spawn().unwrap();
    rank.stdin.take().unwrap().write_all(b"token\n").unwrap();
    let (mut launcher, _): (TcpStream, _) = listener.accept().unwrap();
    launcher.write_all(b"{\"ranks\":[]}\n").unwrap();
    drop(launcher);
    assert_eq!(rank.wait().unwrap().code(), Some(1));
}
