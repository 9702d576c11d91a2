//! `maquette launch`: a program as processes that communicate over UDP, or over MPI.

pub(super) mod over_mpi;
mod own_options;
mod own_program;
mod rank;
mod text;

pub use own_program::{OwnProgram, OwnProgramFailure, OwnPrograms};
pub(super) use rank::RankArguments;

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;

use cast::interface;
use clap::{Arg, Args, Command, value_parser};
use quantities::{Bytes, Duration, Rate};
use real_worlds::udp::receives_multicast;
use serde_json::{Value, json};

use super::CommandOutput;
use super::choice::choice;
use super::failure::{Failure, warn};
use super::progress::Spinner;
use super::quantity::{duration, whole};
use super::run::program::{chosen, commands};
use experiment::catalogue::descriptions;
use experiment::{Experiment, MachineChoice, Provenance};
use formats::input::InputFile;
use formats::{input, interrupt};
use launch::hosts::{self, Host, MOST_RANKS};
use launch::wire::{Repair, Tuning};
use launch::{Launch, LaunchError, Shell, launch, random_group};
use machines::model::DATAGRAM;

/// How long a launch may take by default.
const DEFAULT_TIMEOUT: Duration = Duration::from_microseconds(600_000_000);
/// The most repetitions of a program: all times of a rank must fit into its message to the launcher.
const MOST_REPEATS: u32 = 50_000;
/// The longest file of hosts that is read.
const LONGEST_HOSTS: Bytes = Bytes(1 << 20);

/// Run a program for real: a process for each rank, on this computer or on others, over UDP and IP multicast, or over
/// MPI.
///
/// PROGRAM and its arguments are those of `maquette run`, without a machine, or a Python function, as FILE.py:FUNCTION,
/// with its arguments as options. Files that it reads must be on every host. Hardware broadcasts use multicast. Times
/// are wall-clock times: all ranks begin together, except that the source of a broadcast begins when all others wait
/// for it, and the time ends with the last rank.
///
/// With --mpi, this process is one of the ranks that mpiexec or a batch system has started, and messages use its MPI
/// library, which must have the standard ABI of MPI 5, like that of `pip install mpich`.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(
    override_usage = "maquette launch <--local N|--hosts FILE|--mpi> [OPTIONS] PROGRAM [ARGUMENTS]...",
    after_help = "Examples:\n  maquette launch --local 4 broadcast --algorithm hardware --bytes 4KiB --repeat 100\n  \
                        maquette launch --hosts hosts.txt --control 10.0.0.1:0 all-to-all --algorithm bruck --bytes 1KiB\n  \
                        maquette launch --hosts hosts.txt --shell 'ip netns exec {host}' \\\n      \
                        --control 10.0.0.254:0 fft --size 256\n  \
                        maquette launch --local 8 halo.py:halo --rounds 3\n  \
                        mpiexec -n 8 maquette launch --mpi broadcast --bytes 4KiB\n  \
                        srun -n 64 maquette launch --mpi all-to-all --algorithm bruck --bytes 1KiB\n\n\
                        A hosts file has a line for each host, `name address [ranks]`:\n  \
                        node-a  10.0.0.1\n  node-b  10.0.0.2  4    # four ranks"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The program and its arguments, as after `maquette run`.
    #[arg(value_name = "PROGRAM", trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    program: Vec<String>,
}

