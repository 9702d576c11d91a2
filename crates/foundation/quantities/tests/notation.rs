//! What a person writes is read exactly, and what is printed can be read again.

use maquette_quantities::{Bytes, Duration, Rank, Rate, Time};
use proptest::prelude::*;

fn duration(text: &str) -> u64 {
    text.parse::<Duration>().unwrap().picoseconds()
}

#[test]
fn durations() {
    assert_eq!(duration("1.5 us"), 1_500_000);
    assert_eq!(duration("100 ns"), 100_000);
    assert_eq!(duration("3 ps"), 3);
    assert_eq!(duration("5us"), 5_000_000);
    assert_eq!(duration(" 0.000000000001 s "), 1);
    assert_eq!(duration(".5 ns"), 500);
    assert_eq!(duration("2. ms"), 2_000_000_000);
    assert_eq!(duration("0 s"), 0);
    assert_eq!(Duration::from_picoseconds(1_500_000).to_string(), "1.5 us");
    assert_eq!(Duration::ZERO.to_string(), "0 ps");
}

#[test]
fn amounts_and_rates() {
    assert_eq!("4 KiB".parse(), Ok(Bytes(4096)));
    assert_eq!("2048".parse(), Ok(Bytes(2048)));
    assert_eq!("1.5 kB".parse(), Ok(Bytes(1500)));
    assert_eq!(Bytes(4096).to_string(), "4 KiB");
    assert_eq!(Bytes(1001).to_string(), "1001 B");
    assert_eq!(Bytes(0).to_string(), "0 B");
    assert_eq!("27 MB/s".parse(), Ok(Rate::from_bits_per_second(216_000_000)));
    assert_eq!("100 Mbit/s".parse(), Ok(Rate::from_bits_per_second(100_000_000)));
    assert_eq!("1 MiB/s".parse(), Ok(Rate::from_bits_per_second(8 << 20)));
    assert_eq!(Rate::from_bits_per_second(100_000_000).to_string(), "12.5 MB/s");
    assert_eq!(Rate::from_bits_per_second(5).to_string(), "5 bit/s");
    assert_eq!("17".parse(), Ok(Rank(17)));
}

#[test]
fn bits_and_bytes_are_told_apart() {
    for text in ["20 Gbps", "20 Gb/s", "20 Gbit/s", "20000 Mbps", "20000000 kbps", "20000000000 bps", "0.02 Tbit/s"] {
        assert_eq!(text.parse(), Ok(Rate::from_bits_per_second(20_000_000_000)), "{text}");
    }
    for text in ["20 GB/s", "20 GBps", "0.02 TB/s"] {
        assert_eq!(text.parse(), Ok(Rate::from_bits_per_second(160_000_000_000)), "{text}");
    }
    let meant = [
        ("20 gbps", "did you mean `Gbit/s` (bits) or `GB/s` (bytes)?"),
        ("20 GBPS", "did you mean `Gbit/s` (bits) or `GB/s` (bytes)?"),
        ("20 gb/s", "did you mean `Gbit/s` (bits) or `GB/s` (bytes)?"),
        ("20 MBIT/S", "did you mean `Mbit/s`?"),
        ("20 Gb", "did you mean `Gbit/s`?"),
        ("20 GB", "did you mean `GB/s`?"),
        ("20 MBs", "did you mean `MB/s`?"),
    ];
    for (text, hint) in meant {
        assert!(
            complaint::<Rate>(text).contains(&format!(", {hint}; ").replace("; ", " | ")),
            "{}",
            complaint::<Rate>(text)
        );
    }
    for text in ["1 Mb", "1 kb", "1 Mbit", "1 gb"] {
        assert!(complaint::<Bytes>(text).contains("a `b` is a bit, and amounts of data are in bytes"), "{text}");
    }
    assert!(complaint::<Bytes>("1 KB").contains("did you mean `kB`?"));
}

#[test]
fn amounts_of_data_are_written_in_binary_units_only() {
    for (bytes, text) in
        [(0, "0 B"), (1000, "1000 B"), (1 << 10, "1 KiB"), (3_000_000, "3000000 B"), (5 << 30, "5 GiB")]
    {
        assert_eq!(Bytes(bytes).to_string(), text);
        assert_eq!(text.parse(), Ok(Bytes(bytes)));
    }
}

