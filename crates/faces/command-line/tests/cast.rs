//! `maquette cast` as users run it: a process for the sender and one for each receiver, on this machine.

mod processes;

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use cast::interface::receives_multicast;
use processes::{Process, maquette, output, until};

/// A folder that is removed at the end, and a multicast group that no other test uses.
struct Place {
    folder: PathBuf,
    group: String,
}

impl Place {
    /// None if this machine has no multicast.
    fn new(number: u8) -> Option<Place> {
        let group = Ipv4Addr::new(239, 255, 79, number);
        if let Err(error) = receives_multicast(group, Ipv4Addr::LOCALHOST) {
            println!("skipped: no multicast on this machine: {error}");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("maquette-cast-process-{number}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let port = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port().min(65_000);
        Some(Place { folder, group: format!("{group}:{port}") })
    }

    fn cast(&self, arguments: &[&str]) -> Process {
        Process::start(maquette(&["cast"]).args(arguments).current_dir(&self.folder))
    }

    fn send(&self, more: &[&str]) -> Process {
        self.cast(&[&["send", "--to", &self.group][..], more].concat())
    }

    fn receive(&self, into: &str, more: &[&str]) -> Process {
        self.cast(&[&["receive", "--from", &self.group, "--into", into][..], more].concat())
    }

    /// Waits until some, but not all, pieces have arrived in that folder.
    fn until_pieces_are_in(&self, into: &str) {
        let into = self.folder.join(into);
        let pieces = || fs::metadata(unfinished(&into)?.join("pieces")).ok().filter(|pieces| pieces.len() > 0);
        until("pieces have come", pieces);
    }

    fn same(&self, sent: &str, received: &str) -> bool {
        fs::read(self.folder.join(sent)).unwrap() == fs::read(self.folder.join(received)).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The folder of unfinished files.
fn unfinished(into: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(into).ok()?.map(|entry| entry.unwrap().path());
    entries.find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(".maquette-cast-"))
}

fn ended(process: Process) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = process.ended();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn bytes(length: u64) -> Vec<u8> {
    (0..length).map(|place| ((place * place) >> 10) as u8).collect()
}

#[test]
fn a_late_receiver_and_a_killed_one_get_a_folder_and_one_with_another_key_gets_nothing() {
    let Some(place) = Place::new(1) else { return };
    for key in ["our.key", "other.key"] {
        assert_eq!(ended(place.cast(&["key", key])).0, Some(0));
    }
    fs::create_dir_all(place.folder.join("tree/in/side")).unwrap();
    fs::write(place.folder.join("tree/large"), bytes(6_000_000)).unwrap();
    fs::write(place.folder.join("tree/in/side/empty"), b"").unwrap();
    let ours = ["--key-file", "our.key"];
    let first = place.receive("first", &ours);
    let killed = place.receive("killed", &ours);
    let stranger = place.receive("stranger", &["--key-file", "other.key", "--wait", "3"]);
    let sender = place.send(&["tree", "--receivers", "2", "--rate", "40 Mbit/s", "--json", "--key-file", "our.key"]);
    place.until_pieces_are_in("killed");
    // As if by `kill -KILL`.
    drop(killed);
    assert!(unfinished(&place.folder.join("killed")).is_some() && !place.folder.join("killed/tree").exists());
    let (late, again) = (place.receive("late", &ours), place.receive("killed", &[&ours[..], &["--json"]].concat()));
    let (status, printed, _) = ended(again);
    assert_eq!(status, Some(0));
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let (all, came) = (printed["bytes"].as_u64().unwrap(), printed["bytes_that_came"].as_u64().unwrap());
    assert!(all == 6_000_000 && came < all, "{came} of {all} came after it was killed");
    for receiver in [first, late] {
        let (status, printed, _) = ended(receiver);
        assert!(status == Some(0) && printed.starts_with("received tree: 2 files, 5.722 MiB, in "), "{printed}");
    }
    let (status, printed, complaints) = ended(sender);
    let may_be = "the receiver at 127.0.0.1 has another key: its --key-file may be the wrong one, or this one may be";
    assert_eq!(complaints.matches(may_be).count(), 1, "{complaints}");
    let sent: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((status, sent["sealed"].as_bool()), (Some(0), Some(true)), "{printed}{complaints}");
    assert!(sent["receivers"].as_u64().unwrap() >= 2, "{printed}");
    for into in ["first", "killed", "late"] {
        assert!(place.same("tree/large", &format!("{into}/tree/large")), "{into}");
        assert_eq!(fs::read(place.folder.join(into).join("tree/in/side/empty")).unwrap(), b"");
        assert!(unfinished(&place.folder.join(into)).is_none());
    }
    let (status, _, complaints) = ended(stranger);
    let may_be =
        "warning: 127.0.0.1 sends with another key: this --key-file may be the wrong one, or the sender's may be\n";
    assert_eq!((status, complaints), (Some(1), format!("{may_be}error: nothing was announced for 3 s\n")));
    assert_eq!(fs::read_dir(place.folder.join("stranger")).unwrap().count(), 0);
}

#[test]
fn interrupted_on_either_side_it_goes_on_from_there() {
    let Some(place) = Place::new(2) else { return };
    fs::write(place.folder.join("file"), bytes(4_000_000)).unwrap();
    let trusts = "note: without --key-file the network is trusted: anyone on it can send files to this computer, and read what is sent\n";
    let sending = ["file", "--receivers", "1", "--rate", "30 Mbit/s"];
    let mut sender = place.send(&sending);
    let mut receiver = place.receive("into", &[]);
    place.until_pieces_are_in("into");
    receiver.signal("-INT");
    let (status, printed, complaints) = ended(receiver);
    assert_eq!((status, printed.as_str()), (Some(130), ""));
    let kept = "note: what has arrived is kept; the same command resumes from there\nerror: interrupted\n";
    assert_eq!(complaints, format!("{trusts}{kept}"));
    sender.signal("-INT");
    let (status, _, complaints) = ended(sender);
    let kept = "note: receivers keep what they have, and resume from there when the same files are sent again\nerror: interrupted\n";
    assert!(status == Some(130) && complaints.ends_with(kept), "{complaints}");
    let receiver = place.receive("into", &["--json"]);
    let (status, _, complaints) = ended(place.send(&sending));
    assert_eq!((status, complaints.as_str()), (Some(0), ""));
    let (status, printed, complaints) = ended(receiver);
    assert_eq!((status, complaints.as_str()), (Some(0), trusts));
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert!(printed["bytes_that_came"].as_u64().unwrap() < 4_000_000, "{printed}");
    assert!(place.same("file", "into/file"));
}

#[test]
fn a_sender_whom_nobody_hears_and_a_receiver_who_refuses_end_with_status_1() {
    let Some(place) = Place::new(3) else { return };
    fs::write(place.folder.join("file"), b"new").unwrap();
    let (status, _, complaints) = ended(place.send(&["file", "--wait", "0.2"]));
    assert_eq!((status, complaints.as_str()), (Some(1), "error: no receiver joined\n"));
    fs::create_dir_all(place.folder.join("into")).unwrap();
    fs::write(place.folder.join("into/file"), b"old").unwrap();
    let receiver = place.receive("into", &[]);
    let (status, _, complaints) = ended(place.send(&["file", "--wait", "3"]));
    assert!(
        status == Some(1) && complaints.contains("refuses the files: `into/file`: it is there already"),
        "{complaints}"
    );
    let (status, _, complaints) = ended(receiver);
    assert!(
        status == Some(1) && complaints.ends_with("it is there already; --overwrite replaces it\n"),
        "{complaints}"
    );
    let receiver = place.receive("into", &["--overwrite", "--sync"]);
    assert_eq!(ended(place.send(&["file", "--receivers", "1"])).0, Some(0));
    assert_eq!(ended(receiver).0, Some(0));
    assert_eq!(fs::read(place.folder.join("into/file")).unwrap(), b"new");
}

/// The mode of a file or folder.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn permissions_are_carried_less_the_umask_and_no_other_bits() {
    let Some(place) = Place::new(4) else { return };
    let tree = place.folder.join("tree");
    let folders = [("", 0o700), ("shared", 0o775), ("closed", 0o555), ("sticky", 0o1777)];
    let files =
        [("secret", 0o600), ("shared/program", 0o775), ("closed/fixed", 0o444), ("setuid", 0o6755), ("open", 0o666)];
    for (name, _) in folders {
        fs::create_dir_all(tree.join(name)).unwrap();
    }
    for (name, content) in files.map(|(name, _)| name).iter().zip(["a", "", "b", "c", "d"]) {
        fs::write(tree.join(name), content).unwrap();
    }
    for (name, mode) in files.into_iter().chain(folders) {
        fs::set_permissions(tree.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let receive = "umask \"$1\"; shift; exec \"$@\"";
    for umask in [0o000, 0o022, 0o077] {
        let into = format!("into-{umask:o}");
        let command = maquette(&["cast", "receive", "--sync", "--from", &place.group, "--into", &into]);
        let mut with_umask = std::process::Command::new("sh");
        with_umask.args(["-c", receive, "sh", &format!("{umask:o}")]).current_dir(&place.folder);
        let receiver = Process::start(with_umask.arg(command.get_program()).args(command.get_args()));
        assert_eq!(ended(place.send(&["tree", "--receivers", "1"])).0, Some(0));
        assert_eq!(ended(receiver).0, Some(0));
        for (name, sent) in files.into_iter().chain(folders) {
            let came = mode(&place.folder.join(&into).join("tree").join(name));
            assert_eq!(format!("{came:o}"), format!("{:o}", sent & 0o777 & !umask), "{name}, umask {umask:o}");
        }
        assert_eq!(fs::read(place.folder.join(&into).join("tree/closed/fixed")).unwrap(), b"b");
    }
}

#[test]
fn what_cannot_be_sent_is_named_and_left_out_if_that_is_wanted() {
    let Some(place) = Place::new(5) else { return };
    fs::create_dir_all(place.folder.join("tree/in\nside")).unwrap();
    for name in ["fine", "a\nb\u{1b}[2J", "in\nside/file"] {
        fs::write(place.folder.join("tree").join(name), "content").unwrap();
    }
    let (status, _, complaints) = ended(place.send(&["tree", "--wait", "0.2"]));
    assert_eq!(status, Some(2));
    assert!(complaints.ends_with("; --skip-unsendable sends the others\n"), "{complaints}");
    assert!(
        ["`tree/a\\nb\\u{1b}[2J`", "`tree/in\\nside`"].iter().any(|name| complaints.contains(name)),
        "{complaints}"
    );
    let receiver = place.receive("into", &[]);
    let (status, _, complaints) = ended(place.send(&["tree", "--receivers", "1", "--skip-unsendable"]));
    assert_eq!(status, Some(0), "{complaints}");
    for name in ["warning: not sent: `tree/a\\nb\\u{1b}[2J`: ", "warning: not sent: `tree/in\\nside`: "] {
        assert!(complaints.contains(name), "{complaints}");
    }
    assert_eq!((ended(receiver).0, complaints.lines().count()), (Some(0), 2));
    let came: Vec<_> =
        fs::read_dir(place.folder.join("into/tree")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(came, ["fine"]);
}

#[test]
fn a_sender_says_how_many_of_those_it_waited_for_came() {
    let Some(place) = Place::new(6) else { return };
    fs::write(place.folder.join("file"), b"content").unwrap();
    let receiver = place.receive("made/with/all/above", &[]);
    let (status, printed, complaints) = ended(place.send(&["file", "--receivers", "7", "--wait", "1.5"]));
    assert_eq!((status, complaints.as_str()), (Some(1), "warning: 1 of 7 receivers joined\n"));
    assert!(printed.starts_with("sent 1 file, 7 B, to 1 receiver in "), "{printed}");
    assert_eq!(ended(receiver).0, Some(0));
    assert!(place.same("file", "made/with/all/above/file"));
}

/// The error comes before anything is sent.
#[test]
fn a_folder_that_cannot_be_written_to_is_reported_at_once() {
    let Some(place) = Place::new(7) else { return };
    let refused = output(&mut maquette(&["cast", "receive", "--from", &place.group, "--into", "/proc"]));
    let complaints = String::from_utf8(refused.stderr).unwrap();
    assert!(complaints.starts_with("error: `/proc`: nothing can be written in it: "), "{complaints}");
    assert_eq!(refused.status.code(), Some(2));
    fs::write(place.folder.join("file"), b"content").unwrap();
    let (status, _, complaints) = ended(place.receive("file", &[]));
    assert_eq!((status, complaints.as_str()), (Some(2), "error: `file`: it is not a folder\n"));
    let (status, _, complaints) = ended(place.receive("file/below", &[]));
    assert!(status == Some(2) && complaints.starts_with("error: `file/below`: "), "{complaints}");
}
