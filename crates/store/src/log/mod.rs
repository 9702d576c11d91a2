//! The log: a line for each event, with the time and the level, for people or for programs.
//!
//! ```text
//!   2026-11-23T05:00:00.123Z INFO admitted: the pool has 3 members
//!   {"time":"2026-11-23T05:00:00.123Z","level":"info","event":"admitted","members":3,"message":"admitted: the ..."}
//! ```

mod event;

use std::fmt;
use std::io::Write;
use std::mem::{Discriminant, discriminant};
use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;

use crate::record::Milliseconds;
pub use event::{Event, Level};

/// The most lines of one kind that are written within a second.
pub(crate) const MOST_IN_A_SECOND: u32 = 10;

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// A JSON object each.
    Json,
}

/// Writes events as lines.
pub struct Log {
    format: Format,
    /// Events that matter less are left out.
    least: Level,
    out: Box<dyn Write>,
    kinds: Vec<Kind>,
}

/// The lines that were written of one kind of event.
struct Kind {
    of: Discriminant<Event>,
    /// The second in which the last one was written, since 1970.
    second: u64,
    /// How many were written within it.
    lines: u32,
    /// How many were left out since the last one.
    left_out: u64,
}

/// A line of JSON.
#[derive(Serialize)]
struct JsonLine<'a> {
    time: String,
    level: Level,
    #[serde(flatten)]
    event: &'a Event,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
    message: String,
}

impl fmt::Debug for Log {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Log({:?}, {:?})", self.format, self.least)
    }
}

impl Log {
    /// A log that leaves out events that matter less than `least`.
    pub fn new(format: Format, least: Level, out: impl Write + 'static) -> Log {
        Log { format, least, out: Box::new(out), kinds: Vec::new() }
    }

    /// Writes an event, unless there were too many of its kind within this second; the next line of that kind says how
    /// many were left out.
    pub fn write(&mut self, now: Milliseconds, event: &Event) {
        if event.level() > self.least {
            return;
        }
        let (of, second) = (discriminant(event), now / 1000);
        let known = self.kinds.iter().position(|kind| kind.of == of).unwrap_or_else(|| {
            self.kinds.push(Kind { of, second, lines: 0, left_out: 0 });
            self.kinds.len() - 1
        });
        let kind = &mut self.kinds[known];
        if kind.second != second {
            (kind.second, kind.lines) = (second, 0);
        }
        if kind.lines == MOST_IN_A_SECOND {
            kind.left_out += 1;
            return;
        }
        kind.lines += 1;
        let left_out = Some(std::mem::take(&mut kind.left_out)).filter(|&lines| lines > 0);
        let line = self.line(now, event, left_out);
        // Written in one piece, since others may write there, too. If nobody reads the log, there is nobody to tell.
        let _ = self.out.write_all(line.as_bytes());
    }

    fn line(&self, now: Milliseconds, event: &Event, left_out: Option<u64>) -> String {
        let time = humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(now)).to_string();
        let level = event.level();
        match self.format {
            Format::Text => {
                let more =
                    left_out.map_or(String::new(), |lines| format!(" ({lines} such lines were left out before)"));
                format!("{time} {} {event}{more}\n", level.name().to_uppercase())
            }
            Format::Json => {
                let line = JsonLine { time, level, event, left_out, message: event.to_string() };
                // An event holds only numbers, texts and addresses, which can all be serialized.
                serde_json::to_string(&line).map_or(String::new(), |line| line + "\n")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io;
    use std::rc::Rc;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Rc<RefCell<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn lines(format: Format, least: Level, events: &[(Milliseconds, Event)]) -> Vec<String> {
        let kept = Kept::default();
        let mut log = Log::new(format, least, kept.clone());
        events.iter().for_each(|(now, event)| log.write(*now, event));
        let text = String::from_utf8(kept.0.take()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// 2026-11-23T05:00:00.123Z, as `date -u -d @1795410000` says.
    const NOW: Milliseconds = 1_795_410_000_123;

    #[test]
    fn a_line_says_when_and_what() {
        let event = Event::Admitted { members: 3 };
        let text = "admitted: the pool has 3 members";
        assert_eq!(
            lines(Format::Text, Level::Info, &[(NOW, event.clone())]),
            [format!("2026-11-23T05:00:00.123Z INFO {text}")]
        );
        assert_eq!(
            lines(Format::Json, Level::Info, &[(NOW, event)]),
            [format!(
                r#"{{"time":"2026-11-23T05:00:00.123Z","level":"info","event":"admitted","members":3,"message":"{text}"}}"#
            )]
        );
    }

    #[test]
    fn what_matters_less_is_left_out() {
        let events = [(NOW, Event::Admitted { members: 2 }), (NOW, Event::WrongPasswords { attempts: 1 })];
        assert_eq!(lines(Format::Text, Level::Warning, &events).len(), 1);
        assert!(lines(Format::Text, Level::Error, &events).is_empty());
    }

    #[test]
    fn many_lines_of_a_kind_do_not_hide_others() {
        let wrong = |at: Milliseconds| (at, Event::WrongPasswords { attempts: 1 });
        let mut events: Vec<_> = (0..15).map(|number| wrong(NOW + number)).collect();
        events.extend([(NOW, Event::Admitted { members: 2 }), wrong(NOW + 1_000), wrong(NOW + 1_001)]);
        let lines = lines(Format::Text, Level::Info, &events);
        assert_eq!(lines.len(), 10 + 1 + 2);
        assert!(
            lines[11].ends_with("(5 such lines were left out before)") && lines[12].contains("wrong passwords given: ")
        );
    }
}
