//! Runs an experiment on a model: from its description to its results.

use std::io;
use std::path::Path;
use std::sync::Arc;

use endpoint::Program;
use formats::output::{PacketFormat, Unwritable, WholeFile, write_frames, write_packets, write_timeline};
use launch::rank::Running;
use launch::wire::Record;
use machines::model::{Machine, NodeId};
use quantities::{Bytes, Duration, Rank};
use report::run::FigureName;
use report::terminal::amount;
use serde_json::{Value, json};
use virtual_worlds::answer::Answer;
use virtual_worlds::critical_path::CriticalPath;
use virtual_worlds::flit::world::Options;
use virtual_worlds::jobs::Background;
use virtual_worlds::jobs::placement::Placement;
use virtual_worlds::stop::Stop;

use crate::jobs::{self, FinishedJob, PlacedJob};
use crate::own::{Own, OwnProgram};
use crate::page::PictureFormat;
use crate::prepared::warnings;
use crate::site::ranks_on;
use crate::{
    AnyJob, EngineName, Error, Experiment, Finding, Job, Notes, Outcome, Outputs, Provenance, Ready, Recording,
    Simulates, Site,
};

/// The file of a packet log, and its format.
type Packets = (PacketFormat, WholeFile);

/// The files that are to be written.
struct Files {
    packets: Option<Packets>,
    timeline: Option<WholeFile>,
    report: Option<WholeFile>,
    pictures: Pictures,
}

/// A figure in several files, each with its format.
struct Pictures {
    /// Which; the one that says most, if none is named.
    figure: Option<FigureName>,
    files: Vec<(PictureFormat, WholeFile)>,
}

/// The memory of the record of a message with its send and its receive, until it is analysed. [B]
const RECORD_OF_MESSAGE: Bytes = Bytes(200);
/// The largest record of a run allowed.
const LARGEST_RECORD: Bytes = Bytes(16 << 30);

/// A run that can begin: everything that a user can get wrong has been checked. Its program is one of the catalogue, or
/// else a user's own.
pub struct Run<P: Simulates + ?Sized = dyn Ready> {
    /// The machine.
    pub machine: Arc<Machine>,
    /// The name of the program.
    pub program: String,
    /// What is run.
    pub provenance: Provenance,
    work: Work<P>,
    options: Options,
    packets: Option<Packets>,
    timeline: Option<WholeFile>,
    report: Option<WholeFile>,
    pictures: Pictures,
    critical_path: bool,
}

/// What is run.
enum Work<P: ?Sized> {
    /// A program that has the machine to itself, and the nodes of its ranks, none if they are on nodes in order.
    Program(Box<P>, Vec<NodeId>),
    /// Jobs beside each other with background traffic, and then each alone if requested.
    Jobs { jobs: Vec<PlacedJob>, background: Option<Background>, alone: bool },
}

/// What an experiment has for a machine, whatever runs on it.
struct Checked {
    engine: Option<EngineName>,
    packets: Option<PacketFormat>,
    provenance: Provenance,
}

/// A run that has ended.
#[derive(Debug)]
pub struct FinishedRun {
    /// The machine.
    pub machine: Arc<Machine>,
    /// The name of the program.
    pub program: String,
    /// What was run.
    pub provenance: Provenance,
    /// What was known about the program before it ran.
    pub notes: Notes,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// The jobs, if programs did not have the machine to themselves.
    pub jobs: Vec<FinishedJob>,
    /// What may not be as intended.
    pub warnings: Vec<String>,
    /// What the machine did.
    pub answer: Answer,
    /// How it was simulated.
    pub options: Options,
    /// The chain of operations that determines the makespan, if requested.
    pub critical_path: Option<CriticalPath>,
}

/// A program that can begin on real ranks.
pub struct PreparedLaunch {
    ready: Box<dyn Ready>,
    /// What is run.
    pub provenance: Provenance,
}

impl PreparedLaunch {
    /// Runs it as `rank`, as many times as that rank is to run it.
    ///
    /// # Errors
    /// Errors of the program or the network.
    pub fn run(&self, rank: &mut Running) -> endpoint::Result<Record> {
        self.ready.launch(rank)
    }

    /// Turns it into a job, to run in a world of the caller's.
    pub fn into_job(self) -> AnyJob {
        self.ready.into_job()
    }
}

impl Experiment {
    /// Checks it as a program whose `ranks` ranks run for real, and reads its input.
    ///
    /// # Errors
    /// If it can't run.
    pub fn prepare_for_real(&self, ranks: u32) -> Result<PreparedLaunch, Error> {
        let program = &self.only_job()?.program;
        let ready = program.prepare(&mut Site::for_real(ranks, self.seed()))?;
        let provenance = Provenance::of("run").seeded(self.seed(), self.seed.is_some());
        let provenance = provenance.running(program.name()).of_program(ready.ranks(), ready.notes());
        match provenance.seed_without_effect() {
            Some(seed) => Err(Error::parameter("seed", seed, "none, as nothing of the program is random")),
            None => Ok(PreparedLaunch { ready, provenance: provenance.for_real() }),
        }
    }

