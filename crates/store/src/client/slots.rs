//! A client's image of a pool: which member has which slot.
//!
//! The image of an LH* client is how many servers it believes there are, (i', n'), and it is told a server's number and
//! level when it was wrong. To ask that server it would also have to know the member that hosts it, which the number
//! does not tell. So the image of this client is the slots themselves, each with the member that is believed to have
//! it, and an adjustment is the range of slots of one server, with its member:
//!
//! ```text
//!   MOVED s a            slot s is at a: the reply to any client
//!   MOVED s a f l        so are those from f to l, as far as the sender was believed to have them
//! ```
//!
//! A member knows for sure which slots it does not have; of other members it knows only what it has heard. So it can
//! give away slots that it was believed to have, and nothing else: a member that knows less does not spoil what the
//! client knows of others. Nor does a reply that is out of date: a member can give away a slot only in reply to a
//! request that the client has sent since it was told that this member has the slot. Otherwise a slot that comes back
//! to a member would be given away once more by each reply to the requests that were on their way to it before.

use std::net::{IpAddr, SocketAddr};

use crate::resp::Value;
use crate::slot::SLOT_BITS;

/// A member that the client has heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberNumber(pub(super) usize);

/// Where a slot is, according to a member that does not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) slot: u16,
    pub(super) to: SocketAddr,
    /// The first and the last slot of the range that is there.
    pub(super) range: (u16, u16),
}

/// The member that is believed to have a slot.
#[derive(Clone, Copy, Debug)]
struct Owner {
    member: MemberNumber,
    /// How many requests the client had sent when it was told so.
    since: u64,
}

/// The image of a client.
#[derive(Debug)]
pub(super) struct Slots {
    /// The owner of each slot; empty until the client has heard of any.
    owners: Vec<Owner>,
    members: Vec<SocketAddr>,
}

impl Slots {
    /// An image that knows the addresses of these members, but no slots yet.
    pub(super) const fn new(members: Vec<SocketAddr>) -> Slots {
        Slots { owners: Vec::new(), members }
    }

    /// Whether it knows slots.
    pub(super) const fn are_known(&self) -> bool {
        !self.owners.is_empty()
    }

    /// The member that is believed to have a slot.
    pub(super) fn owner(&self, slot: u16) -> Option<MemberNumber> {
        self.owners.get(usize::from(slot)).map(|owner| owner.member)
    }

    /// Whether the present owner of a slot was known when the client had sent so many requests.
    pub(super) fn was_known(&self, slot: u16, sent: u64) -> bool {
        self.owners.get(usize::from(slot)).is_some_and(|owner| owner.since <= sent)
    }

    /// The address of a member.
    pub(super) fn address(&self, member: MemberNumber) -> SocketAddr {
        self.members[member.0]
    }

    /// How many members are known.
    pub(super) const fn members(&self) -> usize {
        self.members.len()
    }

    fn number(&mut self, address: SocketAddr) -> MemberNumber {
        let known = self.members.iter().position(|known| *known == address);
        MemberNumber(known.unwrap_or_else(|| {
            self.members.push(address);
            self.members.len() - 1
        }))
    }

    /// Takes a member's MOVED reply to the request before which the client had sent `asked` others; by now it has sent
    /// `sent`. Returns whether it adjusts the image.
    pub(super) fn adjust(&mut self, by: MemberNumber, moved: Moved, asked: u64, sent: u64) -> bool {
        let to = self.number(moved.to);
        let (first, last) = (usize::from(moved.range.0), usize::from(moved.range.1));
        let Some(range) = self.owners.get_mut(first..=last) else { return false };
        let mut is_news = false;
        for owner in range.iter_mut().filter(|owner| owner.member == by && by != to && owner.since <= asked) {
            *owner = Owner { member: to, since: sent };
            is_news = true;
        }
        is_news
    }

    /// Takes the reply of a member to CLUSTER SLOTS, when the client has sent `sent` requests. Returns whether it is a
    /// map. An address that is empty or unspecified is the member's own.
    pub(super) fn learn(&mut self, by: MemberNumber, reply: &Value, sent: u64) -> bool {
        let own = self.address(by);
        let ranges: Option<Vec<(usize, usize, SocketAddr)>> =
            reply.list().iter().map(|range| read(range, own)).collect();
        let Some(mut ranges) = ranges.filter(|ranges| !ranges.is_empty()) else { return false };
        ranges.sort_unstable();
        // Requests for slots that no member has go to the member that has those before them.
        let mut owners = Vec::with_capacity(1 << SLOT_BITS);
        for (_, last, address) in ranges {
            let owner = Owner { member: self.number(address), since: sent };
            owners.resize((last + 1).max(owners.len()), owner);
        }
        let Some(&last) = owners.last() else { return false };
        owners.resize(1 << SLOT_BITS, last);
        self.owners = owners;
        true
    }

    /// A store that knows nothing of slots has them all.
    pub(super) fn learn_that_there_is_one(&mut self, member: MemberNumber) {
        self.owners = vec![Owner { member, since: 0 }; 1 << SLOT_BITS];
    }
}

/// A range of CLUSTER SLOTS.
fn read(range: &Value, own: SocketAddr) -> Option<(usize, usize, SocketAddr)> {
    let slot = |value: &Value| usize::try_from(value.integer()?).ok().filter(|slot| *slot < 1 << SLOT_BITS);
    let [first, last, node, ..] = range.list() else { return None };
    let [host, port, ..] = node.list() else { return None };
    let port = u16::try_from(port.integer()?).ok()?;
    Some((slot(first)?, slot(last)?, address(&host.text(), port, own)?))
}

