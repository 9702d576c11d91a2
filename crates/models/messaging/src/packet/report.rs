//! The encoding of reports.

use endpoint::Message;
use quantities::Bytes as Size;

use super::{
    ANSWERS, Body, ENDED, HELD, Held, INCOMPLETE, KNOWS, MESSAGE_REPORT, MISSING, NO_ROOM, PARITY_REPORT, PULLS,
    PacketReader, REPORT, ReceiverReport, low_48,
};
use crate::datagram::{DatagramHeader, Unreadable};

impl ReceiverReport {
    /// Messages are taken out of order only if they are not broadcast, and parity packets are held only if they are.
    pub(super) const fn kind(&self) -> u8 {
        match (self.held.is_empty(), self.incomplete.is_empty()) {
            (false, _) => PARITY_REPORT,
            (true, false) => MESSAGE_REPORT,
            (true, true) => REPORT,
        }
    }

    pub(super) fn write(&self, header: &mut DatagramHeader) -> Message {
        let (message, offset) = self.pull.unwrap_or_default();
        header.write(&self.expected.to_be_bytes());
        header.write(&self.complete.to_be_bytes());
        header.write(&message.to_be_bytes());
        header.write(&low_48(offset));
        let most = usize::from(u8::MAX);
        let (count, mut all) = match self.kind() {
            PARITY_REPORT => {
                (self.held.len(), self.held.iter().take(most).flat_map(|held| held.written()).collect::<Vec<u8>>())
            }
            MESSAGE_REPORT => {
                let incomplete = self.incomplete.iter().take(most).flat_map(|message| message.to_be_bytes());
                (self.incomplete.len(), incomplete.collect())
            }
            _ => return Message::from(self.bitmap.clone()),
        };
        header.write(&[u8::try_from(count).unwrap_or(u8::MAX)]);
        all.extend_from_slice(&self.bitmap);
        Message::from(all)
    }

    pub(super) fn read(
        kind: u8,
        flags: u8,
        header: &mut PacketReader<'_>,
        payload: &Message,
    ) -> Result<(Body, Message), Unreadable> {
        let (expected, complete) = (header.u32()?, header.u32()?);
        let (message, offset) = (header.u32()?, header.u48()?);
        let flag = |flag| flags & flag != 0;
        if payload.unseen() > Size(0) || !flag(PULLS) && (message, offset) != (0, 0) {
            return Err(Unreadable::Field);
        }
        let mut bitmap = payload.content().cloned().unwrap_or_default();
        let mut several = |each: usize| {
            let [count] = header.take()?;
            let length = usize::from(count) * each;
            if count == 0 || bitmap.len() < length { Err(Unreadable::Field) } else { Ok(bitmap.split_to(length)) }
        };
        let (mut held, mut incomplete) = (Vec::new(), Vec::new());
        if kind == PARITY_REPORT {
            held = several(HELD)?.chunks_exact(HELD).map(Held::read).collect::<Result<_, _>>()?;
        } else if kind == MESSAGE_REPORT {
            let messages = several(INCOMPLETE)?;
            incomplete =
                messages.chunks_exact(INCOMPLETE).map(|it| PacketReader(it).u32()).collect::<Result<_, _>>()?;
        }
        let report = ReceiverReport {
            expected,
            bitmap,
            held,
            complete,
            incomplete,
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
        let mut reader = PacketReader(bytes);
        let first = reader.u32()?;
        let (count, next) = (u16::from_be_bytes(reader.take()?), u16::from_be_bytes(reader.take()?));
        Ok(Held { first, count, next })
    }
}
