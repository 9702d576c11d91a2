//! The critical path of a run that has ended, and the page with its pictures.

use std::path::Path;

use formats::output::WholeFile;
use report::run::{Job, RunPage};
use virtual_worlds::critical_path::CriticalPath;
use virtual_worlds::flit::world::Options;

use crate::runner::is_page;
use crate::{Error, FinishedRun};

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
