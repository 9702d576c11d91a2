//! Files to which the schedule of an exchange is written, and from which it is read.

use std::path::Path;

use collectives::schedule::{Pacing, Schedule, SendReceiveOrder};
use quantities::Bytes;

use super::failure::Failure;
use formats::input;
use formats::input::InputFile;
use formats::output::WholeFile;

/// The longest schedule that is read.
const LONGEST: Bytes = Bytes(256 << 20);

/// A file for a schedule, in the format given by its ending.
pub(super) struct ScheduleFile {
    file: WholeFile,
    pub(super) format: Format,
}

/// The format in which a schedule is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// For `maquette run schedule`.
    Json,
    /// For `maquette run goal` and LogGOPSim.
    Goal,
    /// For MSCCL.
    Msccl,
}

impl Format {
    const ALL: [(&'static str, Format); 3] = [("json", Format::Json), ("goal", Format::Goal), ("xml", Format::Msccl)];

    fn of(path: &Path) -> Option<Format> {
        let ending = path.extension()?.to_str()?;
        Format::ALL.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|pair| pair.1)
    }

    /// The text of `schedule`, which is called `name`. GOAL text also follows `pacing` and `order`.
    ///
    /// # Errors
    /// Messages that MSCCL XML cannot express.
    pub(super) fn content(
        self,
        schedule: &Schedule,
        name: &str,
        pacing: Pacing,
        order: SendReceiveOrder,
    ) -> Result<String, Failure> {
        match self {
            Format::Json => Ok(schedule.to_json()),
            Format::Goal => Ok(schedule.to_goal(pacing, order)),
            Format::Msccl => schedule.to_msccl(name).map_err(|error| {
                Failure::argument("--write", error, "a schedule that MSCCL XML can hold, or another format")
            }),
        }
    }
}

impl ScheduleFile {
    /// Begins the file `path`, for the schedule of an algorithm that `forwards` messages or does not.
    ///
    /// # Errors
    /// An ending that stands for no format, or for one that cannot express the schedule; a file that cannot be written.
    pub(super) fn create(path: &Path, forwards: bool) -> Result<ScheduleFile, Failure> {
        let Some(format) = Format::of(path) else {
            return Err(Failure::argument("--write", path.display(), "a name that ends in .json, .goal or .xml"));
        };
        if format == Format::Msccl && forwards {
            let found = format!("{} for an algorithm that forwards messages", path.display());
            return Err(Failure::argument("--write", found, "MSCCL XML of one that sends them from end to end"));
        }
        Ok(ScheduleFile { file: WholeFile::create(path)?, format })
    }

    /// Writes all of `content`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn fill(self, content: &str) -> Result<(), Failure> {
        Ok(self.file.fill(content.as_bytes())?)
    }
}

/// Reads the schedule in the file `path`, which is in [`Format::Json`] or [`Format::Msccl`]; also returns the digest of
/// its contents.
///
/// # Errors
/// A file that cannot be read, or that holds no schedule.
pub(super) fn read(path: &Path) -> Result<(Schedule, InputFile), Failure> {
    let text = input::read(path, LONGEST).map_err(|cause| Failure::Unreadable { path: path.to_path_buf(), cause })?;
    Ok((Schedule::read(&path.display().to_string(), &text)?, InputFile::new(path, &text)))
}
