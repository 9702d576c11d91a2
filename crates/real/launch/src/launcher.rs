//! Starts ranks, connects them, and collects their results.

use std::ffi::OsString;
use std::io::{self, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use real_worlds::machine_time;
use serde_json::Value;

use super::callers::{Caller, Callers};
use super::hosts::Host;
use super::process::{Process, Shell};
use super::secret::Secret;
use super::wire::{Hello, LONGEST, RankOutcome, Record, Roster, Tuning, read_line, write_line};

/// How often to check whether a rank's process has ended, or another one connects.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);
/// How long a rank's last message may take to arrive after its process has ended.
const FINAL_REPORT_WAIT: Duration = Duration::from_secs(1);

/// What to start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// On which hosts.
    pub hosts: Vec<Host>,
    /// How to reach them; without it all ranks are started on this machine.
    pub shell: Option<Shell>,
    /// The command that runs `maquette` on them.
    pub command: Vec<OsString>,
    /// The address at which this process listens to ranks.
    pub control: SocketAddr,
    /// Where broadcasts go, if there is multicast.
    pub group: Option<SocketAddrV4>,
    /// How many times the program runs.
    pub repeat: u32,
    /// What ranks run.
    pub experiment: Value,
    /// How messages are sent.
    pub tuning: Tuning,
    /// How long everything may take.
    pub timeout: Duration,
}

/// Why a launch failed.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A socket, or another resource of the system, is not available.
    #[error("{what}: {cause}")]
    System {
        /// Which.
        what: &'static str,
        /// Why not.
        cause: io::Error,
    },
    /// The process of a rank can't be started.
    #[error("rank {rank} can't be started on {host}: {cause}")]
    Start {
        /// Which.
        rank: u32,
        /// Where.
        host: String,
        /// Why not.
        cause: io::Error,
    },
    /// A rank can't continue.
    #[error("rank {rank} on {host}: {problem}")]
    Rank {
        /// Which.
        rank: u32,
        /// Where.
        host: String,
        /// Why.
        problem: String,
        /// The exit status for it.
        status: i32,
    },
    /// The process of a rank has ended without a message.
    #[error("rank {rank} on {host} is gone: {status}")]
    Gone {
        /// Which.
        rank: u32,
        /// Where.
        host: String,
        /// How its process ended.
        status: ExitStatus,
    },
    /// The launcher was asked to end.
    #[error("interrupted")]
    Interrupted,
    /// It took too long.
    #[error("not done after {} s: {left}", .timeout.as_secs_f64())]
    TooLong {
        /// How long it had.
        timeout: Duration,
        /// What was missing.
        left: String,
    },
}

impl LaunchError {
    /// `what` is not available, for the reason that the system gives.
    pub fn system(what: &'static str) -> impl FnOnce(io::Error) -> LaunchError {
        move |cause| LaunchError::System { what, cause }
    }
}

/// A message from a caller.
enum CallerMessage {
    Hello(Hello, TcpStream),
    Ended(u32, RankOutcome),
}

/// A launch in progress.
struct RunningLaunch<'a> {
    launch: &'a Launch,
    /// The callers; nobody else is listened to once all ranks have connected.
    callers: Option<Callers>,
    secret: Secret,
    /// The host of each rank.
    places: Vec<&'a Host>,
    processes: Vec<Process>,
    messages: Receiver<CallerMessage>,
    sender: Sender<CallerMessage>,
    deadline: Instant,
    /// Whether somebody has asked the launcher to end.
    interrupted: &'a AtomicBool,
}