    fn only_job(&self) -> Result<&Job, Error> {
        match &self.jobs[..] {
            [job] => Ok(job),
            jobs => Err(Error::parameter("job", format!("{} jobs", jobs.len()), "one")),
        }
    }

    /// Checks it, reads its input, and opens its output files.
    ///
    /// # Errors
    /// If it can't run.
    pub fn prepare(&self) -> Result<Run, Error> {
        self.prepare_on(&Arc::new(self.machine.load()?))
    }

    /// The same on `machine`, which is the one of this experiment.
    ///
    /// # Errors
    /// Those of [`Experiment::prepare`].
    pub fn prepare_on(&self, machine: &Arc<Machine>) -> Result<Run, Error> {
        if self.jobs.is_empty() {
            return Err(Error::parameter("job", "none", "one or more"));
        }
        let checked = self.check_on(machine)?;
        let mut site = Site::on(machine, self.seed());
        site.postal = self.machine.postal.map(|model| (model.lambda, model.step()));
        let mut programs = self.programs(&mut site)?;
        let machine = site.into_changed().map_or_else(|| Arc::clone(machine), Arc::new);
        if self.is_of_one_job()
            && let Some(only) = programs.pop()
        {
            let Job { program, placement, .. } = &self.jobs[0];
            return self.prepare_alone(machine, (program.name(), only), placement, checked);
        }
        let background = self.background.as_ref().map(|traffic| traffic.background(self.seed())).transpose()?;
        let jobs = self.place(programs, &machine)?;
        let checked = Checked { provenance: self.provenance_of_jobs(&jobs, checked.provenance), ..checked };
        self.begin(machine, "jobs", Work::Jobs { jobs, background, alone: self.alone }, checked)
    }

    /// Checks a program that is not in the catalogue as the only one of this experiment, which has no job, on
    /// `machine`, and opens the output files.
    ///
    /// # Errors
    /// If it can't run.
    pub fn prepare_own<P: Program>(&self, own: OwnProgram<P>, machine: &Arc<Machine>) -> Result<Run<Own<P>>, Error> {
        let checked = self.check_on(machine)?;
        let (name, placement) = (own.name.clone(), own.placement.clone());
        let ranks = ranks_on(machine, own.ranks)?;
        let own = Own::new(own, ranks);
        self.prepare_alone(Arc::clone(machine), (&name, Box::new(own)), &placement, checked)
    }

    /// What is wrong about the engine or the output on `machine`, before any program is created.
    fn check_on(&self, machine: &Machine) -> Result<Checked, Error> {
        let engine = engine_of(machine, self.engine)?;
        let packets = self.write.packets.as_deref().map(|path| packet_format(machine, path)).transpose()?;
        let provenance = Provenance::of("run").on(machine).with_engine(engine.map(EngineName::name));
        Ok(Checked { engine, packets, provenance: provenance.seeded(self.seed(), self.seed.is_some()) })
    }

    /// A run of a program, called so, that has `machine` to itself.
    fn prepare_alone<P: Simulates + ?Sized>(
        &self,
        machine: Arc<Machine>,
        (name, program): (&str, Box<P>),
        placement: &Placement,
        checked: Checked,
    ) -> Result<Run<P>, Error> {
        let nodes = jobs::nodes_of_only(placement, program.ranks(), &machine, self.seed())?;
        let provenance = checked.provenance.running(name).of_program(program.ranks(), program.notes());
        let provenance = if nodes.is_empty() { provenance } else { provenance.placed(placement) };
        self.begin(machine, name, Work::Program(program, nodes), Checked { provenance, ..checked })
    }

    /// Opens the output files of a run that can begin otherwise.
    fn begin<P: Simulates + ?Sized>(
        &self,
        machine: Arc<Machine>,
        program: &str,
        work: Work<P>,
        Checked { engine, packets, provenance }: Checked,
    ) -> Result<Run<P>, Error> {
        let Files { packets, timeline, report, pictures } = self.write.begin(packets, &machine)?;
        let critical_path = self.write.critical_path || report.is_some() || !pictures.files.is_empty();
        let options = Options {
            engine: engine.unwrap_or(EngineName::Fast).kind(),
            seed: self.seed(),
            // What channels did when follows from the packets.
            packet_log: packets.is_some() || timeline.is_some(),
            timeline: timeline.is_some() || critical_path,
            ..Options::default()
        };
        let program = program.to_owned();
        Ok(Run { machine, program, provenance, work, options, packets, timeline, report, pictures, critical_path })
    }

