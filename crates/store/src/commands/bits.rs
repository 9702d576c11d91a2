//! Commands on the bits of values: bit 0 is the highest one of the first byte.

use std::ops::Range;

use super::strings::fitting;
use super::{CommandResult, Context, Failure, integer, is};
use crate::large::{LARGE, MaybeShared, SharedValue};
use crate::record::Record;
use crate::resp::Arguments;

/// Bits of a byte.
const BYTE: u64 = 8;

fn failure(text: &str) -> Failure {
    Failure::Message(text.to_owned())
}

/// A position among the bits of a value, which must be in the longest value that may be stored.
pub(super) fn offset(context: &Context<'_>, bits: Option<i64>) -> Result<u64, Failure> {
    let most = context.node.settings.limits.argument as u64;
    let bits = bits.and_then(|bits| u64::try_from(bits).ok()).filter(|bits| bits / BYTE < most);
    bits.ok_or_else(|| failure("ERR bit offset is not an integer or out of range"))
}

const fn bit_of(byte: u8, place: u64) -> bool {
    byte >> (BYTE - 1 - place % BYTE) & 1 == 1
}

pub(super) fn set_bit(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (key, now) = (arguments.get(1), context.now);
    let place = offset(context, integer(arguments.get(2)).ok())?;
    let bit = integer(arguments.get(3)).ok().filter(|bit| [0, 1].contains(bit));
    let bit = bit.ok_or_else(|| failure("ERR bit is not an integer or out of range"))?;
    let at = (place / BYTE) as usize;
    let value = context.bucket.peek(key, now).map(Record::value);
    let before = value.as_ref().and_then(|value| value.get(at).copied()).unwrap_or(0);
    let length = value.map_or(0, |value| value.len()).max(fitting(context, at, 1)?);
    let mask = 1_u8 << (BYTE - 1 - place % BYTE);
    let byte = if bit == 1 { before | mask } else { before & !mask };
    context.bucket.edit(key, length, at, &[byte], now);
    context.reply.integer(bit_of(before, place).into());
    Ok(())
}

pub(super) fn get_bit(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let place = offset(context, integer(arguments.get(2)).ok())?;
    let value = context.bucket.get(arguments.get(1), context.now).map(Record::value);
    let byte = value.and_then(|value| value.get((place / BYTE) as usize).copied());
    context.reply.integer(byte.is_some_and(|byte| bit_of(byte, place)).into());
    Ok(())
}

/// The part of a value that a command looks at.
struct UnitRange {
    first: i64,
    /// The last unit; none for the last of the value.
    last: Option<i64>,
    /// The bits of a unit.
    unit: u64,
}

impl UnitRange {
    /// Reads `[start [end [BYTE | BIT]]]` from an argument on.
    fn read(arguments: Arguments<'_>, at: usize) -> Result<UnitRange, Failure> {
        let count = arguments.len();
        if count > at + 3 {
            return Err(Failure::Syntax);
        }
        let first = if count > at { integer(arguments.get(at))? } else { 0 };
        let unit = match count > at + 2 {
            true if is(arguments.get(at + 2), "bit") => 1,
            true if !is(arguments.get(at + 2), "byte") => return Err(Failure::Syntax),
            _ => BYTE,
        };
        let last = if count > at + 1 { Some(integer(arguments.get(at + 1))?) } else { None };
        Ok(UnitRange { first, last, unit })
    }

    /// The bits of a value of so many bytes; negative positions count from its end.
    fn of(&self, length: usize) -> Range<u64> {
        let units = (length as u64 * BYTE / self.unit) as i64;
        let place = |place: i64| if place < 0 { place.saturating_add(units).max(0) } else { place };
        let (first, last) = (place(self.first), place(self.last.unwrap_or(-1)).min(units - 1));
        if first > last { 0..0 } else { first as u64 * self.unit..(last as u64 + 1) * self.unit }
    }
}

/// The bytes in which a range of bits lies, each with a mask of those in the range.
fn bytes_of<'a>(value: &'a [u8], bits: &Range<u64>) -> impl Iterator<Item = (u8, u8)> + use<'a> {
    let (first, end) = ((bits.start / BYTE) as usize, bits.end.div_ceil(BYTE) as usize);
    let (before, after) = (bits.start % BYTE, (BYTE - bits.end % BYTE) % BYTE);
    let bytes = value.get(first..end).unwrap_or_default();
    bytes.iter().enumerate().map(move |(number, byte)| {
        let head = if number == 0 { 0xff >> before } else { 0xff };
        let tail = if first + number + 1 == end { 0xff << after } else { 0xff };
        (*byte, head & tail)
    })
}

