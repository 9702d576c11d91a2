//! The sender.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use endpoint::Result;
use messaging::{Datagrams, Messenger, Sealed};
use quantities::{Bytes, Duration, Rank, Rate, Time};
use real_worlds::block_on;

use super::attended::Attended;
use super::wire::{Wire, token, v4};
use super::{CastError, DATAGRAM, Event, Meeting, Watch, inner, ms};
use crate::files::{Listing, PieceReader};
use crate::lobby::{Announce, Call, Called, Host, LobbyMessage, Mismatch, Strange, To, Token};
use crate::parameters::{largest_to_sender, parameters};
use crate::round::{self, Digest, Goal, ReceiverOutcome, Transfer};

/// How long the first receiver waits for those that come at the same time.
const GATHER: Duration = ms(300);
/// How long to wait for receivers by default.
const WAIT: Duration = ms(10_000);
/// How often to check whether to end.
const LOOK: Duration = ms(50);
/// How long a goodbye may take.
const GOODBYE: Duration = ms(250);
/// For at most this many receivers it is reported that they cannot read what is sent.
const MOST_TOLD: usize = 16;

/// What to send, to whom, and how.
#[derive(Clone, Debug)]
pub struct SendSettings {
    /// Where to meet.
    pub meeting: Meeting,
    /// Its title.
    pub title: String,
    /// The highest rate, counting what datagrams take on an Ethernet.
    pub rate: Option<Rate>,
    /// How many receivers to wait for; if none, sending begins with the first.
    pub receivers: Option<usize>,
    /// How long to wait for receivers.
    pub wait: Option<Duration>,
}

/// What was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// How many receivers have everything.
    pub done: usize,
    /// The receivers that joined, but do not have everything.
    pub without: Vec<String>,
    /// How many rounds there were.
    pub rounds: u32,
    /// From the first call to a round until the last receiver had everything.
    pub time: Duration,
    /// Packets sent by the messaging, including those sent again.
    pub packets: u64,
    /// How many of these were sent again.
    pub repeated: u64,
    /// The hash of the whole, if all of it was read.
    pub digest: Option<Digest>,
}

impl Sent {
    /// How many receivers joined.
    pub const fn came(&self) -> usize {
        self.done + self.without.len()
    }
}

/// Sends the files of `listing`.
///
/// # Errors
/// [`CastError`].
pub fn send(listing: Listing, settings: &SendSettings, watch: &mut impl Watch) -> std::result::Result<Sent, CastError> {
    let wire = Wire::new(&settings.meeting)?;
    let mut random = [0; 4];
    random.copy_from_slice(&token()?.0[..4]);
    let announce = Announce {
        transfer: listing.manifest.id(),
        run: token()?,
        title: settings.title.chars().take(100).collect(),
        files: listing.manifest.files() as u64,
        bytes: listing.manifest.size().0,
    };
    let mut sender = Sender {
        settings,
        watch: RefCell::new(watch),
        lobby: RefCell::new(Lobby { host: Host::new(announce), reported: BTreeSet::new() }),
        transfer: Transfer::new(&listing.manifest),
        piece: Bytes(u64::from(listing.manifest.piece())),
        reader: PieceReader::new(listing),
        salt: token()?,
        // So large a range is never exhausted.
        session: 1 + u32::from_be_bytes(random) / 2,
        rounds: 0,
        whole: true,
        began: None,
        changed: wire.now(),
        last: None,
        counts: (0, 0),
        wire,
    };
    while sender.waits_for_round()? {
        sender.round()?;
    }
    Ok(sender.sent())
}

/// The receivers, and those reported to be unable to read what is sent.
struct Lobby {
    host: Host,
    reported: BTreeSet<(Mismatch, Ipv4Addr)>,
}

struct Sender<'a, W> {
    settings: &'a SendSettings,
    watch: RefCell<&'a mut W>,
    wire: Wire,
    lobby: RefCell<Lobby>,
    transfer: Transfer,
    /// The length of a piece.
    piece: Bytes,
    reader: PieceReader,
    /// The salt for the keys of rounds, and the session of the last round.
    salt: Token,
    session: u32,
    rounds: u32,
    /// Whether the last round sent everything that some receiver lacked.
    whole: bool,
    /// When the first round began; when something last changed; when the last receiver had everything.
    began: Option<Time>,
    changed: Time,
    last: Option<Time>,
    counts: (u64, u64),
}