    /// The provenance of jobs, with the parameters of each.
    fn provenance_of_jobs(&self, jobs: &[PlacedJob], provenance: Provenance) -> Provenance {
        let ranks = jobs.iter().map(|job| job.ready.ranks()).sum();
        let mut parameters = json!({"jobs": jobs.iter().map(|job| job.parameters.clone()).collect::<Vec<Value>>()});
        if let Some(background) = &self.background {
            parameters["background"] = json!(background);
        }
        if self.alone {
            parameters["alone"] = json!(true);
        }
        let mut provenance = provenance.among(ranks).given(parameters);
        let is_random = |job: &Job| job.placement == Placement::Random;
        if self.background.is_some()
            || self.jobs.iter().any(is_random)
            || jobs.iter().any(|job| job.ready.notes().draws)
        {
            provenance.mark_random();
        }
        jobs.iter().flat_map(|job| job.ready.notes().files.clone()).for_each(|file| provenance.read(file));
        provenance
    }
}

impl Outputs {
    /// Opens the output files; none of them appears until it is complete.
    fn begin(&self, format: Option<PacketFormat>, machine: &Machine) -> Result<Files, Error> {
        if self.packets.is_some() && self.packets == self.timeline {
            return Err(Error::parameter("timeline", "the file of packets", "another file"));
        }
        if let Some(path) = self.report.as_ref().filter(|path| !is_page(path)) {
            return Err(Error::parameter("report", path.display(), "a name that ends in .html"));
        }
        let file = |path: &Option<_>| path.as_deref().map(WholeFile::create).transpose();
        let (packets, timeline) = (format.zip(file(&self.packets)?), file(&self.timeline)?);
        Ok(Files { packets, timeline, report: file(&self.report)?, pictures: self.begin_pictures(machine)? })
    }

    fn begin_pictures(&self, machine: &Machine) -> Result<Pictures, Error> {
        let paths = [(PictureFormat::Svg, &self.svg), (PictureFormat::Png, &self.png)];
        if let (Some(name), [(_, None), (_, None)]) = (self.figure, paths) {
            return Err(Error::parameter("figure", name.name(), "a figure together with svg or png, the file for it"));
        }
        if self.figure == Some(FigureName::Map) && machine.network().is_none() {
            let allowed = "timeline or path: the machine has no network of routers";
            return Err(Error::parameter("figure", FigureName::Map.name(), allowed));
        }
        let mut files = Vec::new();
        for (format, path) in paths {
            let Some(path) = path else { continue };
            format.check(path)?;
            files.push((format, WholeFile::create(path)?));
        }
        Ok(Pictures { figure: self.figure, files })
    }
}

impl Run {
    /// How long each of `runs` runs of a single program takes, if they come one after another, as those of launched
    /// ranks do. The machine's faults follow from the seed of the program plus `faults`.
    ///
    /// # Errors
    /// The error of the program; several jobs; ranks that are not on nodes in order.
    pub fn times_as_launched(&self, runs: u32, faults: u32) -> Result<Vec<Duration>, Error> {
        let ready = match &self.work {
            Work::Program(ready, nodes) if nodes.is_empty() => ready,
            Work::Program(..) => {
                return Err(Error::parameter("placement", "another", "in-order, as launched ranks run"));
            }
            Work::Jobs { .. } => return Err(Error::parameter("job", "several", "one program, as launched ranks run")),
        };
        let options = Options { seed: self.options.seed.wrapping_add(faults.into()), ..self.options };
        Ok(ready.times_as_launched(&self.machine, options, runs)?)
    }

    /// Runs it until it is over, or `stop` ends it; then writes its output.
    ///
    /// # Errors
    /// The error of the program; a file that can't be written.
    pub fn run(self, stop: Stop) -> Result<FinishedRun, Error> {
        Ok(self.run_returning(stop)?.1)
    }
}

impl<P: Simulates + ?Sized> Run<P> {
    /// How many messages will be sent, if known.
    pub fn expected_messages(&self) -> Option<u64> {
        match &self.work {
            Work::Program(program, _) => program.notes().expected_messages,
            Work::Jobs { jobs, .. } => jobs.iter().map(|job| job.ready.notes().expected_messages).sum(),
        }
    }

    /// The same, also recording this.
    pub fn recording(mut self, recording: Recording) -> Run<P> {
        self.options.packet_log |= recording.packets;
        self.options.timeline |= recording.timeline;
        self
    }

