//! The critical path of a run that has ended, the page with its pictures, and pictures by themselves.

use std::path::Path;

use formats::output::WholeFile;
use report::run::{FigureName, Job, RunPage};
use virtual_worlds::critical_path::CriticalPath;
use virtual_worlds::flit::world::Options;

use crate::runner::is_page;
use crate::{Error, FinishedRun};

/// The format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Lines and letters, which stay sharp at any size.
    Svg,
    /// Pixels.
    Png,
}

impl PictureFormat {
    /// Its name, which is also the ending of its files.
    pub const fn name(self) -> &'static str {
        match self {
            PictureFormat::Svg => "svg",
            PictureFormat::Png => "png",
        }
    }

    /// The format of the file `path`, by its ending.
    ///
    /// # Errors
    /// Another ending.
    pub fn of(path: &Path) -> Result<PictureFormat, Error> {
        let formats = [PictureFormat::Svg, PictureFormat::Png];
        let is_it = |format: &PictureFormat| format.check(path).is_ok();
        let unknown = || Error::parameter("path", path.display(), "a name that ends in .svg or .png");
        formats.into_iter().find(is_it).ok_or_else(unknown)
    }

    /// Checks that the file `path` has its ending.
    pub(crate) fn check(self, path: &Path) -> Result<(), Error> {
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(self.name())) {
            return Ok(());
        }
        Err(Error::parameter(self.name(), path.display(), format!("a name that ends in .{}", self.name())))
    }
}

impl FinishedRun {
    /// The chain of operations that determines the makespan; none if no timeline was recorded.
    ///
    /// # Errors
    /// If it was interrupted.
    pub fn find_critical_path(&self) -> Result<Option<CriticalPath>, Error> {
        if let Some(known) = &self.critical_path {
            return Ok(Some(known.clone()));
        }
        let FinishedRun { machine, options, answer, .. } = self;
        Ok(CriticalPath::of(machine, Options { packet_log: false, ..*options }, answer)?)
    }

    /// An HTML page with its pictures. It lacks what was not recorded.
    ///
    /// # Errors
    /// Those of [`FinishedRun::find_critical_path`].
    pub fn page(&self) -> Result<String, Error> {
        let path = self.find_critical_path()?;
        Ok(self.run_page(path.as_ref()).html())
    }

    /// Its pictures as a part of another page, in HTML.
    ///
    /// # Errors
    /// Those of [`FinishedRun::find_critical_path`].
    pub fn excerpt(&self) -> Result<String, Error> {
        let path = self.find_critical_path()?;
        Ok(self.run_page(path.as_ref()).excerpt())
    }

    /// Writes the page to the file `path`.
    ///
    /// # Errors
    /// Those of [`FinishedRun::page`]; a file that can't be written.
    pub fn write_page(&self, path: &Path) -> Result<(), Error> {
        if !is_page(path) {
            return Err(Error::parameter("report", path.display(), "a name that ends in .html"));
        }
        let file = WholeFile::create(path)?;
        Ok(file.fill(self.page()?.as_bytes())?)
    }

    /// A figure of it for a slide, the one that says most by default, as a file of this format.
    ///
    /// # Errors
    /// Those of [`FinishedRun::find_critical_path`]; a figure that it lacks; one that can't be painted.
    pub fn picture(&self, name: Option<FigureName>, format: PictureFormat) -> Result<Vec<u8>, Error> {
        let path = self.find_critical_path()?;
        let page = self.run_page(path.as_ref());
        let missing = || {
            let found = name.map_or("none", FigureName::name);
            Error::parameter(
                "figure",
                found,
                "a map if the machine has a network, and others if a timeline was recorded",
            )
        };
        let name = name.or_else(|| page.best_figure()).ok_or_else(missing)?;
        let figure = page.figure(name).ok_or_else(missing)?;
        match format {
            PictureFormat::Svg => Ok(figure.svg().into_bytes()),
            PictureFormat::Png => {
                figure.png().map_err(|problem| Error::parameter("png", problem, "a figure that can be painted"))
            }
        }
    }

    /// Writes a picture to the file `path`.
    ///
    /// # Errors
    /// A file that can't be written.
    pub fn write_picture(&self, picture: &[u8], path: &Path) -> Result<(), Error> {
        Ok(WholeFile::create(path)?.fill(picture)?)
    }

    fn run_page<'run>(&'run self, path: Option<&'run CriticalPath>) -> RunPage<'run> {
        let parameters = if self.jobs.is_empty() { self.provenance.parameters_in_words() } else { Vec::new() };
        let findings = self.findings.iter().map(|finding| (finding.name.to_owned(), finding.text.clone()));
        let of_jobs = self.jobs.iter().flat_map(|job| {
            job.findings.iter().map(|finding| (format!("{}: {}", job.name, finding.name), finding.text.clone()))
        });
        RunPage {
            program: &self.program,
            machine: &self.machine,
            parameters,
            taking_part: self.notes.taking_part,
            made: self.provenance.line().trim_end().to_owned(),
            findings: findings.chain(of_jobs).collect(),
            jobs: self.jobs.iter().map(Job::from).collect(),
            answer: &self.answer,
            path,
        }
    }
}
