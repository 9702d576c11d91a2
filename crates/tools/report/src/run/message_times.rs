//! How long messages took.

use quantities::Duration;
use virtual_worlds::answer::MessageRecord;

/// The percentiles that are reported, each with its name.
const PERCENTILES: [(&str, f64); 9] = [
    ("0", 0.0),
    ("25", 25.0),
    ("50", 50.0),
    ("75", 75.0),
    ("90", 90.0),
    ("95", 95.0),
    ("99", 99.0),
    ("99.9", 99.9),
    ("100", 100.0),
];

/// How long messages took from the call of `send` to the end of `receive`, in increasing order.
#[derive(Clone, Debug, Default)]
pub struct MessageTimes(Vec<Duration>);

impl MessageTimes {
    /// Those of `messages`.
    pub fn of<'a>(messages: impl IntoIterator<Item = &'a MessageRecord>) -> MessageTimes {
        let mut times: Vec<Duration> =
            messages.into_iter().map(|message| message.received.since(message.sent)).collect();
        times.sort_unstable();
        MessageTimes(times)
    }

    /// How many messages there were.
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// Their mean; zero if there were none.
    pub fn mean(&self) -> Duration {
        let sum: u128 = self.0.iter().map(|time| u128::from(time.picoseconds())).sum();
        Duration::from_picoseconds((sum / self.0.len().max(1) as u128) as u64)
    }

    /// The least time that `percent` of the messages did not exceed; zero if there were none.
    pub fn at(&self, percent: f64) -> Duration {
        let place = (percent / 100.0 * self.0.len() as f64).ceil() as usize;
        self.0.get(place.max(1) - 1).copied().unwrap_or_default()
    }

    /// The percentiles that are reported, by name.
    pub fn percentiles(&self) -> [(&'static str, Duration); 9] {
        PERCENTILES.map(|(name, percent)| (name, self.at(percent)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_time_that_so_many_messages_did_not_exceed() {
        let times = MessageTimes((1..=200).map(Duration::from_picoseconds).collect());
        let found = times.percentiles().map(|(_, time)| time.picoseconds());
        assert_eq!(found, [1, 50, 100, 150, 180, 190, 198, 200, 200]);
        assert_eq!(times.mean().picoseconds(), 100);
        assert_eq!(MessageTimes::default().at(50.0), Duration::ZERO);
    }
}
