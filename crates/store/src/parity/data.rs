//! The role of a data member: it reports changes of its files to its parity member, and sends nothing to anybody else
//! before the parity holds it.
//!
//! ```text
//!   data member                                parity member
//!   | Hello(session) ----------------------------->|
//!   |<------------------- Stands(files, complete?) |   the state of its files in the parity
//!   | Change(number, file, at, bytes) ------------>|   while the disk differs from that: logs first, then a snapshot,
//!   |<---------------------- Acknowledged(number)  |   then files that the snapshot supersedes are taken out
//!   | Beat(number, complete) --------------------->|   from then on it can be rebuilt; its messages wait
//! ```
//!
//! Nothing is kept for retransmission: after a link has broken, or a process has died on either side, the difference
//! between the disk and the state that the parity member reports is sent. Joining, recovering from the loss of the
//! parity, and every ordinary batch work the same way.
//!
//! **The lease.** A parity member does not take a member for lost if it has heard from it within its patience. So an
//! acknowledgment is a promise, for three quarters of the patience from when the acknowledged message was sent, that no
//! other process is this member.
//!
//! **A member that leaves its pool in order**, and that nobody needs any more, says hello once more, and changes
//! nothing from then on. Its disk is needed to rebuild others until the parity member has taken its column out of the
//! parity, see `departing`. Then it is told that it has left.
//!
//! Where its group has two parity members, it reports to the lead, and has a vote in which one leads.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;

use super::Output;
use super::code::COLUMNS;
use super::column::{Change, Effect, Extent, FileName, Kind, Piece};
use super::facts::{Facts, session_in};
use super::message::{Message, Wish};
use super::pair::PATIENCE_WITH_GROUPS;
use super::views::{Acceptor, View};
use crate::log::Event;
use crate::member::Identity;
use crate::record::Milliseconds;

/// The most bytes of a change. [B]
const CHUNK: u64 = 1 << 20;
/// The most bytes of logs in flight. [B]
const MOST_OF_LOGS: u64 = 16 << 20;
/// The most bytes in flight while a snapshot is sent or a file is taken out, so that logs do not have to wait. [B]
const MOST_OF_OTHERS: u64 = 2 << 20;

/// The end of a member's logs: the number of the last one, and its length. [B]
pub type Position = (u64, u64);

/// A member's files.
pub trait Files {
    /// All logs and snapshots, and their extents. A rebuilt member's file is not whole if the parity did not have all
    /// of it.
    ///
    /// # Errors
    /// The system's error.
    fn all(&self) -> io::Result<BTreeMap<FileName, Extent>>;
    /// Reads a part of a file.
    ///
    /// # Errors
    /// The system's error.
    fn read(&self, piece: Piece) -> io::Result<Vec<u8>>;
    /// Whole frames of a log, starting at `at` and ending at or before `end`: as many as fit in `most` bytes, but at
    /// least one.
    ///
    /// # Errors
    /// The system's error.
    fn frames(&self, log: u64, at: u64, end: u64, most: u64) -> io::Result<Vec<u8>>;
    /// Removes a file.
    ///
    /// # Errors
    /// The system's error.
    fn remove(&self, file: FileName) -> io::Result<()>;
}

