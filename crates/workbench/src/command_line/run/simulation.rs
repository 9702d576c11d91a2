//! What every simulated run has in common: the machine, how many of its nodes, which engine, what is written down.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use endpoint::{Endpoint, Message, Needs, Program};
use machines::model::{Interconnect, Machine};
use quantities::{Bytes, Rank};
use serde_json::Value;
use virtual_worlds::answer::{Answer, Unreceived};
use virtual_worlds::flit::world::Options;
use virtual_worlds::stop::Stop;

use super::progress::Shown;
use crate::command_line::engine::Engine;
use crate::command_line::failure::{Failure, warn};
use crate::command_line::settings::Settings;
use crate::command_line::unless_interrupted;
use crate::experiment::Experiment;
use crate::interrupt;
use crate::launch::stage;
use crate::output::{PacketFormat, Unwritable, WholeFile, write_frames, write_packets, write_timeline};
use crate::simulate::{send_without_waiting, simulate, waits_for_receivers};

/// Messages of so many pairs of ranks that were not received are named one by one.
const NAMED: usize = 8;

/// The seed, if none is asked for.
const USUAL_SEED: u64 = 1;

/// On what a program runs, and how.
#[derive(Args, Debug)]
pub(super) struct Simulation {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE")]
    machine: OsString,
    /// How many of the machine's nodes take part, from node 0; all, if left out.
    #[arg(long, value_name = "N")]
    nodes: Option<u32>,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// With which settings a program runs, by which engine, and what is written down.
#[derive(Args, Debug)]
pub(super) struct RunOptions {
    #[command(flatten)]
    settings: Settings,
    /// What moves the flits; both give the same times. Fast, if left out.
    #[arg(long, value_name = "ENGINE")]
    engine: Option<Engine>,
    /// What random choices follow from; 1, if left out.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Write the way of every packet, or what became of every frame of an Ethernet, to FILE.csv or FILE.arrow.
    #[arg(long, value_name = "FILE")]
    packets: Option<PathBuf>,
    /// Write what ranks and channels did when to FILE, as a Chrome trace: ui.perfetto.dev shows it.
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
}

/// A run that can begin: everything that a person can get wrong has been checked, but for the program's own demands.
pub(super) struct Prepared {
    pub(super) machine: Arc<Machine>,
    pub(super) ranks: u32,
    /// Who begins, where one rank does and the others wait for it.
    pub(super) first: Option<Rank>,
    /// What is run.
    pub(super) experiment: Experiment,
    /// How many messages the program sends, where that is known.
    pub(super) expected_messages: Option<u64>,
    program: &'static str,
    options: Options,
    packets: Option<(PacketFormat, WholeFile)>,
    timeline: Option<WholeFile>,
}

/// A run that has ended.
pub(super) struct RunResult<T> {
    pub(super) machine: Arc<Machine>,
    /// The program's name.
    pub(super) program: &'static str,
    pub(super) experiment: Experiment,
    /// What came out beside the answer: for a program, what each rank ended with.
    pub(super) output: T,
    pub(super) answer: Answer,
}

impl Simulation {
    /// Checks it.
    pub(super) fn prepare(self) -> Result<Prepared, Failure> {
        self.options.prepare_on(&self.machine, self.nodes)
    }
}

impl RunOptions {
    /// What random choices follow from.
    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or(USUAL_SEED)
    }

    /// Checks a run on `nodes` nodes of the machine called `name`, all of them if that is left out.
    pub(super) fn prepare_on(self, name: &OsStr, nodes: Option<u32>) -> Result<Prepared, Failure> {
        let machine = self.settings.load(name)?;
        let ranks = ranks(&machine, nodes)?;
        self.prepare(machine, ranks)
    }

    /// Checks a run on `nodes` nodes of a machine that nobody described, so that nothing of it can be set.
    pub(super) fn prepare_built(self, machine: Machine, nodes: Option<u32>) -> Result<Prepared, Failure> {
        if let Some(setting) = self.settings.first() {
            return Err(Failure::argument("--set", setting, "only together with --machine"));
        }
        let ranks = ranks(&machine, nodes)?;
        self.prepare(machine, ranks)
    }