/// Starts the ranks of `launch` and returns what each has done, unless `interrupted` asks it to end. `progress` is told
/// how many have connected, and how many have ended.
///
/// # Errors
/// [`LaunchError`]; no rank is left running then.
pub fn launch(
    launch: &Launch,
    interrupted: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Record>, LaunchError> {
    let callers = Some(Callers::new(launch.control).map_err(LaunchError::system("the control socket"))?);
    let secret = Secret::random().map_err(LaunchError::system("random numbers"))?;
    let places: Vec<&Host> =
        launch.hosts.iter().flat_map(|host| std::iter::repeat_n(host, host.ranks as usize)).collect();
    let (sender, messages) = mpsc::channel();
    let deadline = now() + launch.timeout;
    let mut launched = RunningLaunch {
        launch,
        callers,
        secret,
        places,
        processes: Vec::new(),
        messages,
        sender,
        deadline,
        interrupted,
    };
    launched.start()?;
    let (hellos, mut streams) = launched.gather(progress)?;
    launched.callers = None;
    let roster = launched.roster(&hellos).map_err(LaunchError::system("random numbers"))?;
    for stream in &mut streams {
        // A rank that is gone is noticed when its process ends.
        let _ = write_line(stream, &roster);
    }
    launched.results(progress)
}

impl Drop for RunningLaunch<'_> {
    /// Ends all ranks at the same time, and then waits for each.
    fn drop(&mut self) {
        self.processes.iter_mut().for_each(Process::kill);
    }
}