impl<W: Watch> Sender<'_, W> {
    /// Waits until a round can begin (true) or everything is over (false).
    fn waits_for_round(&mut self) -> std::result::Result<bool, CastError> {
        loop {
            let now = self.wire.now();
            if self.watch.borrow().ends() {
                return Err(CastError::Interrupted);
            }
            if let Some(begins) = self.decides(now)? {
                return Ok(begins);
            }
            attend(&self.wire, &self.lobby, now)?;
            let until = self.lobby.borrow().host.deadline().min(now + LOOK);
            receive_until(&self.wire, &self.lobby, &self.watch, until)?;
        }
    }

    /// Whether a round begins (true) or everything is over (false), if either.
    fn decides(&self, now: Time) -> std::result::Result<Option<bool>, CastError> {
        let SendSettings { receivers, wait, .. } = self.settings;
        let host = &self.lobby.borrow().host;
        let (waiting, since) = host.waiting(now);
        let passed = |start: Time, wait: Duration| start + wait <= now;
        let changed = host.joined().map_or(self.changed, |joined| joined.max(self.changed));
        if self.rounds > 0 {
            let enough = receivers.is_some_and(|receivers| host.done() >= receivers) && waiting == 0;
            let over = enough || waiting == 0 && passed(changed, wait.unwrap_or(WAIT));
            return Ok(if waiting > 0 { Some(true) } else { over.then_some(false) });
        }
        let late = match (receivers, wait) {
            (Some(_), None) => false,
            (_, wait) => passed(changed, wait.unwrap_or(WAIT)),
        };
        if waiting == 0 {
            return if late { Err(CastError::Nobody("no receiver joined".to_string())) } else { Ok(None) };
        }
        let gathered = match receivers {
            Some(receivers) => waiting >= *receivers || late,
            None => since.is_some_and(|since| passed(since, GATHER)),
        };
        Ok(gathered.then_some(true))
    }

    /// Calls all receivers that wait until they are present. The names of those that did not come are reported.
    fn assemble(&mut self) -> std::result::Result<Vec<Called>, CastError> {
        loop {
            let now = self.wire.now();
            self.began = self.began.or(Some(now));
            self.session += 1;
            let call = Call {
                nonce: self.salt,
                session: self.session,
                rank: 0,
                ranks: 0,
                port: self.wire.port()?,
                datagram: DATAGRAM as u16,
                salt: self.salt,
            };
            if self.lobby.borrow_mut().host.call(now, call) == 0 {
                return Ok(Vec::new());
            }
            let assembled = loop {
                let now = self.wire.now();
                if let Some(assembled) = self.lobby.borrow().host.is_assembled(now) {
                    break assembled;
                }
                attend(&self.wire, &self.lobby, now)?;
                let until = self.lobby.borrow().host.deadline().min(now + LOOK);
                receive_until(&self.wire, &self.lobby, &self.watch, until)?;
            };
            if assembled {
                return Ok(self.lobby.borrow().host.roster());
            }
            for name in self.lobby.borrow_mut().host.give_up(self.wire.now()) {
                self.watch.borrow_mut().see(Event::Lost(name));
            }
        }
    }

    /// One round with all receivers that wait.
    fn round(&mut self) -> std::result::Result<(), CastError> {
        let roster = self.assemble()?;
        if roster.is_empty() {
            return Ok(());
        }
        self.rounds += 1;
        self.watch.borrow_mut().see(Event::Begins(roster.len()));
        let others = roster.iter().map(|called| Some(called.address));
        let ranks: Vec<_> = std::iter::once(self.wire.address()).chain(others).collect();
        let count = u16::try_from(ranks.len()).unwrap_or(u16::MAX);
        let network = self.wire.network(Rank(0), ranks, self.settings.rate)?;
        let outcomes = match &self.settings.meeting.secret {
            Some(secret) => {
                let keys = secret.of_round(self.salt, self.session, count);
                self.round_on(Sealed::new(network, Rank(0), self.session, &keys), u32::from(count))
            }
            None => self.round_on(network, u32::from(count)),
        }?;
        let now = self.wire.now();
        self.changed = now;
        for (called, outcome) in roster.iter().zip(outcomes) {
            self.lobby.borrow_mut().host.ended(now, called.member, &outcome, self.whole);
            let name = called.name.clone();
            match outcome {
                ReceiverOutcome::Done => self.watch.borrow_mut().see(Event::Done(name)),
                ReceiverOutcome::Refuses(reason) => self.watch.borrow_mut().see(Event::Refused(name, reason)),
                ReceiverOutcome::Lost => self.watch.borrow_mut().see(Event::Lost(name)),
                ReceiverOutcome::Lacks(_) => {}
            }
        }
        Ok(())
    }

    fn round_on<D: Datagrams>(
        &mut self,
        network: D,
        ranks: u32,
    ) -> std::result::Result<Vec<ReceiverOutcome>, CastError> {
        let (wire, lobby, watch, piece) = (&self.wire, &self.lobby, &self.watch, self.piece);
        let network = Attended::new(network, |now| {
            receive_until(wire, lobby, watch, now)?;
            attend(wire, lobby, now)
        });
        let sealed = self.settings.meeting.secret.is_some();
        let largest = largest_to_sender(self.transfer.pieces());
        let messenger =
            Messenger::new(&network, Rank(0), ranks, parameters(self.session, inner(DATAGRAM, sealed), largest))?;
        let (interrupted, whole) = (Cell::new(false), Cell::new(true));
        let goal = |done: u32, of: u32| {
            let bytes = |pieces: u32| Bytes(u64::from(pieces) * piece.0);
            watch.borrow_mut().see(Event::Sent(bytes(done), bytes(of)));
            if watch.borrow().ends() {
                interrupted.set(true);
                return Goal::Leave("the sender was interrupted".to_string());
            }
            let now = wire.now();
            let newcomers = lobby.borrow().host.waiting(now).1.is_some_and(|since| since + GATHER <= now);
            whole.set(!newcomers || done == of);
            if whole.get() { Goal::All } else { Goal::EndSoon }
        };
        let outcomes =
            block_on(round::send(&messenger, &mut self.transfer, &mut self.reader, goal)).and_then(|outcomes| outcomes);
        self.whole = whole.get();
        let now = wire.now();
        if outcomes.as_ref().is_ok_and(|outcomes| outcomes.contains(&ReceiverOutcome::Done)) {
            self.last = Some(now);
        }
        network.ends_at(now + GOODBYE);
        // A receiver that does not answer a goodbye has most likely heard it all the same.
        let _ = block_on(messenger.flush());
        self.counts.0 += messenger.engine().counts().sent;
        self.counts.1 += messenger.engine().repeated();
        if interrupted.take() { Err(CastError::Interrupted) } else { Ok(outcomes?) }
    }

    fn sent(&self) -> Sent {
        let host = &self.lobby.borrow().host;
        let time = self.last.zip(self.began).map_or(Duration::ZERO, |(last, began)| last.since(began));
        Sent {
            done: host.done(),
            without: host.without(),
            rounds: self.rounds,
            time,
            packets: self.counts.0,
            repeated: self.counts.1,
            digest: self.transfer.whole(),
        }
    }
}

/// Sends what is due.
fn attend(wire: &Wire, lobby: &RefCell<Lobby>, now: Time) -> Result<()> {
    let due: Vec<(To, LobbyMessage)> = lobby.borrow_mut().host.due(now);
    due.iter().try_for_each(|(to, message)| wire.send_message(*to, message))
}

/// Receives messages in the lobby until `until`.
fn receive_until<W: Watch>(wire: &Wire, lobby: &RefCell<Lobby>, watch: &RefCell<&mut W>, until: Time) -> Result<()> {
    let now = wire.now();
    wire.listen(until, |from, message| {
        let lobby = &mut *lobby.borrow_mut();
        let event = match message {
            Ok(message) => lobby.host.take(now, from, message).map(Event::Joined),
            Err(Strange::Notice(why)) => {
                let is_new = lobby.reported.len() < MOST_TOLD && lobby.reported.insert((why, v4(from)));
                is_new.then(|| Event::ReceiverMismatch(why, v4(from)))
            }
            Err(Strange::Unreadable | Strange::Mismatch(_)) => None,
        };
        event.into_iter().for_each(|event| watch.borrow_mut().see(event));
    })
}
