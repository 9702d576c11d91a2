//! Numbers as clients write them.

/// An integer in its only valid form: no plus sign, no space, no leading zeros.
#[inline]
pub fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        _ => (false, text),
    };
    match digits {
        [b'0'] if !negative => return Some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    let mut number = 0_u64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit); // 19 digits fit
    }
    match negative {
        true => 0_i64.checked_sub_unsigned(number),
        false => i64::try_from(number).ok(),
    }
}

/// The text of an integer.
pub struct Written {
    bytes: [u8; 20],
    start: usize,
}

impl Written {
    /// Formats an integer.
    #[inline]
    pub fn of(number: i64) -> Written {
        let mut written = Written { bytes: [0; 20], start: 20 };
        let mut rest = number.unsigned_abs();
        loop {
            written.start -= 1;
            written.bytes[written.start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            written.start -= 1;
            written.bytes[written.start] = b'-';
        }
        written
    }

    /// Its bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// The most decimals of a number that is added exactly.
const DECIMALS: usize = 17;

/// A number, in units of 10^-17 if possible, otherwise as near as a 64-bit float comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Decimal {
    Exact(i128),
    Near(f64),
}

/// The sum of two numbers, written without an exponent: exact if both have at most 17 decimals and fewer than 19 digits
/// before the point, as the 80-bit numbers of Redis almost are. None, if either is not a number.
///
/// # Errors
/// [`Infinite`] if the sum is not finite.
pub fn sum(a: &[u8], b: &[u8]) -> Option<Result<String, Infinite>> {
    let (a, b) = (decimal(a)?, decimal(b)?);
    if let (Decimal::Exact(a), Decimal::Exact(b)) = (a, b) {
        return Some(Ok(write_exact(a + b)));
    }
    let sum = near(a) + near(b);
    Some(if sum.is_finite() { Ok(sum.to_string()) } else { Err(Infinite) })
}

/// A sum that is not a finite number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Infinite;

fn near(number: Decimal) -> f64 {
    match number {
        Decimal::Exact(units) => units as f64 / 10_f64.powi(DECIMALS as i32),
        Decimal::Near(near) => near,
    }
}

fn decimal(text: &[u8]) -> Option<Decimal> {
    let text = std::str::from_utf8(text).ok()?;
    let number: f64 = text.parse().ok().filter(|number: &f64| !number.is_nan())?;
    Some(exact(text).map_or(Decimal::Near(number), Decimal::Exact))
}

fn exact(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let is_short = whole.len() <= 18 && decimals.len() <= DECIMALS;
    if !is_short || !whole.bytes().chain(decimals.bytes()).all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let units: i128 = format!("0{whole}{decimals:0<DECIMALS$}").parse().ok()?;
    Some(if negative { -units } else { units })
}

fn write_exact(units: i128) -> String {
    let digits = format!("{:0>1$}", units.unsigned_abs(), DECIMALS + 1);
    let (whole, decimals) = digits.split_at(digits.len() - DECIMALS);
    let decimals = decimals.trim_end_matches('0');
    let sign = if units < 0 { "-" } else { "" };
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{decimals}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_are_read_as_they_are_written(number in any::<i64>()) {
            let (written, due) = (Written::of(number), number.to_string());
            prop_assert_eq!(written.as_bytes(), due.as_bytes());
            prop_assert_eq!(integer(due.as_bytes()), Some(number));
        }
    }

    #[test]
    fn other_forms_of_integers_are_refused() {
        for text in ["", "-", "-0", "00", "01", "+1", " 1", "1 ", "1.0", "9223372036854775808", "99999999999999999999"]
        {
            assert_eq!(integer(text.as_bytes()), None, "{text}");
        }
        assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN));
    }

    #[test]
    fn sums_of_decimals_are_exact() {
        let sum = |a: &str, b: &str| sum(a.as_bytes(), b.as_bytes()).map(|sum| sum.unwrap());
        assert_eq!(sum("0.1", "0.2").unwrap(), "0.3");
        assert_eq!(sum("10.50", "0.1").unwrap(), "10.6");
        assert_eq!(sum("5.0e3", "2.0e2").unwrap(), "5200");
        assert_eq!(sum("-1.5", "1.25").unwrap(), "-0.25");
        assert_eq!(sum("3", "-3").unwrap(), "0");
        assert_eq!(sum("x", "1"), None);
        assert_eq!(sum("nan", "1"), None);
        assert_eq!(super::sum(b"inf", b"1"), Some(Err(Infinite)));
        assert_eq!(super::sum(b"1.7e308", b"1.7e308"), Some(Err(Infinite)));
    }
}