/// A message that was sent and is not yet acknowledged.
#[derive(Debug)]
struct UnacknowledgedMessage {
    number: u64,
    at: Milliseconds,
    /// [B]
    size: u64,
    /// The end of the logs in the parity, with this change.
    position: Option<Position>,
    /// A file that this change removes from the parity.
    removed: Option<FileName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParityLinkStage {
    /// It has no link to a parity member.
    Apart,
    /// It has said hello to this parity member and awaits the answer.
    HelloSent(Identity),
    Open(Identity),
}

/// A data member's state towards its parity.
#[derive(Debug)]
pub struct DataMember {
    patience: Milliseconds,
    covered_by: Option<Identity>,
    life: u32,
    /// Whether it may be rebuilt, and so must hold back its messages.
    is_complete: bool,
    /// Whether its group has confirmed that it can be rebuilt.
    is_covered: bool,
    /// The number of the beat with which it has told its group that the parity is complete, while that is not
    /// confirmed.
    completed: Option<u64>,
    stage: ParityLinkStage,
    session: u64,
    number: u64,
    /// Its files on disk.
    own: BTreeMap<FileName, Extent>,
    /// Its files in the parity, once everything sent has arrived.
    theirs: BTreeMap<FileName, Extent>,
    unacknowledged: VecDeque<UnacknowledgedMessage>,
    under_way: u64,
    acknowledged: Position,
    /// The end of what it wrote first: there, its logs say that this run has begun.
    begun: Option<Position>,
    /// The time until which nobody takes it for lost.
    lease: Milliseconds,
    sent: Milliseconds,
    /// When the parity member was last heard from, or said hello.
    received_at: Milliseconds,
    /// Parity members with an open link.
    linked: BTreeSet<Identity>,
    /// Parity members that have no room for it.
    full: BTreeSet<Identity>,
    /// Its promises and records about which parity members its group has, if the group may have two.
    views: Acceptor,
    /// Since when it has known that a group has a place for it whose parity member went before it could say so. [ms]
    expected_since: Option<Milliseconds>,
    is_lost: bool,
    /// Whether it was readmitted, and others have yet to meet it in its new life.
    is_readmitted: bool,
    /// Whether it is leaving: then nothing on its disk changes any more.
    leaves: bool,
}

impl DataMember {
    /// A member whose parity may already be kept. The parity member takes nobody for lost before its patience is over.
    pub fn new(facts: &Facts, patience: Milliseconds, session: u64) -> DataMember {
        DataMember {
            patience,
            covered_by: facts.covered_by,
            life: facts.life,
            is_complete: facts.covered_by.is_some(),
            is_covered: false,
            completed: None,
            stage: ParityLinkStage::Apart,
            session,
            number: 0,
            own: BTreeMap::new(),
            theirs: BTreeMap::new(),
            unacknowledged: VecDeque::new(),
            under_way: 0,
            acknowledged: (0, 0),
            begun: None,
            lease: 0,
            sent: 0,
            received_at: 0,
            linked: BTreeSet::new(),
            full: BTreeSet::new(),
            views: facts.views,
            expected_since: None,
            is_lost: false,
            is_readmitted: false,
            leaves: false,
        }
    }

    /// The parity member that covers it.
    pub const fn covered_by(&self) -> Option<Identity> {
        self.covered_by
    }

    /// What must survive a restart.
    pub const fn facts(&self) -> Facts {
        Facts {
            covered_by: self.covered_by,
            life: self.life,
            columns: [None; COLUMNS],
            confirmed: [None; COLUMNS],
            newcomers: [false; COLUMNS],
            let_go: BTreeSet::new(),
            leaving: [false; COLUMNS],
            views: self.views,
        }
    }

    /// Which parity members its group has, if the group may have two.
    pub const fn view(&self) -> Option<View> {
        self.views.settled
    }

    /// Whether its group has confirmed that it can be rebuilt. From shortly before that on, it holds back its messages
    /// until the parity holds what they tell.
    pub const fn is_covered(&self) -> bool {
        self.is_covered
    }

    /// Whether it was taken for lost, and another process is this member now.
    pub const fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// The life in which it was readmitted, once: others have to meet it in that life.
    pub const fn take_new_life(&mut self) -> Option<u32> {
        if std::mem::replace(&mut self.is_readmitted, false) { Some(self.life) } else { None }
    }

    /// Leaves its group: nobody needs its records any more. If it may be rebuilt, the parity has to know of this run
    /// first. From then on nothing that this member tells others is held back, and requests of this run have numbers
    /// that a later run must not use again.
    pub fn leave(&mut self, now: Milliseconds, output: &mut Output) {
        let knows_run = self.begun.is_some_and(|begun| self.acknowledged >= begun);
        if self.leaves || self.is_complete && !knows_run {
            return;
        }
        self.leaves = true;
        if let ParityLinkStage::HelloSent(parity) | ParityLinkStage::Open(parity) = self.stage {
            self.send_hello(now, parity, output);
        }
    }

    /// Whether it has left its group, or was in none.
    pub fn has_left(&self) -> bool {
        self.leaves && self.covered_by.is_none() && self.stage == ParityLinkStage::Apart
    }

