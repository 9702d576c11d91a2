//! `maquette launch-rank`: a rank that `maquette launch` has started.

use std::io::{self, BufReader, Read};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::{fs, thread, time};

use clap::Args;
use quantities::Rank;

use super::run_line;
use crate::command_line::Said;
use crate::command_line::failure::Failure;
use crate::launch::LaunchError;
use crate::launch::rank::Running;
use crate::launch::stage::{self, Stage};
use crate::launch::wire::{Ended, Hello, LONGEST, Roster, read_line, write_line};

/// How long it may take to reach the launcher.
const REACH: time::Duration = time::Duration::from_secs(10);
/// The longest token. [B]
const LONGEST_TOKEN: u64 = 128;

/// Run one rank: `maquette launch` starts this, and gives it a token on its standard input.
#[derive(Args, Debug)]
pub(in crate::command_line) struct RankArguments {
    /// Where the launcher listens.
    #[arg(long, value_name = "ADDRESS:PORT")]
    control: SocketAddr,
    /// Which rank.
    #[arg(long, value_name = "RANK")]
    rank: u32,
    /// The address of the interface to use.
    #[arg(long, value_name = "ADDRESS")]
    bind: IpAddr,
}

impl RankArguments {
    pub(in crate::command_line) fn execute(self) -> Result<Said, Failure> {
        let system = |what| move |cause| Failure::Launch(LaunchError::System { what, cause });
        let token = token().map_err(system("the token"))?;
        let mut launcher = TcpStream::connect_timeout(&self.control, REACH).map_err(system("the launcher"))?;
        let socket = UdpSocket::bind((self.bind, 0)).map_err(system("the UDP socket"))?;
        let address = socket.local_addr().map_err(system("the UDP socket"))?;
        let hello = Hello { token, rank: self.rank, address, machine: machine() };
        write_line(&mut launcher, &hello).map_err(system("the launcher"))?;
        let mut lines = BufReader::new(launcher.try_clone().map_err(system("the launcher"))?);
        let roster: Option<Roster> = read_line(&mut lines, LONGEST).map_err(system("the launcher"))?;
        // A launcher that gives up says nothing more.
        let Some(roster) = roster else { return Ok(Said::default()) };
        thread::spawn(move || end_with(lines));
        let ended = run(Rank(self.rank), &roster, socket);
        write_line(&mut launcher, &ended).map_err(system("the launcher"))?;
        Ok(Said::default())
    }
}

/// Runs the program of the roster.
fn run(me: Rank, roster: &Roster, socket: UdpSocket) -> Ended {
    let badly = |failure: &Failure| Ended::Badly { problem: failure.to_string(), status: failure.status() };
    let ranks = u32::try_from(roster.ranks.len()).unwrap_or(u32::MAX);
    let line = match run_line(&roster.arguments, ranks) {
        Ok(line) => line,
        Err(failure) => return badly(&failure),
    };
    let running = match Running::new(me, roster, socket) {
        Ok(running) => running,
        Err(error) => return badly(&Failure::Program(error)),
    };
    let (done, stage) = stage::with(Stage::Rank(Box::new(running)), || line.execute(false));
    match (done, stage) {
        (_, Some(Stage::Ended(Ok(record)))) => Ended::Well(record),
        (_, Some(Stage::Ended(Err(error)))) => badly(&Failure::Program(error)),
        (Err(failure), _) => badly(&failure),
        (Ok(_), _) => Ended::Badly { problem: "the program can't be run by ranks".to_owned(), status: 2 },
    }
}

/// What the launcher writes to the standard input.
fn token() -> io::Result<String> {
    let mut token = String::new();
    io::BufRead::read_line(&mut BufReader::new(io::stdin().lock().take(LONGEST_TOKEN)), &mut token)?;
    Ok(token.trim_end().to_owned())
}

/// What tells one machine, since it was last started, from others. One without a name is like no other.
fn machine() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    name.map_or_else(|_| format!("process {}", std::process::id()), |name| name.trim_end().to_owned())
}

/// Ends this process when the launcher is gone: nobody wants to know the result.
fn end_with(mut launcher: impl Read) {
    while matches!(launcher.read(&mut [0; 64]), Ok(1..)) {}
    std::process::exit(1);
}
