//! What every simulated run has in common: the machine, how many of its nodes, which engine, what is written down.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use endpoint::{AnySourceProgram, Endpoint, Message, Multicast, MulticastProgram, Program};
use machines::model::{Interconnect, Machine};
use quantities::{Bytes, Rank};
use virtual_worlds::answer::Answer;
use virtual_worlds::network_world::Options;

use crate::command_line::engine::Engine;
use crate::command_line::failure::Failure;
use crate::command_line::settings::Settings;
use crate::command_line::unless_interrupted;
use crate::interrupt;
use crate::launch::stage;
use crate::output::{PacketFormat, Unwritable, WholeFile, write_frames, write_packets, write_timeline};
use crate::simulate::{send_without_waiting, simulate, simulate_any, simulate_multicast, waits_for_receivers};

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
    pub(super) manner: Manner,
}

/// With which settings a program runs, by which engine, and what is written down.
#[derive(Args, Debug)]
pub(super) struct Manner {
    #[command(flatten)]
    settings: Settings,
    /// What moves the flits; both give the same times.
    #[arg(long, value_name = "ENGINE", default_value = "fast")]
    engine: Engine,
    /// What random choices follow from.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(super) seed: u64,
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
    options: Options,
    packets: Option<(PacketFormat, WholeFile)>,
    timeline: Option<WholeFile>,
}

/// A run that has ended.
pub(super) struct Ran<T> {
    pub(super) machine: Arc<Machine>,
    pub(super) seed: u64,
    /// What came out beside the answer: for a program, what each rank ended with.
    pub(super) output: T,
    pub(super) answer: Answer,
}

impl Simulation {
    /// Checks it.
    pub(super) fn prepare(self) -> Result<Prepared, Failure> {
        self.manner.prepare_on(&self.machine, self.nodes)
    }
}

impl Manner {
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
        let format = self.packets.as_deref().map(|path| packet_format(&machine, path)).transpose()?;
        if self.packets.is_some() && self.packets == self.timeline {
            return Err(Failure::argument("--timeline", "the file of --packets", "another file"));
        }
        let file = |path: &Option<PathBuf>| path.as_deref().map(WholeFile::create).transpose();
        let (packets, timeline) = (format.zip(file(&self.packets)?), file(&self.timeline)?);
        let options = Options {
            engine: self.engine.kind(),
            seed: self.seed,
            // What channels did when is known from the packets.
            packet_log: packets.is_some() || timeline.is_some(),
            timeline: timeline.is_some(),
            ..Options::default()
        };
        Ok(Prepared { machine: Arc::new(machine), ranks, first: None, options, packets, timeline })
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
    /// Whether messages go over a network, in packets.
    pub(super) fn has_network(&self) -> bool {
        !stage::is_set() && matches!(self.machine.interconnect, Interconnect::Flits(_))
    }

    /// Whether a send of `size` on the machine is over only when the receiving program has the message.
    pub(super) fn waits_for_receivers(&self, size: Bytes) -> bool {
        !stage::is_set() && waits_for_receivers(&self.machine, size)
    }

    /// Runs `program`, and writes what is to be written.
    pub(super) fn run<P>(self, program: P) -> Result<Ran<Vec<P::Output>>, Failure>
    where
        P: Program + Send + 'static,
        P::Output: Send + 'static,
    {
        let ranks = self.ranks;
        if stage::enter(ranks, self.first, async |here| program.run(here).await.map(drop)) {
            return Err(Failure::Staged);
        }
        self.run_by(move |machine, options| {
            let (results, answer) = simulate(machine, options, ranks, &program)?;
            Ok((results.into_iter().collect::<endpoint::Result<Vec<P::Output>>>()?, answer))
        })
    }

    /// Lets sends be over when the message has arrived, if they were to wait until the receiver asks for it, and says whether
    /// they were. Messages that a network announces to the receiver stay as they are.
    pub(super) fn send_without_waiting(&mut self) -> bool {
        send_without_waiting(Arc::make_mut(&mut self.machine))
    }

    /// Runs a `program` that receives from anyone, and writes what is to be written.
    pub(super) fn run_any<P>(self, program: P) -> Result<Ran<Vec<P::Output>>, Failure>
    where
        P: AnySourceProgram + Send + 'static,
        P::Output: Send + 'static,
    {
        let ranks = self.ranks;
        if stage::enter(ranks, self.first, async |here| program.run(here).await.map(drop)) {
            return Err(Failure::Staged);
        }
        self.run_by(move |machine, options| {
            let (results, answer) = simulate_any(machine, options, ranks, &program)?;
            Ok((results.into_iter().collect::<endpoint::Result<Vec<P::Output>>>()?, answer))
        })
    }