    /// Whether others may be told what was done up to this position of its logs.
    pub fn may_acknowledge(&self, position: Position, now: Milliseconds) -> bool {
        !self.is_complete || self.leaves || (self.acknowledged >= position && now < self.lease)
    }

    /// Whether a link to a parity member is of use to it.
    pub fn wants(&self, parity: Identity) -> bool {
        match self.covered_by {
            Some(covered_by) => covered_by == parity,
            None => {
                let is_elsewhere = self.expected_since.is_some() && self.view().is_none_or(|view| !view.has(parity));
                self.stage == ParityLinkStage::Apart && !self.leaves && !self.full.contains(&parity) && !is_elsewhere
            }
        }
    }

    /// Whether it has no link to its parity member.
    pub fn is_apart(&self) -> bool {
        self.stage == ParityLinkStage::Apart
    }

    /// A link to a parity member has opened.
    pub fn connect(&mut self, now: Milliseconds, parity: Identity, output: &mut Output) {
        self.linked.insert(parity);
        if self.is_lost || self.covered_by != Some(parity) && !self.wants(parity) {
            return;
        }
        self.send_hello(now, parity, output);
    }

    fn send_hello(&mut self, now: Milliseconds, parity: Identity, output: &mut Output) {
        self.session += 1;
        self.received_at = now;
        self.stage = ParityLinkStage::HelloSent(parity);
        self.forget_what_was_sent();
        let group = self.views.settled.map(|view| view.group);
        let wish = match self.covered_by {
            _ if self.leaves => Wish::Leave,
            Some(_) => Wish::GoOn(group),
            None => Wish::Join,
        };
        output.send(parity, Message::Hello { session: self.session, life: self.life, wish });
    }

    /// The link to a member is gone.
    pub fn disconnect(&mut self, parity: Identity) {
        self.linked.remove(&parity);
        // When it is back it may have forgotten which members it turned away, and may have room.
        self.full.remove(&parity);
        if let ParityLinkStage::HelloSent(other) | ParityLinkStage::Open(other) = self.stage
            && other == parity
        {
            self.stage = ParityLinkStage::Apart;
            self.forget_what_was_sent();
        }
    }

    fn forget_what_was_sent(&mut self) {
        self.completed = None;
        self.unacknowledged.clear();
        self.under_way = 0;
    }

    /// Its log has grown, or it has begun another one.
    pub fn has_written(&mut self, (log, bytes): Position) {
        self.own.insert(FileName::log(log), Extent { length: bytes, is_whole: false });
        self.begun.get_or_insert((log, bytes));
    }

    /// Looks at the files on disk: there may be new ones, or a snapshot may be whole now.
    ///
    /// # Errors
    /// The system's error.
    pub fn survey(&mut self, files: &impl Files) -> io::Result<()> {
        self.own = files.all()?;
        let is_known = matches!(self.stage, ParityLinkStage::Open(_)) || self.covered_by.is_none();
        if is_known && !self.leaves {
            let base = self.base();
            let over = self.own.keys().filter(|file| file.number < base && !self.theirs.contains_key(file));
            let over: Vec<FileName> = over.copied().collect();
            let is_being_removed = |file: &FileName| self.unacknowledged.iter().any(|sent| sent.removed == Some(*file));
            for file in over.into_iter().filter(|file| !is_being_removed(file)) {
                files.remove(file)?;
                self.own.remove(&file);
            }
        }
        Ok(())
    }

