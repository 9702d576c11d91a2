//! Sizes of messages on the command line: one, or several.

use quantities::Bytes;

use super::failure::Failure;
use formats::traffic_matrix::TrafficMatrix;

/// The largest message allowed: its packets can be counted, however small they are. [B]
pub(super) const MOST_BYTES: u64 = 2 << 30;
/// The most sizes of a list.
const MOST_SIZES: usize = 1_000;

/// Reads a message's size.
pub(super) fn size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error: quantities::ParseError| format!("{error}; {}", error.hint()))?;
    if size.0 > MOST_BYTES {
        return Err(format!("allowed is at most {}", Bytes(MOST_BYTES)));
    }
    Ok(size)
}

/// Checks that a size of messages was `requested` for only if the matrix has no sizes.
pub(super) fn check_size(requested: Option<Bytes>, matrix: &TrafficMatrix) -> Result<(), Failure> {
    match requested {
        Some(bytes) if matrix.has_sizes => {
            Err(Failure::argument("--bytes", bytes, "none, as the matrix says how many bytes each message has"))
        }
        _ => Ok(()),
    }
}

/// Sizes of messages, in ascending order, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sizes(pub(super) Vec<Bytes>);

/// Reads the powers of two in a range, `8..64KiB`, or a list, `0,100,1000`.
pub(super) fn sizes(text: &str) -> Result<Sizes, String> {
    let Some((least, most)) = text.split_once("..") else {
        let mut list = text.split(',').map(size).collect::<Result<Vec<Bytes>, String>>()?;
        list.sort_unstable();
        list.dedup();
        return if list.len() <= MOST_SIZES { Ok(Sizes(list)) } else { Err(format!("allowed are {MOST_SIZES} sizes")) };
    };
    if least.trim().is_empty() || most.trim().is_empty() {
        return Err(
            "allowed is a size, a list such as `8,512`, or a range with both ends such as `8..64KiB`".to_string()
        );
    }
    let (least, most) = (size(least)?, size(most)?);
    if least > most {
        return Err(format!("its first end, {least}, is above its last, {most}"));
    }
    let powers = (0..u64::BITS).map(|power| Bytes(1 << power));
    let list: Vec<Bytes> = powers.filter(|power| (least..=most).contains(power)).collect();
    if list.is_empty() {
        return Err(format!("no power of two lies between {least} and {most}; allowed is also a list such as `8,512`"));
    }
    Ok(Sizes(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_its_powers_of_two_and_a_list_is_itself() {
        let all = |text: &str| sizes(text).map(|Sizes(list)| list.iter().map(|size| size.0).collect::<Vec<u64>>());
        assert_eq!(all("8..64"), Ok(vec![8, 16, 32, 64]));
        assert_eq!(all("9..1KiB"), Ok(vec![16, 32, 64, 128, 256, 512, 1024]));
        assert_eq!(all("0..2"), Ok(vec![1, 2]));
        assert_eq!(all("2GiB..2GiB"), Ok(vec![2 << 30]));
        assert_eq!(all("512, 0,100 ,512"), Ok(vec![0, 100, 512]));
        assert_eq!(all("4KiB"), Ok(vec![4096]));
    }

    #[test]
    fn what_is_not_a_range_is_an_error() {
        let error_of = |text: &str| sizes(text).unwrap_err();
        assert!(error_of("8..").contains("both ends"));
        assert!(error_of("..8").contains("both ends"));
        assert_eq!(error_of("64..8"), "its first end, 64 B, is above its last, 8 B");
        assert!(error_of("5..7").starts_with("no power of two lies between 5 B and 7 B"));
        assert!(error_of("8..12q").contains("no unit `q`"));
        assert!(error_of("1,,2").contains("is not an amount of data"));
        assert!(error_of("1..3GiB").contains("at most 2 GiB"));
        assert!(error_of("1..2..3").contains("more than one point"));
    }
}
