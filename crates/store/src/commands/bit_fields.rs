//! BITFIELD: integers of any width up to 64 bits at any place of a value.

use super::bits::offset;
use super::{CommandResult, Context, Failure, integer, is};
use crate::record::Record;
use crate::resp::Arguments;

/// An integer of so many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    is_signed: bool,
    bits: u32,
}

/// What becomes of a number that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overflow {
    /// Its high bits are left out.
    Wrap,
    /// It becomes the nearest number that fits.
    Saturate,
    /// Nothing is stored.
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Get,
    Set(i64),
    Increment(i64),
}

/// One operation of a BITFIELD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    kind: Kind,
    /// The place of its highest bit.
    place: u64,
    action: Action,
    overflow: Overflow,
}

impl Kind {
    fn read(text: &[u8]) -> Result<Kind, Failure> {
        let (is_signed, most) = if text.first() == Some(&b'i') { (true, 64) } else { (false, 63) };
        let bits = text.strip_prefix(b"i").or_else(|| text.strip_prefix(b"u")).and_then(|bits| integer(bits).ok());
        let bits = bits.and_then(|bits| u32::try_from(bits).ok()).filter(|bits| (1..=most).contains(bits));
        let bits = bits.ok_or_else(|| {
            let text =
                "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.";
            Failure::Message(text.to_owned())
        })?;
        Ok(Kind { is_signed, bits })
    }

    /// The least and the greatest number.
    const fn range(self) -> (i128, i128) {
        if self.is_signed {
            let half = 1 << (self.bits - 1);
            (-half, half - 1)
        } else {
            (0, (1 << self.bits) - 1)
        }
    }

    /// The number with these bits; higher ones do not count.
    const fn of_bits(self, bits: u128) -> i128 {
        let rest = u128::BITS - self.bits;
        if self.is_signed { (bits << rest) as i128 >> rest } else { (bits << rest >> rest) as i128 }
    }

    /// The number that is stored for this one; none, if nothing is to be stored.
    fn fit(self, number: i128, overflow: Overflow) -> Option<i128> {
        let (least, most) = self.range();
        match overflow {
            _ if (least..=most).contains(&number) => Some(number),
            Overflow::Wrap => Some(self.of_bits(number as u128)),
            Overflow::Saturate => Some(number.clamp(least, most)),
            Overflow::Fail => None,
        }
    }
}

impl Field {
    /// The bytes in which it lies, from the first to the last.
    const fn bytes(&self) -> (usize, usize) {
        ((self.place / 8) as usize, ((self.place + self.kind.bits as u64 - 1) / 8) as usize)
    }

    /// By how many bits the end of its bytes exceeds it.
    const fn tail(&self) -> u32 {
        7 - ((self.place + self.kind.bits as u64 - 1) % 8) as u32
    }

    /// Its bytes in a value as one number; a value is continued by zeros.
    fn window(&self, value: &[u8]) -> u128 {
        let (first, last) = self.bytes();
        (first..=last).fold(0, |window, at| window << 8 | u128::from(value.get(at).copied().unwrap_or(0)))
    }

    fn get(&self, value: &[u8]) -> i128 {
        self.kind.of_bits(self.window(value) >> self.tail())
    }

    /// The bytes in which it lies, once it is this number.
    fn bytes_with(&self, value: &[u8], number: i128) -> Vec<u8> {
        let (first, last) = self.bytes();
        let mask = (u128::MAX >> (u128::BITS - self.kind.bits)) << self.tail();
        let window = self.window(value) & !mask | ((number as u128) << self.tail()) & mask;
        window.to_be_bytes()[size_of::<u128>() - (last - first + 1)..].to_vec()
    }

    /// What is returned for it in a value, and the number to store, if any.
    fn evaluate(&self, value: &[u8]) -> (Option<i128>, Option<i128>) {
        let before = self.get(value);
        match self.action {
            Action::Get => (Some(before), None),
            Action::Set(number) => {
                // An unsigned number has been read as a signed one with the same bits.
                let number = if self.kind.is_signed { number.into() } else { i128::from(number as u64) };
                let stored = self.kind.fit(number, self.overflow);
                (stored.map(|_| before), stored)
            }
            Action::Increment(by) => {
                let stored = self.kind.fit(before + i128::from(by), self.overflow);
                (stored, stored)
            }
        }
    }
}

