//! `maquette cast` as people use it: a process for the sender and one for each receiver, on this machine.

use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use cast::interface::hears_multicast;

/// A folder that is removed at the end, and a group that no other test has.
struct Place {
    folder: PathBuf,
    group: String,
}

impl Place {
    /// None where this machine has no multicast.
    fn new(number: u8) -> Option<Place> {
        let group = Ipv4Addr::new(239, 255, 79, number);
        if let Err(error) = hears_multicast(group, Ipv4Addr::LOCALHOST) {
            println!("skipped: no multicast on this machine: {error}");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("maquette-cast-process-{number}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let port = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port().min(65_000);
        Some(Place { folder, group: format!("{group}:{port}") })
    }

    fn cast(&self, arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_maquette"));
        command.arg("cast").args(arguments).current_dir(&self.folder);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn send(&self, more: &[&str]) -> Child {
        self.cast(&[&["send", "--to", &self.group][..], more].concat())
    }

    fn receive(&self, into: &str, more: &[&str]) -> Child {
        fs::create_dir_all(self.folder.join(into)).unwrap();
        self.cast(&[&["receive", "--from", &self.group, "--into", into][..], more].concat())
    }

    /// Waits until pieces have come into that folder, but not all.
    fn until_pieces_are_in(&self, into: &str) {
        let into = self.folder.join(into);
        while !unfinished(&into).is_some_and(|folder| fs::metadata(folder.join("pieces")).is_ok_and(|it| it.len() > 0))
        {
            thread::park_timeout(Duration::from_millis(5));
        }
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

/// The folder of what is not whole.
fn unfinished(into: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(into).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(".maquette-cast-"))
}

fn ended(child: Child) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
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
    let mut killed = place.receive("killed", &ours);
    let stranger = place.receive("stranger", &["--key-file", "other.key", "--wait", "3"]);
    let sender = place.send(&["tree", "--receivers", "2", "--rate", "40 Mbit/s", "--json", "--key-file", "our.key"]);
    place.until_pieces_are_in("killed");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(unfinished(&place.folder.join("killed")).is_some() && !place.folder.join("killed/tree").exists());
    let (late, again) = (place.receive("late", &ours), place.receive("killed", &[&ours[..], &["--json"]].concat()));
    let (status, told, _) = ended(again);
    assert_eq!(status, Some(0));
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let (all, came) = (told["bytes"].as_u64().unwrap(), told["bytes_that_came"].as_u64().unwrap());
    assert!(all == 6_000_000 && came < all, "{came} of {all} came after it was killed");
    for receiver in [first, late] {
        let (status, told, _) = ended(receiver);
        assert!(status == Some(0) && told.starts_with("received tree: 2 files, 6 MB, in "), "{told}");
    }
    let (status, told, complaints) = ended(sender);
    let sent: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((status, sent["sealed"].as_bool()), (Some(0), Some(true)), "{told}{complaints}");
    assert!(sent["receivers"].as_u64().unwrap() >= 2, "{told}");
    for into in ["first", "killed", "late"] {
        assert!(place.same("tree/large", &format!("{into}/tree/large")), "{into}");
        assert_eq!(fs::read(place.folder.join(into).join("tree/in/side/empty")).unwrap(), b"");
        assert!(unfinished(&place.folder.join(into)).is_none());
    }
    let (status, _, complaints) = ended(stranger);
    assert_eq!((status, complaints.as_str()), (Some(1), "error: nothing was announced for 3 s\n"));
    assert_eq!(fs::read_dir(place.folder.join("stranger")).unwrap().count(), 0);
}

#[test]
fn interrupted_on_either_side_it_goes_on_from_there() {
    let Some(place) = Place::new(2) else { return };
    fs::write(place.folder.join("file"), bytes(4_000_000)).unwrap();
    let trusts = "note: without --key-file the network is trusted: whoever is on it can send files here, and read what is sent\n";
    let sending = ["file", "--receivers", "1", "--rate", "30 Mbit/s"];
    let sender = place.send(&sending);
    let receiver = place.receive("into", &[]);
    place.until_pieces_are_in("into");
    interrupt(&receiver);
    let (status, told, complaints) = ended(receiver);
    assert_eq!((status, told.as_str()), (Some(130), ""));
    let kept = "note: what has come is kept; the same command goes on from there\nerror: interrupted\n";
    assert_eq!(complaints, format!("{trusts}{kept}"));
    interrupt(&sender);
    let (status, _, complaints) = ended(sender);
    let kept = "note: receivers keep what they have, and go on from there when the same files are sent again\nerror: interrupted\n";
    assert!(status == Some(130) && complaints.ends_with(kept), "{complaints}");
    let receiver = place.receive("into", &["--json"]);
    let (status, _, complaints) = ended(place.send(&sending));
    assert_eq!((status, complaints.as_str()), (Some(0), ""));
    let (status, told, complaints) = ended(receiver);
    assert_eq!((status, complaints.as_str()), (Some(0), trusts));
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert!(told["bytes_that_came"].as_u64().unwrap() < 4_000_000, "{told}");
    assert!(place.same("file", "into/file"));
}

#[test]
fn a_sender_whom_nobody_hears_and_a_receiver_who_refuses_end_with_status_1() {
    let Some(place) = Place::new(3) else { return };
    fs::write(place.folder.join("file"), b"new").unwrap();
    let (status, _, complaints) = ended(place.send(&["file", "--wait", "0.2"]));
    assert_eq!((status, complaints.as_str()), (Some(1), "error: nobody came to receive it\n"));
    fs::create_dir_all(place.folder.join("into")).unwrap();
    fs::write(place.folder.join("into/file"), b"old").unwrap();
    let receiver = place.receive("into", &[]);
    let (status, _, complaints) = ended(place.send(&["file", "--wait", "3"]));
    assert!(
        status == Some(1) && complaints.contains("does not take it: `into/file`: it is there already"),
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
