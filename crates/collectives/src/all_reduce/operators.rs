//! The operators that are available by name.

use std::fmt;
use std::str::FromStr;

use super::Combine;

/// An operator with a name: `sum-f64`, `max-i64`, `xor`. Numbers are in little-endian order.
///
/// Sums and products of integers are modulo 2^64. Those of floating-point numbers are associative only up to rounding:
/// each algorithm documents whether all ranks get the same bytes nevertheless. The minimum and the maximum of
/// floating-point numbers are exact in any order: -0 is less than +0, and if either operand is NaN, so is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// Arithmetic on numbers.
    Of(Operation, Number),
    /// Bits set in both.
    And,
    /// Bits set in either.
    Or,
    /// Bits set in exactly one.
    Xor,
}

/// An arithmetic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// They are added.
    Sum,
    /// They are multiplied.
    Product,
    /// The smaller is taken.
    Min,
    /// The larger is taken.
    Max,
}

/// A kind of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Number {
    /// 64-bit floating point.
    F64,
    /// 32-bit floating point.
    F32,
    /// Signed 64-bit integers.
    I64,
    /// Unsigned 64-bit integers.
    U64,
}

const OPERATIONS: [(&str, Operation); 4] =
    [("sum", Operation::Sum), ("product", Operation::Product), ("min", Operation::Min), ("max", Operation::Max)];

const NUMBERS: [(&str, Number); 4] =
    [("f64", Number::F64), ("f32", Number::F32), ("i64", Number::I64), ("u64", Number::U64)];

const BITS: [(&str, Operator); 3] = [("and", Operator::And), ("or", Operator::Or), ("xor", Operator::Xor)];

/// Operators that people may ask for whose result depends on the order of the operands.
const ORDERED: [&str; 14] = [
    "subtract",
    "difference",
    "minus",
    "divide",
    "quotient",
    "remainder",
    "power",
    "concatenate",
    "append",
    "compose",
    "matrix-product",
    "cross-product",
    "first",
    "last",
];

/// Operators that people may ask for whose result depends on how the operands are grouped.
const GROUPED: [&str; 4] = ["mean", "average", "median", "distance"];

/// Why there is no such operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperatorError {
    /// Its result depends on the order of its operands.
    #[error("`{0}` is not commutative, and ranks combine in different orders: {ALLOWED}")]
    NotCommutative(String),
    /// Its result depends on how its operands are grouped.
    #[error("`{0}` is not associative, and ranks combine in different groups: {ALLOWED}")]
    NotAssociative(String),
    /// No operator has this name.
    #[error("there is no operator `{found}`{}: {ALLOWED}", nearest.as_ref().map(|name| format!(", did you mean `{name}`?")).unwrap_or_default())]
    Unknown {
        /// What was found.
        found: String,
        /// What may have been meant.
        nearest: Option<String>,
    },
}

const ALLOWED: &str = "allowed are sum, product, min and max of f64, f32, i64 and u64, such as sum-f64; and, or, xor";

impl Operator {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Operator> {
        let numbers = OPERATIONS.into_iter().flat_map(|of| NUMBERS.map(|number| Operator::Of(of.1, number.1)));
        numbers.chain(BITS.map(|bits| bits.1))
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = Vec::new();
        match self {
            Operator::Of(operation, number) => {
                names.extend(OPERATIONS.iter().filter(|of| of.1 == *operation).map(|of| of.0));
                names.extend(NUMBERS.iter().filter(|of| of.1 == *number).map(|of| of.0));
            }
            bits => names.extend(BITS.iter().filter(|of| of.1 == *bits).map(|of| of.0)),
        }
        out.pad(&names.join("-"))
    }
}

impl FromStr for Operator {
    type Err = OperatorError;

    fn from_str(text: &str) -> Result<Operator, OperatorError> {
        if let Some(operator) = Operator::all().find(|operator| operator.to_string() == text) {
            return Ok(operator);
        }
        let found: String = text.chars().take(40).collect();
        // `subtract-f64` means the same as `subtract`.
        let number = text.rsplit_once('-').filter(|(_, last)| NUMBERS.iter().any(|number| number.0 == *last));
        let bare = number.map_or(text, |(operation, _)| operation);
        if ORDERED.contains(&bare) {
            return Err(OperatorError::NotCommutative(found));
        }
        if GROUPED.contains(&bare) {
            return Err(OperatorError::NotAssociative(found));
        }
        let names: Vec<String> = Operator::all().map(|operator| operator.to_string()).collect();
        let nearest = quantities::nearest(text, names.iter().map(String::as_str)).map(str::to_string);
        Err(OperatorError::Unknown { found, nearest })
    }
}

impl Combine for Operator {
    fn name(&self) -> String {
        self.to_string()
    }

    fn element(&self) -> u64 {
        match self {
            Operator::Of(_, Number::F32) => 4,
            Operator::Of(_, Number::F64 | Number::I64 | Number::U64) => 8,
            Operator::And | Operator::Or | Operator::Xor => 1,
        }
    }

    /// The same operation on shorter numbers, else that on bits which any size fits.
    fn fitting(&self, size: u64) -> Option<String> {
        let same = match *self {
            Operator::Of(operation, _) => Some(Operator::Of(operation, Number::F32)),
            Operator::And | Operator::Or | Operator::Xor => None,
        };
        let candidates = same.into_iter().chain([Operator::Xor]);
        let fits = |operator: &Operator| operator != self && size.is_multiple_of(operator.element());
        { candidates }.find(fits).map(|operator| operator.to_string())
    }