    /// A message of `size`: where it really goes from rank to rank with bytes, otherwise only its size.
    pub(super) fn message(&self, size: Bytes) -> Message {
        let length = usize::try_from(size.0).ok().filter(|_| stage::is_set());
        length.map_or_else(
            || Message::of_size(size),
            |length| (0..length).map(|place| place as u8).collect::<Vec<u8>>().into(),
        )
    }

    /// Runs a `program` that ends with `word` on every rank; one that does not is an error.
    pub(super) fn run_to<P>(self, program: P, word: Message) -> Result<Ran<Vec<Message>>, Failure>
    where
        P: Program<Output = Message> + Send + 'static,
    {
        let program = Reaches { program, word };
        self.run(program)
    }

    /// As [`Prepared::run_to`], for a `program` that broadcasts in hardware.
    pub(super) fn run_multicast_to<P>(self, program: P, word: Message) -> Result<Ran<Vec<Message>>, Failure>
    where
        P: MulticastProgram<Output = Message> + Send + 'static,
    {
        self.run_multicast(Reaches { program, word })
    }

    /// Runs a `program` that broadcasts in hardware, and writes what is to be written.
    pub(super) fn run_multicast<P>(self, program: P) -> Result<Ran<Vec<P::Output>>, Failure>
    where
        P: MulticastProgram + Send + 'static,
        P::Output: Send + 'static,
    {
        let ranks = self.ranks;
        if stage::enter(ranks, self.first, async |here| program.run(here).await.map(drop)) {
            return Err(Failure::Staged);
        }
        self.run_by(move |machine, options| {
            let (results, answer) = simulate_multicast(machine, options, ranks, &program)?;
            Ok((results.into_iter().collect::<endpoint::Result<Vec<P::Output>>>()?, answer))
        })
    }

    /// Does what `simulate` says, and writes what is to be written.
    pub(super) fn run_by<T: Send + 'static>(
        self,
        simulate: impl FnOnce(&Machine, Options) -> Result<(T, Answer), Failure> + Send + 'static,
    ) -> Result<Ran<T>, Failure> {
        let Prepared { machine, options, packets, timeline, .. } = self;
        let model = Arc::clone(&machine);
        let ended = interrupt::unless_requested(move || simulate(&model, options));
        let (output, answer) = ended.ok_or(Failure::Interrupted)??;
        let model = Arc::clone(&machine);
        let answer = unless_interrupted(move || {
            if let Some((format, file)) = packets {
                finish(file, |file| match &answer.frame_log {
                    Some(frames) => write_frames(file, format, frames),
                    None => write_packets(file, format, answer.packet_log.as_deref().unwrap_or_default()),
                })?;
            }
            if let Some(file) = timeline {
                finish(file, |file| write_timeline(file, &model, &answer))?;
            }
            Ok(answer)
        })?;
        Ok(Ran { machine, seed: options.seed, output, answer })
    }
}

/// A program of which it is known what every rank ends with.
struct Reaches<P> {
    program: P,
    word: Message,
}

impl<P> Reaches<P> {
    fn check(&self, here: Rank, found: Message) -> endpoint::Result<Message> {
        let differs = || endpoint::Error::Network(format!("rank {here} has got something else than was sent"));
        if found == self.word { Ok(found) } else { Err(differs()) }
    }
}

impl<P: Program<Output = Message>> Program for Reaches<P> {
    type Output = Message;
    async fn run<E: Endpoint>(&self, here: &E) -> endpoint::Result<Message> {
        self.check(here.rank(), self.program.run(here).await?)
    }
}

impl<P: MulticastProgram<Output = Message>> MulticastProgram for Reaches<P> {
    type Output = Message;
    async fn run<E: Multicast>(&self, here: &E) -> endpoint::Result<Message> {
        self.check(here.rank(), self.program.run(here).await?)
    }
}

fn finish(mut file: WholeFile, write: impl FnOnce(&mut WholeFile) -> io::Result<()>) -> Result<(), Unwritable> {
    match write(&mut file) {
        Ok(()) => file.finish(),
        Err(cause) => Err(file.unwritable(cause)),
    }
}
