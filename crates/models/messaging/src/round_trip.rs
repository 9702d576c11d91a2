//! How long to wait for an answer before a packet is sent again.

use quantities::Duration;

/// The bounds of a retransmission time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Before anything was measured.
    pub first: Duration,
    /// The least.
    pub least: Duration,
    /// The most.
    pub most: Duration,
}

/// The retransmission time of one channel, from its measured round trips.
///
/// ```text
///   first round trip R:   S = R                        S  smoothed round trip   [ps]
///                         V = R / 2                    V  its mean deviation    [ps]
///   each one after it:    V = V + (|R - S| - V) / 4
///                         S = S + (R - S) / 8
///   retransmission time:  (S + 4 V) 2^b                b  how often it passed without an answer
/// ```
///
/// within the bounds of [`Timing`]. The answer to a packet that was sent twice tells nothing, since it may answer
/// either; so such packets are not measured, and b is kept until a packet that was sent once is answered.
///
/// Source: V. Jacobson, Congestion Avoidance and Control, SIGCOMM 1988, appendix A; P. Karn and C. Partridge, Improving
/// Round-Trip Time Estimates in Reliable Transport Protocols, SIGCOMM 1987.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    timing: Timing,
    /// S and V, once something was measured.
    estimate: Option<(u64, u64)>,
    /// b
    backoffs: u32,
}

impl RoundTrip {
    /// Nothing has been measured yet.
    pub const fn new(timing: Timing) -> RoundTrip {
        RoundTrip { timing, estimate: None, backoffs: 0 }
    }

    /// A packet that was sent once was answered after `measured`.
    pub fn sample(&mut self, measured: Duration) {
        let r = measured.picoseconds();
        self.backoffs = 0;
        self.estimate = Some(match self.estimate {
            None => (r, r / 2),
            Some((s, v)) => (s - s / 8 + r / 8, v - v / 4 + r.abs_diff(s) / 4),
        });
    }

    /// The silence is over: the retransmission time is no longer doubled.
    pub const fn forget_silence(&mut self) {
        self.backoffs = 0;
    }

    /// The retransmission time passed without an answer: the next one is twice as long.
    pub fn back_off(&mut self) {
        self.backoffs += u32::from(self.timeout() < self.timing.most);
    }

    /// S + 4 V: after this long an answer is unlikely to come; before anything was measured, the time to wait for one.
    /// [ps]
    pub fn longest(&self) -> Duration {
        let longest = self.estimate.map(|(s, v)| s.saturating_add(v.saturating_mul(4)));
        longest.map_or(self.timing.first, Duration::from_picoseconds)
    }

    /// The retransmission time. [ps]
    pub fn timeout(&self) -> Duration {
        let Timing { least, most, .. } = self.timing;
        let once = self.longest().picoseconds();
        let factor = 1_u64.checked_shl(self.backoffs).unwrap_or(u64::MAX);
        let bounded = once.max(least.picoseconds()).saturating_mul(factor).min(most.picoseconds());
        Duration::from_picoseconds(bounded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(microseconds: u64) -> Duration {
        Duration::from_microseconds(microseconds)
    }

    fn new() -> RoundTrip {
        RoundTrip::new(Timing { first: us(10_000), least: us(100), most: us(500_000) })
    }

    #[test]
    fn the_first_measurement_replaces_the_guess() {
        let mut round_trip = new();
        assert_eq!(round_trip.timeout(), us(10_000));
        round_trip.sample(us(400));
        assert_eq!((round_trip.longest(), round_trip.timeout()), (us(400 + 4 * 200), us(400 + 4 * 200)));
    }

    #[test]
    fn steady_round_trips_bring_it_down_to_them_and_a_late_one_up() {
        let mut round_trip = new();
        (0..100).for_each(|_| round_trip.sample(us(400)));
        assert!(round_trip.timeout() < us(410), "{}", round_trip.timeout());
        round_trip.sample(us(1_200));
        assert!(round_trip.timeout() > us(1_200), "{}", round_trip.timeout());
    }

    #[test]
    fn silence_doubles_it_as_far_as_the_most_and_an_answer_ends_that() {
        let mut round_trip = new();
        round_trip.sample(us(400));
        round_trip.back_off();
        assert_eq!(round_trip.timeout(), us(2_400));
        (0..200).for_each(|_| round_trip.back_off());
        assert_eq!(round_trip.timeout(), us(500_000));
        round_trip.sample(us(400));
        assert!(round_trip.timeout() < us(1_200));
    }

    #[test]
    fn it_never_falls_below_the_least() {
        let mut round_trip = new();
        (0..100).for_each(|_| round_trip.sample(us(1)));
        assert_eq!(round_trip.timeout(), us(100));
    }
}
