//! Numbers that only ever grow; only their low 32 bits go over the wire.

/// The first number of every stream: 32 before the low bits wrap around, so that wrapping does not happen for the first
/// time after four thousand million packets.
pub const FIRST: u64 = (1 << 32) - 32;

/// The part of `number` that goes over the wire.
#[allow(clippy::cast_possible_truncation)] // that is meant
pub(crate) const fn wire(number: u64) -> u32 {
    number as u32
}

/// The number nearest to `reference` whose low 32 bits are `wire`; none if it would be negative.
pub(crate) fn near(reference: u64, wire: u32) -> Option<u64> {
    let distance = wire.wrapping_sub(self::wire(reference)).cast_signed();
    reference.checked_add_signed(i64::from(distance))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_is_recovered_from_its_low_bits(reference: u32, distance in i64::from(i32::MIN)..=i64::from(i32::MAX)) {
            let reference = u64::from(reference) + (1 << 33);
            let number = reference.checked_add_signed(distance).unwrap();
            prop_assert_eq!(near(reference, wire(number)), Some(number));
        }
    }

    #[test]
    fn no_number_is_negative() {
        assert_eq!(near(3, wire(3).wrapping_sub(4)), None);
        assert_eq!(near(3, 0), Some(0));
    }
}
