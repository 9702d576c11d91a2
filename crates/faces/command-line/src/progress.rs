//! The progress of a long run, on standard error, if that is a terminal.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Steps of a bar that shows a share.
const STEPS: u64 = 1000;

/// How long nothing is shown, so that short runs leave the terminal untouched.
const UNSHOWN: Duration = Duration::from_secs(1);
/// How often the elapsed time is updated.
const TICK: Duration = Duration::from_millis(200);

/// A progress display that appears only after a while, and only on a terminal.
struct Late {
    bar: ProgressBar,
    /// Ends the thread that waits until it is time to show it.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Late {
    /// A display drawn by `template`, with a length if that is known.
    fn new(length: Option<u64>, template: &str) -> Late {
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
        // If a template could not be read, the default style would say as much.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        let show_later = || {
            let (shown, (over, ended)) = (bar.clone(), mpsc::channel());
            let wait = move || {
                if ended.recv_timeout(UNSHOWN) == Err(RecvTimeoutError::Timeout) {
                    shown.set_draw_target(ProgressDrawTarget::stderr());
                    shown.enable_steady_tick(TICK);
                }
            };
            // Without a thread, nothing is shown.
            Some((over, thread::Builder::new().spawn(wait).ok()?))
        };
        let waiting = if io::stderr().is_terminal() { show_later() } else { None };
        Late { bar, waiting }
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        if let Some((over, thread)) = self.waiting.take() {
            drop(over);
            // The thread does nothing that could fail; and if it did, there would be nothing to show.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// A bar that fills up.
pub(super) struct Bar(Late);

impl Bar {
    /// An empty bar.
    pub(super) fn new() -> Bar {
        Bar(Late::new(Some(STEPS), "{elapsed_precise} [{wide_bar}] {percent:>3}% {msg}"))
    }

    /// Shows that `share` of the work is done, from 0 to 1, and a message.
    pub(super) fn show(&self, share: f64, message: String) {
        self.0.bar.set_position(((share * STEPS as f64) as u64).min(STEPS));
        self.0.bar.set_message(message);
    }

    /// Prints something meanwhile.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.bar.suspend(print)
    }
}

/// A bar for a data transfer: how much has arrived, how fast, and how long the rest will take.
pub(super) struct DataBar(ProgressBar);

impl DataBar {
    /// One that shows only a message so far.
    pub(super) fn new(message: String) -> DataBar {
        let bar = ProgressBar::new_spinner();
        bar.set_message(message);
        DataBar(bar)
    }

    /// Shows that `done` of `of` bytes have arrived, and a message.
    pub(super) fn show(&self, done: u64, of: u64) {
        if self.0.length() != Some(of) {
            self.0.set_length(of);
            self.0.reset();
            let template = "{elapsed_precise} [{wide_bar}] {bytes}/{total_bytes} {bytes_per_sec}, {eta} left {msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                self.0.set_style(style.progress_chars("=> "));
            }
        }
        self.0.set_position(done);
    }

    /// Shows another message.
    pub(super) fn set_message(&self, message: String) {
        self.0.set_message(message);
        self.0.tick();
    }

    /// Prints something on standard error meanwhile.
    pub(super) fn aside(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }
}

impl Drop for DataBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A sign of life, for runs whose length is not known.
pub(super) struct Spinner(Late);

impl Spinner {
    /// One that says nothing yet.
    pub(super) fn new() -> Spinner {
        Spinner(Late::new(None, "{spinner} {elapsed_precise} {msg}"))
    }

    /// One with a message.
    pub(super) fn with_message(message: &str) -> Spinner {
        let spinner = Spinner::new();
        spinner.show(message.to_owned());
        spinner
    }

    /// Shows another message.
    pub(super) fn show(&self, message: String) {
        self.0.bar.set_message(message);
    }
}