    /// Handles a message from another member.
    ///
    /// # Errors
    /// The system's error.
    pub fn receive(
        &mut self,
        now: Milliseconds,
        from: Identity,
        message: Message,
        files: &impl Files,
        output: &mut Output,
    ) -> io::Result<()> {
        if self.is_with(from) {
            self.received_at = now;
        }
        match message {
            Message::Stands { session, files: theirs, is_complete, leaves, view }
                if self.awaits_answer(from, session) =>
            {
                if let Some(view) = view {
                    self.views.learn(view);
                }
                // A power failure may have made it forget that it leaves.
                self.leaves |= leaves;
                self.stands(now, from, theirs, is_complete, files, output)?;
            }
            Message::Full(session) if self.awaits_answer(from, session) => {
                self.stage = ParityLinkStage::Apart;
                self.full.insert(from);
                self.asks_another(now, output);
            }
            Message::Room => self.is_invited(now, from, output),
            Message::Left(session) if self.session == session && self.is_with(from) => {
                (self.covered_by, self.is_complete, self.is_covered) = (None, false, false);
                self.stage = ParityLinkStage::Apart;
                self.asks_another(now, output);
            }
            Message::Leads(view) if view.lead == from => self.is_led(now, view, output),
            Message::Ask { .. } | Message::Record(_) => self.is_asked(now, from, &message, output),
            Message::Lost(life) => self.is_lost |= self.life < life,
            Message::Readmitted { session, life } if self.awaits_answer(from, session) && self.life < life => {
                (self.life, self.session, self.is_readmitted) = (life, session_in(life, session), true);
            }
            Message::Anew if self.covered_by == Some(from) => self.connect(now, from, output),
            Message::Acknowledged { session, number }
                if self.session == session && self.stage == ParityLinkStage::Open(from) =>
            {
                self.was_acknowledged(number, files)?;
                if self.completed.take_if(|beat| *beat <= number).is_some() {
                    self.is_covered_by(from, output);
                }
            }
            // All of a group's members are rebuilt by the one parity member that covers them.
            Message::Read { request, piece } if self.covered_by == Some(from) => {
                // A piece that no longer exists was asked for before a link broke, and is asked for again.
                if let Ok(bytes) = files.read(piece) {
                    output.send(from, Message::Block { request, bytes });
                }
            }
            _ => {}
        }
        self.pump(now, files, output)
    }

    /// The lead of a group announces itself: of this member's own group, or of one that may take it in.
    fn is_led(&mut self, now: Milliseconds, view: View, output: &mut Output) {
        let is_own = match (self.covered_by, self.views.settled) {
            (Some(_), Some(settled)) => settled.group == view.group && settled.number <= view.number,
            (Some(covered_by), None) => covered_by == view.lead,
            (None, _) => return self.is_invited(now, view.lead, output),
        };
        if is_own {
            self.views.learn(view);
            self.covered_by = Some(view.lead);
            if !self.is_with(view.lead) {
                self.connect(now, view.lead, output);
            }
        }
    }

    /// Asks another parity member for a place in its group, if it has none.
    fn asks_another(&mut self, now: Milliseconds, output: &mut Output) {
        let next = self.linked.iter().copied().find(|parity| self.wants(*parity));
        if let Some(parity) = next.filter(|_| self.covered_by.is_none()) {
            self.connect(now, parity, output);
        }
    }

    fn is_invited(&mut self, now: Milliseconds, parity: Identity, output: &mut Output) {
        self.full.remove(&parity);
        if self.stage == ParityLinkStage::Apart && self.covered_by.is_none() {
            self.connect(now, parity, output);
        }
    }

    /// A candidate wants its group to have other parity members.
    fn is_asked(&mut self, now: Milliseconds, from: Identity, message: &Message, output: &mut Output) {
        let (number, answer) = match *message {
            Message::Ask { settled, number } => {
                let life = self.life;
                let granted = |view| Message::Granted { number, view, life, has_parity: false };
                let awaits_its_answer = match self.stage {
                    ParityLinkStage::Apart => true,
                    ParityLinkStage::HelloSent(parity) => settled.has(parity),
                    ParityLinkStage::Open(_) => false,
                };
                if awaits_its_answer && self.covered_by.is_none() && self.view().is_none() {
                    // It has a place in the group, so its vote is needed; but the lead could not tell this member, as
                    // it was lost before, or as its follower was.
                    (self.views, self.expected_since) = (Acceptor::of(Some(settled)), Some(now));
                }
                (number, self.views.ask(settled.group, number).map(|answer| answer.map(granted)))
            }
            Message::Record(view) => {
                let answer = self.views.record(view);
                (view.number, answer.map(|answer| answer.map(|()| Message::Recorded(view.number))))
            }
            _ => return,
        };
        let Some(answer) = answer else { return };
        output.send(from, answer.unwrap_or_else(|promised| Message::Refused { number, promised }));
    }