pub(super) fn count_bits(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    // A range needs both ends.
    if arguments.len() == 3 {
        return Err(Failure::Syntax);
    }
    let part = UnitRange::read(arguments, 2)?;
    let value = context.bucket.get(arguments.get(1), context.now).map(Record::value);
    let is_backwards = part.first < 0 && part.last.is_some_and(|last| last < 0 && part.first > last);
    let count = value.filter(|_| !is_backwards).map_or(0, |value| {
        let bytes = bytes_of(&value, &part.of(value.len()));
        bytes.map(|(byte, mask)| u64::from((byte & mask).count_ones())).sum()
    });
    context.reply.count(count);
    Ok(())
}

pub(super) fn find_bit(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let bit = match integer(arguments.get(2))? {
        0 => false,
        1 => true,
        _ => return Err(failure("ERR The bit argument must be 1 or 0.")),
    };
    let part = UnitRange::read(arguments, 3)?;
    let Some(value) = context.bucket.get(arguments.get(1), context.now).map(Record::value) else {
        context.reply.integer(if bit { -1 } else { 0 });
        return Ok(());
    };
    let bits = part.of(value.len());
    let found = first_bit(&value, &bits, bit);
    // Zeros follow a value, if no end was given.
    let after = || (!bit && part.last.is_none() && !bits.is_empty()).then_some(bits.end);
    context.reply.integer(found.or_else(after).map_or(-1, |place| place as i64));
    Ok(())
}

/// The place of the first bit of this kind in a range.
fn first_bit(value: &[u8], bits: &Range<u64>, bit: bool) -> Option<u64> {
    let wanted = |(byte, mask): (u8, u8)| if bit { byte & mask } else { !byte & mask };
    let (number, byte) = (0_u64..).zip(bytes_of(value, bits).map(wanted)).find(|(_, byte)| *byte != 0)?;
    Some((bits.start / BYTE + number) * BYTE + u64::from(byte.leading_zeros()))
}

/// How BITOP combines two bytes.
fn combination(name: &[u8]) -> Option<fn(u8, u8) -> u8> {
    type Combination = fn(u8, u8) -> u8;
    let combinations: [(&str, Combination); 4] =
        [("and", |a, b| a & b), ("or", |a, b| a | b), ("xor", |a, b| a ^ b), ("not", |_, b| !b)];
    combinations.into_iter().find(|(known, _)| is(name, known)).map(|(_, combine)| combine)
}

pub(super) fn combine(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (name, to, now) = (arguments.get(1), arguments.get(2), context.now);
    let combine = combination(name).ok_or(Failure::Syntax)?;
    let inverts = is(name, "not");
    if inverts && arguments.len() != 4 {
        return Err(failure("ERR BITOP NOT must be called with a single source key."));
    }
    let mut sources = Vec::new();
    for key in arguments.from(3) {
        let value = context.bucket.get(key, now).map(|record| record.value().to_vec());
        sources.push(value.unwrap_or_default());
    }
    // Shorter values are continued by zeros.
    let length = sources.iter().map(Vec::len).max().unwrap_or(0);
    sources.iter_mut().for_each(|source| source.resize(length, 0));
    let mut sources = sources.into_iter();
    let mut combined = if inverts { Vec::new() } else { sources.next().unwrap_or_default() };
    combined.resize(length, 0);
    for source in sources {
        combined.iter_mut().zip(source).for_each(|(byte, other)| *byte = combine(*byte, other));
    }
    match length {
        0 => drop(context.bucket.remove(to, now)),
        LARGE.. => context.bucket.set(to, SharedValue::from(combined), None, now),
        _ => context.bucket.set(to, MaybeShared::Borrowed(&combined), None, now),
    }
    context.reply.count(length as u64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bits(value: &[u8]) -> Vec<bool> {
        value.iter().flat_map(|byte| (0..BYTE).map(|place| bit_of(*byte, place))).collect()
    }

    proptest! {
        /// Compared with a list of all bits.
        #[test]
        fn bits_of_a_part_are_found_and_counted(
            value in prop::collection::vec(prop_oneof![Just(0), Just(0xff), any::<u8>()], 0..20),
            (first, last) in (-200_i64..200, -200_i64..200),
            (unit, bit) in (prop::sample::select(vec![1, BYTE]), any::<bool>()),
        ) {
            let range = UnitRange { first, last: Some(last), unit }.of(value.len());
            prop_assert!(range.end <= value.len() as u64 * BYTE);
            prop_assert!(range.start.is_multiple_of(unit) && range.end.is_multiple_of(unit));
            let all = bits(&value);
            let part = &all[range.start as usize..range.end as usize];
            let counted: u32 = bytes_of(&value, &range).map(|(byte, mask)| (byte & mask).count_ones()).sum();
            prop_assert_eq!(counted as usize, part.iter().filter(|bit| **bit).count());
            let place = part.iter().position(|at| *at == bit).map(|place| range.start + place as u64);
            prop_assert_eq!(first_bit(&value, &range, bit), place);
        }
    }
}