fn address(host: &str, port: u16, own: SocketAddr) -> Option<SocketAddr> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let given: Option<IpAddr> = if host.is_empty() { Some(own.ip()) } else { host.parse().ok() };
    given.map(|given| SocketAddr::new(if given.is_unspecified() { own.ip() } else { given }, port))
}

impl Moved {
    /// Reads an error of the member at `own`, if it is MOVED.
    pub(super) fn read(error: &str, own: SocketAddr) -> Option<Moved> {
        let mut words = error.strip_prefix("MOVED ")?.split(' ');
        let slot = |word: &str| word.parse().ok().filter(|slot: &u16| *slot < 1 << SLOT_BITS);
        let own_slot = slot(words.next()?)?;
        let (host, port) = words.next()?.rsplit_once(':')?;
        let to = address(host, port.parse().ok()?, own)?;
        let range = match (words.next().and_then(slot), words.next().and_then(slot)) {
            (Some(first), Some(last)) if first <= own_slot && own_slot <= last => (first, last),
            _ => (own_slot, own_slot),
        };
        Some(Moved { slot: own_slot, to, range })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(port: u16) -> SocketAddr {
        ([127, 0, 0, 1], port).into()
    }

    fn known() -> Slots {
        let mut slots = Slots::new(vec![at(1)]);
        slots.learn_that_there_is_one(MemberNumber(0));
        slots
    }

    #[test]
    fn errors_that_are_moved_are_read() {
        let moved = |error: &str| Moved::read(error, at(9));
        let due = |slot, range| Some(Moved { slot, to: at(7), range });
        assert_eq!(moved("MOVED 5 127.0.0.1:7"), due(5, (5, 5)));
        assert_eq!(moved("MOVED 5 127.0.0.1:7 4 7"), due(5, (4, 7)));
        assert_eq!(moved("MOVED 5 0.0.0.0:7"), due(5, (5, 5)));
        assert_eq!(moved("MOVED 5 :7"), due(5, (5, 5)));
        assert_eq!(moved("MOVED 5 [::1]:7").map(|moved| moved.to), Some("[::1]:7".parse().unwrap()));
        assert_eq!(moved("MOVED 5 ::1:7").map(|moved| moved.to), Some("[::1]:7".parse().unwrap()));
        // A range without the slot is ignored.
        assert_eq!(moved("MOVED 5 127.0.0.1:7 6 7"), due(5, (5, 5)));
        for strange in
            ["MOVED", "MOVED 5", "MOVED 16384 127.0.0.1:7", "MOVED x 127.0.0.1:7", "MOVED 5 nowhere:7", "ERR"]
        {
            assert_eq!(moved(strange), None, "{strange}");
        }
    }

    #[test]
    fn a_member_gives_away_slots_that_it_was_believed_to_have() {
        let mut slots = known();
        let (first, second, third) = (MemberNumber(0), MemberNumber(1), MemberNumber(2));
        let moved = |to, first, last| Moved { slot: last, to: at(to), range: (first, last) };
        assert!(slots.adjust(first, moved(2, 8_192, 16_383), 0, 1));
        assert!(slots.adjust(second, moved(3, 12_288, 16_383), 1, 2));
        // The first has heard nothing of the third, and still believes that the second has all of it.
        assert!(!slots.adjust(first, moved(2, 8_192, 16_383), 2, 3));
        let owners = [0, 8_191, 8_192, 12_287, 12_288, 16_383].map(|slot| slots.owner(slot).unwrap());
        assert_eq!(owners, [first, first, second, second, third, third]);
        // It can't give away slots that it was not believed to have, either.
        assert!(!slots.adjust(first, moved(1, 0, 16_383), 3, 4));
    }

    #[test]
    fn a_member_gives_away_a_slot_that_has_come_back_only_if_it_was_asked_since() {
        let mut slots = known();
        let (first, second) = (MemberNumber(0), MemberNumber(1));
        let moved = |to| Moved { slot: 9_000, to: at(to), range: (8_192, 16_383) };
        // Two requests are under way to the first member when it no longer has the slot; the reply to the third is that
        // it has it again.
        assert!(slots.adjust(first, moved(2), 0, 2));
        assert!(slots.adjust(second, moved(1), 2, 3));
        assert!(!slots.adjust(first, moved(2), 1, 3), "the second of these replies is out of date");
        assert_eq!((slots.owner(9_000), slots.was_known(9_000, 1)), (Some(first), false));
        assert!(slots.adjust(first, moved(2), 3, 4));
        assert_eq!(slots.owner(9_000), Some(second));
    }

    #[test]
    fn replies_that_are_no_maps_are_refused() {
        let mut slots = known();
        let node = |host: &[u8], port| Value::List(vec![Value::Text(host.to_vec()), Value::Integer(port)]);
        let range = |first, last, node| Value::List(vec![Value::Integer(first), Value::Integer(last), node]);
        let good = || range(0, 16_383, node(b"", 8));
        for strange in [
            Value::Null,
            Value::List(Vec::new()),
            Value::List(vec![good(), Value::Integer(1)]),
            Value::List(vec![range(0, 16_384, node(b"127.0.0.1", 8))]),
            Value::List(vec![range(0, 5, node(b"nowhere", 8))]),
            Value::List(vec![range(0, 5, node(b"127.0.0.1", 70_000))]),
        ] {
            assert!(!slots.learn(MemberNumber(0), &strange, 0), "{strange:?}");
        }
        assert_eq!(slots.owner(3), Some(MemberNumber(0)));
        assert!(slots.learn(MemberNumber(0), &Value::List(vec![good()]), 0));
        assert_eq!(slots.owner(3).map(|member| slots.address(member)), Some(at(8)));
    }
}