    /// Whether it has said hello to a parity member, in its session.
    fn is_with(&self, parity: Identity) -> bool {
        self.stage == ParityLinkStage::HelloSent(parity) || self.stage == ParityLinkStage::Open(parity)
    }

    fn awaits_answer(&self, from: Identity, session: u64) -> bool {
        self.session == session && self.stage == ParityLinkStage::HelloSent(from)
    }

    /// It learns the state of its files in the parity.
    fn stands(
        &mut self,
        now: Milliseconds,
        parity: Identity,
        theirs: Vec<(FileName, Extent)>,
        is_complete: bool,
        files: &impl Files,
        output: &mut Output,
    ) -> io::Result<()> {
        self.own = files.all()?;
        let has = |file: &FileName| self.own.get(file).map_or(0, |extent| extent.length);
        if theirs.iter().any(|(file, extent)| has(file) < extent.length) {
            self.stage = ParityLinkStage::Apart;
            self.is_lost = is_complete;
            output.send(parity, Message::Behind);
            return Ok(());
        }
        (self.covered_by, self.is_complete, self.stage) = (Some(parity), is_complete, ParityLinkStage::Open(parity));
        self.expected_since = None;
        if is_complete {
            self.is_covered_by(parity, output);
        } else {
            self.is_covered = false;
        }
        self.theirs = theirs.into_iter().collect();
        let logs = self.theirs.iter().filter(|(file, _)| file.kind == Kind::Log);
        self.acknowledged = logs.map(|(file, extent)| (file.number, extent.length)).max().unwrap_or((0, 0));
        self.survey(files)?;
        // The lease begins with the first acknowledgment in this session.
        self.beat(now, parity, output);
        Ok(())
    }

    /// The parity holds everything sent up to a number.
    fn was_acknowledged(&mut self, number: u64, files: &impl Files) -> io::Result<()> {
        while self.unacknowledged.front().is_some_and(|sent| sent.number <= number)
            && let Some(sent) = self.unacknowledged.pop_front()
        {
            self.under_way -= sent.size;
            self.lease = self.lease.max(sent.at + self.patience * 3 / 4);
            self.acknowledged = self.acknowledged.max(sent.position.unwrap_or_default());
            if let Some(file) = sent.removed {
                files.remove(file)?;
                self.own.remove(&file);
            }
        }
        Ok(())
    }

    /// Sends the difference between disk and parity, as long as not too much is in flight.
    ///
    /// # Errors
    /// The system's error.
    pub fn pump(&mut self, now: Milliseconds, files: &impl Files, output: &mut Output) -> io::Result<()> {
        let ParityLinkStage::Open(parity) = self.stage else { return Ok(()) };
        if self.leaves {
            return Ok(());
        }
        while let Some(difference) = self.next_difference() {
            let most = if matches!(difference, Difference::Log { .. }) { MOST_OF_LOGS } else { MOST_OF_OTHERS };
            if self.under_way >= most {
                return Ok(());
            }
            let change = difference.read(files)?;
            let number = self.follow(now, &change);
            output.send(parity, Message::Change { session: self.session, number, change });
        }
        if !self.is_complete {
            self.is_complete = true;
            self.beat(now, parity, output);
            self.completed = Some(self.number);
        }
        Ok(())
    }

    fn is_covered_by(&mut self, parity: Identity, output: &mut Output) {
        if !std::mem::replace(&mut self.is_covered, true) {
            output.events.push(Event::Covered { by: parity.to_string() });
        }
    }

    /// Accounts for a change that is being sent, which the parity will have. Returns its number.
    fn follow(&mut self, now: Milliseconds, change: &Change) -> u64 {
        let (file, size) = (change.file, change.bytes.len() as u64);
        let length = if change.effect == Effect::Shrinks { change.at } else { change.at + size };
        let is_gone = change.effect == Effect::Shrinks && length == 0;
        if is_gone {
            self.theirs.remove(&file);
        } else {
            self.theirs.insert(file, Extent { length, is_whole: change.effect == Effect::Ends });
        }
        let is_log = change.effect == Effect::Grows && file.kind == Kind::Log;
        self.note(now, size, is_log.then_some((file.number, length)), is_gone.then_some(file))
    }

