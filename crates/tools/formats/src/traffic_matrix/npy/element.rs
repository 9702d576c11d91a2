//! The numbers of an array.

use quantities::Bytes;

use crate::traffic_matrix::error::Problem;
use crate::traffic_matrix::number;

/// The type of an array's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    kind: Kind,
    /// The size of each number. [B]
    size: usize,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Truth,
    Signed,
    Unsigned,
    Float,
}

impl Element {
    /// The types allowed in a header, for error messages.
    pub(super) const ALLOWED: &'static str =
        "whole numbers (i1 to i8, u1 to u8), floating-point numbers (f2, f4, f8) or truth values (b1), after < or >";

    /// The type that a header calls `name`: `<f8`.
    pub(super) fn parse(name: &str) -> Option<Element> {
        let mut letters = name.chars();
        let order = letters.next()?;
        let kind = match letters.next()? {
            'b' => Kind::Truth,
            'i' => Kind::Signed,
            'u' => Kind::Unsigned,
            'f' => Kind::Float,
            _ => return None,
        };
        let size = letters.as_str().parse().ok()?;
        let sizes: &[usize] = match kind {
            Kind::Truth => &[1],
            Kind::Signed | Kind::Unsigned => &[1, 2, 4, 8],
            Kind::Float => &[2, 4, 8],
        };
        // A single byte needs no byte order.
        let orders = if size == 1 { "<>|=" } else { "<>" };
        let fits = sizes.contains(&size) && orders.contains(order);
        fits.then_some(Element { kind, size, big_endian: order == '>' })
    }

    /// Whether it says only that something is sent.
    pub(super) fn is_truth(self) -> bool {
        matches!(self.kind, Kind::Truth)
    }

    /// The size of each number. [B]
    pub(super) fn size(self) -> usize {
        self.size
    }

    /// The number of bytes encoded in `raw`; `entry` where it says only that something is sent.
    pub(super) fn bytes(self, raw: &[u8], entry: Bytes) -> Result<u64, Problem> {
        // Shifts in the next byte, most significant first.
        let place = |bits: u64, byte: &u8| (bits << 8) | u64::from(*byte);
        let bits = if self.big_endian { raw.iter().fold(0, place) } else { raw.iter().rev().fold(0, place) };
        let unused = 64 - 8 * self.size as u32;
        match self.kind {
            Kind::Truth => Ok(if bits == 0 { 0 } else { entry.0 }),
            Kind::Unsigned => number::from_whole(i128::from(bits)),
            Kind::Signed => number::from_whole(i128::from(((bits << unused) as i64) >> unused)),
            Kind::Float => number::from_float(self.float(bits)),
        }
    }

    fn float(self, bits: u64) -> f64 {
        match self.size {
            2 => half(bits as u16),
            4 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        }
    }
}

/// An IEEE 754 half-precision number: a sign, 5 bits of exponent, 10 bits of fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from((bits >> 10) & 0x1F), f64::from(bits & 0x3FF));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1F if fraction == 0.0 => f64::INFINITY,
        0x1F => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    sign * size
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(name: &str, raw: &[u8]) -> Result<u64, Problem> {
        let element = Element::parse(name).unwrap();
        assert_eq!(element.size(), raw.len());
        element.bytes(raw, Bytes(7))
    }

    #[test]
    fn numbers_of_every_type_and_order_are_read() {
        assert_eq!(stated("|u1", &[200]), Ok(200));
        assert_eq!(stated("<u2", &[1, 2]), Ok(513));
        assert_eq!(stated(">u2", &[1, 2]), Ok(258));
        assert_eq!(stated("<i4", &[0, 0, 1, 0]), Ok(65_536));
        assert_eq!(stated(">i8", &[0, 0, 0, 0, 0, 0, 1, 1]), Ok(257));
        assert_eq!(stated("<f4", &1_024f32.to_le_bytes()), Ok(1_024));
        assert_eq!(stated(">f8", &1e9f64.to_be_bytes()), Ok(1_000_000_000));
        assert_eq!((stated("|b1", &[1]), stated("|b1", &[0])), (Ok(7), Ok(0)));
    }

    #[test]
    fn negative_numbers_and_those_that_are_none_are_errors() {
        for (name, raw, found) in [
            ("|i1", &[0xFF][..], "-1"),
            ("<i2", &[0x00, 0x80], "-32768"),
            (">f4", &(-1.5f32).to_be_bytes(), "-1.5"),
            ("<f8", &f64::NAN.to_le_bytes(), "NaN"),
            ("<f8", &f64::INFINITY.to_le_bytes(), "inf"),
            ("<u8", &[0xFF; 8], "18446744073709551615"),
        ] {
            let problem = stated(name, raw).unwrap_err();
            assert_eq!(problem, Problem::Number { found: found.to_string() }, "{name}");
        }
    }

    /// Bit patterns with the numbers that IEEE 754 assigns them.
    #[test]
    fn halves_are_read_as_the_standard_says() {
        let known = [(0x0000, 0.0), (0x3C00, 1.0), (0xC000, -2.0), (0x7BFF, 65_504.0), (0x0400, 2f64.powi(-14))];
        for (bits, value) in known {
            assert_eq!(half(bits), value);
        }
        assert_eq!(half(0x0001), 2f64.powi(-24));
        assert!(half(0x7C00).is_infinite() && half(0x7E00).is_nan());
    }

    #[test]
    fn other_types_are_not_known() {
        for name in ["", "<", "<f", "<f1", "<f16", "<i3", "|i4", "<c8", "<U4", "|O", "f8", "<i-1", "|V8", "=i8"] {
            assert_eq!(Element::parse(name), None, "{name}");
        }
    }
}
