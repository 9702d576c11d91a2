//! A receiver.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::SocketAddr;

use endpoint::{Endpoint, Error, Result};
use messaging::{Datagrams, Messenger, SEAL, Sealed};
use quantities::{Bytes, Duration, Rank, Time};
use real_worlds::block_on;

use super::attended::Attended;
use super::wire::{Wire, token, v4};
use super::{CastError, DATAGRAM, Event, Meeting, Watch, inner, ms};
use crate::files::Folder;
use crate::lobby::{Announce, Call, Guest, Heard, LobbyMessage, Mismatch, Strange, To};
use crate::manifest::Manifest;
use crate::parameters::{LARGEST_TO_RECEIVER, parameters};
use crate::round::{self, Ended};
use quantities::shown;

/// How often to check whether to end.
const LOOK: Duration = ms(50);
/// How long the sender's goodbye is answered.
const GOODBYE: Duration = ms(60);
/// How often, at most, senders are told that they cannot be understood.
const BETWEEN_NOTICES: Duration = ms(1_000);

/// From where to receive, and how.
#[derive(Clone, Debug)]
pub struct ReceiveSettings {
    /// Where.
    pub meeting: Meeting,
    /// The name of this receiver.
    pub name: String,
    /// How long to wait for a sender; for ever if none.
    pub wait: Option<Duration>,
}

/// What was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its title.
    pub title: String,
    /// The files and folders.
    pub manifest: Manifest,
    /// How much of it was received in this run; the rest had been received before.
    pub came: Bytes,
    /// From the first round until the files were in their places.
    pub time: Duration,
}

/// Receives one transfer after another into `folder`, as long as `next` wants another.
///
/// # Errors
/// [`CastError`].
pub fn receive(
    folder: &mut Folder,
    settings: &ReceiveSettings,
    watch: &mut impl Watch,
    mut next: impl FnMut(std::result::Result<Received, String>) -> bool,
) -> std::result::Result<(), CastError> {
    let wire = Wire::new(&settings.meeting)?;
    let guest = Guest::new(settings.name.clone(), token()?, wire.port()?);
    let mut receiver = Receiver {
        settings,
        watch: RefCell::new(watch),
        lobby: RefCell::new(Lobby::new(guest)),
        waits_since: wire.now(),
        wire,
        current: None,
    };
    loop {
        if let Some(result) = receiver.step(folder)? {
            receiver.waits_since = receiver.wire.now();
            if !next(result) {
                return Ok(());
            }
        }
    }
}

/// What the lobby knows, also during a round.
struct Lobby {
    guest: Guest,
    /// The reported reasons why senders could not be understood; and when senders may be told of it again.
    reported: BTreeSet<Mismatch>,
    notices_at: Time,
    /// Whether an announcement has arrived since the last answer.
    is_unanswered: bool,
    called: Option<(Call, SocketAddr)>,
    found: Option<(Announce, SocketAddr)>,
}

/// The transfer being received.
struct Current {
    announce: Announce,
    came: u64,
    has: u64,
    began: Option<Time>,
    ended: Option<Time>,
}

struct Receiver<'a, W> {
    settings: &'a ReceiveSettings,
    watch: RefCell<&'a mut W>,
    wire: Wire,
    lobby: RefCell<Lobby>,
    current: Option<Current>,
    waits_since: Time,
}

