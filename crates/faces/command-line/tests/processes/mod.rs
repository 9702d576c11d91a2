//! Processes that tests start. Each can be interrupted, whatever signals the tests inherited as ignored, such as SIGINT
//! in the background of a script; none is waited for without limit; and none is left behind.

use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait for anything.
const LIMIT: Duration = Duration::from_secs(120);

/// The command with these arguments. `env` resets its signals to what a terminal would set, and then becomes the
/// command.
pub fn maquette(arguments: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,TERM", env!("CARGO_BIN_EXE_maquette")]).args(arguments);
    command
}

/// What a command prints and how it ends.
pub fn output(command: &mut Command) -> Output {
    Process::start(command).ended()
}

/// A process; it is killed if nothing waits for its end.
#[derive(Debug)]
pub struct Process(Option<Child>);

impl Process {
    /// Starts it, with pipes to print to.
    pub fn start(command: &mut Command) -> Process {
        Process(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    /// The process itself.
    pub fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    /// Sends it a signal, `-INT` for one.
    pub fn signal(&mut self, which: &str) {
        let process = self.child().id().to_string();
        signal(which, &process);
    }

    /// Waits until it ends; returns what it has printed, and how it ended.
    pub fn ended(mut self) -> Output {
        let child = self.0.take().unwrap();
        let process = child.id().to_string();
        let (give, ended) = channel();
        thread::spawn(move || give.send(child.wait_with_output()));
        match ended.recv_timeout(LIMIT) {
            Ok(output) => output.unwrap(),
            Err(RecvTimeoutError::Disconnected) => panic!("nobody waits for it"),
            Err(RecvTimeoutError::Timeout) => {
                signal("-KILL", &process);
                // Even this may not end by itself: its own children may still hold its pipes.
                let printed = ended.recv_timeout(Duration::from_secs(10));
                panic!("it has not ended within {LIMIT:?}, and was killed: {printed:?}");
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // One that has already ended cannot be killed, and need not be.
            let _ = child.kill().and_then(|()| child.wait());
        }
    }
}

/// Sends a signal to the process with that number.
pub fn signal(which: &str, process: &str) {
    assert!(Command::new("kill").args([which, "--", process]).status().unwrap().success());
}

/// Waits until `look` finds something.
pub fn until<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let begun = now();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(begun.elapsed() < LIMIT, "waited in vain: {what}");
        thread::park_timeout(Duration::from_millis(5));
    }
}

#[expect(clippy::disallowed_methods, reason = "processes are waited for, and not for ever")]
fn now() -> Instant {
    Instant::now()
}