    /// Checks what else there is to check of a run on `ranks` nodes of a machine that it has settings for.
    fn prepare(self, machine: Machine, ranks: u32) -> Result<Prepared, Failure> {
        let engine = Engine::of(&machine, self.engine)?;
        let experiment = Experiment::of("run")
            .on(&machine)
            .with_engine(engine.map(Engine::name))
            .seeded(self.seed(), self.seed.is_some())
            .among(ranks);
        let format = self.packets.as_deref().map(|path| packet_format(&machine, path)).transpose()?;
        if self.packets.is_some() && self.packets == self.timeline {
            return Err(Failure::argument("--timeline", "the file of --packets", "another file"));
        }
        let file = |path: &Option<PathBuf>| path.as_deref().map(WholeFile::create).transpose();
        let (packets, timeline) = (format.zip(file(&self.packets)?), file(&self.timeline)?);
        let options = Options {
            engine: engine.unwrap_or(Engine::Fast).kind(),
            seed: self.seed(),
            // What channels did when is known from the packets.
            packet_log: packets.is_some() || timeline.is_some(),
            timeline: timeline.is_some(),
            ..Options::default()
        };
        let (machine, program) = (Arc::new(machine), "");
        let (first, expected_messages) = (None, None);
        Ok(Prepared { machine, ranks, first, program, experiment, expected_messages, options, packets, timeline })
    }

    /// Checks a run of a program that has `ranks` ranks on the machine called `name`.
    pub(super) fn prepare_for(self, name: &OsStr, ranks: u32) -> Result<Prepared, Failure> {
        let machine = self.settings.load(name)?;
        if ranks > machine.nodes {
            let allowed = format!("a machine with at least {ranks} nodes, as the program has so many ranks");
            return Err(Failure::argument(
                "--machine",
                format!("{} with {} nodes", name.display(), machine.nodes),
                allowed,
            ));
        }
        self.prepare(machine, ranks)
    }
}

/// How many ranks are meant.
fn ranks(machine: &Machine, nodes: Option<u32>) -> Result<u32, Failure> {
    let allowed = || format!("1 to {}, the nodes of {}", machine.nodes, machine.name);
    match (nodes, &machine.interconnect) {
        (Some(nodes), _) if nodes == 0 || nodes > machine.nodes => Err(Failure::argument("--nodes", nodes, allowed())),
        (Some(nodes), _) => Ok(nodes),
        (None, Interconnect::Flits(_) | Interconnect::Ethernet(_)) => Ok(machine.nodes),
        // Its number of nodes is only the most that there can be.
        (None, Interconnect::LogGp(_)) => Err(Failure::argument("--nodes", "nothing", allowed())),
    }
}

fn packet_format(machine: &Machine, path: &Path) -> Result<PacketFormat, Failure> {
    if matches!(machine.interconnect, Interconnect::LogGp(_)) {
        let allowed = "a machine with a network of flits, or an Ethernet";
        return Err(Failure::argument("--packets", machine.name.as_str(), allowed));
    }
    let allowed = || format!("a name that ends in {}", PacketFormat::ENDINGS.join(" or "));
    PacketFormat::of(path).ok_or_else(|| Failure::argument("--packets", path.display(), allowed()))
}

impl Prepared {
    /// Notes which program runs, and what it was given.
    pub(super) fn runs(&mut self, program: &'static str, parameters: Value) {
        self.program = program;
        self.experiment = self.experiment.clone().running(program).given(parameters);
    }

    /// The failure that hands what is run to whoever has set a stage, where the program has gone.
    fn staged(self) -> Failure {
        match self.experiment.seed_without_effect() {
            Some(seed) => Failure::argument("--seed", seed, "none, as nothing of the program is random"),
            None => Failure::Staged(Box::new(self.experiment)),
        }
    }

    /// Whether messages go over a network, in packets.
    pub(super) fn has_network(&self) -> bool {
        !stage::is_set() && matches!(self.machine.interconnect, Interconnect::Flits(_))
    }

    /// Whether a send of `size` on the machine is over only when the receiving program has the message.
    pub(super) fn waits_for_receivers(&self, size: Bytes) -> bool {
        !stage::is_set() && waits_for_receivers(&self.machine, size)
    }

    /// Runs `program`, and writes what is to be written.
    pub(super) fn run<P>(self, program: P) -> Result<RunResult<Vec<P::Output>>, Failure>
    where
        P: Program + Send + 'static,
        P::Output: Send + 'static,
    {
        let ranks = self.ranks;
        if stage::enter(ranks, self.first, &program) {
            return Err(self.staged());
        }
        self.run_program(move |machine, options| {
            let (results, answer) = simulate(machine, options, ranks, &program)?;
            Ok((results.into_iter().collect::<endpoint::Result<Vec<P::Output>>>()?, answer))
        })
    }

