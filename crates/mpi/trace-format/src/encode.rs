//! Encoding: calls to bytes.

use crate::{Call, Clock, Collective, Header, MAGIC, Message, VERSION};

/// The destination of bytes.
pub trait Sink {
    /// Adds `bytes` to what was put there before.
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// The most bytes of a number.
const LONGEST: usize = 10;

/// The beginning of a record, with a limited number of numbers: assembled first, and written at once.
struct Short {
    bytes: [u8; 2 + 10 * LONGEST],
    length: usize,
}

impl Short {
    fn new(code: u8, computed: u64) -> Short {
        let mut short = Short { bytes: [0; 2 + 10 * LONGEST], length: 0 };
        short.byte(code);
        short.number(computed);
        short
    }

    fn byte(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    /// A wildcard is 0, and any other number one more than it is.
    fn named_or_any(&mut self, number: Option<u32>) {
        self.number(number.map_or(0, |number| u64::from(number) + 1));
    }

    fn message(&mut self, message: &Message) {
        self.named_or_any(message.partner);
        self.named_or_any(message.tag);
        self.number(message.communicator.into());
        self.number(message.bytes);
    }

    fn collective(&mut self, collective: &Collective) {
        self.byte(collective.kind as u8);
        self.number(collective.communicator.into());
        self.number(collective.root.into());
        self.number(collective.bytes);
    }

    fn written(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Writes the beginning of a file.
pub fn encode_header(header: Header, sink: &mut impl Sink) {
    sink.put(&MAGIC);
    let clock = match header.clock {
        Clock::Monotonic => 0,
        Clock::Processor => 1,
    };
    // Version and clock are where a record has its code and its time.
    let mut short = Short::new(VERSION, clock);
    short.number(header.rank.into());
    short.number(header.size.into());
    sink.put(short.written());
}

/// Writes a call, before which the process computed for `computed`. [ns]
pub fn encode(computed: u64, call: &Call, sink: &mut impl Sink) {
    let mut short = Short::new(code(call), computed);
    match call {
        Call::Send(message) | Call::Receive(message) | Call::Probe(message) => short.message(message),
        Call::BeginSend(request, message) | Call::BeginReceive(request, message) => {
            short.number((*request).into());
            short.message(message);
        }
        Call::SendReceive(transfer) => {
            short.message(&transfer.send);
            short.message(&transfer.receive);
        }
        Call::Matched(request, source, tag) => {
            [request, source, tag].into_iter().for_each(|number| short.number((*number).into()));
        }
        Call::Free(request) | Call::Cancelled(request) => short.number((*request).into()),
        Call::Collective(collective) => short.collective(collective),
        Call::BeginCollective(request, collective) => {
            short.number((*request).into());
            short.collective(collective);
        }
        Call::Communicator(number, _) => short.number((*number).into()),
        Call::Finalize(elapsed) => short.number(*elapsed),
        Call::Wait(_) | Call::Unsupported(_) => {}
    }
    sink.put(short.written());
    match call {
        Call::Wait(requests) => list(requests.iter().map(|&request| request.into()), requests.len(), sink),
        // Each as the difference from the one before, so that consecutive members form a run.
        Call::Communicator(_, members) => {
            let before = std::iter::once(0).chain(members.iter().copied());
            let steps = members.iter().zip(before).map(|(&member, before)| u64::from(member.wrapping_sub(before)));
            list(steps, members.len(), sink);
        }
        Call::Collective(it) | Call::BeginCollective(_, it) => list(it.counts.iter().copied(), it.counts.len(), sink),
        Call::Unsupported(name) => list(name.bytes().map(u64::from), name.len(), sink),
        _ => {}
    }
}

/// The byte with which a record begins.
pub(crate) const fn code(call: &Call) -> u8 {
    match call {
        Call::Send(_) => 1,
        Call::Receive(_) => 2,
        Call::BeginSend(..) => 3,
        Call::BeginReceive(..) => 4,
        Call::SendReceive(_) => 5,
        Call::Matched(..) => 6,
        Call::Wait(_) => 7,
        Call::Free(_) => 8,
        Call::Probe(_) => 9,
        Call::Collective(_) => 10,
        Call::BeginCollective(..) => 11,
        Call::Communicator(..) => 12,
        Call::Unsupported(_) => 13,
        Call::Finalize(_) => 14,
        Call::Cancelled(_) => 15,
    }
}

/// Writes a list of numbers: its length, then runs of equal numbers, each as a count and the number.
fn list(numbers: impl Iterator<Item = u64>, length: usize, sink: &mut impl Sink) {
    let mut put = |number| {
        let mut short = Short { bytes: [0; 2 + 10 * LONGEST], length: 0 };
        short.number(number);
        sink.put(short.written());
    };
    put(length as u64);
    let mut numbers = numbers.peekable();
    while let Some(number) = numbers.next() {
        let mut often = 1;
        while numbers.next_if_eq(&number).is_some() {
            often += 1;
        }
        put(often);
        put(number);
    }
}