#[test]
fn a_unit_a_thousand_times_off_is_not_proposed() {
    assert_eq!("1 TB".parse(), Ok(Bytes(1_000_000_000_000)));
    assert_eq!(duration("5 \u{b5}s"), 5_000_000);
    for complaint in [complaint::<Bytes>("1 PB"), complaint::<Rate>("1 Pbps"), complaint::<Duration>("5 m")] {
        assert!(!complaint.contains("did you mean"), "{complaint}");
    }
}

fn complaint<T: std::str::FromStr<Err = maquette_quantities::ParseError> + std::fmt::Debug>(text: &str) -> String {
    let error = text.parse::<T>().unwrap_err();
    format!("{error} | {}", error.hint())
}

#[test]
fn complaints() {
    let hint = "write a duration such as `1.5 us`; the units are ps, ns, us, ms, s";
    let cases = [
        ("5 usec", "there is no unit `usec`, did you mean `us`?"),
        ("5 nz", "there is no unit `nz`, did you mean `ns`?"),
        ("5", "it has no unit"),
        ("", "it does not begin with a number"),
        (".", "it does not begin with a number"),
        ("soon", "it does not begin with a number"),
        ("1.2.3 s", "`1.2.3` has more than one point"),
        ("-1 us", "it is negative"),
        ("0.5 ps", "it is finer than a picosecond"),
        ("1e9 s", "there is no unit `e9 s`"),
        ("99999999999999999999 s", "it is more than 106 days, the most that picoseconds can count"),
        ("18446745 s", "it is more than 106 days, the most that picoseconds can count"),
    ];
    for (text, problem) in cases {
        assert_eq!(complaint::<Duration>(text), format!("`{text}` is not a duration: {problem} | {hint}"));
    }
    assert!(complaint::<Rate>("0 MB/s").starts_with("`0 MB/s` is not a rate: it must be more than zero"));
    assert!(complaint::<Rate>("10 MBs").contains("did you mean `MB/s`?"));
    assert!(complaint::<Bytes>("0.5").contains("finer than a byte"));
    assert_eq!(
        complaint::<Rank>("4294967296"),
        "`4294967296` is not a rank: it is too large | write a rank such as `17`"
    );
    assert!(complaint::<Rank>("1.5").contains("finer than a whole number"));
}

#[test]
fn as_text_in_descriptions() {
    assert_eq!(serde_json::to_string(&Duration::from_microseconds(5)).unwrap(), "\"5 us\"");
    assert_eq!(serde_json::from_str::<Bytes>("128").unwrap(), Bytes(128));
    assert_eq!(serde_json::from_str::<Rate>("\"10 MB/s\"").unwrap().bits_per_second(), 80_000_000);
    let error = serde_json::from_str::<Duration>("5").unwrap_err().to_string();
    assert!(
        error.starts_with("invalid type: integer `5`, expected a duration in quotes, such as \"1.5 us\""),
        "{error}"
    );
    assert!(serde_json::from_str::<Bytes>("-1").unwrap_err().to_string().contains("it is negative"));
}

proptest! {
    #[test]
    fn what_is_printed_reads_the_same(number in prop_oneof![any::<u64>(), 0..5_000_000u64, (0..1u64 << 40).prop_map(|n| n * 1000)]) {
        let duration = Duration::from_picoseconds(number);
        prop_assert_eq!(duration.to_string().parse(), Ok(duration));
        let time = Time::from_picoseconds(number);
        prop_assert_eq!(time.to_string().parse(), Ok(time));
        prop_assert_eq!(Bytes(number).to_string().parse(), Ok(Bytes(number)));
        let rate = Rate::from_bits_per_second(number.max(1));
        prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        let rank = Rank(number as u32);
        prop_assert_eq!(rank.to_string().parse(), Ok(rank));
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,60}", number in "[0-9.]{0,30} ?[a-zA-Z/]{0,6}") {
        for text in [text, number] {
            let _ = (text.parse::<Duration>(), text.parse::<Bytes>(), text.parse::<Rate>(), text.parse::<Rank>());
        }
    }
}