/// Where ranks run, and how.
#[derive(Args, Clone, Debug)]
pub(super) struct Options {
    /// The number of ranks, all on this computer.
    #[arg(long, value_name = "N", value_parser = whole(1..=MOST_RANKS))]
    local: Option<u32>,
    /// The file with the hosts on which ranks run.
    #[arg(long, value_name = "FILE", conflicts_with = "local")]
    hosts: Option<PathBuf>,
    /// This process is an MPI rank, started by mpiexec or srun.
    #[arg(long)]
    pub(super) mpi: bool,
    /// The MPI library, with the standard ABI; if left out, the one next to that mpiexec, or one that the loader finds.
    #[arg(long, value_name = "PATH")]
    pub(super) mpi_library: Option<PathBuf>,
    /// The command that starts another one on a host; if left out, `ssh {host}`, and none for hosts with an address of
    /// this computer.
    #[arg(long, value_name = "COMMAND", value_parser = Shell::parse)]
    shell: Option<Shell>,
    /// The path of maquette on the hosts; if left out, the same as on this computer.
    #[arg(long, value_name = "PATH")]
    maquette: Option<OsString>,
    /// The address of this computer to which ranks report, where port 0 is any; if left out and all are on this
    /// computer, loopback.
    #[arg(long, value_name = "ADDRESS:PORT")]
    control: Option<SocketAddr>,
    /// The multicast group; if left out, a random one of 239.255.0.0/16, at a random port.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = group)]
    group: Option<SocketAddrV4>,
    /// Send broadcasts to the ranks one after the other.
    #[arg(long, conflicts_with = "group")]
    no_multicast: bool,
    /// With --local, the address of the interface to use.
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST, conflicts_with = "hosts")]
    interface: Ipv4Addr,
    /// Do not authenticate datagrams: anyone on the network can then pose as a rank.
    #[arg(long)]
    trusted_network: bool,
    /// How often the program runs.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = whole(1..=MOST_REPEATS))]
    pub(super) repeat: u32,
    /// The most packets under way to one rank, or by broadcast; 256, if left out, or as many bytes in longer datagrams.
    #[arg(long, value_name = "PACKETS", value_parser = whole(1..=400_u32))]
    window: Option<u32>,
    /// The longest datagram; 1472 B, if left out, which fills a frame. Longer ones are split by IP, and all of one is
    /// lost with any part.
    #[arg(long, value_name = "BYTES", value_parser = datagram)]
    datagram: Option<Bytes>,
    /// How lost packets are repaired; if left out, selective.
    #[arg(long, value_name = "WAY", value_parser = choice::<Repair>())]
    repair: Option<Repair>,
    /// The highest rate at which a rank sends, as on an Ethernet.
    #[arg(long, value_name = "RATE")]
    rate: Option<Rate>,
    /// How long a rank waits for a message before it gives up; a minute, if left out.
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub(super) patience: Option<Duration>,
    /// How long the whole run may take; ten minutes, if left out.
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    timeout: Option<Duration>,
}

/// Reads the length of a datagram.
fn datagram(text: &str) -> Result<Bytes, String> {
    let allowed = || format!("allowed is {} to {}", DATAGRAM.start(), DATAGRAM.end());
    text.parse().ok().filter(|bytes| DATAGRAM.contains(bytes)).ok_or_else(allowed)
}

/// Reads a multicast group.
fn group(text: &str) -> Result<SocketAddrV4, String> {
    let address: Option<SocketAddrV4> = text.parse().ok();
    let group = address.filter(|address| address.ip().is_multicast() && address.port() > 0);
    group.ok_or_else(|| "allowed is a group of 224.0.0.0/4 with a port, such as 239.255.1.2:7000".to_owned())
}

/// Reads a length of time greater than zero.
fn positive_duration(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|time| if time.is_zero() { Err("allowed is a time above 0".to_owned()) } else { Ok(time) })
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool, own: Option<&dyn OwnPrograms>) -> Result<CommandOutput, Failure> {
        let (options, program, as_json) = own_options::take(self.options, self.program, as_json)?;
        if options.mpi {
            return over_mpi::execute(&options, &program, as_json, own);
        }
        over_mpi::refuse_a_library(options.mpi_library.as_deref())?;
        let (hosts, file) = options.hosts()?;
        let ranks: u32 = hosts.iter().map(|host| host.ranks).sum();
        refuse_model_options(&program)?;
        let (experiment, provenance) = prepared(&program, ranks, own)?;
        let plan = options.plan(hosts, experiment)?;
        let provenance = launched(provenance, &plan, file);
        let shown = plan.clone();
        let spinner = Spinner::new();
        let mut progress = |there: usize, ended: usize| {
            let state = if there < ranks as usize { "ranks are there" } else { "ranks have ended" };
            let count = if there < ranks as usize { there } else { ended };
            spinner.show(format!("{count} of {ranks} {state}"));
        };
        // On this thread, which then waits for the processes of ranks even if it is interrupted.
        let records = launch(&plan, interrupt::flag(), &mut progress)?;
        drop(spinner);
        Ok(text::summary(&program, text::Network::Udp(shown.group), &records, &provenance, as_json).into())
    }
}

