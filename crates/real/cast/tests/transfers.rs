//! Whole transfers on this machine, over UDP and multicast, with sender and receivers each on its own thread. A
//! transfer that hangs is interrupted after a minute.

use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use maquette_cast::cast::{
    CastError, Event, Meeting, ReceiveSettings, Received, SendSettings, Sent, Watch, receive, send,
};
use maquette_cast::files::{Folder, Unsendable, Wishes, list};
use maquette_cast::lobby::{Announce, Envelope, LobbyMessage, Mismatch, Token};
use maquette_cast::manifest::Id;
use maquette_cast::secret::{KeyFile, Secret};
use quantities::{Bytes, Duration};
use real_worlds::udp::receives_multicast;

const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;
/// No transfer may take longer. [s]
const LIMIT: u64 = 60;

/// Records events, and ends the transfer when told to, or when it has taken too long.
struct Notes<'a> {
    began: Instant,
    events: Vec<Event>,
    /// It ends when this many bytes have been received.
    ends_at: Option<Bytes>,
    ends: AtomicBool,
    /// Set when this much has been sent.
    tells: Option<(&'a AtomicBool, Bytes)>,
}

impl Default for Notes<'_> {
    fn default() -> Self {
        Notes { began: now(), events: Vec::new(), ends_at: None, ends: AtomicBool::new(false), tells: None }
    }
}

#[expect(clippy::disallowed_methods, reason = "what hangs is ended")]
fn now() -> Instant {
    Instant::now()
}

impl Watch for Notes<'_> {
    fn see(&mut self, event: Event) {
        match (&event, self.ends_at, self.tells) {
            (Event::Has(has, _), Some(ends_at), _) if *has >= ends_at => self.ends.store(true, Ordering::Relaxed),
            (Event::Sent(sent, _), _, Some((flag, at))) if *sent >= at => flag.store(true, Ordering::Relaxed),
            _ => {}
        }
        if !matches!(event, Event::Sent(..) | Event::Has(..)) {
            self.events.push(event);
        }
    }
    fn ends(&self) -> bool {
        self.ends.load(Ordering::Relaxed) || self.began.elapsed().as_secs() >= LIMIT
    }
}

