//! The receive ring of a node, from which all of its processes take frames.

use std::collections::BTreeMap;

/// How full a receive ring is. The frames themselves wait for the processes that take them.
#[derive(Debug, Default)]
pub(super) struct Ring {
    frames: u32,
    /// How many processes have yet to take each broadcast frame.
    shared: BTreeMap<u64, u32>,
    /// How many broadcast frames there have been.
    ever: u64,
}

/// A frame's place in a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// That of a frame for one process.
    Own,
    /// That of a broadcast frame, by its number, which several processes take.
    Shared(u64),
}

impl Ring {
    /// How many frames are in it.
    pub(super) fn frames(&self) -> u32 {
        self.frames
    }

    /// Puts in a frame that this many processes take.
    pub(super) fn put(&mut self, takers: u32) -> Slot {
        self.frames += 1;
        if takers <= 1 {
            return Slot::Own;
        }
        self.ever += 1;
        self.shared.insert(self.ever, takers);
        Slot::Shared(self.ever)
    }

    /// A process takes the frame in this slot, which is free after the last.
    pub(super) fn take(&mut self, slot: Slot) {
        if let Slot::Shared(number) = slot
            && let Some(left) = self.shared.get_mut(&number)
        {
            *left -= 1;
            if *left > 0 {
                return;
            }
            self.shared.remove(&number);
        }
        self.frames -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broadcast_frame_takes_one_slot_until_all_processes_have_it() {
        let mut ring = Ring::default();
        let [own, shared, next] = [1, 3, 2].map(|takers| ring.put(takers));
        assert_eq!((ring.frames(), own), (3, Slot::Own));
        [shared, shared, next].into_iter().for_each(|slot| ring.take(slot));
        assert_eq!(ring.frames(), 3);
        ring.take(shared);
        assert_eq!(ring.frames(), 2);
        [own, next].into_iter().for_each(|slot| ring.take(slot));
        assert_eq!(ring.frames(), 0);
    }
}
