//! Maps the program's requests to those in the trace.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;

use trace_format::Message;

use crate::abi::Handle;

/// A map by handle, made for speed: handles are addresses or small numbers, whose bits are spread by a multiplication.
pub(crate) type ByHandle<T> = HashMap<Handle, T, BuildHasherDefault<Spread>>;

/// Fibonacci hashing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, number: u64) {
        let product = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

/// A persistent request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Persistent {
    /// Whether it sends; otherwise it receives.
    pub(crate) sends: bool,
    /// Its message.
    pub(crate) message: Message,
}

/// The meaning of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Send,
    Receive,
    /// A receive from any source, or with any tag.
    OpenReceive,
    Collective,
}

impl Kind {
    /// The meaning of a request for this message.
    pub(crate) const fn of(sends: bool, message: &Message) -> Kind {
        match (sends, message) {
            (true, _) => Kind::Send,
            (false, Message { partner: Some(_), tag: Some(_), .. }) => Kind::Receive,
            (false, _) => Kind::OpenReceive,
        }
    }
}

/// What is known about a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownRequest {
    /// Its number in the trace.
    pub(crate) number: u32,
    /// Its meaning.
    pub(crate) kind: Kind,
    /// Whether the program has requested its cancellation.
    pub(crate) is_cancelled: bool,
    /// What it starts, if it is persistent.
    pub(crate) persistent: Option<Persistent>,
    /// Whether it is active.
    pub(crate) is_active: bool,
}

impl KnownRequest {
    /// Whether the contents of its status matter: the source of a message, or that there is none.
    pub(crate) const fn needs_status(&self) -> bool {
        self.is_cancelled || matches!(self.kind, Kind::OpenReceive)
    }
}

/// The requests of the process.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// By their handles. A library may give the same handle to several sends that were complete at once: nothing
    /// distinguishes them.
    known: ByHandle<Vec<KnownRequest>>,
    /// The next number never used, and those that are free again.
    next: u32,
    free: Vec<u32>,
    /// Empty lists, to be reused.
    spare: Vec<Vec<KnownRequest>>,
}

impl Requests {
    /// A new request, with the lowest free number.
    pub(crate) fn add(&mut self, handle: Handle, kind: Kind, persistent: Option<Persistent>) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        let spare = &mut self.spare;
        let known = KnownRequest { number, kind, is_cancelled: false, persistent, is_active: persistent.is_none() };
        self.known.entry(handle).or_insert_with(|| spare.pop().unwrap_or_default()).push(known);
        number
    }

    /// The request with this handle, if known.
    pub(crate) fn get_mut(&mut self, handle: Handle) -> Option<&mut KnownRequest> {
        self.known.get_mut(&handle)?.last_mut()
    }

    /// A request that is complete: it ceases to exist unless it is persistent. None if it was not active.
    pub(crate) fn end(&mut self, handle: Handle) -> Option<KnownRequest> {
        let known = self.get_mut(handle).filter(|known| known.is_active)?;
        if known.persistent.is_some() {
            known.is_active = false;
            return Some(KnownRequest { is_cancelled: std::mem::take(&mut known.is_cancelled), ..*known });
        }
        self.forget(handle)
    }

    /// A request to which the program has no handle any more.
    pub(crate) fn forget(&mut self, handle: Handle) -> Option<KnownRequest> {
        let list = self.known.get_mut(&handle)?;
        let known = list.pop();
        if list.is_empty() {
            self.spare.extend(self.known.remove(&handle));
        }
        self.free.extend(known.map(|known| known.number));
        known
    }
}