    /// Numbers a message that is being sent.
    fn note(&mut self, now: Milliseconds, size: u64, position: Option<Position>, removed: Option<FileName>) -> u64 {
        self.number += 1;
        self.unacknowledged.push_back(UnacknowledgedMessage { number: self.number, at: now, size, position, removed });
        self.under_way += size;
        self.sent = now;
        self.number
    }

    fn beat(&mut self, now: Milliseconds, parity: Identity, output: &mut Output) {
        let number = self.note(now, 0, None, None);
        output.send(parity, Message::Beat { session: self.session, number, is_complete: self.is_complete });
    }

    /// Sends a beat after a long time without sending; says hello again after a long time without hearing anything,
    /// since messages may be lost.
    pub fn tick(&mut self, now: Milliseconds, output: &mut Output) {
        let is_over = |since: &mut Milliseconds| now.abs_diff(*since) >= PATIENCE_WITH_GROUPS * self.patience;
        if self.expected_since.take_if(is_over).is_some() {
            self.asks_another(now, output);
        }
        if let ParityLinkStage::HelloSent(parity) | ParityLinkStage::Open(parity) = self.stage
            && now.abs_diff(self.received_at) >= 3 * self.patience
        {
            return self.send_hello(now, parity, output);
        }
        if let ParityLinkStage::Open(parity) = self.stage
            && now.abs_diff(self.sent) >= self.patience / 4
        {
            self.beat(now, parity, output);
        }
    }

    /// The number of the snapshot from which on everything is needed.
    fn base(&self) -> u64 {
        let whole = self.theirs.iter().filter(|(file, extent)| file.kind == Kind::Snapshot && extent.is_whole);
        let logs = self.theirs.keys().filter(|file| file.kind == Kind::Log);
        let own = self.own.iter().filter(|(file, extent)| file.kind == Kind::Snapshot && extent.is_whole);
        let newest = whole.map(|(file, _)| file.number).max();
        let oldest = newest.or_else(|| logs.map(|file| file.number).min());
        oldest.or_else(|| own.map(|(file, _)| file.number).max()).unwrap_or(0)
    }

    fn in_parity(&self, file: FileName) -> u64 {
        self.theirs.get(&file).map_or(0, |extent| extent.length)
    }

    /// The next difference between parity and disk, logs first.
    fn next_difference(&self) -> Option<Difference> {
        let base = self.base();
        let mut logs = self.own.iter().filter(|(file, _)| file.kind == Kind::Log && file.number >= base);
        if let Some((&file, extent)) = logs.find(|(file, extent)| self.in_parity(**file) < extent.length) {
            return Some(Difference::Log { log: file.number, at: self.in_parity(file), end: extent.length });
        }
        let newest = self.own.iter().rfind(|(file, extent)| file.kind == Kind::Snapshot && extent.is_whole);
        if let Some((&file, extent)) = newest.filter(|(file, _)| !self.theirs.get(file).is_some_and(|it| it.is_whole)) {
            let at = self.in_parity(file);
            let length = CHUNK.min(extent.length - at);
            let effect = if at + length == extent.length { Effect::Ends } else { Effect::Grows };
            return Some(Difference::Other(Piece { file, at, length: length as usize }, effect));
        }
        let (&file, extent) = self.theirs.iter().find(|(file, _)| file.number < base)?;
        let length = CHUNK.min(extent.length);
        let piece = Piece { file, at: extent.length - length, length: length as usize };
        Some(Difference::Other(piece, Effect::Shrinks))
    }
}

/// A difference between parity and disk.
enum Difference {
    /// A part of a log is missing in the parity. Whole frames are sent, so that a rebuilt log can be read to its end.
    Log { log: u64, at: u64, end: u64 },
    /// A part of a snapshot is missing, or a part of a superfluous file is still there.
    Other(Piece, Effect),
}

impl Difference {
    fn read(self, files: &impl Files) -> io::Result<Change> {
        Ok(match self {
            Difference::Log { log, at, end } => {
                let bytes = files.frames(log, at, end, CHUNK)?;
                Change { file: FileName::log(log), at, bytes, effect: Effect::Grows }
            }
            Difference::Other(piece, effect) => {
                Change { file: piece.file, at: piece.at, bytes: files.read(piece)?, effect }
            }
        })
    }
}
