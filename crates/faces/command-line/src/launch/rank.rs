//! `maquette launch-rank`: a rank that `maquette launch` has started.

use std::io::{self, BufReader, ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::{fs, thread, time};

use clap::Args;
use quantities::Rank;

use super::own_program::{self, OwnProgram, OwnPrograms};
use crate::CommandOutput;
use crate::failure::Failure;
use crate::quantity::whole;
use experiment::Experiment;
use launch::LaunchError;
use launch::rank::Running;
use launch::secret::Secret;
use launch::wire::{Hello, LONGEST, RankOutcome, Roster, read_line, write_line};

/// How long it may take to reach the launcher.
const REACH: time::Duration = time::Duration::from_secs(10);
/// How often a launcher that hangs up is called; the pause doubles each time.
const CALLS: u32 = 10;
const PAUSE: time::Duration = time::Duration::from_millis(10);
/// The longest secret. [B]
const LONGEST_SECRET: u64 = 128;

/// Run one rank: `maquette launch` starts this, and gives it a secret on its standard input.
#[derive(Args, Debug)]
pub(crate) struct RankArguments {
    /// Where the launcher listens.
    #[arg(long, value_name = "ADDRESS:PORT")]
    control: SocketAddr,
    /// Which rank.
    #[arg(long, value_name = "RANK", value_parser = whole(0..=u32::MAX))]
    rank: u32,
    /// The address of the interface to use.
    #[arg(long, value_name = "ADDRESS")]
    bind: IpAddr,
}

impl RankArguments {
    pub(crate) fn execute(self, own: Option<&dyn OwnPrograms>) -> Result<CommandOutput, Failure> {
        let system = |what| move |cause| Failure::Launch(LaunchError::system(what)(cause));
        let secret = secret().map_err(system("the secret"))?;
        let socket = UdpSocket::bind((self.bind, 0)).map_err(system("the UDP socket"))?;
        let address = socket.local_addr().map_err(system("the UDP socket"))?;
        let hello = Hello { token: secret.token_of(self.rank), rank: self.rank, address, machine: machine() };
        let met = self.meet(&hello).map_err(system("the launcher"))?;
        // A launcher that gives up sends nothing more.
        let Some((roster, mut launcher, lines)) = met else { return Ok(CommandOutput::default()) };
        thread::Builder::new().spawn(move || end_with(lines)).map_err(system("can't start a thread"))?;
        let ended = run(Rank(self.rank), &roster, socket, &secret, own);
        write_line(&mut launcher, &ended).map_err(system("the launcher"))?;
        Ok(CommandOutput::default())
    }

    /// Calls the launcher and returns its roster and the connection; nothing if it is gone. Among many strangers it may
    /// hang up before it knows who is calling: then it is called again.
    fn meet(&self, hello: &Hello) -> io::Result<Option<(Roster, TcpStream, BufReader<TcpStream>)>> {
        let mut pause = PAUSE;
        for call in 0..CALLS {
            let mut launcher = match TcpStream::connect_timeout(&self.control, REACH) {
                Err(error) if error.kind() == ErrorKind::ConnectionRefused && call > 0 => return Ok(None),
                called => called?,
            };
            let mut lines = BufReader::new(launcher.try_clone()?);
            let roster = write_line(&mut launcher, hello).and_then(|()| read_line(&mut lines, LONGEST));
            match roster {
                Ok(Some(roster)) => return Ok(Some((roster, launcher, lines))),
                Err(error) if !has_hung_up(&error) => return Err(error),
                Ok(None) | Err(_) => thread::sleep(pause),
            }
            pause *= 2;
        }
        Ok(None)
    }
}

fn has_hung_up(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted)
}

/// Runs the program of the roster.
fn run(me: Rank, roster: &Roster, socket: UdpSocket, secret: &Secret, own: Option<&dyn OwnPrograms>) -> RankOutcome {
    let badly = |failure: &Failure| RankOutcome::Badly { problem: failure.to_string(), status: failure.status() };
    let ranks = u32::try_from(roster.ranks.len()).unwrap_or(u32::MAX);
    let done = Running::new(me, roster, socket, secret).map_err(Failure::from).and_then(|mut running| {
        if let Some(program) = OwnProgram::from_experiment(&roster.experiment) {
            return own_program::language(own)?.run(&program, &mut running).map_err(Failure::OwnProgram);
        }
        let unreadable = |error| Failure::argument("experiment", error, "one that this version of maquette knows");
        let experiment: Experiment = serde_json::from_value(roster.experiment.clone()).map_err(unreadable)?;
        Ok(experiment.prepare_for_real(ranks)?.run(&mut running)?)
    });
    match done {
        Ok(record) => RankOutcome::Well(record),
        Err(failure) => badly(&failure),
    }
}

/// The secret that the launcher writes to the standard input.
fn secret() -> io::Result<Secret> {
    let mut line = String::new();
    io::BufRead::read_line(&mut BufReader::new(io::stdin().lock().take(LONGEST_SECRET)), &mut line)?;
    Ok(Secret::of_line(&line))
}

/// Identifies a machine since its last boot. One without an identity is equal to no other.
fn machine() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    name.map_or_else(|_| format!("process {}", std::process::id()), |name| name.trim_end().to_owned())
}

/// Ends this process when the launcher is gone: nothing needs the result any more.
fn end_with(mut launcher: impl Read) {
    while matches!(launcher.read(&mut [0; 64]), Ok(1..)) {}
    std::process::exit(1);
}
