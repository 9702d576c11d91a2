//! Datagrams that can be written, and read if they are secret, only with the key.
//!
//! ```text
//!       +--------+-------+-------------+------------+------------+-----------------------------+--------+
//!       |ver kind| flags | source rank | session    | counter    | a datagram                  | tag    |
//!       +--------+-------+-------------+------------+------------+-----------------------------+--------+
//!       0        1       2             4            8            16                                  + 16
//! ```
//!
//! A datagram is sealed as a whole, with ChaCha20-Poly1305: it is encrypted, and the header before it is authenticated
//! as well; or, with flag 1, both are only authenticated, which takes a fraction of the time. Each rank of each session
//! has a key of its own and numbers what it seals: so no two datagrams are sealed with the same key and nonce as long
//! as no two sessions have the same keys. A datagram that was not sealed with the right key, that arrives a second
//! time, or that is too late to tell whether it does, is ignored.
//!
//! Source: Y. Nir and A. Langley, ChaCha20 and Poly1305 for IETF Protocols, RFC 8439; the window of numbers already
//! seen: S. Kent, IP Encapsulating Security Payload, RFC 4303, section 3.4.3.

use std::cell::{Cell, RefCell};

use bytes::Bytes;
use chacha20poly1305::aead::AeadInPlace;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce, Tag};
use endpoint::{Error, Message, Result};
use quantities::{Rank, Time};

use crate::datagram::DatagramHeader;
use crate::packet::SEALED;
use crate::{Datagram, Datagrams, Destination};

/// The length of the header before the encrypted part. [B]
pub(crate) const HEADER: usize = 16;
const TAG: usize = 16;
/// How much longer sealing makes a datagram. [B]
pub const SEAL: usize = HEADER + TAG;

/// The flag of a datagram that anyone can read.
pub(crate) const READABLE: u8 = 1;

/// Who can read a sealed datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// Only those who have the key.
    Secret,
    /// Anyone.
    Readable,
}

/// The key with which one rank seals in one session. No two may be the same.
#[derive(Clone)]
pub struct Key(pub [u8; 32]);

/// Keeps the key out of printed output.
impl std::fmt::Debug for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Key")
    }
}

/// A network all of whose datagrams are sealed.
pub struct Sealed<D> {
    network: D,
    me: Rank,
    session: u32,
    secrecy: Secrecy,
    /// The cipher of each rank.
    ciphers: Vec<ChaCha20Poly1305>,
    /// The number of the next datagram.
    counter: Cell<u64>,
    /// Which datagrams of each rank have arrived already.
    replay_windows: RefCell<Vec<ReplayWindow>>,
    /// How many datagrams were foreign to this session, or replayed.
    foreign: Cell<u64>,
    arrived: RefCell<Vec<Datagram>>,
}

impl<D> Sealed<D> {
    /// Rank `me` on `network`, where rank r seals with `keys[r]`, so that nobody else can read it.
    pub fn new(network: D, me: Rank, session: u32, keys: &[Key]) -> Sealed<D> {
        Sealed {
            network,
            me,
            session,
            secrecy: Secrecy::Secret,
            ciphers: keys.iter().map(|key| ChaCha20Poly1305::new(&key.0.into())).collect(),
            counter: Cell::new(0),
            replay_windows: RefCell::new(vec![ReplayWindow::default(); keys.len()]),
            foreign: Cell::new(0),
            arrived: RefCell::default(),
        }
    }

    /// The same with this secrecy: all ranks of a session have to agree.
    #[must_use]
    pub fn with_secrecy(self, secrecy: Secrecy) -> Sealed<D> {
        Sealed { secrecy, ..self }
    }

    /// The network below.
    pub const fn network(&self) -> &D {
        &self.network
    }

    /// How many datagrams were foreign to this session, or replayed.
    pub fn foreign(&self) -> u64 {
        self.foreign.get()
    }

    fn seal(&self, datagram: &Datagram) -> Result<Datagram> {
        let counter = self.counter.get();
        self.counter.set(counter + 1);
        let header = header(self.secrecy, self.me, self.session, counter);
        let cipher = self.ciphers.get(self.me.0 as usize).ok_or_else(no_key)?;
        let mut sealed = Vec::with_capacity(HEADER + datagram.size() + TAG);
        sealed.extend_from_slice(header.bytes());
        sealed.extend_from_slice(datagram.header());
        sealed.extend_from_slice(datagram.payload().content().map_or(&[], |content| &content[..]));
        sealed.resize(HEADER + datagram.size(), 0);
        let (open, secret) = sealed.split_at_mut(self.authenticated(HEADER + datagram.size()));
        let tag = cipher.encrypt_in_place_detached(&nonce(counter), open, secret);
        sealed.extend_from_slice(&tag.map_err(|_| no_key())?);
        Ok(Datagram::new(header, Message::from(Bytes::from(sealed).slice(HEADER..))))
    }

