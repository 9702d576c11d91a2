//! Lists of small numbers in as few bits as the largest of them needs.

/// By how many bits the numbers grow when one does not fit.
const WIDER: u64 = 4;
/// Beyond the last number, so that it can be read with those after it.
const MARGIN: usize = 4;

/// A list of numbers below 2^24, all of them of as many bits.
#[derive(Clone, Debug)]
pub(super) struct PackedNumbers {
    bits: u32,
    length: usize,
    /// For how many numbers there is to be room.
    capacity: usize,
    bytes: Vec<u8>,
}

impl PackedNumbers {
    /// An empty list that will have `capacity` numbers.
    pub fn with_capacity(capacity: usize) -> PackedNumbers {
        PackedNumbers::of_width(WIDER as u32, capacity)
    }

    fn of_width(bits: u32, capacity: usize) -> PackedNumbers {
        let room = (capacity * bits as usize).div_ceil(8) + MARGIN;
        let mut bytes = Vec::with_capacity(room);
        bytes.resize(MARGIN, 0);
        PackedNumbers { bits, length: 0, capacity, bytes }
    }

    /// In how many bits numbers of `bits` bits are kept.
    pub fn width_for(bits: u64) -> u64 {
        bits.max(1).next_multiple_of(WIDER)
    }

    #[inline]
    pub fn get(&self, index: usize) -> u32 {
        let first = index * self.bits as usize;
        let at = &self.bytes[first / 8..first / 8 + 4];
        u32::from_le_bytes([at[0], at[1], at[2], at[3]]) >> (first % 8) & ((1 << self.bits) - 1)
    }

    /// What it takes. [B]
    pub fn bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Puts a number at the end.
    pub fn push(&mut self, number: u32) {
        if number >> self.bits != 0 {
            self.widen(number);
        }
        let first = self.length * self.bits as usize;
        self.length += 1;
        self.bytes.resize((self.length * self.bits as usize).div_ceil(8) + MARGIN, 0);
        let at = &mut self.bytes[first / 8..first / 8 + 4];
        let old = u32::from_le_bytes([at[0], at[1], at[2], at[3]]);
        at.copy_from_slice(&(old | number << (first % 8)).to_le_bytes());
    }

    /// Makes all numbers wide enough for `number`.
    fn widen(&mut self, number: u32) {
        let bits = PackedNumbers::width_for(u64::from(u32::BITS - number.leading_zeros()));
        let mut wider = PackedNumbers::of_width(bits as u32, self.capacity);
        (0..self.length).for_each(|index| wider.push(self.get(index)));
        *self = wider;
    }
}

#[cfg(test)]
mod tests {
    use super::PackedNumbers;

    #[test]
    fn numbers_of_all_widths_come_back() {
        let mut packed = PackedNumbers::with_capacity(3000);
        let mut numbers: Vec<u32> = (0..3000u32).map(|index| index * 7 % 3001).collect();
        numbers.extend([0, (1 << 24) - 1, 5, 1 << 19]);
        for (count, &number) in numbers.iter().enumerate() {
            packed.push(number);
            assert_eq!(packed.get(count), number);
        }
        let back: Vec<u32> = (0..numbers.len()).map(|index| packed.get(index)).collect();
        assert_eq!(back, numbers);
    }

    #[test]
    fn few_bits_take_little_room() {
        let mut packed = PackedNumbers::with_capacity(1000);
        (0..1000).for_each(|index| packed.push(index % 16));
        assert!(packed.bytes() <= 510, "{}", packed.bytes());
    }
}