/// A folder that is removed at the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        let path = std::env::temp_dir().join(format!("maquette-cast-test-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Temporary(path)
    }
    fn folder(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A meeting place that no other test has; none if there is no multicast.
fn meeting(place: u8, secret: Option<Secret>) -> Option<Meeting> {
    let group = Ipv4Addr::new(239, 255, 78, place);
    if let Err(error) = receives_multicast(group, LOOPBACK) {
        println!("skipped: no multicast on this machine: {error}");
        return None;
    }
    let port = UdpSocket::bind((LOOPBACK, 0)).unwrap().local_addr().unwrap().port().min(65_000);
    Some(Meeting { group: SocketAddrV4::new(group, port), interface: LOOPBACK, hops: 1, secret })
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_microseconds(seconds * 1_000_000)
}

/// Files to send: a large one, an empty one, a folder with a folder with a program, an empty folder.
fn files(at: &Path) -> PathBuf {
    let tree = at.join("tree");
    fs::create_dir_all(tree.join("in/side")).unwrap();
    fs::create_dir_all(tree.join("empty folder")).unwrap();
    let content: Vec<u8> = (0..5_300_000_u64).map(|place| ((place * place) >> 9) as u8).collect();
    fs::write(tree.join("large"), content).unwrap();
    fs::write(tree.join("empty"), b"").unwrap();
    fs::write(tree.join("in/side/program"), b"#!/bin/sh\n").unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(tree.join("in/side/program"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("../large", tree.join("in/link")).unwrap();
    tree
}

fn assert_same(sent: &Path, into: &Path) {
    for file in ["large", "empty", "in/side/program"] {
        assert!(fs::read(sent.join(file)).unwrap() == fs::read(into.join("tree").join(file)).unwrap(), "{file}");
    }
    assert!(into.join("tree/empty folder").is_dir());
    assert_eq!(fs::read_link(into.join("tree/in/link")).unwrap(), Path::new("../large"));
    use std::os::unix::fs::PermissionsExt;
    assert!(fs::metadata(into.join("tree/in/side/program")).unwrap().permissions().mode() & 0o111 != 0);
    let names: Vec<String> =
        fs::read_dir(into).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["tree"], "nothing else is left");
}

fn sends(
    files: &Path,
    meeting: &Meeting,
    receivers: Option<usize>,
    rate: Option<&str>,
    notes: &mut Notes<'_>,
) -> Result<Sent, CastError> {
    let settings = SendSettings {
        meeting: meeting.clone(),
        title: "tree".to_string(),
        rate: rate.map(|rate| rate.parse().unwrap()),
        receivers,
        wait: receivers.is_none().then(|| seconds(2)),
    };
    send(list(&[files.to_path_buf()], Unsendable::Refuse).unwrap(), &settings, notes)
}

fn receives(into: &Path, meeting: &Meeting, notes: &mut Notes<'_>, wait: u64) -> Result<Received, CastError> {
    let settings =
        ReceiveSettings { meeting: meeting.clone(), name: "receiver".to_string(), wait: Some(seconds(wait)) };
    let mut folder = Folder::new(into, Wishes::default()).unwrap();
    let mut received = None;
    let result = receive(&mut folder, &settings, notes, |one| {
        received = Some(one);
        false
    });
    result.and_then(|()| received.unwrap().map_err(CastError::Refused))
}

#[test]
fn a_folder_goes_to_three_receivers() {
    let Some(meeting) = meeting(1, None) else { return };
    let temporary = Temporary::new("three");
    let sent = files(&temporary.0);
    let folders = ["a", "b", "c"].map(|name| temporary.folder(name));
    thread::scope(|scope| {
        let receivers =
            folders.each_ref().map(|into| scope.spawn(|| receives(into, &meeting, &mut Notes::default(), 20).unwrap()));
        let result = sends(&sent, &meeting, Some(3), None, &mut Notes::default()).unwrap();
        assert_eq!((result.done, result.without, result.rounds), (3, vec![], 1));
        for receiver in receivers {
            let received = receiver.join().unwrap();
            assert_eq!((received.title.as_str(), received.manifest.files()), ("tree", 3));
            assert_eq!(received.came, received.manifest.size());
        }
    });
    folders.iter().for_each(|into| assert_same(&sent, into));
}

#[test]
fn a_late_receiver_gets_everything_and_a_stopped_one_resumes() {
    let Some(meeting) = meeting(2, None) else { return };
    let temporary = Temporary::new("late");
    let sent = files(&temporary.0);
    let [first, late, stopped] = ["first", "late", "stopped"].map(|name| temporary.folder(name));
    let begun = AtomicBool::new(false);
    thread::scope(|scope| {
        let receiver = scope.spawn(|| receives(&first, &meeting, &mut Notes::default(), 20).unwrap());
        let again = scope.spawn(|| {
            let mut notes = Notes { ends_at: Some(Bytes(1 << 20)), ..Notes::default() };
            let ended = receives(&stopped, &meeting, &mut notes, 20);
            assert!(matches!(ended, Err(CastError::Interrupted)), "{ended:?}");
            receives(&stopped, &meeting, &mut Notes::default(), 20).unwrap()
        });
        let comes_late = scope.spawn(|| {
            let waits_since = now();
            while !begun.load(Ordering::Relaxed) {
                assert!(waits_since.elapsed().as_secs() < LIMIT, "the sender has not begun");
                thread::yield_now();
            }
            receives(&late, &meeting, &mut Notes::default(), 20).unwrap()
        });
        let mut notes = Notes { tells: Some((&begun, Bytes(2 << 20))), ..Notes::default() };
        let result = sends(&sent, &meeting, None, Some("60 Mbit/s"), &mut notes).unwrap();
        assert_eq!((result.done, result.without), (3, vec![]), "{:?}", notes.events);
        assert!(result.rounds > 1);
        receiver.join().unwrap();
        comes_late.join().unwrap();
        let received = again.join().unwrap();
        assert!(received.came < received.manifest.size(), "it goes on from what it had");
    });
    [&first, &late, &stopped].iter().for_each(|into| assert_same(&sent, into));
}

#[test]
fn with_a_key_only_those_who_have_it_get_anything() {
    let temporary = Temporary::new("key");
    let secret = |name: &str| {
        let path = temporary.0.join(name);
        KeyFile::make(&path).unwrap();
        KeyFile::read(&path).unwrap().secret
    };
    let (right, wrong) = (secret("right"), secret("wrong"));
    let Some(meeting) = meeting(3, Some(right)) else { return };
    let sent = files(&temporary.0);
    let [with, without, other] = ["with", "without", "other"].map(|name| temporary.folder(name));
    thread::scope(|scope| {
        let receiver = scope.spawn(|| receives(&with, &meeting, &mut Notes::default(), 20).unwrap());
        let open = Meeting { secret: None, ..meeting.clone() };
        let strangers = [(&without, open), (&other, Meeting { secret: Some(wrong), ..meeting.clone() })];
        let strangers = strangers.map(|(into, meeting)| {
            scope.spawn(move || {
                let mut notes = Notes::default();
                let ended = receives(into, &meeting, &mut notes, 2);
                assert!(matches!(ended, Err(CastError::Nobody(_))), "{ended:?}");
                notes.events
            })
        });
        // It keeps announcing for two seconds after that.
        let mut notes = Notes::default();
        let result = sends(&sent, &meeting, None, None, &mut notes).unwrap();
        assert_eq!(result.done, 1);
        receiver.join().unwrap();
        let complaints = strangers.map(|stranger| stranger.join().unwrap());
        let mismatch = |why| vec![Event::SenderMismatch(why, LOOPBACK)];
        assert_eq!(complaints, [mismatch(Mismatch::Sealed), mismatch(Mismatch::OtherKey)]);
        for why in [Mismatch::Sealed, Mismatch::OtherKey] {
            assert!(notes.events.contains(&Event::ReceiverMismatch(why, LOOPBACK)), "{:?}", notes.events);
        }
    });
    assert_same(&sent, &with);
    assert!([without, other].iter().all(|into| fs::read_dir(into).unwrap().count() == 0));
}

/// Somebody without the key replays a recorded announcement, before there is another sender and while it sends.
#[test]
fn a_recorded_announcement_does_not_hold_up_a_receiver() {
    let temporary = Temporary::new("recorded");
    let path = temporary.0.join("key");
    KeyFile::make(&path).unwrap();
    let secret = KeyFile::read(&path).unwrap().secret;
    let (sent, into, ends) = (files(&temporary.0), temporary.folder("into"), AtomicBool::new(false));
    for (place, secret) in [(6, Some(secret)), (7, None)] {
        let Some(meeting) = meeting(place, secret.clone()) else { return };
        let old = Announce {
            transfer: Id([1; 16]),
            run: Token([2; 16]),
            title: "gone".to_string(),
            files: 1,
            bytes: 1 << 30,
        };
        let key = secret.map(|secret| secret.of_lobby());
        let recorded = Envelope::new(key.as_ref()).write(&LobbyMessage::Announce(old), [3; 24]);
        let replayer = UdpSocket::bind((LOOPBACK, 0)).unwrap();
        let replay = || replayer.send_to(&recorded, meeting.group).unwrap();
        ends.store(false, Ordering::Relaxed);
        thread::scope(|scope| {
            let receiver = scope.spawn(|| receives(&into, &meeting, &mut Notes::default(), 20).unwrap());
            // The receiver hears it before there is a sender: that it asks shows it.
            replayer.set_read_timeout(Some(std::time::Duration::from_millis(100))).unwrap();
            let began = now();
            while replayer.recv(&mut [0; 2_000]).map_err(|_| replay()).is_err() {
                assert!(began.elapsed().as_secs() < LIMIT, "the receiver does not hear it");
            }
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    replay();
                    thread::park_timeout(std::time::Duration::from_millis(20));
                }
            });
            let result = sends(&sent, &meeting, Some(1), None, &mut Notes::default());
            ends.store(true, Ordering::Relaxed);
            assert_eq!(result.unwrap().done, 1);
            assert_eq!(receiver.join().unwrap().title, "tree");
        });
        assert_same(&sent, &into);
        fs::remove_dir_all(into.join("tree")).unwrap();
    }
}