    /// The contents of `datagram`, if it is of this session and has not arrived before.
    fn open(&self, datagram: &Datagram) -> Option<Datagram> {
        let header: &[u8; HEADER] = datagram.header().try_into().ok()?;
        let [first, flags, high, low, s0, s1, s2, s3, counter @ ..] = *header;
        let source = usize::from(u16::from_be_bytes([high, low]));
        if (first, flags) != (SEALED, flags_of(self.secrecy)) {
            return None;
        }
        if u32::from_be_bytes([s0, s1, s2, s3]) != self.session || source == self.me.0 as usize {
            return None;
        }
        let counter = u64::from_be_bytes(counter);
        let windows = &mut self.replay_windows.borrow_mut();
        let (cipher, window) = (self.ciphers.get(source)?, windows.get_mut(source)?);
        if window.has(counter) {
            return None;
        }
        let sealed = datagram.payload().content()?;
        let (text, tag) = sealed.split_at_checked(sealed.len().checked_sub(TAG)?)?;
        let mut text = [&header[..], text].concat();
        let authenticated = self.authenticated(text.len());
        let (open, secret) = text.split_at_mut(authenticated);
        cipher.decrypt_in_place_detached(&nonce(counter), open, secret, Tag::from_slice(tag)).ok()?;
        window.note(counter);
        Datagram::from_bytes(&Bytes::from(text).slice(HEADER..)).ok()
    }

    /// How many bytes of a header and a datagram of `length` bytes together are authenticated but not encrypted.
    fn authenticated(&self, length: usize) -> usize {
        match self.secrecy {
            Secrecy::Secret => HEADER,
            Secrecy::Readable => length,
        }
    }
}

fn no_key() -> Error {
    Error::Unfit("a datagram that cannot be sealed".to_string())
}

const fn flags_of(secrecy: Secrecy) -> u8 {
    match secrecy {
        Secrecy::Secret => 0,
        Secrecy::Readable => READABLE,
    }
}

fn header(secrecy: Secrecy, me: Rank, session: u32, counter: u64) -> DatagramHeader {
    let [_, _, high, low] = me.0.to_be_bytes();
    let mut header = DatagramHeader::EMPTY;
    header.write(&[SEALED, flags_of(secrecy), high, low]);
    header.write(&session.to_be_bytes());
    header.write(&counter.to_be_bytes());
    header
}

fn nonce(counter: u64) -> Nonce {
    let mut nonce = Nonce::default();
    nonce[4..].copy_from_slice(&counter.to_be_bytes());
    nonce
}

impl<D> std::fmt::Debug for Sealed<D> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Sealed {{ me: {}, session: {}, counter: {} }}", self.me, self.session, self.counter.get())
    }
}

impl<D: Datagrams> Datagrams for Sealed<D> {
    fn now(&self) -> Time {
        self.network.now()
    }

    async fn send(&self, datagrams: &[(Destination, Datagram)]) -> Result<()> {
        let seal = |(to, datagram): &(Destination, Datagram)| Ok((*to, self.seal(datagram)?));
        let sealed: Vec<(Destination, Datagram)> = datagrams.iter().map(seal).collect::<Result<_>>()?;
        self.network.send(&sealed).await
    }

    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()> {
        let mut sealed = self.arrived.take();
        let result = self.network.receive(until, &mut sealed).await;
        for datagram in sealed.drain(..) {
            match self.open(&datagram) {
                Some(opened) => arrived.push(opened),
                None => self.foreign.set(self.foreign.get() + 1),
            }
        }
        self.arrived.replace(sealed);
        result
    }
}

/// How many numbers below the highest are remembered individually.
const REMEMBERED: u64 = 4_096;
const WORDS: usize = (REMEMBERED / 64) as usize;

/// The numbers that have arrived.
///
/// ```text
///      all count as seen    | a bit each, REMEMBERED |  none seen
///     ----------------------|------------------------|------------>
///                                                     end
/// ```
#[derive(Clone, Debug)]
struct ReplayWindow {
    end: u64,
    /// Number n has the bit n modulo REMEMBERED.
    bits: [u64; WORDS],
}

impl Default for ReplayWindow {
    fn default() -> ReplayWindow {
        ReplayWindow { end: 0, bits: [0; WORDS] }
    }
}

impl ReplayWindow {
    fn place(number: u64) -> (usize, u64) {
        ((number % REMEMBERED / 64) as usize, 1 << (number % 64))
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = ReplayWindow::place(number);
        number < self.end && (self.end - number > REMEMBERED || self.bits[word] & bit != 0)
    }

