//! Messages between ranks, carried by MPI.

use std::collections::VecDeque;
use std::ffi::c_int;

use bytes::Bytes;
use endpoint::{Error, Message, Received, Result, Source, Tag, Tags};
use mpi::{ArrivedMessage, Communicator, LentMemory, MpiError, Receive, ReceiveInPlace, Send};
use quantities::Rank;

use super::envelope::{ENVELOPE, Envelope, Label, Labels, SMALL};

/// The number of small messages that MPI may still hold after their sends are over.
const MOST_UNFINISHED_SENDS: usize = 16;
/// The content of small messages that are only a size.
static ZEROS: [u8; SMALL] = [0; SMALL];

/// An error of MPI as one of this crate.
pub(super) fn failed(error: MpiError) -> Error {
    Error::Network(error.to_string())
}

/// The communicators of this rank, the messages that have arrived for it, and a receive posted for more.
#[derive(Debug)]
pub(super) struct Transport {
    /// For messages that fit into a buffer of [`SMALL`] bytes.
    small: Communicator,
    /// For messages that were announced on the other.
    large: Communicator,
    labels: Labels,
    /// The one receive that is posted on the first communicator, and the rank from which it takes messages, if not any.
    posted: Option<(Option<Rank>, Receive)>,
    /// A buffer for the next receive.
    buffer: Vec<u8>,
    /// The requests of small messages whose sends are over for the rank, in order. They are tested while the rank waits
    /// anyway: a test costs as much as the send itself.
    leaving: VecDeque<Send>,
    /// Messages that arrived before a receive asked for them, in the order of arrival.
    unexpected: VecDeque<Incoming>,
    /// How many large messages went to each rank.
    announced: Vec<c_int>,
    /// The content of large messages that are only a size.
    zeros: Bytes,
    /// Where large messages from some ranks are to be received.
    places: Vec<(Rank, LentMemory)>,
}

/// A message that has arrived, or was announced.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) from: Rank,
    pub(super) tag: Tag,
    pub(super) body: Body,
}

/// Where a message is.
#[derive(Debug)]
pub(super) enum Body {
    /// It has arrived.
    Received(Message),
    /// Its sender has announced it.
    Announced(Envelope, c_int),
}

impl Incoming {
    /// The message without its content.
    pub(super) fn without_content(&self) -> Received {
        let size = match &self.body {
            Body::Received(message) => message.size(),
            Body::Announced(envelope, _) => quantities::Bytes(envelope.size),
        };
        Received { from: self.from, tag: self.tag, message: Message::of_size(size) }
    }

    /// Whether a receive takes it.
    pub(super) fn fits(&self, from: Source, tags: Tags) -> bool {
        (from == Source::Any || from == Source::Rank(self.from)) && tags.include(self.tag)
    }
}

/// A message on its way to another rank.
#[derive(Debug)]
pub(super) struct Sending {
    /// The message, or its announcement.
    small: Option<Send>,
    /// The message that was announced.
    large: Option<Send>,
}

impl Sending {
    /// Whether it has left.
    pub(super) fn test(&mut self) -> Result<bool> {
        for part in [&mut self.small, &mut self.large] {
            if let Some(send) = part {
                if !send.test().map_err(failed)? {
                    return Ok(false);
                }
                *part = None;
            }
        }
        Ok(true)
    }
}

/// A large message on its way to this rank.
#[derive(Debug)]
pub(super) struct Transfer {
    from: Rank,
    envelope: Envelope,
    content: Content,
}

/// The buffer that receives the content of a large message.
#[derive(Debug)]
enum Content {
    /// A buffer of its own.
    Own(Receive),
    /// A place that the caller has lent.
    InPlace(ReceiveInPlace),
}

impl Transfer {
    /// The message, once it has arrived.
    pub(super) fn test(&mut self) -> Result<Option<Received>> {
        let content = match &mut self.content {
            Content::Own(receive) => receive.test().map_err(failed)?.map(|arrived| Bytes::from(arrived.content)),
            Content::InPlace(receive) => receive.test().map_err(failed)?,
        };
        let Some(content) = content else { return Ok(None) };
        let message = self.envelope.message(&content);
        Ok(Some(Received { from: self.from, tag: self.envelope.tag, message }))
    }
}

impl Transport {
    /// A transport with communicators of its own for all processes of `all`; collective over them.
    pub(super) fn new(all: &Communicator) -> std::result::Result<Transport, MpiError> {
        Ok(Transport::over(all.duplicate()?, all.duplicate()?))
    }

