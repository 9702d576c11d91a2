//! Commands on the times at which keys expire.

use super::{CommandResult, Context, Failure, integer, is, lossy};
use crate::record::Milliseconds;
use crate::resp::Arguments;

/// The unit of a time, relative to now or since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Milliseconds,
    SecondsSince1970,
    MillisecondsSince1970,
}

impl Unit {
    /// The unit of an option of SET and GETEX.
    pub(super) fn of_option(option: &[u8]) -> Option<Unit> {
        let units = [
            ("ex", Unit::Seconds),
            ("px", Unit::Milliseconds),
            ("exat", Unit::SecondsSince1970),
            ("pxat", Unit::MillisecondsSince1970),
        ];
        units.into_iter().find(|(word, _)| is(option, word)).map(|(_, unit)| unit)
    }
}

/// When a key expires, 0 if that is before 1970. None if it is out of range.
pub(super) fn expiry_after(amount: i64, unit: Unit, now: Milliseconds) -> Option<Milliseconds> {
    let milliseconds = match unit {
        Unit::Seconds | Unit::SecondsSince1970 => amount.checked_mul(1000)?,
        Unit::Milliseconds | Unit::MillisecondsSince1970 => amount,
    };
    let expiry = match unit {
        Unit::Seconds | Unit::Milliseconds => milliseconds.checked_add(i64::try_from(now).ok()?)?,
        Unit::SecondsSince1970 | Unit::MillisecondsSince1970 => milliseconds,
    };
    Some(u64::try_from(expiry).unwrap_or(0))
}

/// The condition under which the expiry of a key is changed.
#[derive(Clone, Copy, Debug, Default)]
struct Condition {
    /// It had no expiry before.
    if_never: bool,
    /// It had one.
    if_ever: bool,
    /// The new one is later.
    if_later: bool,
    /// The new one is earlier.
    if_earlier: bool,
}

impl Condition {
    fn read(arguments: Arguments<'_>) -> Result<Condition, Failure> {
        let mut condition = Condition::default();
        for option in arguments.from(3) {
            match option {
                _ if is(option, "nx") => condition.if_never = true,
                _ if is(option, "xx") => condition.if_ever = true,
                _ if is(option, "gt") => condition.if_later = true,
                _ if is(option, "lt") => condition.if_earlier = true,
                _ => return Err(Failure::Message(format!("ERR Unsupported option {}", lossy(option)))),
            }
        }
        let Condition { if_never, if_ever, if_later, if_earlier } = condition;
        let failure = |text: &str| Err(Failure::Message(text.to_owned()));
        if if_never && (if_ever || if_later || if_earlier) {
            return failure("ERR NX and XX, GT or LT options at the same time are not compatible");
        }
        if if_later && if_earlier {
            return failure("ERR GT and LT options at the same time are not compatible");
        }
        Ok(condition)
    }

    /// Whether it holds; no expiry counts as later than any.
    fn holds(self, before: Option<Milliseconds>, after: Milliseconds) -> bool {
        (!self.if_never || before.is_none())
            && (!self.if_ever || before.is_some())
            && (!self.if_later || before.is_some_and(|before| after > before))
            && (!self.if_earlier || before.is_none_or(|before| after < before))
    }
}

fn set_expiry(context: &mut Context<'_>, arguments: Arguments<'_>, unit: Unit, command: &'static str) -> CommandResult {
    let (key, now) = (arguments.get(1), context.now);
    let condition = Condition::read(arguments)?;
    let expiry = expiry_after(integer(arguments.get(2))?, unit, now).ok_or(Failure::ExpireTime(command))?;
    let applies = context.bucket.peek(key, now).is_some_and(|record| condition.holds(record.expiry(), expiry));
    if applies && expiry <= now {
        context.bucket.remove(key, now);
    } else if applies {
        context.bucket.set_expiry(key, Some(expiry), now);
    }
    context.reply.integer(i64::from(applies));
    Ok(())
}

pub(super) fn expire(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    set_expiry(context, arguments, Unit::Seconds, "expire")
}

pub(super) fn pexpire(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    set_expiry(context, arguments, Unit::Milliseconds, "pexpire")
}

pub(super) fn expireat(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    set_expiry(context, arguments, Unit::SecondsSince1970, "expireat")
}

pub(super) fn pexpireat(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    set_expiry(context, arguments, Unit::MillisecondsSince1970, "pexpireat")
}

pub(super) fn persist(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (key, now) = (arguments.get(1), context.now);
    let expired = context.bucket.peek(key, now).is_some_and(|record| record.expiry().is_some());
    if expired {
        context.bucket.set_expiry(key, None, now);
    }
    context.reply.integer(i64::from(expired));
    Ok(())
}

/// Replies with a function of a key's expiry: -2 if there is no such key, -1 if it does not expire.
fn reply_of_expiry(context: &mut Context<'_>, arguments: Arguments<'_>, of: impl Fn(u64) -> u64) -> CommandResult {
    let reply = match context.bucket.peek(arguments.get(1), context.now).map(|record| record.expiry()) {
        None => -2,
        Some(None) => -1,
        Some(Some(expiry)) => i64::try_from(of(expiry)).unwrap_or(i64::MAX),
    };
    context.reply.integer(reply);
    Ok(())
}

pub(super) fn ttl(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let now = context.now;
    reply_of_expiry(context, arguments, |expiry| expiry.saturating_sub(now).saturating_add(500) / 1000)
}

pub(super) fn pttl(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let now = context.now;
    reply_of_expiry(context, arguments, |expiry| expiry.saturating_sub(now))
}

pub(super) fn expiretime(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    reply_of_expiry(context, arguments, |expiry| expiry.saturating_add(500) / 1000)
}

pub(super) fn pexpiretime(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    reply_of_expiry(context, arguments, |expiry| expiry)
}
