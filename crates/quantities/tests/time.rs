//! Sums and products of times that overflow saturate at the greatest value: none ever wraps.

use maquette_quantities::{Bytes, Duration, Rate, Time};

const LONG: Duration = Duration::from_picoseconds(u64::MAX - 5);

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
    assert_eq!(Duration::from_picoseconds(u64::MAX - 6) + six, Duration::LONGEST);
}

#[test]
fn products_stay_at_the_longest() {
    assert_eq!(Duration::from_picoseconds(1 << 40) * (1 << 24), Duration::LONGEST);
    assert_eq!(
        Duration::from_picoseconds(1 << 40) * ((1 << 24) - 1),
        Duration::from_picoseconds(((1 << 24) - 1) << 40)
    );
    assert_eq!(Duration::from_nanoseconds(u64::MAX / 999), Duration::LONGEST);
    assert_eq!(Duration::from_microseconds(u64::MAX / 999_999), Duration::LONGEST);
}

#[test]
fn a_large_size_at_a_small_rate_takes_the_longest() {
    let bit_by_bit = Rate::from_bits_per_second(1);
    assert_eq!(bit_by_bit.time_of(Bytes(2_305_843)).seconds().round(), 18_446_744.0);
    assert_eq!(bit_by_bit.time_of(Bytes(2_305_844)), Duration::LONGEST);
    assert_eq!(bit_by_bit.time_of(Bytes(u64::MAX)), Duration::LONGEST);
}