    fn combine(&self, into: &mut [u8], other: &[u8]) {
        match *self {
            Operator::Of(operation, Number::F64) => {
                each(into, other, |one, other| {
                    let (one, other) = (f64::from_le_bytes(one), f64::from_le_bytes(other));
                    float(operation, one, other).to_le_bytes()
                });
            }
            Operator::Of(operation, Number::F32) => {
                each(into, other, |one, other| {
                    let (one, other) = (f32::from_le_bytes(one), f32::from_le_bytes(other));
                    // For a sum or product of two such numbers, rounding twice gives the same as rounding once.
                    (float(operation, one.into(), other.into()) as f32).to_le_bytes()
                });
            }
            Operator::Of(operation, Number::I64) => {
                let by = match operation {
                    Operation::Sum => i64::wrapping_add,
                    Operation::Product => i64::wrapping_mul,
                    Operation::Min => i64::min,
                    Operation::Max => i64::max,
                };
                each(into, other, |one, other| by(i64::from_le_bytes(one), i64::from_le_bytes(other)).to_le_bytes());
            }
            Operator::Of(operation, Number::U64) => {
                let by = match operation {
                    Operation::Sum => u64::wrapping_add,
                    Operation::Product => u64::wrapping_mul,
                    Operation::Min => u64::min,
                    Operation::Max => u64::max,
                };
                each(into, other, |one, other| by(u64::from_le_bytes(one), u64::from_le_bytes(other)).to_le_bytes());
            }
            Operator::And => each(into, other, |[one], [other]| [one & other]),
            Operator::Or => each(into, other, |[one], [other]| [one | other]),
            Operator::Xor => each(into, other, |[one], [other]| [one ^ other]),
        }
    }
}

/// Replaces each element of `into` by the result of `by` for it and the element of `other`.
fn each<const N: usize>(into: &mut [u8], other: &[u8], by: impl Fn([u8; N], [u8; N]) -> [u8; N]) {
    for (one, other) in into.as_chunks_mut().0.iter_mut().zip(other.as_chunks().0) {
        *one = by(*one, *other);
    }
}

/// The operation on two numbers. Every NaN becomes the same one, so that the result does not depend on the order of two
/// of them.
fn float(operation: Operation, one: f64, other: f64) -> f64 {
    if one.is_nan() || other.is_nan() {
        return f64::NAN;
    }
    let result = match operation {
        Operation::Sum => one + other,
        Operation::Product => one * other,
        Operation::Min if one.total_cmp(&other).is_le() => one,
        Operation::Max if one.total_cmp(&other).is_ge() => one,
        Operation::Min | Operation::Max => other,
    };
    if result.is_nan() { f64::NAN } else { result }
}

quantities::written_as_text!(Operator, "OPERATOR", "sum-f64");

#[cfg(test)]
mod tests {
    use super::*;

    fn f64s(operator: &str, one: f64, other: f64) -> f64 {
        let mut into = one.to_le_bytes();
        operator.parse::<Operator>().unwrap().combine(&mut into, &other.to_le_bytes());
        f64::from_le_bytes(into)
    }

    #[test]
    fn an_operator_is_known_by_its_name() {
        assert_eq!(Operator::all().count(), 19);
        for operator in Operator::all() {
            assert_eq!(operator.to_string().parse(), Ok(operator));
        }
    }

    #[test]
    fn what_depends_on_order_or_grouping_is_refused_by_name() {
        let error_of = |name: &str| name.parse::<Operator>().unwrap_err().to_string();
        for name in ["subtract", "subtract-f64", "matrix-product", "concatenate"] {
            assert_eq!(
                error_of(name),
                format!("`{name}` is not commutative, and ranks combine in different orders: {ALLOWED}")
            );
        }
        assert!(error_of("mean-f64").starts_with("`mean-f64` is not associative, "));
        assert!(
            error_of("sum-f46").starts_with("there is no operator `sum-f46`, did you mean `sum-f64`?: allowed are ")
        );
        assert_eq!(error_of("frobnicate"), format!("there is no operator `frobnicate`: {ALLOWED}"));
    }

    #[test]
    fn floating_point_minima_do_not_depend_on_order() {
        for (operator, result) in [("min-f64", -0.0f64), ("max-f64", 0.0)] {
            assert_eq!(f64s(operator, 0.0, -0.0).to_bits(), result.to_bits());
            assert_eq!(f64s(operator, -0.0, 0.0).to_bits(), result.to_bits());
            assert!(f64s(operator, f64::NAN, 1.0).is_nan() && f64s(operator, 1.0, f64::NAN).is_nan());
        }
        assert_eq!(f64s("min-f64", f64::NEG_INFINITY, 3.0), f64::NEG_INFINITY);
        assert_eq!(f64s("sum-f64", f64::INFINITY, f64::NEG_INFINITY).to_bits(), f64::NAN.to_bits());
    }

    #[test]
    fn numbers_are_combined_element_by_element() {
        let mut into = [1u64.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
        let other = [2u64.to_le_bytes(), 2u64.to_le_bytes()].concat();
        "sum-u64".parse::<Operator>().unwrap().combine(&mut into, &other);
        assert_eq!(into, [3u64.to_le_bytes(), 1u64.to_le_bytes()].concat());
        let mut into = (-3i64).to_le_bytes();
        "product-i64".parse::<Operator>().unwrap().combine(&mut into, &5i64.to_le_bytes());
        assert_eq!(i64::from_le_bytes(into), -15);
        let mut into = 0.1f32.to_le_bytes();
        "sum-f32".parse::<Operator>().unwrap().combine(&mut into, &0.2f32.to_le_bytes());
        assert_eq!(f32::from_le_bytes(into), 0.1f32 + 0.2f32);
        let mut into = [0b1100];
        "xor".parse::<Operator>().unwrap().combine(&mut into, &[0b1010]);
        assert_eq!(into, [0b0110]);
    }
}