/// The description of the program given by the arguments that ranks receive, and its provenance. The program is checked
/// as a rank would check it, so that no rank is started in vain.
fn prepared(arguments: &[String], ranks: u32, own: Option<&dyn OwnPrograms>) -> Result<(Value, Provenance), Failure> {
    if let Some(program) = OwnProgram::of(arguments)? {
        own_program::language(own)?.check(&program).map_err(Failure::OwnProgram)?;
        return Ok((program.as_experiment(), program.provenance(ranks)?));
    }
    let experiment = experiment(arguments, ranks)?;
    let provenance = experiment.prepare_for_real(ranks)?.provenance;
    Ok((json!(experiment), provenance))
}

/// The experiment given by the arguments of a program, as after `maquette run`.
fn experiment(arguments: &[String], ranks: u32) -> Result<Experiment, Failure> {
    let seed = || Arg::new("seed").long("seed").value_name("S").value_parser(value_parser!(u64));
    let programs = commands(|command, _| command.arg(seed().help("The seed of random choices; 1, if left out")));
    // The options of `launch` have been taken already; of a misspelt one, the parser suggests the nearest.
    let own = Options::augment_args(Command::new("maquette launch")).mut_args(|option| option.global(true));
    let command = own.disable_help_subcommand(true).subcommands(programs);
    let usage = |error| Failure::Usage(Box::new(error));
    let arguments = std::iter::once("maquette launch").chain(arguments.iter().map(String::as_str));
    let matches = command.try_get_matches_from(arguments).map_err(usage)?;
    let Some((name, matches)) = matches.subcommand() else {
        return Err(Failure::argument("PROGRAM", "nothing", "a program, as after `maquette run`"));
    };
    let program = chosen(name, matches).map_err(usage)?.choice;
    let seed = matches.get_one("seed").copied();
    let mut experiment = Experiment::of(program, MachineChoice::default());
    experiment.jobs.iter_mut().for_each(|job| job.ranks = Some(ranks));
    Ok(Experiment { seed, ..experiment })
}

/// Options of `maquette run` that only a model of a machine can follow.
const OF_A_MODEL: [(&str, &str); 7] = [
    ("--machine", "none: launched ranks run on real hosts, which --local or --hosts names"),
    ("--nodes", "none: --local says how many ranks there are, or the hosts of --hosts"),
    ("--ranks", "none: --local says how many ranks there are, or the hosts of --hosts"),
    ("--set", "none: launched ranks run on real hosts, of which nothing can be set"),
    ("--engine", "none: launched ranks run on real hosts, where nothing is simulated"),
    ("--packets", "none: only a simulation knows what became of every packet"),
    ("--timeline", "none: only a simulation knows what ranks and channels did when"),
];

/// The options by which a program runs in the postal model in place of a machine; in other programs they describe a
/// tree's latency.
const OF_THE_POSTAL_MODEL: [(&str, &str); 2] = [
    ("--lambda", "none: launched ranks run on real hosts, not in the postal model"),
    ("--t0", "none: launched ranks run on real hosts, not in the postal model"),
];

/// Refuses options that only a model can follow.
fn refuse_model_options(program: &[String]) -> Result<(), Failure> {
    let described = descriptions().into_iter().find(|known| program.first().is_some_and(|name| known.name == name));
    let can_be_postal = described.is_some_and(|known| known.in_postal_model && !known.has("lambda"));
    let postal = OF_THE_POSTAL_MODEL.iter().filter(|_| can_be_postal);
    let refused: Vec<&(&str, &str)> = OF_A_MODEL.iter().chain(postal).collect();
    // Words after `--` are not options.
    let arguments = || program.iter().take_while(|argument| *argument != "--");
    for (argument, next) in arguments().zip(arguments().skip(1).map(Some).chain([None])) {
        let (name, value) =
            argument.split_once('=').map_or((argument.as_str(), None), |(name, value)| (name, Some(value)));
        if let Some((option, allowed)) = refused.iter().find(|refused| refused.0 == name) {
            let value = value.or(next.map(String::as_str)).unwrap_or("nothing after it");
            return Err(Failure::argument(*option, value, allowed));
        }
    }
    Ok(())
}

