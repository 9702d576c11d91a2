//! Reports, written down.

use bytes::Bytes;
use endpoint::Message;
use quantities::Bytes as Size;

use super::{ANSWERS, Body, ENDED, HELD, Held, KNOWS, MISSING, NO_ROOM, PARITY_REPORT, PULLS, Reader, Report, low_48};
use crate::datagram::{Header, Unreadable};

impl Report {
    pub(super) fn write(&self, header: &mut Header) -> Message {
        let (message, offset) = self.pull.unwrap_or_default();
        header.write(&self.expected.to_be_bytes());
        header.write(&self.complete.to_be_bytes());
        header.write(&message.to_be_bytes());
        header.write(&low_48(offset));
        if self.held.is_empty() {
            return Message::from(self.bitmap.clone());
        }
        header.write(&[u8::try_from(self.held.len()).unwrap_or(u8::MAX)]);
        let held = self.held.iter().take(u8::MAX.into()).flat_map(|held| held.written());
        held.chain(self.bitmap.iter().copied()).collect::<Bytes>().into()
    }

    pub(super) fn read(
        kind: u8,
        flags: u8,
        header: &mut Reader<'_>,
        payload: &Message,
    ) -> Result<(Body, Message), Unreadable> {
        let (expected, complete) = (header.u32()?, header.u32()?);
        let (message, offset) = (header.u32()?, header.u48()?);
        let flag = |flag| flags & flag != 0;
        if payload.unseen() > Size(0) || !flag(PULLS) && (message, offset) != (0, 0) {
            return Err(Unreadable::Field);
        }
        let mut bitmap = payload.content().cloned().unwrap_or_default();
        let held = if kind == PARITY_REPORT {
            let [blocks] = header.take()?;
            let length = usize::from(blocks) * HELD;
            if blocks == 0 || bitmap.len() < length {
                return Err(Unreadable::Field);
            }
            bitmap.split_to(length).chunks_exact(HELD).map(Held::read).collect::<Result<_, _>>()?
        } else {
            Vec::new()
        };
        let report = Report {
            expected,
            bitmap,
            held,
            complete,
            pull: flag(PULLS).then_some((message, offset)),
            missing: flag(MISSING),
            no_room: flag(NO_ROOM),
            ended: flag(ENDED),
            knows: flag(KNOWS),
            answers: flag(ANSWERS),
        };
        Ok((Body::Report(report), payload.clone()))
    }
}

impl Held {
    fn written(self) -> [u8; HELD] {
        let ([a, b, c, d], [e, f], [g, h]) =
            (self.first.to_be_bytes(), self.count.to_be_bytes(), self.next.to_be_bytes());
        [a, b, c, d, e, f, g, h]
    }

    fn read(bytes: &[u8]) -> Result<Held, Unreadable> {
        let mut reader = Reader(bytes);
        let first = reader.u32()?;
        let (count, next) = (u16::from_be_bytes(reader.take()?), u16::from_be_bytes(reader.take()?));
        Ok(Held { first, count, next })
    }
}
