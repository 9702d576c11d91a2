//! The progress of a simulated run.

use virtual_worlds::stop::{Progress, ProgressSnapshot};

use crate::progress::{Bar, Spinner};
use formats::interrupt::CHECK_INTERVAL;
use report::terminal::rounded;

/// The progress of the present run: a process has one.
static PROGRESS: Progress = Progress::new();

/// The number of checks between updates of the display: four updates a second.
const CHECKS_BETWEEN_UPDATES: u128 = 250 / CHECK_INTERVAL.as_millis();

/// The progress of a run, as displayed.
pub(super) struct ProgressDisplay {
    checks: u128,
    indicator: Indicator,
}

enum Indicator {
    /// As a share of a known number of messages.
    Share(Bar, u64),
    /// If their number is not known.
    Sign(Spinner),
}

impl ProgressDisplay {
    /// The display for a run that has not begun, and the place where the run publishes its progress. The number of
    /// messages may be known.
    pub(super) fn new(messages: Option<u64>) -> (&'static Progress, ProgressDisplay) {
        PROGRESS.reset();
        let indicator = match messages {
            Some(most @ 1..) => Indicator::Share(Bar::new(), most),
            _ => Indicator::Sign(Spinner::with_message("simulating")),
        };
        (&PROGRESS, ProgressDisplay { checks: 0, indicator })
    }

    /// Updates the display.
    pub(super) fn update(&mut self) {
        self.checks += 1;
        if !self.checks.is_multiple_of(CHECKS_BETWEEN_UPDATES) {
            return;
        }
        let reached = PROGRESS.read();
        match &self.indicator {
            Indicator::Share(bar, most) => bar.show(reached.messages as f64 / *most as f64, text(reached)),
            Indicator::Sign(spinner) => spinner.show(text(reached)),
        }
    }
}

fn text(reached: ProgressSnapshot) -> String {
    let ProgressSnapshot { time, messages, packets } = reached;
    let time = rounded(time.since(quantities::Time::ZERO));
    let packets = if packets > 0 { format!(", {packets} packets") } else { String::new() };
    format!("{time} simulated, {messages} messages{packets}")
}

#[cfg(test)]
mod tests {
    use quantities::Time;

    use super::*;

    #[test]
    fn packets_are_counted_where_messages_are_cut() {
        let mut reached = ProgressSnapshot { time: Time::from_picoseconds(1_500_000), messages: 7, packets: 0 };
        assert_eq!(text(reached), "1.500 us simulated, 7 messages");
        reached.packets = 12;
        assert_eq!(text(reached), "1.500 us simulated, 7 messages, 12 packets");
    }
}
