//! Programs measured on processes that the rehearsal itself starts, on this computer or on others, over UDP.

use experiment::Provenance;
use formats::input::InputFile;
use formats::interrupt;
use launch::hosts::{Host, first};
use launch::{Launch, launch};
use serde_json::json;
use tuning::rehearsal::{Pass, Question};

use super::measuring::pass_of;
use super::{Processes, Purpose, at_most};
use crate::failure::Failure;
use crate::launch::{Options, over_mpi};

/// The hosts on which new processes are started for every program.
pub(super) struct OverUdp {
    options: Options,
    hosts: Vec<Host>,
    /// The file that names them.
    file: Option<InputFile>,
}

impl OverUdp {
    pub(super) fn new(options: Options) -> Result<OverUdp, Failure> {
        over_mpi::refuse_a_library(options.mpi_library.as_deref())?;
        let (hosts, file) = options.hosts()?;
        Ok(OverUdp { options, hosts, file })
    }
}

impl Processes for OverUdp {
    fn check(&self, _: Purpose, question: &Question) -> Result<(), Failure> {
        at_most(question, self.hosts.iter().map(|host| host.ranks).sum(), "as many as the hosts have")
    }

    fn pass(&mut self, _: Purpose, question: &Question, warm_up: u32, runs: u32) -> Result<Pass, Failure> {
        let hosts = first(&self.hosts, question.ranks);
        let plan = Launch { repeat: warm_up + runs, ..self.options.clone().plan(hosts, json!(question.experiment))? };
        Ok(pass_of(&launch(&plan, interrupt::flag(), &mut |_, _| ())?, warm_up))
    }

    fn complete_provenance(&mut self, mut provenance: Provenance) -> Provenance {
        self.file.take().into_iter().for_each(|file| provenance.read(file));
        provenance
    }
}