    /// Runs it until it is over, or `stop` ends it; then writes its output. Returns what a program returns to its
    /// caller, too.
    ///
    /// # Errors
    /// The error of the program; a file that can't be written.
    pub fn run_returning(self, stop: Stop) -> Result<(P::Results, FinishedRun), Error> {
        self.check_record()?;
        let Run { machine, program, provenance, work, options, packets, timeline, report, pictures, critical_path } =
            self;
        let options = Options { stop, ..options };
        let (notes, jobs, (results, outcome)) = match work {
            Work::Program(program, nodes) => {
                (program.notes().clone(), Vec::new(), program.simulate(&machine, &nodes, options)?)
            }
            Work::Jobs { jobs, background, alone } => {
                let (jobs, answer) = jobs::run(jobs, background.as_ref(), alone, (&machine, options))?;
                let warnings = warnings(&answer);
                let outcome = Outcome { findings: Vec::new(), warnings, answer };
                (Notes::default(), jobs, (P::Results::default(), outcome))
            }
        };
        let Outcome { findings, warnings, answer } = outcome;
        if let Some((format, file)) = packets {
            finish(file, |file| match &answer.frame_log {
                Some(frames) => write_frames(file, format, frames, &provenance),
                None => write_packets(file, format, answer.packet_log.as_deref().unwrap_or_default(), &provenance),
            })?;
        }
        if let Some(file) = timeline {
            let name = |rank| rank_name(rank, &jobs, &answer);
            finish(file, |file| write_timeline(file, &machine, &answer, (&name, &provenance)))?;
        }
        let without = FinishedRun {
            machine,
            program,
            provenance,
            notes,
            findings,
            jobs,
            warnings,
            answer,
            options,
            critical_path: None,
        };
        let critical_path = if critical_path { without.find_critical_path()? } else { None };
        let ended = FinishedRun { critical_path, ..without };
        if let Some(file) = report {
            file.fill(ended.page()?.as_bytes())?;
        }
        if !pictures.files.is_empty() {
            let svg = ended.figure(pictures.figure)?;
            for (format, file) in pictures.files {
                file.fill(&format.content(&svg)?)?;
            }
        }
        Ok((results, ended))
    }

    /// Checks that the record of the timeline, if requested, fits into memory.
    fn check_record(&self) -> Result<(), Error> {
        let messages = self.expected_messages().filter(|_| self.options.timeline).unwrap_or(0);
        let record = Bytes(messages.saturating_mul(RECORD_OF_MESSAGE.0));
        if record > LARGEST_RECORD {
            let found = format!("{messages} messages, of which the record would take {}", amount(record));
            let allowed = format!("a run whose record takes at most {}", amount(LARGEST_RECORD));
            let requested = match (&self.report, &self.pictures.files[..], self.critical_path) {
                (Some(_), _, _) => "report",
                (None, [(format, _), ..], _) => format.name(),
                (None, [], true) => "critical_path",
                (None, [], false) => "timeline",
            };
            return Err(Error::parameter(requested, found, allowed));
        }
        Ok(())
    }
}

/// What a timeline calls a rank of the answer, which is a node where there are jobs.
fn rank_name(rank: Rank, jobs: &[FinishedJob], answer: &Answer) -> String {
    if jobs.is_empty() {
        let placed = answer.nodes.get(rank.0 as usize).map(|node| format!(" on node {}", node.0)).unwrap_or_default();
        return format!("rank {rank}{placed}");
    }
    let seat = |job: &FinishedJob| {
        let place = job.nodes.iter().position(|node| *node == rank.0)?;
        Some(format!("rank {place} of {} on node {rank}", job.name))
    };
    jobs.iter().find_map(seat).unwrap_or_else(|| format!("node {rank}"))
}

/// The engine for `machine`, as `requested` for or the default; none if there are no flits.
fn engine_of(machine: &Machine, requested: Option<EngineName>) -> Result<Option<EngineName>, Error> {
    match (machine.network(), requested) {
        (Some(_), requested) => Ok(Some(requested.unwrap_or(EngineName::Fast))),
        (None, None) => Ok(None),
        (None, Some(engine)) => {
            let allowed = format!("none, as {} has no flits to be moved", machine.name);
            Err(Error::parameter("engine", engine.name(), allowed))
        }
    }
}

/// Whether a browser shows the file `path` as a page.
pub(crate) fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["html", "htm"].iter().any(|page| ending.eq_ignore_ascii_case(page)))
}

fn packet_format(machine: &Machine, path: &Path) -> Result<PacketFormat, Error> {
    if machine.model().payload().is_none() {
        let allowed = "a machine with a network of flits, or an Ethernet";
        return Err(Error::parameter("packets", machine.name.as_str(), allowed));
    }
    let allowed = || format!("a name that ends in {}", PacketFormat::ENDINGS.join(" or "));
    PacketFormat::of(path).ok_or_else(|| Error::parameter("packets", path.display(), allowed()))
}

fn finish(mut file: WholeFile, write: impl FnOnce(&mut WholeFile) -> io::Result<()>) -> Result<(), Unwritable> {
    match write(&mut file) {
        Ok(()) => file.finish(),
        Err(cause) => Err(file.unwritable(cause)),
    }
}
