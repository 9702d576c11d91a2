//! Messages that were sent and not yet received.
//!
//! The messages of all ranks lie in one vector as linked lists, one per rank, in order of sending: almost every list is
//! short, and a vector per rank would cost a million allocations. A rank with many messages has them sorted by sender
//! as well, so that many senders to one receiver do not cost quadratic time.

use std::collections::{BTreeMap, VecDeque};

use endpoint::{Message, Tag, Tags};
use quantities::{Bytes, Rank, Time};

/// A message under way.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    /// The sender.
    pub(super) from: Rank,
    /// Its tag.
    pub(super) tag: Tag,
    /// When `send` was called. [ps]
    pub(super) called: Time,
    /// When its first byte reaches the receiver. [ps]
    pub(super) arrival: Time,
    /// Its size. [B]
    size: Bytes,
    /// The message itself, if it carries data: most are only a size, and a pointer is small.
    carried: Option<Box<Message>>,
}

impl Letter {
    pub(super) fn new(from: Rank, tag: Tag, called: Time, arrival: Time, message: Message) -> Letter {
        let size = message.size();
        let carried = message.content().is_some().then(|| Box::new(message));
        Letter { from, tag, called, arrival, size, carried }
    }

    pub(super) fn size(&self) -> Bytes {
        self.size
    }

    pub(super) fn into_message(self) -> Message {
        self.carried.map_or(Message::of_size(self.size), |message| *message)
    }
}

/// End of a list.
const NONE: u32 = u32::MAX;

/// In place of the first node of a mailbox whose letters are sorted by sender.
const SORTED: u32 = u32::MAX - 1;

/// A list that would become longer than this is sorted by sender.
const FEW: u32 = 32;

/// A rank with more letters than this in its mailbox is behind the others.
const MANY: u32 = 12;

/// The letters for one rank: a list of nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mailbox {
    first: u32,
    last: u32,
    length: u32,
}

impl Mailbox {
    pub(super) const EMPTY: Mailbox = Mailbox { first: NONE, last: NONE, length: 0 };

    /// Whether its rank is behind the others.
    pub(super) fn has_many(&self) -> bool {
        self.length > MANY
    }
}

/// The letters for all ranks.
#[derive(Debug)]
pub(super) struct Letters {
    nodes: Vec<LetterNode>,
    /// The first of the list of free nodes.
    free: u32,
    /// How many mailboxes hold more than [`MANY`] letters.
    full: u32,
    /// The letters of the mailboxes that are sorted: by receiver, then by sender.
    sorted: BTreeMap<Rank, BTreeMap<Rank, VecDeque<Letter>>>,
}

#[derive(Debug)]
struct LetterNode {
    next: u32,
    letter: Letter,
}

impl Letters {
    pub(super) fn new() -> Letters {
        Letters { nodes: Vec::new(), free: NONE, full: 0, sorted: BTreeMap::new() }
    }

    /// Whether some rank has many letters.
    pub(super) fn some_have_many(&self) -> bool {
        self.full > 0
    }

    /// Puts `letter` at the end of the mailbox of `owner`.
    #[inline]
    pub(super) fn post(&mut self, owner: Rank, mailbox: &mut Mailbox, letter: Letter) {
        if mailbox.length >= FEW && mailbox.first != SORTED {
            self.sort(owner, mailbox);
        }
        if mailbox.first == SORTED {
            self.sorted.entry(owner).or_default().entry(letter.from).or_default().push_back(letter);
        } else {
            let node = self.store(letter);
            if mailbox.length == 0 {
                mailbox.first = node;
            } else {
                self.nodes[mailbox.last as usize].next = node;
            }
            mailbox.last = node;
        }
        mailbox.length += 1;
        self.full += u32::from(mailbox.length == MANY + 1);
    }

    /// Takes the first letter from `sender` with one of `tags` from the mailbox of `owner`.
    #[inline]
    pub(super) fn take(&mut self, owner: Rank, mailbox: &mut Mailbox, sender: Rank, tags: Tags) -> Option<Letter> {
        let before = mailbox.length;
        let letter = match mailbox.first {
            SORTED => self.take_sorted(owner, mailbox, sender, tags),
            _ => self.take_listed(mailbox, sender, tags),
        };
        self.full -= u32::from(before == MANY + 1 && mailbox.length == MANY);
        letter
    }

    /// The senders of the letters in the mailbox of `owner`.
    pub(super) fn senders(&self, owner: Rank, mailbox: &Mailbox) -> Vec<Rank> {
        if mailbox.first == SORTED {
            let letters = self.sorted.get(&owner).into_iter().flat_map(BTreeMap::values).flatten();
            return letters.map(|letter| letter.from).collect();
        }
        let node = |current: u32| self.nodes.get(current as usize);
        let first = if mailbox.length == 0 { None } else { node(mailbox.first) };
        std::iter::successors(first, |before| node(before.next)).map(|node| node.letter.from).collect()
    }

    fn take_listed(&mut self, mailbox: &mut Mailbox, sender: Rank, tags: Tags) -> Option<Letter> {
        let (mut before, mut current) = (NONE, mailbox.first);
        while current != NONE {
            let node = &self.nodes[current as usize];
            if node.letter.from == sender && tags.include(node.letter.tag) {
                let next = node.next;
                self.unlink(mailbox, before, next);
                return Some(self.release(current));
            }
            (before, current) = (current, node.next);
        }
        None
    }

