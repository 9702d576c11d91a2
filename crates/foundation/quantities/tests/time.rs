//! Sums and products of times that overflow saturate at the greatest value: none ever wraps.

use maquette_quantities::{Bytes, Duration, Rate, Time};

const LONG: Duration = Duration::from_picoseconds(i64::MAX as u64 - 5);

#[test]
fn sums_stay_at_the_end_of_time() {
    let six = Duration::from_picoseconds(6);
    assert_eq!(LONG + six, Duration::LONGEST);
    assert_eq!(Time::ZERO + LONG + six, Time::NEVER);
    let (mut length, mut time) = (LONG, Time::ZERO + LONG);
    length += six;
    time += six;
    assert_eq!((length, time), (Duration::LONGEST, Time::NEVER));
    assert_eq!([LONG, six, six].into_iter().sum::<Duration>(), Duration::LONGEST);
    assert_eq!(LONG + Duration::from_picoseconds(5), Duration::LONGEST);
    assert_eq!(Duration::from_picoseconds(i64::MAX as u64 - 6) + six, Duration::LONGEST);
}

#[test]
fn products_stay_at_the_longest() {
    assert_eq!(Duration::from_picoseconds(1 << 40) * (1 << 23), Duration::LONGEST);
    assert_eq!(
        Duration::from_picoseconds(1 << 40) * ((1 << 23) - 1),
        Duration::from_picoseconds(((1 << 23) - 1) << 40)
    );
    assert_eq!(Duration::from_nanoseconds(u64::MAX / 999), Duration::LONGEST);
    assert_eq!(Duration::from_microseconds(u64::MAX / 999_999), Duration::LONGEST);
}

#[test]
fn a_large_size_at_a_small_rate_takes_the_longest() {
    let bit_by_bit = Rate::from_bits_per_second(1);
    assert_eq!(bit_by_bit.time_of(Bytes(1_152_921)).seconds().round(), 9_223_368.0);
    assert_eq!(bit_by_bit.time_of(Bytes(1_152_922)), Duration::LONGEST);
    assert_eq!(bit_by_bit.time_of(Bytes(u64::MAX)), Duration::LONGEST);
}

#[test]
fn no_time_is_longer_than_signed_64_bits_hold() {
    let end = i64::MAX as u64;
    assert_eq!((Time::NEVER.picoseconds(), Duration::LONGEST.picoseconds()), (end, end));
    for longer in [end, end + 1, u64::MAX] {
        assert_eq!(Time::from_picoseconds(longer), Time::NEVER);
        assert_eq!(Duration::from_picoseconds(longer), Duration::LONGEST);
    }
    assert_eq!(Time::NEVER + Duration::LONGEST, Time::NEVER);
    assert_eq!(Duration::LONGEST * u64::MAX, Duration::LONGEST);
    assert_eq!(Time::NEVER.days(), 106);
}

#[test]
fn what_is_written_is_at_most_the_longest() {
    let longest: Duration = "9223372036854775807 ps".parse().unwrap();
    assert_eq!(longest, Duration::LONGEST);
    let error = "9223372036854775808 ps".parse::<Duration>().unwrap_err();
    let problem = "it is more than 106 days, the most that picoseconds can count";
    assert_eq!(error.to_string(), format!("`9223372036854775808 ps` is not a duration: {problem}"));
    assert!("9223373 s".parse::<Time>().is_err());
}