    /// Lets sends be over when the message has arrived, if they were to wait until the receiver asks for it, and says whether
    /// they were. Messages that a network announces to the receiver stay as they are.
    pub(super) fn send_without_waiting(&mut self) -> bool {
        send_without_waiting(Arc::make_mut(&mut self.machine))
    }

    /// A message of `size`: where it really goes from rank to rank with bytes, otherwise only its size.
    pub(super) fn message(&self, size: Bytes) -> Message {
        let length = usize::try_from(size.0).ok().filter(|_| stage::is_set());
        length.map_or_else(
            || Message::of_size(size),
            |length| (0..length).map(|place| place as u8).collect::<Vec<u8>>().into(),
        )
    }

    /// Runs a `program` that ends with `expected` on every rank; one that does not is an error.
    pub(super) fn run_to<P>(self, program: P, expected: Message) -> Result<RunResult<Vec<Message>>, Failure>
    where
        P: Program<Output = Message> + Send + 'static,
    {
        let program = Reaches { program, expected };
        self.run(program)
    }

    /// As [`Prepared::run_by`], for what `simulate` makes of a program; warns of messages that it did not receive.
    fn run_program<T: Send + 'static>(
        self,
        simulate: impl FnOnce(&Machine, Options) -> Result<(T, Answer), Failure> + Send + 'static,
    ) -> Result<RunResult<T>, Failure> {
        let ran = self.run_by(simulate)?;
        for Unreceived { from, to, messages } in ran.answer.unreceived.iter().take(NAMED) {
            let messages = if *messages == 1 { "a message".to_owned() } else { format!("{messages} messages") };
            warn(&format!("rank {to} did not receive {messages} of rank {from}"));
        }
        Ok(ran)
    }

    /// Does what `simulate` says, and writes what is to be written.
    pub(super) fn run_by<T: Send + 'static>(
        self,
        simulate: impl FnOnce(&Machine, Options) -> Result<(T, Answer), Failure> + Send + 'static,
    ) -> Result<RunResult<T>, Failure> {
        let Prepared { machine, program, experiment, expected_messages, options, packets, timeline, .. } = self;
        let model = Arc::clone(&machine);
        let (progress, mut shown) = Shown::new(expected_messages);
        let options = Options { stop: Stop::NEVER.telling(progress), ..options };
        let ended = interrupt::unless_requested_while(move || simulate(&model, options), || shown.look());
        drop(shown);
        let (output, answer) = ended.ok_or(Failure::Interrupted)??;
        let (model, said) = (Arc::clone(&machine), experiment.clone());
        let answer = unless_interrupted(move || {
            if let Some((format, file)) = packets {
                finish(file, |file| match &answer.frame_log {
                    Some(frames) => write_frames(file, format, frames, &said),
                    None => write_packets(file, format, answer.packet_log.as_deref().unwrap_or_default(), &said),
                })?;
            }
            if let Some(file) = timeline {
                finish(file, |file| write_timeline(file, &model, &answer, &said))?;
            }
            Ok(answer)
        })?;
        Ok(RunResult { machine, program, experiment, output, answer })
    }
}

/// A program of which it is known what every rank ends with.
struct Reaches<P> {
    program: P,
    expected: Message,
}

impl<P> Reaches<P> {
    fn check(&self, endpoint: Rank, found: Message) -> endpoint::Result<Message> {
        let differs = || endpoint::Error::Network(format!("rank {endpoint} has got something else than was sent"));
        if found == self.expected { Ok(found) } else { Err(differs()) }
    }
}

impl<P: Program<Output = Message>> Program for Reaches<P> {
    type Output = Message;
    const NEEDS: Needs = P::NEEDS;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> endpoint::Result<Message> {
        self.check(endpoint.rank(), self.program.run(endpoint).await?)
    }
}

fn finish(mut file: WholeFile, write: impl FnOnce(&mut WholeFile) -> io::Result<()>) -> Result<(), Unwritable> {
    match write(&mut file) {
        Ok(()) => file.finish(),
        Err(cause) => Err(file.unwritable(cause)),
    }
}