/// The provenance of a launch of the program that `provenance` describes.
fn launched(provenance: Provenance, launch: &Launch, hosts: Option<InputFile>) -> Provenance {
    let Tuning { window, datagram, repair, rate, patience, trusted_network } = launch.tuning;
    let mut provenance = provenance.given(json!({
        "repeat": launch.repeat,
        "multicast": launch.group.is_some(),
        "window": window,
        "datagram": datagram,
        "repair": repair,
        "rate_bits_per_second": rate,
        "patience_ps": patience,
        "trusted_network": trusted_network,
    }));
    hosts.into_iter().for_each(|file| provenance.read(file));
    provenance
}

/// Checks that the address that an option gives is one of this computer.
fn own_address(option: &'static str, address: IpAddr) -> Result<(), Failure> {
    let IpAddr::V4(own) = address else { return Ok(()) };
    // The whole of 127.0.0.0/8 belongs to the loopback interface, which lists one address.
    if own.is_loopback() {
        return Ok(());
    }
    interface::find(&own.to_string()).map(drop).map_err(|error| {
        Failure::argument(option, format!("{own}, which no interface of this computer has"), error.allowed)
    })
}

impl Options {
    /// The hosts, and the file that names them if there is one.
    pub(super) fn hosts(&self) -> Result<(Vec<Host>, Option<InputFile>), Failure> {
        if self.local.is_some() && self.shell.is_some() {
            return Err(Failure::argument("--shell", "a command", "none with --local, where no other host is reached"));
        }
        match (self.local, &self.hosts) {
            (Some(ranks), _) => {
                own_address("--interface", self.interface.into())?;
                let host = Host { name: "this computer".to_owned(), address: self.interface, ranks };
                Ok((vec![host], None))
            }
            (None, Some(path)) => {
                let text = input::read_text(path, LONGEST_HOSTS)
                    .map_err(|cause| Failure::Unreadable { path: path.clone(), cause })?;
                Ok((hosts::parse(path, &text)?, Some(InputFile::new(path, text.as_bytes()))))
            }
            (None, None) => {
                let allowed = "a number of ranks, or --hosts with a file of hosts, or --mpi under mpiexec";
                Err(Failure::argument("--local", "nothing", allowed))
            }
        }
    }

    /// The launch on those hosts.
    pub(super) fn plan(self, hosts: Vec<Host>, experiment: Value) -> Result<Launch, Failure> {
        let all_local = self.local.is_some() || hosts.iter().all(|host| host.address.is_loopback());
        let shell = match self.shell.clone() {
            None if !all_local => Shell::parse("ssh {host}").ok(),
            shell => shell,
        };
        let allowed = "an address of this computer that all hosts reach, such as 10.0.0.1:0";
        let control = match self.control {
            Some(control) => control,
            None if all_local => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            None => return Err(Failure::argument("--control", "nothing", allowed)),
        };
        if control.ip().is_unspecified() {
            return Err(Failure::argument("--control", control, allowed));
        }
        own_address("--control", control.ip())?;
        let timeout = self.timeout.unwrap_or(DEFAULT_TIMEOUT);
        Ok(Launch {
            command: own_options::command(self.maquette.clone())?,
            group: self.group_of(all_local)?,
            tuning: Tuning {
                window: self.window,
                datagram: self.datagram.map(|bytes| bytes.0 as u32),
                repair: self.repair,
                rate: self.rate.map(Rate::bits_per_second),
                patience: self.patience.map(Duration::picoseconds),
                trusted_network: self.trusted_network,
            },
            timeout: std::time::Duration::from_nanos(timeout.picoseconds() / 1_000),
            repeat: self.repeat,
            hosts,
            shell,
            control,
            experiment,
        })
    }

    /// The multicast group; none if none is wanted, or if all ranks are on this computer and it does not allow
    /// multicast.
    fn group_of(&self, all_local: bool) -> Result<Option<SocketAddrV4>, Failure> {
        if self.no_multicast {
            return Ok(None);
        }
        let random = || random_group().map_err(LaunchError::system("random numbers")).map_err(Failure::Launch);
        let group = self.group.map_or_else(random, Ok)?;
        if all_local && let Err(refused) = receives_multicast(*group.ip(), self.interface) {
            warn(&format!(
                "broadcasts are sent to one rank after another, as multicast is not available here: {refused}"
            ));
            return Ok(None);
        }
        Ok(Some(group))
    }
}
