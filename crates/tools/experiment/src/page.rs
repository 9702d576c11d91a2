//! The critical path of a run that has ended, the page with its pictures, and pictures by themselves.

use std::path::Path;

use formats::output::WholeFile;
use report::painted;
use report::run::{FigureName, Job, RunPage};
use virtual_worlds::critical_path::CriticalPath;
use virtual_worlds::flit::world::Options;

use crate::runner::is_page;
use crate::{Error, FinishedRun};

/// The format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PictureFormat {
    /// Lines and letters, which stay sharp at any size.
    Svg,
    /// Pixels.
    Png,
}

impl PictureFormat {
    /// Its name, which is also the ending of its files.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            PictureFormat::Svg => "svg",
            PictureFormat::Png => "png",
        }
    }

    /// A figure, `svg`, as the content of a file of this format.
    ///
    /// # Errors
    /// One that can't be painted.
    pub(crate) fn content(self, svg: &str) -> Result<Vec<u8>, Error> {
        match self {
            PictureFormat::Svg => Ok(svg.as_bytes().to_vec()),
            PictureFormat::Png => {
                painted(svg).map_err(|problem| Error::parameter("png", problem, "a figure that can be painted"))
            }
        }
    }

    /// Checks that the file `path` has its ending.
    pub(crate) fn check(self, path: &Path) -> Result<(), Error> {
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(self.name())) {
            return Ok(());
        }
        Err(Error::parameter(self.name(), path.display(), format!("a name that ends in .{}", self.name())))
    }
}

/// Writes a figure, `svg`, to the file `path`, whose name ends in `.svg` or `.png`.
///
/// # Errors
/// Another ending; a figure that can't be painted; a file that can't be written.
pub fn write_picture(svg: &str, path: &Path) -> Result<(), Error> {
    let formats = [PictureFormat::Svg, PictureFormat::Png];
    let unknown = || Error::parameter("path", path.display(), "a name that ends in .svg or .png");
    let format = formats.into_iter().find(|format| format.check(path).is_ok()).ok_or_else(unknown)?;
    Ok(WholeFile::create(path)?.fill(&format.content(svg)?)?)
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

    /// A figure of it for a slide, the one that says most by default, as SVG.
    ///
    /// # Errors
    /// Those of [`FinishedRun::find_critical_path`]; a figure that it lacks.
    pub fn figure(&self, name: Option<FigureName>) -> Result<String, Error> {
        let path = self.find_critical_path()?;
        let page = self.run_page(path.as_ref());
        let figure = name.or_else(|| page.best_figure()).and_then(|name| page.figure(name));
        let missing = || {
            let allowed = "map if the machine has a network of routers, timeline and path if a timeline was recorded";
            Error::parameter("figure", name.map_or("none", FigureName::name), allowed)
        };
        Ok(figure.ok_or_else(missing)?.svg())
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