/// The operations of a request.
fn fields(context: &Context<'_>, arguments: Arguments<'_>) -> Result<Vec<Field>, Failure> {
    let (mut fields, mut overflow, mut rest) = (Vec::new(), Overflow::Wrap, arguments.from(2));
    while let Some(name) = rest.next() {
        if is(name, "overflow") {
            let known = [("wrap", Overflow::Wrap), ("sat", Overflow::Saturate), ("fail", Overflow::Fail)];
            let given = rest.next().ok_or(Failure::Syntax)?;
            let found = known.into_iter().find(|(word, _)| is(given, word)).map(|(_, overflow)| overflow);
            overflow = found.ok_or_else(|| Failure::Message("ERR Invalid OVERFLOW type specified".to_owned()))?;
            continue;
        }
        let has_number = is(name, "set") || is(name, "incrby");
        if !has_number && !is(name, "get") {
            return Err(Failure::Syntax);
        }
        let (kind, place) = (rest.next().ok_or(Failure::Syntax)?, rest.next().ok_or(Failure::Syntax)?);
        let number = if has_number { Some(rest.next().ok_or(Failure::Syntax)?) } else { None };
        let kind = Kind::read(kind)?;
        let place = match place.strip_prefix(b"#") {
            Some(number) => integer(number).ok().and_then(|number| number.checked_mul(kind.bits.into())),
            None => integer(place).ok(),
        };
        let place = offset(context, place)?;
        let action = match number.map(integer).transpose()? {
            None => Action::Get,
            Some(number) if is(name, "set") => Action::Set(number),
            Some(number) => Action::Increment(number),
        };
        fields.push(Field { kind, place, action, overflow });
    }
    Ok(fields)
}

/// Executes operations on the value of a key, and replies to each.
fn execute_fields(context: &mut Context<'_>, key: &[u8], fields: &[Field]) {
    let now = context.now;
    let last_written = fields.iter().filter(|field| field.action != Action::Get).map(|field| field.bytes().1).max();
    if let Some(last) = last_written {
        let length = context.bucket.peek(key, now).map_or(0, Record::value_length);
        context.bucket.edit(key, length.max(last + 1), 0, &[], now);
    }
    context.bucket.get(key, now);
    context.reply.array(fields.len());
    for field in fields {
        let record = context.bucket.peek(key, now);
        let length = record.map_or(0, Record::value_length);
        let value = record.map(Record::value);
        let value = value.as_deref().unwrap_or_default();
        let (returned, stored) = field.evaluate(value);
        if let Some(bytes) = stored.map(|number| field.bytes_with(value, number)) {
            context.bucket.edit(key, length, field.bytes().0, &bytes, now);
        }
        match returned {
            // All kinds of numbers have 64 bits at most with their signs.
            Some(number) => context.reply.integer(number as i64),
            None => context.reply.null(),
        }
    }
}

pub(super) fn bit_field(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let fields = fields(context, arguments)?;
    execute_fields(context, arguments.get(1), &fields);
    Ok(())
}

pub(super) fn read_bit_field(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let fields = fields(context, arguments)?;
    if fields.iter().any(|field| field.action != Action::Get) {
        return Err(Failure::Message("ERR BITFIELD_RO only supports the GET subcommand".to_owned()));
    }
    execute_fields(context, arguments.get(1), &fields);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kinds() -> impl Strategy<Value = Kind> {
        (any::<bool>(), 1..=63_u32).prop_map(|(is_signed, bits)| Kind { is_signed, bits: bits + u32::from(is_signed) })
    }

    proptest! {
        #[test]
        fn what_was_stored_is_read_and_nothing_else_changes(
            value in prop::collection::vec(any::<u8>(), 20),
            (kind, place, number) in (kinds(), 0..90_u64, any::<i64>()),
        ) {
            let field = Field { kind, place, action: Action::Set(number), overflow: Overflow::Wrap };
            let (returned, stored) = field.evaluate(&value);
            prop_assert_eq!(returned, Some(field.get(&value)));
            let stored = stored.unwrap();
            let (mut changed, bytes) = (value.clone(), field.bytes_with(&value, stored));
            changed[field.bytes().0..=field.bytes().1].copy_from_slice(&bytes);
            prop_assert_eq!(field.get(&changed), stored);
            prop_assert_eq!(stored.rem_euclid(1 << kind.bits), i128::from(number).rem_euclid(1 << kind.bits));
            let bit = |value: &[u8], at: u64| value[(at / 8) as usize] >> (7 - at % 8) & 1;
            for at in (0..160).filter(|at| !(place..place + u64::from(kind.bits)).contains(at)) {
                prop_assert_eq!(bit(&changed, at), bit(&value, at));
            }
        }

        #[test]
        fn sums_that_do_not_fit_are_saturated_or_refused(kind in kinds(), number: i64, by: i64) {
            let (least, most) = kind.range();
            let before = i128::from(number).clamp(least, most);
            let sum = before + i128::from(by);
            let fits = least <= sum && sum <= most;
            prop_assert_eq!(kind.fit(sum, Overflow::Fail), fits.then_some(sum));
            prop_assert_eq!(kind.fit(sum, Overflow::Saturate), Some(sum.max(least).min(most)));
        }
    }
}
