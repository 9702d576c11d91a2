//! `maquette calibrate`: parameters of a machine, fitted to measured times.

mod text;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use self::text::Report;
use super::failure::Failure;
use super::progress::Bar;
use super::quantity::whole;
use super::settings::Settings;
use super::{CommandOutput, cores};
use formats::interrupt;
use formats::output::WholeFile;
use tuning::calibrate::{Calibration, CalibrationError, Effort, Parameter, Progress, read};

/// Fit parameters of a machine's description to measured times
///
/// FILE.csv has a line with the names of the columns, among them program, ranks, bytes and time, and a line for each
/// time:
///
///   program,algorithm,density,ranks,bytes,time
///   irregular,greedy,10,32,256,1.597 ms
///
/// Programs are ping-pong, one-way, all-to-all, irregular, broadcast, all-reduce, send-time and receive-time; what
/// other columns each needs is named when it is missing. Half of the times are held back: every other line, or those
/// where a column held says yes. The sum of the squared relative errors of the others is minimized. Ctrl-C ends the
/// search early: the best values by then are printed and written.
#[derive(Args, Debug)]
#[command(
    verbatim_doc_comment,
    after_help = "Example:\n  maquette calibrate --machine my/cluster.toml --times times.csv --write fitted.toml \\\n    \
                  --fit node.processor_send=10us..200us --fit channels.rate=5MB/s..50MB/s"
)]
pub(super) struct Arguments {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE")]
    machine: OsString,
    #[command(flatten)]
    settings: Settings,
    /// The measured times.
    #[arg(long, value_name = "FILE.csv")]
    times: PathBuf,
    /// A field of the description that is fitted, and the range of its values: `node.processor_send=10us..200us`. May
    /// be given more than once.
    #[arg(long = "fit", value_name = "FIELD=LOW..HIGH", required = true, value_parser = Parameter::parse)]
    parameters: Vec<Parameter>,
    /// How often at most all times are simulated, each time with other values.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = whole(1..=1_000_000_u32))]
    evaluations: u32,
    /// How many programs are simulated at once; as many as there are cores, if left out. The result does not depend on
    /// it.
    #[arg(long, value_name = "N", value_parser = whole(1..=u16::MAX))]
    threads: Option<u16>,
    /// Write the description with the fitted values to FILE; its comments stay.
    #[arg(long, value_name = "FILE.toml")]
    write: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let description = self.settings.describe(&self.machine)?;
        let machine = description.resolve()?;
        let (measurements, file) = read(&self.times, machine.nodes)?;
        let calibration = Calibration { description, parameters: self.parameters, measurements };
        let experiment = calibration.provenance(&machine, self.evaluations, file);
        calibration.check()?;
        let file = self.write.as_deref().map(WholeFile::create).transpose()?;
        let bar = Bar::new();
        let (most, whole) = (self.evaluations, f64::from(self.evaluations));
        let progress = |progress| match progress {
            Progress::Searching { evaluations, share, best } => {
                let best = best.map_or(String::new(), |best| format!(", mean error {:.2}%", 100.0 * best));
                bar.show(
                    (f64::from(evaluations) + share) / whole,
                    format!("{evaluations} of {most} evaluations{best}"),
                );
            }
            Progress::Concluding { share } => bar.show(share, "how far off they may be".to_string()),
        };
        let effort = Effort {
            evaluations: self.evaluations,
            threads: self.threads.map_or_else(cores, usize::from),
            interrupted: interrupt::flag(),
            progress: &progress,
        };
        let outcome = calibration.fit(&effort).map_err(|error| in_file(error, &self.times))?;
        drop(bar);
        if let Some(file) = file {
            file.fill(calibration.fitted_text(&outcome)?.as_bytes())?;
        }
        let text = if as_json {
            super::json(&calibration.json(&machine.name, &outcome, &experiment))
        } else {
            Report { machine: &machine.name, experiment: &experiment, calibration: &calibration, outcome: &outcome }
                .text()
        };
        Ok(CommandOutput { text, status: if outcome.interrupted { interrupt::status() } else { 0 } })
    }
}

/// A failure, with the name of the file that it concerns.
fn in_file(error: CalibrationError, times: &std::path::Path) -> Failure {
    match error {
        CalibrationError::Program { line, cause } => {
            Failure::Measurement { file: times.display().to_string(), line, cause }
        }
        other => other.into(),
    }
}

impl From<CalibrationError> for Failure {
    fn from(error: CalibrationError) -> Failure {
        match error {
            CalibrationError::Machine(error) => Failure::Machine(error),
            CalibrationError::Interrupted => Failure::Interrupted,
            CalibrationError::TooFew { times, parameters } => {
                let found = format!("{times} times that are not held back");
                Failure::argument("--times", found, format!("at least {parameters}, one for each parameter"))
            }
            CalibrationError::Twice(name) => Failure::argument("--fit", format!("`{name}` twice"), "each field once"),
            CalibrationError::Program { line, cause } => {
                Failure::Measurement { file: "--times".to_string(), line, cause }
            }
        }
    }
}
