//! A byte for each of several entries, by which most others are told apart without looking at them.

/// The tags of eight entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(8))]
pub(super) struct Tags([u8; Tags::SLOTS]);

impl Tags {
    /// How many.
    pub(super) const SLOTS: usize = 8;
    /// The tag of a free slot.
    pub(super) const FREE: u8 = 0;

    const ONES: u64 = u64::from_le_bytes([1; Tags::SLOTS]);
    const HIGHEST: u64 = Tags::ONES << 7;

    /// A byte that differs between the keys of one bucket: its bits depend on all of C.
    pub(super) const fn of(c: u64) -> u8 {
        match (c.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8 {
            Tags::FREE => 1,
            tag => tag,
        }
    }

    #[cfg(test)]
    pub(super) const fn get(self, slot: usize) -> u8 {
        self.0[slot]
    }

    pub(super) const fn set(&mut self, slot: usize, tag: u8) {
        self.0[slot] = tag;
    }

    /// Sets the highest bit of each byte that equals this tag, all bytes at once.
    ///
    /// A byte of `other` is 0 where the tags are equal. Subtracting 1 sets the highest bit only there, or above such a
    /// byte: the first match is always a true one.
    const fn alike(self, tag: u8) -> u64 {
        let other = u64::from_le_bytes(self.0) ^ (Tags::ONES * tag as u64);
        other.wrapping_sub(Tags::ONES) & !other & Tags::HIGHEST
    }

    /// A bit for each slot with this tag, and perhaps for some above them, without a branch.
    pub(super) const fn bits(self, tag: u8) -> u8 {
        /// Gathers the lowest bits of all bytes in the highest byte.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        ((self.alike(tag) >> 7).wrapping_mul(GATHER) >> 56) as u8
    }

    pub(super) const fn are_full(self) -> bool {
        self.alike(Tags::FREE) == 0
    }

    /// The slots with this tag, and perhaps some above them.
    pub(super) fn places(self, tag: u8) -> impl Iterator<Item = usize> {
        let mut alike = self.alike(tag);
        std::iter::from_fn(move || {
            let place = (alike != 0).then(|| (alike.trailing_zeros() / 8) as usize);
            alike &= alike.wrapping_sub(1);
            place
        })
    }
}
