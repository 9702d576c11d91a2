//! How far a long run is, on standard error, if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Steps of a bar that shows a share.
const STEPS: u64 = 1000;

/// How long a spinner that turns by itself stands still.
const TURN: Duration = Duration::from_millis(200);

/// A bar that fills up.
pub(super) struct Bar(ProgressBar);

impl Bar {
    /// An empty bar.
    pub(super) fn new() -> Bar {
        let bar = ProgressBar::new(STEPS);
        // A template that cannot be read would leave the usual style, which tells as much.
        if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} [{wide_bar}] {percent:>3}% {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Bar(bar)
    }

    /// Shows that `share` of the work is done, from 0 to 1, and a few words more.
    pub(super) fn show(&self, share: f64, words: String) {
        self.0.set_position((share * STEPS as f64) as u64);
        self.0.set_message(words);
    }
}

/// A bar for data on its way: how much there is, how fast it comes, how long it will take.
pub(super) struct DataBar(ProgressBar);

impl DataBar {
    /// One of which nothing is known yet but a few words.
    pub(super) fn new(words: String) -> DataBar {
        let bar = ProgressBar::new_spinner();
        bar.set_message(words);
        DataBar(bar)
    }

    /// Shows that `done` of `of` bytes are there, and a few words more.
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

    /// Shows a few other words.
    pub(super) fn say(&self, words: String) {
        self.0.set_message(words);
        self.0.tick();
    }

    /// Tells something on standard error meanwhile.
    pub(super) fn aside(&self, tell: impl FnOnce()) {
        self.0.suspend(tell);
    }
}

impl Drop for DataBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A sign of life, for runs whose length is not known.
pub(super) struct Spinner(ProgressBar);

impl Spinner {
    /// One that has not turned yet.
    pub(super) fn new() -> Spinner {
        Spinner(ProgressBar::new_spinner())
    }

    /// One that turns by itself, for work between whose signs of life much time may pass, with a few words.
    pub(super) fn turning(words: String) -> Spinner {
        let bar = ProgressBar::new_spinner();
        bar.set_message(words);
        bar.enable_steady_tick(TURN);
        Spinner(bar)
    }

    /// Turns it, and shows a few words.
    pub(super) fn show(&self, words: String) {
        self.0.set_message(words);
        self.0.tick();
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
