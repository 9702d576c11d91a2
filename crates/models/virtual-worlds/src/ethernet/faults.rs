//! What happens to frames on their way to one receiver.

use machines::model::Faults;
use quantities::Duration;

use crate::flit::traffic::{Chance, Stream};

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It does not arrive.
    Lost,
    /// It arrives this much later than it would.
    Comes(Duration),
    /// It arrives, and a second time this much later.
    ComesTwice(Duration),
}

/// The faults on the way to one receiver: losses of single frames, and bursts of losses by Gilbert's model, a chain of
/// two states; in the bad state everything is lost.
#[derive(Debug)]
pub(super) struct ReceiverFaults {
    stream: Stream,
    in_burst: bool,
    loss: Chance,
    burst_begins: Chance,
    burst_ends: Chance,
    duplicated: Chance,
    delayed: Chance,
    /// The longest delay.
    delay: Duration,
    /// Whether anything can happen at all.
    faulty: bool,
}

impl ReceiverFaults {
    /// The path to receiver `number`.
    pub(super) fn new(faults: &Faults, seed: u64, number: u32) -> ReceiverFaults {
        let Faults { loss, burst_begins, burst_ends, duplicated, delayed, delay } = *faults;
        ReceiverFaults {
            stream: Stream::new(seed, u64::from(number)),
            in_burst: false,
            loss: Chance::new(loss),
            burst_begins: Chance::new(burst_begins),
            burst_ends: Chance::new(burst_ends),
            duplicated: Chance::new(duplicated),
            delayed: Chance::new(delayed),
            delay,
            faulty: loss + burst_begins + duplicated + delayed > 0.0,
        }
    }

    /// What happens to the next frame.
    pub(super) fn next(&mut self) -> Fate {
        if !self.faulty {
            return Fate::Comes(Duration::ZERO);
        }
        let turns = if self.in_burst { self.burst_ends } else { self.burst_begins };
        self.in_burst ^= turns.falls(&mut self.stream);
        if self.in_burst || self.loss.falls(&mut self.stream) {
            return Fate::Lost;
        }
        if self.duplicated.falls(&mut self.stream) {
            return Fate::ComesTwice(self.random_delay());
        }
        let late = self.delayed.falls(&mut self.stream);
        Fate::Comes(if late { self.random_delay() } else { Duration::ZERO })
    }

    /// From nothing to the longest delay, all times equally likely.
    fn random_delay(&mut self) -> Duration {
        let times = u128::from(self.delay.picoseconds()) + 1;
        Duration::from_picoseconds(((u128::from(self.stream.draw()) * times) >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(faults: &Faults, frames: usize) -> Vec<Fate> {
        let mut line = ReceiverFaults::new(faults, 5, 2);
        (0..frames).map(|_| line.next()).collect()
    }

    fn share(fates: &[Fate], is: impl Fn(&Fate) -> bool) -> f64 {
        fates.iter().filter(|&fate| is(fate)).count() as f64 / fates.len() as f64
    }

    #[test]
    fn as_many_frames_are_lost_doubled_and_late_as_the_chances_say() {
        let delay = Duration::from_microseconds(10);
        let faults = Faults { loss: 0.3, duplicated: 0.1, delayed: 0.2, delay, ..Faults::NONE };
        let fates = of(&faults, 100_000);
        let near = |share: f64, expected: f64| assert!((share - expected).abs() < 0.01, "{share} for {expected}");
        near(share(&fates, |fate| *fate == Fate::Lost), 0.3);
        near(share(&fates, |fate| matches!(fate, Fate::ComesTwice(_))), 0.7 * 0.1);
        near(share(&fates, |fate| matches!(fate, Fate::Comes(late) if !late.is_zero())), 0.7 * 0.9 * 0.2);
        assert!(fates.iter().all(|fate| !matches!(fate, Fate::Comes(late) | Fate::ComesTwice(late) if *late > delay)));
        assert_eq!(fates, of(&faults, 100_000));
    }

    #[test]
    fn bursts_are_as_long_and_as_frequent_as_the_chances_say() {
        let fates = of(&Faults { burst_begins: 0.01, burst_ends: 0.1, ..Faults::NONE }, 200_000);
        let lost = share(&fates, |fate| *fate == Fate::Lost);
        assert!((lost - 0.01 / 0.11).abs() < 0.01, "{lost}");
        let bursts = fates.windows(2).filter(|pair| pair[0] != Fate::Lost && pair[1] == Fate::Lost).count();
        let length = lost * 200_000.0 / bursts as f64;
        assert!((length - 10.0).abs() < 0.5, "{length}");
    }

    #[test]
    fn without_faults_everything_comes_at_once() {
        assert!(of(&Faults::NONE, 100).iter().all(|fate| *fate == Fate::Comes(Duration::ZERO)));
    }
}