impl RunningLaunch<'_> {
    /// Starts a process for each rank.
    fn start(&mut self) -> Result<(), LaunchError> {
        let Some(control) = self.callers.as_ref().map(Callers::address) else { return Ok(()) };
        let control = control.map_err(LaunchError::system("the control socket"))?;
        for (rank, host) in (0..).zip(&self.places) {
            let mut command = self.launch.command.clone();
            let own = ["launch-rank", "--control", &control.to_string(), "--rank", &rank.to_string()];
            command.extend(own.map(OsString::from));
            command.extend(["--bind", &host.address.to_string()].map(OsString::from));
            let shell = self.launch.shell.as_ref().map(|shell| (shell, host.name.as_str()));
            let process = Process::start(&rank.to_string(), &command, shell, self.secret.line());
            let failed = |cause| LaunchError::Start { rank, host: host.name.clone(), cause };
            self.processes.push(process.map_err(failed)?);
        }
        Ok(())
    }

    /// Waits until all ranks have connected.
    fn gather(&mut self, progress: &mut dyn FnMut(usize, usize)) -> Result<(Vec<Hello>, Vec<TcpStream>), LaunchError> {
        let mut there: Vec<Option<(Hello, TcpStream)>> = self.places.iter().map(|_| None).collect();
        while there.iter().any(Option::is_none) {
            progress(there.iter().flatten().count(), 0);
            self.check(&there.iter().map(Option::is_some).collect::<Vec<bool>>(), "has not called")?;
            match self.next()? {
                Some(CallerMessage::Hello(hello, stream)) => {
                    if let Some(place) = there.get_mut(hello.rank as usize).filter(|place| place.is_none()) {
                        *place = Some((hello, stream));
                    }
                }
                Some(CallerMessage::Ended(rank, RankOutcome::Badly { problem, status })) => {
                    return Err(self.rank_error(rank, problem, status));
                }
                Some(CallerMessage::Ended(_, RankOutcome::Well(_))) | None => {}
            }
        }
        Ok(there.into_iter().flatten().unzip())
    }

    /// The next message, if it comes soon; also accepts connections.
    fn next(&mut self) -> Result<Option<CallerMessage>, LaunchError> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(LaunchError::Interrupted);
        }
        let ranks = self.callers.as_mut().map(|callers| callers.ranks(now(), &self.secret));
        for caller in ranks.transpose().map_err(LaunchError::system("the control socket"))?.into_iter().flatten() {
            let sender = self.sender.clone();
            let listens = move || drop(listen(caller, &sender));
            thread::Builder::new().spawn(listens).map_err(LaunchError::system("can't start a thread"))?;
        }
        match self.messages.recv_timeout(CHECK_INTERVAL) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    /// An error when time is up, or the process of a rank that is not `done` has ended.
    fn check(&mut self, done: &[bool], what: &str) -> Result<(), LaunchError> {
        let gone = self.processes.iter_mut().zip(done).enumerate().filter(|(_, (_, done))| !**done);
        let gone = gone.filter_map(|(rank, (process, _))| Some((rank, process.ended()?))).next();
        if let Some((rank, status)) = gone {
            return self.await_final_report(rank as u32, status);
        }
        if now() < self.deadline {
            return Ok(());
        }
        let left: Vec<String> =
            (0..).zip(done).filter(|(_, done)| !**done).take(8).map(|(rank, _): (u32, _)| rank.to_string()).collect();
        let left = format!("rank {} {what}", left.join(", "));
        Err(LaunchError::TooLong { timeout: self.launch.timeout, left })
    }

    /// Waits for what a rank reported before its process ended, which may still be on its way. It is an error if there
    /// is nothing, or if another rank reports why.
    fn await_final_report(&mut self, rank: u32, status: ExitStatus) -> Result<(), LaunchError> {
        let until = now() + FINAL_REPORT_WAIT;
        let mut others = Vec::new();
        let mut is_done = false;
        while !is_done && now() < until {
            match self.next()? {
                Some(CallerMessage::Ended(rank, RankOutcome::Badly { problem, status })) => {
                    return Err(self.rank_error(rank, problem, status));
                }
                Some(other) => {
                    is_done = matches!(other, CallerMessage::Ended(ended, _) if ended == rank);
                    others.push(other);
                }
                None => {}
            }
        }
        // These have still to be handled; this end of the channel is open.
        others.into_iter().for_each(|other| drop(self.sender.send(other)));
        if is_done { Ok(()) } else { Err(LaunchError::Gone { rank, host: self.host(rank), status }) }
    }

    fn host(&self, rank: u32) -> String {
        self.places.get(rank as usize).map_or_else(String::new, |host| host.name.clone())
    }

    fn rank_error(&self, rank: u32, problem: String, status: i32) -> LaunchError {
        LaunchError::Rank { rank, host: self.host(rank), problem, status }
    }

    fn roster(&self, hellos: &[Hello]) -> io::Result<Roster> {
        let Launch { group, repeat, experiment, tuning, .. } = self.launch;
        let same = hellos.windows(2).all(|pair| matches!(pair, [one, next] if one.machine == next.machine));
        Ok(Roster {
            ranks: hellos.iter().map(|hello| hello.address).collect(),
            session: u32::from_be_bytes(random()?),
            group: *group,
            zero: same.then(machine_time),
            repeat: *repeat,
            experiment: experiment.clone(),
            tuning: *tuning,
        })
    }

    /// Waits until all ranks have ended.
    fn results(&mut self, progress: &mut dyn FnMut(usize, usize)) -> Result<Vec<Record>, LaunchError> {
        let mut records: Vec<Option<Record>> = self.places.iter().map(|_| None).collect();
        while records.iter().any(Option::is_none) {
            progress(records.len(), records.iter().flatten().count());
            self.check(&records.iter().map(Option::is_some).collect::<Vec<bool>>(), "has not ended")?;
            match self.next()? {
                Some(CallerMessage::Ended(rank, RankOutcome::Well(record))) => {
                    records.get_mut(rank as usize).into_iter().for_each(|place| *place = Some(record.clone()));
                }
                Some(CallerMessage::Ended(rank, RankOutcome::Badly { problem, status })) => {
                    return Err(self.rank_error(rank, problem, status));
                }
                Some(CallerMessage::Hello(..)) | None => {}
            }
        }
        Ok(records.into_iter().flatten().collect())
    }
}

/// Passes on what a rank sends: first its identity, then how it has ended.
fn listen(Caller { hello, rest, stream }: Caller, sender: &Sender<CallerMessage>) -> io::Result<()> {
    let mut lines = BufReader::new(io::Cursor::new(rest).chain(stream.try_clone()?));
    let rank = hello.rank;
    // The launcher may have given up.
    let _ = sender.send(CallerMessage::Hello(hello, stream));
    if let Some(ended) = read_line::<RankOutcome>(&mut lines, LONGEST)? {
        let _ = sender.send(CallerMessage::Ended(rank, ended));
    }
    Ok(())
}

/// A random multicast group, unlikely to be used by anybody else, from the range that every site may use freely.
///
/// # Errors
/// Errors of the system when it returns no random numbers.
pub fn random_group() -> io::Result<SocketAddrV4> {
    let [first, second, high, low] = random::<4>()?;
    // Ports from 32,768 on are not assigned to anybody in particular.
    Ok(SocketAddrV4::new(Ipv4Addr::new(239, 255, first, second), u16::from_be_bytes([high | 0x80, low])))
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

#[expect(clippy::disallowed_methods, reason = "nothing is simulated here: processes are waited for")]
pub(super) fn now() -> Instant {
    Instant::now()
}