    /// Removes the node between `before` and `next` from the list.
    fn unlink(&mut self, mailbox: &mut Mailbox, before: u32, next: u32) {
        if before == NONE {
            mailbox.first = next;
        } else {
            self.nodes[before as usize].next = next;
        }
        if next == NONE {
            mailbox.last = before;
        }
        mailbox.length -= 1;
    }

    /// Moves a list into the sorted letters. It stays sorted until it is empty.
    fn sort(&mut self, owner: Rank, mailbox: &mut Mailbox) {
        let mut senders: BTreeMap<Rank, VecDeque<Letter>> = BTreeMap::new();
        let mut current = mailbox.first;
        while current != NONE {
            let next = self.nodes[current as usize].next;
            let letter = self.release(current);
            senders.entry(letter.from).or_default().push_back(letter);
            current = next;
        }
        self.sorted.insert(owner, senders);
        mailbox.first = SORTED;
    }

    fn take_sorted(&mut self, owner: Rank, mailbox: &mut Mailbox, sender: Rank, tags: Tags) -> Option<Letter> {
        let senders = self.sorted.get_mut(&owner)?;
        let letters = senders.get_mut(&sender)?;
        let place = letters.iter().position(|letter| tags.include(letter.tag));
        let letter = place.and_then(|place| letters.remove(place));
        if letters.is_empty() {
            senders.remove(&sender);
        }
        if letter.is_some() {
            mailbox.length -= 1;
        }
        if mailbox.length == 0 {
            self.sorted.remove(&owner);
            *mailbox = Mailbox::EMPTY;
        }
        letter
    }

    fn store(&mut self, letter: Letter) -> u32 {
        if self.free == NONE {
            self.nodes.push(LetterNode { next: NONE, letter });
            return self.nodes.len() as u32 - 1;
        }
        let index = self.free;
        let node = &mut self.nodes[index as usize];
        self.free = node.next;
        *node = LetterNode { next: NONE, letter };
        index
    }

    fn release(&mut self, index: u32) -> Letter {
        let node = &mut self.nodes[index as usize];
        node.next = self.free;
        self.free = index;
        let nothing = Letter { carried: None, ..node.letter };
        std::mem::replace(&mut node.letter, nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(from: u32, size: u64) -> Letter {
        Letter::new(Rank(from), Tag::default(), Time::ZERO, Time::ZERO, Message::of_size(Bytes(size)))
    }

    #[test]
    fn each_senders_letters_come_in_order_from_short_lists_and_from_sorted_ones() {
        for letters_each in [1, 3, 40] {
            let (mut letters, mut mailbox) = (Letters::new(), Mailbox::EMPTY);
            for number in 0..letters_each {
                for from in 0..5 {
                    letters.post(Rank(9), &mut mailbox, letter(from, number));
                }
            }
            for from in [4, 0, 2, 1, 3] {
                for number in 0..letters_each {
                    let taken = letters.take(Rank(9), &mut mailbox, Rank(from), Tags::Any).expect("it was posted");
                    assert_eq!((taken.from, taken.size()), (Rank(from), Bytes(number)));
                }
                assert!(letters.take(Rank(9), &mut mailbox, Rank(from), Tags::Any).is_none());
            }
            assert_eq!(mailbox.length, 0);
            assert!(letters.sorted.is_empty());
        }
    }

    #[test]
    fn letters_that_come_when_few_are_left_are_found_too() {
        let (mut letters, mut mailbox) = (Letters::new(), Mailbox::EMPTY);
        let many = 2 * u64::from(FEW);
        for number in 0..many {
            letters.post(Rank(9), &mut mailbox, letter(1, number));
        }
        for number in 0..many - 1 {
            assert_eq!(
                letters.take(Rank(9), &mut mailbox, Rank(1), Tags::Any).map(|taken| taken.size()),
                Some(Bytes(number))
            );
        }
        letters.post(Rank(9), &mut mailbox, letter(2, 7));
        letters.post(Rank(9), &mut mailbox, letter(1, many));
        for (from, number) in [(2, 7), (1, many - 1), (1, many)] {
            assert_eq!(
                letters.take(Rank(9), &mut mailbox, Rank(from), Tags::Any).map(|taken| taken.size()),
                Some(Bytes(number))
            );
        }
        assert_eq!(mailbox.length, 0);
        assert!(letters.sorted.is_empty());
    }

    #[test]
    fn nodes_are_used_again() {
        let (mut letters, mut mailbox) = (Letters::new(), Mailbox::EMPTY);
        for number in 0..100 {
            letters.post(Rank(0), &mut mailbox, letter(1, number));
            letters.post(Rank(0), &mut mailbox, letter(2, number));
            assert!(letters.take(Rank(0), &mut mailbox, Rank(2), Tags::Any).is_some());
            assert!(letters.take(Rank(0), &mut mailbox, Rank(1), Tags::Any).is_some());
        }
        assert_eq!(letters.nodes.len(), 2);
    }
}