    fn note(&mut self, number: u64) {
        if number >= self.end {
            let forgotten = (number - self.end).min(REMEMBERED - 1);
            for passed in number - forgotten..=number {
                let (word, bit) = ReplayWindow::place(passed);
                self.bits[word] &= !bit;
            }
            self.end = number.saturating_add(1);
        }
        let (word, bit) = ReplayWindow::place(number);
        self.bits[word] |= bit;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::packet::{Body, Data, Packet, Part};

    /// A network that keeps what is sent, and delivers it as often as asked.
    #[derive(Debug, Default)]
    struct Kept(RefCell<Vec<(Destination, Datagram)>>);

    impl Datagrams for &Kept {
        fn now(&self) -> Time {
            Time::ZERO
        }
        async fn send(&self, datagrams: &[(Destination, Datagram)]) -> Result<()> {
            self.0.borrow_mut().extend_from_slice(datagrams);
            Ok(())
        }
        async fn receive(&self, _: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()> {
            arrived.extend(self.0.borrow().iter().map(|(_, datagram)| datagram.clone()));
            Ok(())
        }
    }

    fn now<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result,
            Poll::Pending => panic!("nothing waits here"),
        }
    }

    fn keys(secret: u8) -> Vec<Key> {
        (0..3).map(|rank| Key([secret ^ rank; 32])).collect()
    }

    fn packet(payload: &[u8]) -> Datagram {
        let data = Data { sequence: 1, message: 2, part: Part::From(3), payload: Message::from(payload.to_vec()) };
        Packet { session: 7, source: Rank(0), broadcast: true, answer: false, body: Body::Data(data) }.encode()
    }

    fn arrived(sealed: &Sealed<&Kept>) -> Vec<Datagram> {
        let mut arrived = Vec::new();
        now(sealed.receive(None, &mut arrived)).unwrap();
        arrived
    }

    #[test]
    fn datagrams_are_read_once_with_the_key_and_never_without() {
        let wire = Kept::default();
        let source = Sealed::new(&wire, Rank(0), 7, &keys(0));
        let sent = [packet(b"one"), packet(b""), packet(b"one")];
        let to_all: Vec<_> = sent.iter().map(|datagram| (Destination::All, datagram.clone())).collect();
        now(source.send(&to_all)).unwrap();
        let receiver = Sealed::new(&wire, Rank(1), 7, &keys(0));
        assert_eq!(arrived(&receiver), sent);
        assert_eq!((arrived(&receiver), receiver.foreign()), (vec![], 3), "they came before");
        let others = [(Rank(1), 8, 0), (Rank(1), 7, 9), (Rank(0), 7, 0)];
        for (rank, session, secret) in others {
            assert_eq!(arrived(&Sealed::new(&wire, rank, session, &keys(secret))), []);
        }
        let (_, first) = &wire.0.borrow()[0];
        assert_eq!(first.size(), sent[0].size() + SEAL);
        assert!(!first.to_bytes().windows(3).any(|part| part == b"one"), "it can be read on the wire");
    }

    #[test]
    fn readable_datagrams_cannot_be_written_without_the_key() {
        let wire = Kept::default();
        let readable = |rank, secret| Sealed::new(&wire, Rank(rank), 7, &keys(secret)).with_secrecy(Secrecy::Readable);
        let sent = [packet(b"one"), packet(b"")];
        now(readable(0, 0).send(&sent.clone().map(|datagram| (Destination::All, datagram)))).unwrap();
        assert!(wire.0.borrow()[0].1.to_bytes().windows(3).any(|part| part == b"one"));
        let receiver = readable(1, 0);
        assert_eq!((arrived(&receiver), arrived(&receiver), receiver.foreign()), (sent.to_vec(), vec![], 2));
        assert_eq!(arrived(&readable(1, 9)), [], "another key");
        assert_eq!(arrived(&Sealed::new(&wire, Rank(1), 7, &keys(0))), [], "who expects secrets takes nothing else");
    }

    #[test]
    fn a_flipped_bit_anywhere_is_found() {
        for secrecy in [Secrecy::Secret, Secrecy::Readable] {
            let wire = Kept::default();
            let sealed = |rank| Sealed::new(&wire, Rank(rank), 7, &keys(0)).with_secrecy(secrecy);
            now(sealed(0).send(&[(Destination::All, packet(b"text"))])).unwrap();
            let bytes = wire.0.take()[0].1.to_bytes();
            for bit in 0..8 * bytes.len() {
                let mut damaged = bytes.to_vec();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let Ok(damaged) = Datagram::from_bytes(&damaged.into()) else { continue };
                wire.0.replace(vec![(Destination::All, damaged)]);
                assert_eq!(arrived(&sealed(1)), [], "{secrecy:?}, bit {bit}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_number_is_accepted_once_or_counts_as_seen(
            numbers in vec(prop_oneof![0_u64..200, 0_u64..20_000, any::<u64>()], 1..200)
        ) {
            let (mut window, mut all) = (ReplayWindow::default(), BTreeSet::new());
            for number in numbers {
                let late = all.last().is_some_and(|last| last - number.min(*last) >= REMEMBERED);
                prop_assert_eq!(window.has(number), all.contains(&number) || late);
                if !window.has(number) {
                    window.note(number);
                    all.insert(number);
                }
            }
        }
    }
}
