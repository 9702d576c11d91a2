//! The processes of ranks: how they are started, and what they print.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use super::launcher::now;

/// How long a process may take to end after SIGKILL, and how often it is looked at: one that waits for a device can
/// take for ever.
const LONGEST_END: Duration = Duration::from_secs(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// The longest line of a rank that is printed in full. [B]
const LONGEST: u64 = 64 << 10;

/// A command line that runs another command on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shell {
    arguments: Vec<String>,
}

/// The placeholder for the host's name.
const HOST: &str = "{host}";

impl Shell {
    /// Reads a template such as `ssh {host}`: arguments, one of which contains `{host}`.
    ///
    /// # Errors
    /// What is allowed.
    pub fn parse(text: &str) -> Result<Shell, String> {
        let arguments: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if !arguments.iter().any(|argument| argument.contains(HOST))
            || arguments.first().is_some_and(|argument| argument.contains(HOST))
        {
            return Err(format!("allowed is a command with `{HOST}` in it, such as `ssh {HOST}`"));
        }
        Ok(Shell { arguments })
    }

    /// `command` on `host`.
    fn command(&self, host: &str, command: &[OsString]) -> Vec<OsString> {
        let arguments = self.arguments.iter().map(|argument| OsString::from(argument.replace(HOST, host)));
        arguments.chain(command.iter().cloned()).collect()
    }
}

/// The process of a rank.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
}

impl Process {
    /// Starts `command`, through a shell if the host is another machine, and writes `secret` to its standard input.
    /// What it prints is printed with `name` before it.
    pub(super) fn start(
        name: &str,
        command: &[OsString],
        shell: Option<(&Shell, &str)>,
        secret: &str,
    ) -> io::Result<Process> {
        let command_line = shell.map_or_else(|| command.to_vec(), |(shell, host)| shell.command(host, command));
        let Some((program, arguments)) = command_line.split_first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command"));
        };
        let piped = Stdio::piped;
        let mut command = Command::new(program);
        command.args(arguments).stdin(piped()).stdout(piped()).stderr(piped());
        if shell.is_none() {
            // Ctrl-C on the terminal is for the launcher alone; a rank ends when the launcher is gone. A shell to
            // another host stays with the terminal, where it may ask for a password.
            command.process_group(0);
        }
        let mut process = Process { child: command.spawn()? };
        let child = &mut process.child;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        out.map_or(Ok(()), |out| pass_on(name.to_owned(), out))?;
        err.map_or(Ok(()), |err| pass_on(name.to_owned(), err))?;
        if let Some(mut input) = child.stdin.take() {
            // The status of a process that has ended already tells why.
            let _ = input.write_all(format!("{secret}\n").as_bytes());
        }
        Ok(process)
    }

    /// Ends it, if it has not ended.
    pub(super) fn kill(&mut self) {
        if self.ended().is_none() {
            // A process that has just ended can't be killed.
            let _ = self.child.kill();
        }
    }

    /// How it has ended, if it has.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }
}

impl Drop for Process {
    /// Leaves no process behind, except one that even SIGKILL does not end in time.
    fn drop(&mut self) {
        self.kill();
        let until = now() + LONGEST_END;
        while self.ended().is_none() && now() < until {
            thread::sleep(BETWEEN_LOOKS);
        }
    }
}

/// Prints a rank's output line by line on standard error, from its own thread.
fn pass_on(name: String, from: impl Read + Send + 'static) -> io::Result<()> {
    let passes = move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while matches!(from.by_ref().take(LONGEST).read_until(b'\n', &mut line), Ok(1..)) {
            // If standard error is closed, there is nobody to tell.
            let _ = writeln!(anstream::stderr(), "[{name}] {}", String::from_utf8_lossy(&line).trim_end());
            line.clear();
        }
    };
    thread::Builder::new().spawn(passes).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_has_a_placeholder_for_the_host() {
        let shell = Shell::parse("ip netns  exec {host}").unwrap();
        let command = shell.command("node-3", &["maquette".into(), "launch-rank".into()]);
        assert_eq!(command, ["ip", "netns", "exec", "node-3", "maquette", "launch-rank"]);
        assert!(Shell::parse("ssh").is_err() && Shell::parse("").is_err() && Shell::parse("{host}").is_err());
    }
}