    /// A transport on two communicators of the same processes that nothing else uses.
    pub(super) fn over(small: Communicator, large: Communicator) -> Transport {
        let labels = Labels { largest: small.largest_tag() };
        let announced = vec![0; small.size() as usize];
        let (buffer, unexpected, zeros) = (Vec::new(), VecDeque::new(), Bytes::new());
        let (posted, leaving, places) = (None, VecDeque::with_capacity(MOST_UNFINISHED_SENDS), Vec::new());
        Transport { small, large, labels, posted, buffer, leaving, unexpected, announced, zeros, places }
    }

    pub(super) fn rank(&self) -> Rank {
        Rank(self.small.rank())
    }

    pub(super) fn size(&self) -> u32 {
        self.small.size()
    }

    /// Another communicator of all ranks; collective over them.
    pub(super) fn another(&self) -> Result<Communicator> {
        self.small.duplicate().map_err(failed)
    }

    /// Begins to send a message. Returns what the sender must wait for; nothing for most small messages.
    pub(super) fn send(&mut self, to: Rank, tag: Tag, message: &Message) -> Result<Option<Sending>> {
        let size = usize::try_from(message.size().0).map_err(|_| too_large(message))?;
        let whole = message.content().filter(|content| content.len() == size);
        let label = if whole.is_some() { Label::Content(tag) } else { Label::OnlySize(tag) };
        let is_plain = whole.is_some() || message.content().is_none();
        match self.labels.tag_of(label) {
            Some(tag) if is_plain && size <= SMALL => {
                let content = self.bytes_of(message, size);
                let send = self.small.isend(to.0, tag, content).map_err(failed)?;
                self.keep_unfinished(send)
            }
            _ if ENVELOPE + size <= SMALL => {
                let mut content = Envelope::of(tag, message, None).to_bytes().to_vec();
                content.extend_from_slice(&self.bytes_of(message, size));
                let send = self.small.isend(to.0, self.labels.largest, content.into()).map_err(failed)?;
                self.keep_unfinished(send)
            }
            _ => self.send_large(to, tag, message, size).map(Some),
        }
    }

    /// Keeps the request of a small message, unless too many are kept: then the sender must wait for this one.
    fn keep_unfinished(&mut self, send: Send) -> Result<Option<Sending>> {
        if self.leaving.len() == MOST_UNFINISHED_SENDS {
            while self.poll_unfinished()? {}
        }
        if self.leaving.len() == MOST_UNFINISHED_SENDS {
            return Ok(Some(Sending { small: Some(send), large: None }));
        }
        self.leaving.push_back(send);
        Ok(None)
    }