impl<W: Watch> Receiver<'_, W> {
    /// Listens in the lobby for a moment, and takes part in a round if called; returns the result of a transfer that is
    /// over.
    fn step(
        &mut self,
        folder: &mut Folder,
    ) -> std::result::Result<Option<std::result::Result<Received, String>>, CastError> {
        let now = self.wire.now();
        if self.watch.borrow().ends() {
            self.leave();
            return Err(CastError::Interrupted);
        }
        let (due, deadline) = {
            let guest = &mut self.lobby.borrow_mut().guest;
            (guest.due(now), guest.deadline())
        };
        if let Some((to, message)) = due {
            self.wire.send_message(To::One(to), &message)?;
        }
        if self.lobby.borrow_mut().guest.is_left(now) {
            self.sender_left(folder, "it has not answered for five seconds");
        }
        let until = deadline.map_or(now + LOOK, |deadline| deadline.min(now + LOOK));
        receive_until(&self.wire, &self.lobby, &self.watch, until)?;
        let (found, called) = {
            let lobby = &mut *self.lobby.borrow_mut();
            (lobby.found.take(), lobby.called.take())
        };
        if let Some((announce, from)) = found {
            return Ok(self.join(folder, announce, from)?.map(Err));
        }
        if let Some((call, from)) = called {
            return self.round(folder, &call, from);
        }
        match self.settings.wait {
            Some(wait) if self.current.is_none() && self.waits_since + wait <= now => {
                let what = if self.lobby.borrow().is_unanswered {
                    "something was announced, but no sender has answered"
                } else {
                    "nothing was announced"
                };
                Err(CastError::Nobody(format!("{what} for {wait}")))
            }
            _ => Ok(None),
        }
    }

    /// Joins the announced transfer and prepares for it; returns the reason if it can't.
    fn join(&mut self, folder: &mut Folder, announce: Announce, from: SocketAddr) -> Result<Option<String>> {
        if self.current.is_some() {
            return Ok(None);
        }
        let (member, has) = match folder.prepare(announce.transfer, token()?) {
            Ok(ready) => ready,
            Err(error) => {
                self.lobby.borrow_mut().guest.is_over(announce.run);
                return Ok(Some(error.to_string()));
            }
        };
        self.watch.borrow_mut().see(Event::Found(announce.clone(), v4(from), has));
        let now = self.wire.now();
        self.lobby.borrow_mut().guest.join(now, announce.run, member, from);
        self.current = Some(Current { announce, came: 0, has: has.0, began: None, ended: None });
        Ok(None)
    }

    fn sender_left(&mut self, folder: &mut Folder, reason: &str) {
        self.watch.borrow_mut().see(Event::SenderLeft(reason.to_string()));
        self.current = None;
        self.waits_since = self.wire.now();
        folder.leave();
    }

    /// Tells the sender that this receiver gives up.
    fn leave(&self) {
        let leave = self.lobby.borrow_mut().guest.leave();
        if let Some((to, message)) = leave {
            // If the sender does not hear it, it finds out by itself.
            let _ = self.wire.send_message(To::One(to), &message);
        }
    }

    fn round(
        &mut self,
        folder: &mut Folder,
        call: &Call,
        from: SocketAddr,
    ) -> std::result::Result<Option<std::result::Result<Received, String>>, CastError> {
        let datagram = usize::from(call.datagram);
        let Some(current) = self.current.as_mut().filter(|_| (2 * SEAL..=DATAGRAM).contains(&datagram)) else {
            return Ok(None);
        };
        current.began = current.began.or(Some(self.wire.now()));
        let me = Rank(u32::from(call.rank));
        let mut ranks = vec![None; usize::from(call.ranks)];
        ranks[0] = Some(SocketAddr::new(from.ip(), call.port));
        let network = self.wire.network(me, ranks, None)?;
        let ended = match &self.settings.meeting.secret {
            Some(secret) => {
                let keys = secret.of_round(call.salt, call.session, call.ranks);
                self.round_on(folder, call, Sealed::new(network, me, call.session, &keys))
            }
            None => self.round_on(folder, call, network),
        };
        self.after_round(folder, ended)
    }

    fn round_on<D: Datagrams>(&mut self, folder: &mut Folder, call: &Call, network: D) -> Result<Ended> {
        let (wire, lobby, watch) = (&self.wire, &self.lobby, &self.watch);
        let network = Attended::new(network, |now| {
            receive_until(wire, lobby, watch, now)?;
            let newer = lobby.borrow().called.is_some();
            if newer || watch.borrow().ends() { Err(Error::Stopped) } else { Ok(()) }
        });
        let datagram = inner(usize::from(call.datagram), wire.meeting().secret.is_some());
        let parameters = parameters(call.session, datagram, LARGEST_TO_RECEIVER);
        let messenger = Messenger::new(&network, Rank(u32::from(call.rank)), u32::from(call.ranks), parameters)?;
        let there = lobby.borrow_mut().guest.is_there(call.session);
        if let Some((to, message)) = there {
            wire.send_message(To::One(to), &message)?;
        }
        let Some(current) = &mut self.current else { return Err(Error::Stopped) };
        let all = Bytes(current.announce.bytes);
        let seen = |length: usize| {
            current.came += length as u64;
            watch.borrow_mut().see(Event::Has(Bytes(current.has + current.came), all));
        };
        let ended = block_on(round::receive(&messenger, folder, seen)).and_then(|ended| ended);
        current.ended = Some(wire.now());
        if ended.is_ok() {
            block_on(messenger.compute(GOODBYE))?;
        } else if watch.borrow().ends() {
            // Because it is told at once that this rank leaves, the sender need not wait until the rank seems gone.
            network.ends_alone_at(wire.now() + GOODBYE);
            // What it was waiting for when it was asked to end is no longer needed.
            messenger.forget_operations();
            let _ = block_on(messenger.end_with(&[Rank(0)]));
        }
        ended
    }

    /// What to do after a round that ended this way.
    fn after_round(
        &mut self,
        folder: &mut Folder,
        ended: Result<Ended>,
    ) -> std::result::Result<Option<std::result::Result<Received, String>>, CastError> {
        let now = self.wire.now();
        match ended {
            Ok(Ended::Done) => {
                self.forget_run();
                let Some((current, manifest)) = self.current.take().zip(folder.take_finished()) else {
                    return Ok(None);
                };
                let time = current.began.map_or(Duration::ZERO, |began| current.ended.unwrap_or(now).since(began));
                let Current { announce, came, .. } = current;
                Ok(Some(Ok(Received { title: shown(&announce.title), manifest, came: Bytes(came), time })))
            }
            Ok(Ended::Lacks(_)) | Err(Error::Lost(_)) => {
                self.lobby.borrow_mut().guest.comes_back(now);
                Ok(None)
            }
            // Another round calls, or somebody wants it to end: the next step handles it.
            Err(Error::Stopped) => Ok(None),
            Ok(Ended::Left(reason)) => {
                self.forget_run();
                self.sender_left(folder, &reason);
                Ok(None)
            }
            Ok(Ended::Refused(reason)) => {
                self.forget_run();
                self.current = None;
                folder.leave();
                Ok(Some(Err(reason)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// This run of the sender is finished.
    fn forget_run(&mut self) {
        if let Some(current) = &self.current {
            self.lobby.borrow_mut().guest.is_over(current.announce.run);
        }
    }
}

impl Lobby {
    const fn new(guest: Guest) -> Lobby {
        let reported = BTreeSet::new();
        Lobby { guest, reported, notices_at: Time::ZERO, is_unanswered: false, called: None, found: None }
    }

    /// Handles a message; answers go into `answers`.
    fn take(
        &mut self,
        now: Time,
        from: SocketAddr,
        message: LobbyMessage,
        answers: &mut Vec<(SocketAddr, LobbyMessage)>,
    ) {
        let is_announcement = matches!(message, LobbyMessage::Announce(_));
        let asked = answers.len();
        match self.guest.take(now, from, message, answers) {
            // Of several senders it takes the first to answer.
            Some(Heard::Answered(announce, from)) => {
                self.is_unanswered = false;
                self.found.get_or_insert((announce, from));
            }
            Some(Heard::Called(call, from)) => self.called = Some((call, from)),
            None => self.is_unanswered |= is_announcement && answers.len() > asked,
        }
    }

    /// Whether to tell the sender now that it cannot be understood.
    fn notices(&mut self, now: Time) -> bool {
        let notices = self.notices_at <= now;
        if notices {
            self.notices_at = now + BETWEEN_NOTICES;
        }
        notices
    }
}

/// Receives messages in the lobby until `until`, and answers.
fn receive_until<W: Watch>(wire: &Wire, lobby: &RefCell<Lobby>, watch: &RefCell<&mut W>, until: Time) -> Result<()> {
    let now = wire.now();
    let mut answers: Vec<(SocketAddr, LobbyMessage)> = Vec::new();
    let mut notice = None;
    wire.listen(until, |from, message| {
        let lobby = &mut *lobby.borrow_mut();
        match message {
            Ok(message) => lobby.take(now, from, message, &mut answers),
            Err(Strange::Mismatch(why)) => {
                if lobby.reported.insert(why) {
                    watch.borrow_mut().see(Event::SenderMismatch(why, v4(from)));
                }
                if lobby.notices(now) {
                    notice = Some((from, why));
                }
            }
            Err(Strange::Unreadable | Strange::Notice(_)) => {}
        }
    })?;
    notice.map_or(Ok(()), |(from, why): (SocketAddr, Mismatch)| wire.notice(from, why))?;
    answers.iter().try_for_each(|(to, message)| wire.send_message(To::One(*to), message))
}
