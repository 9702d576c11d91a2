//! Brings a member back from its log.

use std::collections::BTreeMap;

use linear_hash::{Contents, ToServerOf};
use quantities::Duration;

use super::{Effect, JournalEntry, Run};
use crate::bucket::Bucket;
use crate::large::MaybeShared;
use crate::large::encoding::decode;
use crate::member::{Durability, Member, Policy};
use crate::record::Milliseconds;

/// Why a batch can't be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// No entry begins where one should.
    #[error("this is not an entry")]
    NoEntry,
    /// An entry is about something that does not exist.
    #[error("an entry contradicts those before it")]
    Unfit,
}

/// Brings a member back, batch by batch.
#[derive(Debug)]
pub struct Replay<'a> {
    member: &'a mut Member<Bucket>,
    run: Option<Run>,
    is_ended: bool,
    /// By number, the parts so far of large values in the current file that have not been stored yet, and of messages
    /// that have not been taken.
    arriving: BTreeMap<u64, Vec<u8>>,
}

impl<'a> Replay<'a> {
    /// A replay into a member that has nothing.
    pub const fn new(member: &'a mut Member<Bucket>) -> Replay<'a> {
        Replay { member, run: None, is_ended: false, arriving: BTreeMap::new() }
    }

    /// The last run that began, if there was any.
    pub const fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// Whether the end of a snapshot was read.
    pub const fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// The member so far.
    pub const fn member(&mut self) -> &mut Member<Bucket> {
        self.member
    }

    /// Another file begins. A large value that was not stored by now is in it again from the beginning, or was given
    /// up.
    pub fn begin_file(&mut self) {
        self.arriving.clear();
    }

    /// Replays a batch.
    ///
    /// # Errors
    /// [`Unreadable`]: then the member is left in a state that it never had.
    pub fn batch(&mut self, content: &[u8]) -> Result<(), Unreadable> {
        let (time, mut rest) = content.split_first_chunk::<8>().ok_or(Unreadable::NoEntry)?;
        let now = u64::from_le_bytes(*time);
        while !rest.is_empty() {
            let (entry, after) =
                postcard::take_from_bytes::<JournalEntry<'_>>(rest).map_err(|_| Unreadable::NoEntry)?;
            if !self.entry(entry, now) {
                return Err(Unreadable::Unfit);
            }
            rest = after;
        }
        Ok(())
    }

    /// Replays an entry. Returns whether that was possible.
    fn entry(&mut self, entry: JournalEntry<'_>, now: Milliseconds) -> bool {
        let member = &mut *self.member;
        match entry {
            JournalEntry::Run(run) => {
                let Run { number, own, growth, servers_each } = run.clone().into_owned();
                member.begin_run(
                    number,
                    own,
                    Policy { growth, servers_each, patience: Duration::ZERO, durability: Durability::default() },
                );
                self.run = Some(run.into_owned());
            }
            JournalEntry::Founds => member.found(),
            JournalEntry::Standing(standing) => member.stand(standing.into_owned()),
            JournalEntry::Effect(server, effect) => match member.contents_of(server) {
                Some(bucket) => bucket.replay(effect, now),
                None => return false,
            },
            JournalEntry::Answer(server, client, applied) => {
                return member.remember(server, client, applied.into_owned());
            }
            JournalEntry::Taking(taken, message) => return member.take_again(taken, message.map(|it| it.into_owned())),
            JournalEntry::Beginning(begun) => return member.begin_again(begun),
            JournalEntry::Acknowledged(by, number) => member.was_acknowledged(by, number),
            JournalEntry::Server(number, control, shape) => member.resume(number, control, shape),
            JournalEntry::Record(server, record) => {
                let bucket = member.contents_of(server).filter(|bucket| bucket.table().is_some());
                return bucket.is_some_and(|bucket| bucket.put_back(record.into_owned()));
            }
            JournalEntry::Sequences(with, sent, received) => member.resume_sequences(with, sent, received),
            JournalEntry::Unacknowledged(to, sequenced) => member.resume_unacknowledged(to, sequenced),
            JournalEntry::Message(from, to, message) => member.resume_message(from, to, message.into_owned()),
            JournalEntry::End => self.is_ended = true,
            JournalEntry::Part(number, part) => self.arriving.entry(number).or_default().extend_from_slice(part),
            JournalEntry::Arrived(server, key, number, expiry) => {
                let (Some(bucket), Some(bytes)) = (member.contents_of(server), self.arriving.remove(&number)) else {
                    return false;
                };
                bucket.replay(Effect::Set { key, value: MaybeShared::Shared(bytes.into()), expiry }, now);
            }
            JournalEntry::TakingArrived(taken, number) => {
                let Some(bytes) = self.arriving.remove(&number) else { return false };
                let message = decode(bytes, |bytes| postcard::from_bytes::<ToServerOf<Bucket>>(bytes).ok());
                return message.is_some_and(|message| member.take_again(taken, Some(message)));
            }
        }
        true
    }
}
