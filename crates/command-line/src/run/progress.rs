//! The progress of a simulated run.

use virtual_worlds::stop::{Progress, Reached};

use crate::progress::{Bar, Spinner};
use formats::interrupt::BETWEEN_LOOKS;
use report::terminal::rounded;

/// The progress of the present run: a process has one.
static PROGRESS: Progress = Progress::new();

/// The number of looks between updates of the display: four updates a second.
const LOOKS: u128 = 250 / BETWEEN_LOOKS.as_millis();

/// The progress of a run, as displayed.
pub(super) struct Shown {
    looks: u128,
    how: How,
}

enum How {
    /// As a share of a known number of messages.
    Share(Bar, u64),
    /// If their number is not known.
    Sign(Spinner),
}

impl Shown {
    /// The display for a run that has not begun, and the place where the run publishes its progress. The number of messages may be known.
    pub(super) fn new(messages: Option<u64>) -> (&'static Progress, Shown) {
        PROGRESS.reset();
        let how = match messages {
            Some(most @ 1..) => How::Share(Bar::new(), most),
            _ => How::Sign(Spinner::saying("simulating")),
        };
        (&PROGRESS, Shown { looks: 0, how })
    }

    /// Updates the display.
    pub(super) fn look(&mut self) {
        self.looks += 1;
        if !self.looks.is_multiple_of(LOOKS) {
            return;
        }
        let reached = PROGRESS.read();
        match &self.how {
            How::Share(bar, most) => bar.show(reached.messages as f64 / *most as f64, text(reached)),
            How::Sign(spinner) => spinner.show(text(reached)),
        }
    }
}

fn text(reached: Reached) -> String {
    let Reached { time, messages, packets } = reached;
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
        let mut reached = Reached { time: Time::from_picoseconds(1_500_000), messages: 7, packets: 0 };
        assert_eq!(text(reached), "1.500 us simulated, 7 messages");
        reached.packets = 12;
        assert_eq!(text(reached), "1.500 us simulated, 7 messages, 12 packets");
    }
}