    /// Whether MPI still holds messages whose sends are over.
    pub(super) fn has_unfinished_sends(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Tests the first of the kept requests. Returns whether its message has left.
    pub(super) fn poll_unfinished(&mut self) -> Result<bool> {
        let Some(first) = self.leaving.front_mut() else { return Ok(false) };
        let has_left = first.test().map_err(failed)?;
        if has_left {
            self.leaving.pop_front();
        }
        Ok(has_left)
    }

    /// Announces a message and sends it: the receiver receives it once it knows where to put it.
    fn send_large(&mut self, to: Rank, tag: Tag, message: &Message, size: usize) -> Result<Sending> {
        let Some(number) = self.announced.get_mut(to.0 as usize) else {
            return Err(Error::NoSuchRank { rank: to, size: self.size() });
        };
        *number = (*number + 1) % self.labels.largest;
        let number = *number;
        let announcement = Bytes::copy_from_slice(&Envelope::of(tag, message, Some(number)).to_bytes());
        let announced = self.small.isend(to.0, self.labels.largest, announcement).map_err(failed)?;
        let content = self.bytes_of(message, size);
        let sent = self.large.isend(to.0, number, content).map_err(failed)?;
        Ok(Sending { small: Some(announced), large: Some(sent) })
    }

    /// The bytes that are sent for a message: its own, and zeros where it is only a size.
    fn bytes_of(&mut self, message: &Message, size: usize) -> Bytes {
        match message.content() {
            Some(content) if content.len() == size => content.clone(),
            Some(content) => {
                let mut bytes = content.to_vec();
                bytes.resize(size, 0);
                bytes.into()
            }
            None if size <= SMALL => Bytes::from_static(&ZEROS[..size]),
            None => {
                if self.zeros.len() < size {
                    self.zeros = vec![0; size].into();
                }
                self.zeros.slice(..size)
            }
        }
    }

    /// The first message that arrived earlier and that a receive takes.
    pub(super) fn take_unexpected(&mut self, from: Source, tags: Tags) -> Option<Incoming> {
        let place = self.unexpected.iter().position(|incoming| incoming.fits(from, tags))?;
        self.unexpected.remove(place)
    }

    /// The first message that arrived earlier and that a receive would take.
    pub(super) fn unexpected(&self, from: Source, tags: Tags) -> Option<&Incoming> {
        self.unexpected.iter().find(|incoming| incoming.fits(from, tags))
    }

    /// Keeps a message that no receive takes yet.
    pub(super) fn keep(&mut self, incoming: Incoming) {
        self.unexpected.push_back(incoming);
    }

    /// The next large message from each rank is received in its place, if it has the same length.
    pub(super) fn lend(&mut self, places: Vec<(Rank, LentMemory)>) {
        self.places = places;
    }

    /// Drops messages that have arrived and were not asked for.
    pub(super) fn forget(&mut self) {
        self.unexpected.clear();
    }

    /// A message that has arrived, if there is one; where all waiting receives name the same rank, only from that rank.
    ///
    /// One receive is posted at a time, so that messages stay in order. Receiving from a named rank costs MPI less than
    /// from any.
    pub(super) fn poll(&mut self, wanted: Option<Rank>) -> Result<Option<Incoming>> {
        if let Some((_, receive)) = self.posted.take_if(|(from, _)| from.is_some() && *from != wanted) {
            match receive.cancel().map_err(failed)? {
                Ok(arrived) => return self.read(arrived).map(Some),
                Err(buffer) => self.buffer = buffer,
            }
        }
        if self.posted.is_none() {
            let buffer = std::mem::take(&mut self.buffer);
            let receive = self.small.irecv(wanted.map(|rank| rank.0), None, buffer, SMALL).map_err(failed)?;
            self.posted = Some((wanted, receive));
        }
        let Some((_, receive)) = &mut self.posted else { return Ok(None) };
        let Some(arrived) = receive.test().map_err(failed)? else { return Ok(None) };
        self.posted = None;
        self.read(arrived).map(Some)
    }

    /// Decodes a message that has arrived; its buffer serves the next receive.
    fn read(&mut self, ArrivedMessage { from, tag, content }: ArrivedMessage) -> Result<Incoming> {
        let from = Rank(from);
        let incoming = match self.labels.label_of(tag) {
            Label::Content(tag) => {
                Incoming { from, tag, body: Body::Received(Message::from(Bytes::copy_from_slice(&content))) }
            }
            Label::OnlySize(tag) => {
                let message = Message::of_size(quantities::Bytes(content.len() as u64));
                Incoming { from, tag, body: Body::Received(message) }
            }
            Label::Envelope => {
                let unknown = || Error::Network(format!("rank {from} runs another version of maquette"));
                let envelope = Envelope::read(&content).ok_or_else(unknown)?;
                let body = match envelope.large {
                    Some(number) => Body::Announced(envelope, number),
                    None => Body::Received(
                        envelope.message(&Bytes::copy_from_slice(content.get(ENVELOPE..).unwrap_or_default())),
                    ),
                };
                Incoming { from, tag: envelope.tag, body }
            }
        };
        self.buffer = content;
        Ok(incoming)
    }

    /// Begins to receive a message that was announced.
    pub(super) fn transfer(&mut self, from: Rank, envelope: Envelope, number: c_int) -> Result<Transfer> {
        let size = usize::try_from(envelope.size).map_err(|_| too_large(&envelope.message(&Bytes::new())))?;
        let place = self.places.iter().position(|(of, place)| *of == from && place.length() == size);
        let content = match place.map(|place| self.places.swap_remove(place)) {
            Some((_, place)) => self.large.irecv_in_place(from.0, number, place).map(Content::InPlace),
            None => self.large.irecv(Some(from.0), Some(number), Vec::new(), size).map(Content::Own),
        };
        Ok(Transfer { from, envelope, content: content.map_err(failed)? })
    }

    /// Frees all MPI resources; collective over all ranks.
    pub(super) fn end(self) -> std::result::Result<(), MpiError> {
        if let Some((_, receive)) = self.posted {
            // A message that arrives now is not wanted any more.
            drop(receive.cancel()?);
        }
        self.small.free()?;
        self.large.free()
    }
}

fn too_large(message: &Message) -> Error {
    Error::Unfit(format!("a message of {} is more than this computer can hold", message.size()))
}