#[test]
fn existing_files_are_not_overwritten_and_nobody_waits_for_a_receiver_that_refuses() {
    let Some(meeting) = meeting(4, None) else { return };
    let temporary = Temporary::new("refuses");
    let sent = files(&temporary.0);
    let [fine, refuses] = ["fine", "refuses"].map(|name| temporary.folder(name));
    fs::create_dir(refuses.join("tree")).unwrap();
    fs::write(refuses.join("tree/large"), b"mine").unwrap();
    thread::scope(|scope| {
        let receiver = scope.spawn(|| receives(&fine, &meeting, &mut Notes::default(), 20).unwrap());
        let refuser = scope.spawn(|| receives(&refuses, &meeting, &mut Notes::default(), 20).unwrap_err().to_string());
        let mut notes = Notes::default();
        let result = sends(&sent, &meeting, None, None, &mut notes).unwrap();
        assert_eq!((result.done, result.without.len()), (1, 1));
        receiver.join().unwrap();
        let complaint = refuser.join().unwrap();
        assert!(complaint.ends_with("tree/large`: it is there already; --overwrite replaces it"), "{complaint}");
        let reason = notes.events.iter().find_map(|event| match event {
            Event::Refused(_, reason) => Some(reason.clone()),
            _ => None,
        });
        assert_eq!(reason, Some(complaint));
    });
    assert_same(&sent, &fine);
    assert_eq!(fs::read(refuses.join("tree/large")).unwrap(), b"mine");
    assert_eq!(fs::read_dir(&refuses).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn a_transfer_without_receivers_ends() {
    let Some(meeting) = meeting(5, None) else { return };
    let temporary = Temporary::new("nobody");
    let sent = files(&temporary.0);
    let ended = sends(&sent, &meeting, None, None, &mut Notes::default());
    assert!(matches!(ended, Err(CastError::Nobody(_))), "{ended:?}");
}
