//! Programs as real processes on this computer.

mod processes;

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use processes::{Process, maquette, output, signal, until};
use serde_json::{Value, json};

fn launch(arguments: &[&str]) -> Output {
    output(maquette(&["launch"]).args(arguments))
}

/// The JSON output of a successful launch.
fn launched(arguments: &[&str]) -> Value {
    let ended = launch(&[arguments, &["--json"]].concat());
    assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
    serde_json::from_slice(&ended.stdout).unwrap()
}

fn standard_error(ended: &Output) -> String {
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

#[test]
fn every_kind_of_program_runs_as_processes() {
    let programs: [&[&str]; 11] = [
        &["ping-pong", "--bytes", "100"],
        &["all-pairs", "--bytes", "1KiB", "--rounds", "2"],
        &["equal-dist", "--bytes", "200"],
        &["unequal-dist", "--bytes", "200"],
        &["broadcast", "--algorithm", "scatter-gather", "--bytes", "20KiB"],
        &["cast", "--bytes", "3MiB", "--have", "0.4"],
        &["all-reduce", "--algorithm", "rabenseifner", "--bytes", "4KiB"],
        &["all-to-all", "--algorithm", "balanced", "--bytes", "2KiB"],
        &["fft", "--size", "32"],
        &["conjugate-gradient", "--width", "8", "--height", "8"],
        &["linear-hash", "--servers", "2", "--clients", "2", "--random-keys", "300"],
    ];
    for program in programs {
        let report = launched(&[&["--local", "4"], program].concat());
        assert!(report["messages"].as_u64() > Some(0), "{program:?}: {report}");
        assert!(report["times_ps"][0].as_u64() > Some(0), "{program:?}: {report}");
    }
}

#[test]
fn a_broadcast_in_hardware_is_copied_once() {
    let arguments = ["--local", "5", "broadcast", "--algorithm", "hardware", "--bytes", "100KiB", "--repeat", "3"];
    let report = launched(&arguments);
    assert_eq!((&report["messages"], report["times_ps"].as_array().map(Vec::len)), (&3.into(), Some(3)));
    if report["group"].is_null() {
        println!("not counted: this computer has no multicast");
        return;
    }
    let copies = report["copied_bytes"].as_f64().unwrap() / report["bytes"].as_f64().unwrap();
    // Retransmissions, which a busy computer can cause, are counted, too.
    assert!((1.0..1.5).contains(&copies), "{copies} copies of each byte");
}

#[test]
fn losses_are_repaired_in_every_way_within_any_window() {
    for (way, window) in [("go-back-n", "1"), ("go-back-n", "16"), ("selective", "400"), ("parity", "20")] {
        let arguments = ["--local", "3", "--repair", way, "--window", window, "broadcast", "--algorithm", "hardware"];
        let report = launched(&[&arguments[..], &["--bytes", "300KiB"]].concat());
        assert_eq!(report["bytes"], 300 << 10, "{way}, {window}: {report}");
    }
}

/// IP splits a datagram that is longer than a frame carries, and puts it together again.
#[test]
fn in_long_datagrams_messages_need_fewer_of_them() {
    let datagrams = |longest: &str| {
        let program = ["all-to-all", "--bytes", "60KiB", "--repeat", "5"];
        let report = launched(&[&["--local", "3", "--datagram", longest], &program[..]].concat());
        report["datagrams"].as_u64().unwrap()
    };
    // 30 messages, of 44 packets each or in one, and what confirms them.
    let (short, long) = (datagrams("1472"), datagrams("65507"));
    assert!(short >= 30 * 44 && (30..short / 4).contains(&long), "{short}, {long}");
}

/// Predictions are on disk, with their digest, before the first of them is measured: a measurement that fails leaves
/// them there.
#[test]
fn a_rehearsal_predicts_before_it_measures() {
    let folder = std::env::temp_dir().join(format!("maquette-rehearse-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("rehearsal.toml");
    let (measure, predict) = ("[[measure]]\nranks = 2\nprogram.ping-pong = { bytes = 64 }\n", "[[predict]]\n");
    let choice = "program.broadcast = { bytes = 64 }\nover = { ranks = [3], algorithm = [\"binomial\", \"linear\"] }\n";
    let text = format!("repeat = 3\nmachine.name = \"loggp\"\nfit.o = \"1us..10ms\"\n{measure}{predict}{choice}");
    fs::write(&file, text).unwrap();
    let out = folder.join("out");
    let arguments = ["--local", "3", "--json", "--out", out.to_str().unwrap(), file.to_str().unwrap()];
    let ended = output(maquette(&["rehearse"]).args(arguments));
    let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let judged = report["judgement"]["compared"].as_array().unwrap();
    assert_eq!(judged.len(), 2);
    let is_measured = |each: &Value| each["all_runs"]["measured_ps"].as_u64() > Some(0) && each["runs"] == 3;
    assert!(judged.iter().all(is_measured), "{report}");
    assert_eq!(report["judgement"]["all_runs"]["picks"].as_array().map(Vec::len), Some(1));
    // On a busy computer ranks lose their processors in so many runs that nothing is decided.
    let verdict = if ended.status.success() { "decided" } else { "not decided" };
    assert_eq!((&report["verdict"], ended.status.code().unwrap() < 2), (&verdict.into(), true));
    let predictions = fs::read(out.join("predictions.json")).unwrap();
    assert_eq!(report["predictions_blake3"], blake3::hash(&predictions).to_hex().as_str());
    let predictions: Value = serde_json::from_slice(&predictions).unwrap();
    for (prediction, judged) in predictions["predictions"].as_array().unwrap().iter().zip(judged) {
        assert_eq!(prediction["predicted_ps"], judged["predicted_ps"]);
    }
    assert_eq!(fs::read_to_string(out.join("fitted.toml")).unwrap(), predictions["description"].as_str().unwrap());
    assert!(fs::read_to_string(out.join("index.html")).unwrap().contains("broadcast on 3 algorithm linear"));
    let again = output(maquette(&["rehearse"]).args(arguments));
    assert_eq!(again.status.code(), Some(2), "nothing replaces what was predicted");
    let (copy, arguments) = (folder.join("copy"), |from: &Path, to: &Path| {
        ["--measured", from.to_str().unwrap(), "--out", to.to_str().unwrap(), file.to_str().unwrap()].map(str::to_owned)
    });
    let copied = output(maquette(&["rehearse", "--json"]).args(arguments(&out, &copy)));
    assert_eq!(copied.status.code(), ended.status.code(), "{}", standard_error(&copied));
    let copied: Value = serde_json::from_slice(&copied.stdout).unwrap();
    for field in ["verdict", "states", "fitted_to"] {
        assert_eq!(copied[field], report[field], "the same model says the same of the same times");
    }
    let times = |report: &Value| {
        let compared = report["judgement"]["compared"].as_array().unwrap().iter();
        compared.map(|each| (each["all_runs"].clone(), each["predicted_ps"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(times(&copied), times(&report));
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("[3]", "[2]")).unwrap();
    let other = output(maquette(&["rehearse"]).args(arguments(&out, &folder.join("other"))));
    let problem = "found no time of `broadcast on 2 algorithm binomial`";
    assert!(other.status.code() == Some(2) && standard_error(&other).contains(problem), "{}", standard_error(&other));
    fs::remove_dir_all(folder).unwrap();
}

/// A pass counts if the reference took its usual time on both sides of it. One program has such a pass, the other none.
#[test]
fn a_rehearsal_that_leaves_out_more_than_a_third_says_so_first_and_decides_nothing() {
    let fitted = [measured("ping-pong on 2 bytes 64", [pass(50, [50, 51]), pass(66, [51, 65])])];
    let binomial = measured("broadcast on 3 algorithm binomial", [pass(90, [64, 52]), pass(70, [52, 50])]);
    let linear = measured("broadcast on 3 algorithm linear", [pass(90, [64, 66]), pass(91, [66, 50])]);
    let rehearsal = RehearsalBefore::new("undecided", &[64], &fitted, &[binomial, linear]);
    let (status, report) = rehearsal.json();
    assert_eq!((status, &report["verdict"]), (1, &"not decided".into()));
    assert_eq!(report["states"][0]["fitted_to"][0]["measured_ps"], 50_000_000);
    let judgement = &report["judgement"];
    // The second ran in as many passes more as there were.
    assert_eq!(
        [&judgement["runs"], &judgement["left_out"], &judgement["never_compared"], &judgement["is_decided"]],
        [&json!(6), &json!(5), &json!(1), &json!(false)]
    );
    let [binomial, linear] = &judgement["compared"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!(
        [&binomial["runs_that_count"]["measured_ps"], &binomial["all_runs"]["measured_ps"], &binomial["left_out"]],
        [70_000_000, 70_000_000, 1]
    );
    assert_eq!((&linear["runs_that_count"], &linear["all_runs"]["measured_ps"]), (&Value::Null, &90_000_000.into()));
    assert_eq!(judgement["all_runs"]["predictions"], 2);
    assert_eq!(judgement["runs_that_count"]["predictions"], 1);
    let (status, text) = rehearsal.text();
    let first = "not decided: 5 of 6 runs (83.3 %) do not count, as a rank lost its processor or the computer was in a state without a fit; \
                 more than a third is too many\n\
                 rehearsed: 2 predictions, from a fit to 1 measured time; 1 of these predictions and 0 more of 1 program for the fit have no \
                 run that counts\n";
    assert!(status == 1 && text.starts_with(first), "{text}");
    for line in ["verdict ", "runs that count ", "error, all runs ", "error, runs that count "] {
        assert!(text.lines().any(|it| it.starts_with(line)), "{line}: {text}");
    }
    let page = rehearsal.page();
    assert!(page.contains("not decided: 5 of 6 runs") && page.contains("error, runs that count"), "{page}");
}

/// The fast state and the slow one are both met in the fit, so nothing is left out.
#[test]
fn a_computer_with_two_states_is_predicted_in_each() {
    let fitted = [measured("ping-pong on 2 bytes 64", [pass(50, [50, 51]), pass(101, [100, 102])])];
    let binomial = measured("broadcast on 3 algorithm binomial", [pass(60, [51, 52]), pass(120, [100, 101])]);
    let linear = measured("broadcast on 3 algorithm linear", [pass(130, [101, 99]), pass(131, [102, 100])]);
    let rehearsal = RehearsalBefore::new("two-states", &[64], &fitted, &[binomial, linear]);
    let (status, report) = rehearsal.json();
    assert_eq!((status, &report["verdict"], &report["judgement"]["left_out"]), (0, &"decided".into(), &0.into()));
    let predictions = rehearsal.predictions();
    let [fast, slow] = &predictions["states"].as_array().unwrap()[..] else { panic!("{predictions}") };
    assert_eq!((&fast["reference_ps"], &slow["reference_ps"]), (&50_000_000.into(), &100_000_000.into()));
    assert_eq!((&fast["share"], &slow["share"]), (&0.5.into(), &0.5.into()));
    assert_ne!(fast["description"], slow["description"]);
    let [binomial, linear] = &report["judgement"]["compared"].as_array().unwrap()[..] else { panic!("{report}") };
    let times =
        |it: &Value| it["in_states_ps"].as_array().unwrap().iter().filter_map(Value::as_u64).collect::<Vec<_>>();
    let both = times(binomial);
    assert!(both.len() == 2 && both[0] < both[1], "{report}");
    assert_eq!(binomial["all_runs"]["predicted_ps"], u64::midpoint(both[0], both[1] + 1));
    assert_eq!(binomial["all_runs"]["measured_ps"], 90_000_000);
    assert_eq!(linear["all_runs"]["predicted_ps"], times(linear)[1], "it was met in the slow state only");
    let (_, text) = rehearsal.text();
    assert!(text.contains("reference 50 us, 50.0 % of the runs for the fit"), "{text}");
}

/// In the slow state only one program was measured, too few for a fit of two fields.
#[test]
fn a_state_that_was_met_too_rarely_for_a_fit_is_predicted_from_the_first() {
    let fitted = [
        measured("ping-pong on 2 bytes 64", [pass(50, [50, 51]), pass(101, [100, 101])]),
        measured("ping-pong on 2 bytes 1024", [pass(60, [50, 51]), pass(61, [50, 101])]),
    ];
    let of = |algorithm| measured(algorithm, [pass(60, [51, 52]), pass(120, [100, 101])]);
    let compared = ["broadcast on 3 algorithm binomial", "broadcast on 3 algorithm linear"].map(of);
    let rehearsal = RehearsalBefore::new("rare-state", &[64, 1024], &fitted, &compared);
    let (status, report) = rehearsal.json();
    assert_eq!((status, &report["judgement"]["left_out"]), (0, &0.into()));
    let scaled = &report["states"][1]["scaled"];
    let factor = scaled["factor"].as_f64().unwrap();
    assert!((2.0..2.05).contains(&factor) && scaled["fields"] == json!(["L", "o"]), "{scaled}");
    let times = &report["judgement"]["compared"][0]["in_states_ps"];
    let ratio = times[1].as_f64().unwrap() / times[0].as_f64().unwrap();
    assert!((1.9..2.05).contains(&ratio), "the broadcast takes twice as long, too: {times}");
    let (_, text) = rehearsal.text();
    assert!(text.contains(&format!("{factor:.3} times the first state's L, o")), "{text}");
}

/// A rehearsal of two broadcasts, whose times were measured before; as many fields are fitted as there are sizes of
/// ping-pongs.
struct RehearsalBefore {
    folder: PathBuf,
}

impl RehearsalBefore {
    fn new(name: &str, sizes: &[u32], fitted_to: &[Value], compared: &[Value]) -> RehearsalBefore {
        let folder = std::env::temp_dir().join(format!("maquette-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let fields: String =
            ["o", "L"].iter().zip(sizes).map(|(field, _)| format!("fit.{field} = \"1us..10ms\"\n")).collect();
        let text = format!(
            "repeat = 2\npasses = 2\nmachine.name = \"loggp\"\n{fields}\
             [reference]\nranks = 2\nprogram.ping-pong = {{ bytes = 64 }}\ntolerance = 0.1\n\
             [[measure]]\nranks = 2\nprogram.ping-pong = {{ bytes = 64 }}\nover.bytes = {sizes:?}\n\
             [[predict]]\nprogram.broadcast = {{ bytes = 64 }}\n\
             over = {{ ranks = [3], algorithm = [\"binomial\", \"linear\"] }}\n"
        );
        fs::write(folder.join("rehearsal.toml"), text).unwrap();
        let before = json!({ "fitted_to": fitted_to, "judgement": { "compared": compared } });
        fs::write(folder.join("outcome.json"), before.to_string()).unwrap();
        RehearsalBefore { folder }
    }

    /// The exit status and what is printed.
    fn rehearse(&self, out: &str, more: &[&str]) -> (i32, String) {
        let (out, file) = (self.folder.join(out), self.folder.join("rehearsal.toml"));
        let options = [Path::new("--measured"), &self.folder, Path::new("--out"), &out, &file];
        let ended = output(maquette(&["rehearse"]).args(options).args(more));
        assert!(ended.stderr.is_empty(), "{}", standard_error(&ended));
        (ended.status.code().unwrap(), String::from_utf8(ended.stdout).unwrap())
    }

    fn json(&self) -> (i32, Value) {
        let (status, text) = self.rehearse("json", &["--json"]);
        (status, serde_json::from_str(&text).unwrap())
    }

    fn text(&self) -> (i32, String) {
        self.rehearse("text", &[])
    }

    fn page(&self) -> String {
        fs::read_to_string(self.folder.join("text").join("index.html")).unwrap()
    }

    fn predictions(&self) -> Value {
        serde_json::from_slice(&fs::read(self.folder.join("json").join("predictions.json")).unwrap()).unwrap()
    }
}

impl Drop for RehearsalBefore {
    fn drop(&mut self) {
        // What is left in a folder for temporary files does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Of the two programs that were measured for the fit, one ran only while the reference took longer than usual.
#[test]
fn a_fit_needs_a_program_in_the_usual_state_for_each_field() {
    let folder = std::env::temp_dir().join(format!("maquette-few-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("rehearsal.toml");
    let text = "repeat = 2\npasses = 2\nmachine.name = \"loggp\"\nfit.o = \"1us..10ms\"\nfit.L = \"1us..10ms\"\n\
                [reference]\nranks = 2\nprogram.ping-pong = { bytes = 64 }\ntolerance = 0.1\n\
                [[measure]]\nranks = 2\nprogram.ping-pong = { bytes = 64 }\nover.bytes = [64, 1024]\n\
                [[predict]]\nranks = 3\nprogram.broadcast = { bytes = 64 }\n";
    fs::write(&file, text).unwrap();
    let usual = measured("ping-pong on 2 bytes 64", [pass(50, [50, 51]), pass(51, [51, 50])]);
    let other = measured("ping-pong on 2 bytes 1024", [pass(66, [50, 65]), pass(66, [65, 66])]);
    let compared = measured("broadcast on 3", [pass(90, [50, 51]), pass(91, [51, 50])]);
    let before = json!({ "fitted_to": [usual, other], "judgement": { "compared": [compared] } });
    fs::write(folder.join("outcome.json"), before.to_string()).unwrap();
    let out = folder.join("out");
    let options = ["--measured", folder.to_str().unwrap(), "--out", out.to_str().unwrap(), file.to_str().unwrap()];
    let ended = output(maquette(&["rehearse"]).args(options));
    let expected = "error: measure: found 1 of the programs with runs that count; allowed is at least 2, one for each field of `fit`\n";
    assert_eq!((ended.status.code(), &standard_error(&ended)[..]), (Some(2), expected));
    fs::remove_dir_all(folder).unwrap();
}

/// A program as an outcome has it.
fn measured(what: &str, passes: [Value; 2]) -> Value {
    json!({ "what": what, "passes": passes })
}

/// A run of it, and the times of the reference before and after. [us]
fn pass(time: u64, reference: [u64; 2]) -> Value {
    json!({ "times_ps": [time * 1_000_000], "reference_ps": reference.map(|time| time * 1_000_000) })
}

#[test]
fn a_program_that_is_stuck_ends() {
    let folder = std::env::temp_dir().join(format!("maquette-launch-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let hosts = folder.join("hosts.txt");
    fs::write(&hosts, "local 127.0.0.1 2\n").unwrap();
    let hosts = hosts.to_str().unwrap();
    // `true` starts no rank.
    let gone = launch(&["--hosts", hosts, "--shell", "true {host}", "ping-pong"]);
    assert_eq!(
        (gone.status.code(), standard_error(&gone).contains("on local is gone: exit status: 0")),
        (Some(1), true)
    );
    let late = launch(&["--hosts", hosts, "--shell", "sleep 60 {host}", "--timeout", "1s", "ping-pong"]);
    assert_eq!(late.status.code(), Some(1), "{}", standard_error(&late));
    let unstarted = launch(&["--hosts", hosts, "--shell", "/no/such/shell {host}", "ping-pong"]);
    assert!(standard_error(&unstarted).contains("rank 0 can't be started on local"), "{}", standard_error(&unstarted));
    fs::remove_dir_all(folder).unwrap();
}

/// Ranks of two hosts that are this computer, at an address that only they use, with a ping-pong that takes hours.
fn endless(folder: &Path, address: &str, shell: &str) -> Process {
    fs::create_dir_all(folder).unwrap();
    let hosts = folder.join("hosts.txt");
    fs::write(&hosts, format!("local {address}\nother {address}\n")).unwrap();
    let program = ["ping-pong", "--bytes", "8", "--rounds", "1000000000"];
    Process::start(maquette(&["launch", "--hosts", hosts.to_str().unwrap(), "--shell", shell]).args(program))
}

/// The processes that the process `of` has started.
fn children(of: u32) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|process| process.path());
    let parent = format!("PPid:\t{of}\n");
    processes
        .filter(|process| fs::read_to_string(process.join("status")).is_ok_and(|it| it.contains(&parent)))
        .collect()
}

/// The ranks at that address, by their process number.
fn ranks(address: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let line = |process: &fs::DirEntry| fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
    let is_rank = |line: String| line.contains("\0launch-rank\0") && line.contains(address) && !line.starts_with("env");
    let ranks = processes.filter(|process| is_rank(line(process)));
    ranks.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}

/// Waits until there are `count` ranks at that address.
fn until_there_are(count: usize, address: &str) -> Vec<String> {
    until(&format!("{count} ranks"), || Some(ranks(address)).filter(|there| there.len() == count))
}

#[test]
fn when_the_launch_is_interrupted_no_rank_stays() {
    let folder = std::env::temp_dir().join(format!("maquette-interrupted-{}", std::process::id()));
    let address = "127.91.2.3";
    let mut launch = endless(&folder, address, "env HOST={host}");
    until_there_are(2, address);
    launch.signal("-INT");
    assert_eq!(launch.ended().status.code(), Some(130));
    until_there_are(0, address);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn ctrl_c_on_a_terminal_is_for_the_launcher_alone() {
    // A terminal interrupts its foreground process group.
    let mut launch = maquette(&["launch", "--local", "2", "ping-pong", "--bytes", "8", "--rounds", "1000000001"]);
    let mut launch = Process::start(launch.process_group(0));
    let launcher = launch.child().id();
    let there = until("two ranks", || Some(children(launcher)).filter(|there| there.len() == 2));
    signal("-INT", &format!("-{launcher}"));
    let ended = launch.ended();
    assert_eq!((ended.status.code(), standard_error(&ended).as_str()), (Some(130), "error: interrupted\n"));
    until("no rank stays", || there.iter().all(|rank| !rank.exists()).then_some(()));
}

#[test]
fn a_rank_that_is_killed_ends_the_launch_and_is_named() {
    let folder = std::env::temp_dir().join(format!("maquette-killed-{}", std::process::id()));
    let address = "127.91.2.4";
    let launch = endless(&folder, address, "env HOST={host}");
    let there = until_there_are(2, address);
    signal("-KILL", &there[0]);
    let ended = launch.ended();
    assert_eq!(ended.status.code(), Some(1));
    assert!(standard_error(&ended).contains("is gone: signal: 9 (SIGKILL)"), "{}", standard_error(&ended));
    until_there_are(0, address);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn ranks_that_wait_for_each_other_end_by_patience() {
    let folder = std::env::temp_dir().join(format!("maquette-stuck-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let schedule = folder.join("stuck.goal");
    let text = "num_ranks 2\nrank 0 {\nl1: recv 8b from 1 tag 0\nl2: send 8b to 1 tag 0\nl2 requires l1\n}\n\
                rank 1 {\nl1: recv 8b from 0 tag 0\nl2: send 8b to 0 tag 0\nl2 requires l1\n}\n";
    fs::write(&schedule, text).unwrap();
    let schedule = schedule.to_str().unwrap();
    let ended = launch(&["--local", "2", "--patience", "300ms", "goal", schedule]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(standard_error(&ended).contains("has waited for a message for too long"), "{}", standard_error(&ended));
    fs::write(schedule, text.replacen("l2 requires l1", "", 1)).unwrap();
    assert_eq!(launched(&["--local", "2", "goal", schedule])["messages"], 2);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_rank_that_nobody_launched_ends() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let control = listener.local_addr().unwrap().to_string();
    let arguments = ["launch-rank", "--control", &control, "--rank", "0", "--bind", "127.0.0.1"];
    let mut rank = Process::start(maquette(&arguments).stdin(Stdio::piped()));
    rank.child().stdin.take().unwrap().write_all(b"token\n").unwrap();
    listener.set_nonblocking(true).unwrap();
    let (mut launcher, _): (TcpStream, _) = until("it comes", || listener.accept().ok());
    launcher.write_all(b"{\"ranks\":[]}\n").unwrap();
    drop(launcher);
    assert_eq!(rank.ended().status.code(), Some(1));
}
